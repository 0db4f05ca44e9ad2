//! `caudal score`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::process::{DataDir, code, root, text};

/// Some rows were refused.
const REFUSED: i32 = 3;

/// A usual transfer at noon as a row.
fn transfer() -> Value {
    json!({
        "amount": 100, "is_new_beneficiary": false, "hour_of_day": 12, "num_past_transactions": 10,
        "avg_transaction_amount": 100, "max_transaction_amount": 200, "num_transactions_to_beneficiary": 5,
        "is_new_device": false, "geolocation_changed": false,
    })
}

/// A visit to a screen as a row.
fn visit(screen: &str) -> String {
    json!({
        "screen": screen, "num_validation_errors": 0, "time_on_screen_seconds": 0, "num_back_navigations": 0,
        "steps_total": 4, "current_step": 2,
    })
    .to_string()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The requests of a golden file as rows, and what is expected of them.
fn golden(model: &str) -> (String, Vec<Value>) {
    let text = fs::read_to_string(root().join("tests/golden").join(model).with_extension("ndjson")).unwrap();
    let cases = lines(&text);
    let rows: Vec<_> = cases.iter().map(|case| case["request"].to_string()).collect();
    (rows.join("\n"), cases.into_iter().map(|case| case["expect"].clone()).collect())
}

fn bits(number: &Value) -> String {
    format!("{:016x}", number.as_f64().unwrap().to_bits())
}

#[test]
fn rows_get_the_bits_that_training_wrote() {
    let data = DataDir::new();
    for (kind, model, file, path) in [
        ("risk", "risk-2", "risk-2", "/result/risk_score"),
        ("risk", "risk-1", "risk-1", "/result/risk_score"),
        ("nudge", "nudge-1", "nudge-1", "/result/difficulty_score"),
        ("accessibility", "accessibility-2", "accessibility-2", "/confidence"),
    ] {
        let (rows, expected) = golden(file);
        let input = data.file("rows.ndjson", &rows);
        let output = data.run(&["score", "--kind", kind, "--model", model, "--input", &input]);
        code(&output, 0);
        let answers = lines(&text(&output.stdout));
        assert_eq!(answers.len(), expected.len());
        for (index, (answer, expected)) in answers.iter().zip(expected).enumerate() {
            assert_eq!(answer["line"], index + 1);
            let field = path.rsplit('/').next().unwrap();
            assert_eq!(json!(bits(answer.pointer(path).unwrap())), expected[field], "{model}, line {}", index + 1);
            let version = answer["model_version"].as_str().unwrap();
            assert!(version.starts_with(&format!("{model}.0.0+")), "{version}");
        }
        let summary = text(&output.stderr);
        assert!(summary.contains(&format!("rows scored by {model}.0.0+")), "{summary}");
        assert!(summary.contains(&format!(": {} in ", answers.len())), "{summary}");
        assert!(summary.contains("per second") && summary.ends_with("rejected: 0"), "{summary}");
    }
}

#[test]
fn refused_rows_are_reported_by_line_and_the_others_are_scored() {
    let data = DataDir::new();
    let good = transfer().to_string();
    let mut late = transfer();
    late["hour_of_day"] = json!(24);
    let mut named = transfer();
    named["user_id"] = json!("ana");
    named["note"] = json!("more fields are ignored");
    let long = format!("{{\"user_id\":\"{}\"}}", "x".repeat(64 << 10));
    let rows = [&good, "", "{\"amount\":1", &late.to_string(), &long, "[1]", &named.to_string()].join("\n");
    let input = data.file("rows.ndjson", &rows);
    let (results, rejects) = (data.name("results.ndjson"), data.name("rejects.ndjson"));
    let arguments = ["score", "--kind", "risk", "--input", &input, "--output", &results, "--rejects", &rejects];
    let output = data.run(&arguments);
    code(&output, REFUSED);
    let answers = lines(&data.read("results.ndjson"));
    assert_eq!(answers.iter().map(|answer| answer["line"].clone()).collect::<Vec<_>>(), [json!(1), json!(7)]);
    assert_eq!(answers[1]["user_id"], "ana");
    assert_eq!(answers[0]["result"], answers[1]["result"]);
    let refused: Vec<_> = lines(&data.read("rejects.ndjson"))
        .into_iter()
        .map(|row| (row["line"].as_u64().unwrap(), row["errors"][0]["code"].as_str().unwrap().to_owned()))
        .collect();
    let wanted = [(3, "malformed-json"), (4, "out-of-range"), (5, "too-long"), (6, "malformed-json")];
    assert_eq!(refused, wanted.map(|(line, code)| (line, code.to_owned())));
    let printed = text(&output.stderr);
    assert!(printed.contains("line 4: hour_of_day must be from 0 to 23"), "{printed}");
    assert!(printed.ends_with("rejected: 4"), "{printed}");
    assert_eq!(data.names(), ["rejects.ndjson", "results.ndjson", "rows.ndjson"], "nothing else is left");
}

#[test]
fn twenty_refused_rows_are_printed_and_all_are_kept_in_a_file() {
    let data = DataDir::new();
    let input = data.file("rows.ndjson", &"{}\n".repeat(50));
    let rejects = data.name("rejects.ndjson");
    let output = data.run(&["score", "--kind", "nudge", "--input", &input, "--rejects", &rejects]);
    code(&output, REFUSED);
    assert_eq!(text(&output.stderr).matches("screen is required").count(), 20);
    assert_eq!(lines(&data.read("rejects.ndjson")).len(), 50);
}

#[test]
fn csv_means_the_same_as_json() {
    let data = DataDir::new();
    let head = "\u{feff}user_id,amount,is_new_beneficiary,hour_of_day,num_past_transactions,avg_transaction_amount,\
                max_transaction_amount,num_transactions_to_beneficiary,is_new_device,geolocation_changed,\
                beneficiary_saved_minutes,note";
    let rows = "\"Pérez, Ana\",1000.01,FALSE,12,10,500,1500,5,False,false,,x\n\
                ,100,maybe,12,10,100,200,5,false,false,30,\n\
                ,100,false,12,10,100,200\n\
                ,3e3,true,23,1,100,200,0,TRUE,true,\"2000\",\n";
    let input = data.file("rows.csv", &format!("{head}\n{rows}"));
    let results = data.name("results.csv");
    let output = data.run(&["score", "--kind", "risk", "--input", &input, "--output", &results]);
    code(&output, REFUSED);
    let table = data.read("results.csv");
    let mut lines_of_table = table.lines();
    assert_eq!(
        lines_of_table.next(),
        Some("line,user_id,model_version,risk_level,risk_score,risk_factors,model_reasons,predictor")
    );
    let first = lines_of_table.next().unwrap();
    assert!(
        first.starts_with("2,\"Pérez, Ana\",risk-2.0.0+") && first.ends_with("AMOUNT_MUCH_HIGHER_THAN_AVERAGE,,"),
        "{first}"
    );
    let last = lines_of_table.next().unwrap();
    let all = "AMOUNT_MUCH_HIGHER_THAN_AVERAGE NEW_BENEFICIARY UNUSUAL_TIME NEW_DEVICE LOCATION_CHANGED LOW_HISTORY";
    assert!(last.starts_with("5,,risk-2.0.0+") && last.ends_with(&format!("{all},,")), "{last}");
    assert_eq!(lines_of_table.next(), None);
    let printed = text(&output.stderr);
    assert!(printed.contains("line 3: is_new_beneficiary must be true or false"), "{printed}");
    assert!(printed.contains("line 4: the row has 7 values, the header 12"), "{printed}");

    // The same facts as JSON, to the same table.
    let mut object = transfer();
    object["amount"] = json!(1000.01);
    object["avg_transaction_amount"] = json!(500);
    object["max_transaction_amount"] = json!(1500);
    let input = data.file("rows.ndjson", &object.to_string());
    code(&data.run(&["score", "--kind", "risk", "--input", &input, "--output", &results]), 0);
    let score = |line: &str| line.rsplit(',').nth(1).unwrap().to_owned();
    assert_eq!(score(data.read("results.csv").lines().nth(1).unwrap()), score(first));
}

/// As root, a file put in place of the null device would break the machine.
#[test]
fn a_device_is_written_and_a_link_stays() {
    let data = DataDir::new();
    let input = data.file("rows.ndjson", &transfer().to_string());
    let target = data.file("target.ndjson", "old");
    for (link, target) in [("null", "/dev/null"), ("link", target.as_str())] {
        symlink(target, data.name(link)).unwrap();
        code(&data.run(&["score", "--kind", "risk", "--input", &input, "--output", &data.name(link)]), 0);
        assert_eq!(fs::read_link(data.name(link)).unwrap(), Path::new(target));
    }
    assert_eq!(lines(&data.read("target.ndjson")).len(), 1);
    assert_eq!(data.names(), ["link", "null", "rows.ndjson", "target.ndjson"]);
}

#[test]
fn standard_input_is_read_and_accessibility_answers_in_a_language() {
    let data = DataDir::new();
    let row = r#"{"can_read_small_text":false,"uses_screen_reader":false,"app_confidence":"low","age_range":"31_50"}"#;
    let answer = |language: &str| {
        let mut command = data.command(&[
            "score",
            "--kind",
            "accessibility",
            "--input",
            "-",
            "--format",
            "ndjson",
            "--language",
            language,
        ]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(row.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        code(&output, 0);
        lines(&text(&output.stdout)).remove(0)
    };
    let [es, en] = ["es", "en"].map(answer);
    assert_eq!(es["recommendation"], en["recommendation"]);
    assert_eq!(es["explanation"][0], "Indicaste que te cuesta leer texto pequeño.");
    assert_eq!(en["explanation"][0], "You said that small text is hard for you to read.");
}

#[test]
fn a_row_that_breaks_the_model_is_refused_and_a_model_that_always_breaks_ends_the_run() {
    let data = DataDir::new();
    let hostile = root().join("target/components/fixtures/hostile.wasm");
    let hostile = hostile.to_str().unwrap();
    let results = data.name("results.ndjson");
    let score = |rows: &str| {
        let input = data.file("rows.ndjson", rows);
        data.run(&["score", "--kind", "nudge", "--component", hostile, "--input", &input, "--output", &results])
    };
    let rows = ["fine", "trap", "nan", "fine", "loop", "fine"].map(visit).join("\n");
    let output = score(&rows);
    code(&output, REFUSED);
    let scored: Vec<_> = lines(&data.read("results.ndjson")).iter().map(|answer| answer["line"].clone()).collect();
    assert_eq!(scored, [json!(1), json!(4), json!(6)]);
    let printed = text(&output.stderr);
    assert!(printed.contains("line 2: the model trapped"), "{printed}");
    assert!(printed.contains("line 3: the model's answer is not usable"), "{printed}");
    assert!(printed.contains("line 5: the model ran out of time"), "{printed}");

    let before = data.read("results.ndjson");
    let output = score(&vec![visit("trap"); 500].join("\n"));
    code(&output, 1);
    let printed = text(&output.stderr);
    assert!(printed.contains("100 consecutive rows have failed"), "{printed}");
    assert_eq!(data.read("results.ndjson"), before, "a run that failed leaves what was there");
    assert_eq!(data.names(), ["results.ndjson", "rows.ndjson"], "and nothing beside it");
}

#[test]
fn errors_in_the_arguments_are_reported_before_anything_is_written() {
    let data = DataDir::new();
    let rows = data.file("rows.ndjson", &transfer().to_string());
    let unnamed = data.file("rows.txt", "");
    let missing = data.name("missing.csv");
    let results = data.name("results.csv");
    let nudge = root().join("target/components/nudge.wasm");
    for (arguments, expected) in [
        (vec!["--kind", "risk", "--input", &unnamed], "does not end in .ndjson or .csv: set --format"),
        (vec!["--kind", "risk", "--input", &missing], "cannot read"),
        (
            vec!["--kind", "risk", "--input", &rows, "--model", "risk-9"],
            "there is no risk model 'risk-9'; choose from risk-2, risk-1",
        ),
        (vec!["--kind", "risk", "--input", &rows, "--model", "nudge-1"], "there is no risk model 'nudge-1'"),
        (vec!["--kind", "risk", "--input", &rows, "--component", nudge.to_str().unwrap()], "does not fit its world"),
        (vec!["--kind", "risk", "--input", &rows, "--component", &rows], "do not compile as a component"),
        (vec!["--kind", "horoscope", "--input", &rows], "invalid value 'horoscope'"),
    ] {
        let output = data.run(&[&["score", "--output", &results], &arguments[..]].concat());
        assert!(!output.status.success(), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
        assert!(!Path::new(&results).exists(), "{arguments:?}");
    }
}

#[test]
fn files_that_would_be_overwritten_are_refused() {
    let data = DataDir::new();
    let rows = transfer().to_string();
    let (input, output) = (data.file("rows.ndjson", &rows), data.name("results.ndjson"));
    let dotted = data.path().join(".").join("rows.ndjson");
    for (arguments, complaint) in [
        (["--output", &input, "--rejects", &output], "--output and --input are the same file"),
        (["--output", dotted.to_str().unwrap(), "--rejects", &output], "--output and --input are the same file"),
        (["--output", &output, "--rejects", &input], "--rejects and --input are the same file"),
        (["--output", &output, "--rejects", &output], "--output and --rejects are the same file"),
    ] {
        let run = data.run(&[&["score", "--kind", "risk", "--input", &input], &arguments[..]].concat());
        code(&run, 1);
        assert!(text(&run.stderr).contains(complaint), "{arguments:?}: {}", text(&run.stderr));
        assert_eq!(data.read("rows.ndjson"), rows, "{arguments:?}");
        assert_eq!(data.names(), ["rows.ndjson"], "{arguments:?}");
    }
}

#[test]
fn a_file_without_rows_is_not_a_success() {
    let data = DataDir::new();
    let head = "screen,num_validation_errors,time_on_screen_seconds,num_back_navigations,steps_total,current_step";
    for (name, contents) in [("rows.ndjson", "\n\n"), ("rows.csv", head)] {
        let input = data.file(name, contents);
        let run = data.run(&["score", "--kind", "nudge", "--input", &input, "--output", &data.name("results.csv")]);
        code(&run, 1);
        assert!(text(&run.stderr).ends_with(&format!("{name} has no rows")), "{}", text(&run.stderr));
        assert!(!data.names().contains(&"results.csv".to_owned()));
    }
}

#[test]
fn a_missing_column_is_reported_once_at_the_header() {
    let data = DataDir::new();
    let score = |kind: &str, contents: &str| {
        let input = data.file("rows.csv", contents);
        let run = data.run(&["score", "--kind", kind, "--input", &input, "--output", &data.name("results.csv")]);
        (run.status.code(), text(&run.stderr))
    };
    let head = "screen,num_validation_errors,time_on_screen_seconds,steps_total";
    let (code, stderr) = score("nudge", &format!("{head}\n{}", "home,0,0,4\n".repeat(20)));
    assert_eq!(code, Some(1));
    assert_eq!(stderr, "caudal: the header lacks num_back_navigations, current_step");
    assert_eq!(data.names(), ["rows.csv"]);
    // A column with a wrong value, an optional one and an alias are not missing.
    let head = "can_read_small_text,uses_screen_reader,app_confidence,age_range";
    let (code, stderr) = score("accessibility", &format!("{head}\ntrue,false,low,31_50\n"));
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn a_model_is_evaluated_on_labelled_rows() {
    let data = DataDir::new();
    let head = "amount,is_new_beneficiary,hour_of_day,num_past_transactions,avg_transaction_amount,max_transaction_amount,\
        num_transactions_to_beneficiary,is_new_device,geolocation_changed,fraud\n";
    let (usual, odd) = ("100,False,12,10,100,200,5,False,False,0\n", "9000,True,3,10,100,200,0,True,True,1\n");
    let rows = [head, &usual.repeat(60), &odd.repeat(20)].concat();
    let evaluate = ["models", "evaluate", "risk-1", "--json", "--input", &data.file("rows.csv", &rows)];
    let evaluated = data.run(&evaluate);
    code(&evaluated, 0);
    let found: Value = serde_json::from_slice(&evaluated.stdout).unwrap();
    assert_eq!((&found["metrics"][0]["name"], &found["metrics"][0]["value"]), (&json!("AUC"), &json!(1.0)));
    // Four of eighty rows, and there are twenty frauds.
    assert_eq!(found["metrics"][4]["value"], 0.2);
    assert_eq!((&found["levels"][0]["rows"], &found["levels"][0]["frauds"]["count"]), (&json!(60), &json!(0)));
    let bad = rows.replacen("False,0\n", "False,maybe\n", 1);
    let bad = data.run(&["models", "evaluate", "risk-1", "--input", &data.file("bad.csv", &bad)]);
    code(&bad, REFUSED);
    assert_eq!(text(&bad.stderr).trim(), "line 2: fraud must be 1 for a fraud, and 0 otherwise");
    assert!(text(&bad.stdout).contains("79 rows, 20 of them frauds\n\nMETRIC"), "{}", text(&bad.stdout));
}
