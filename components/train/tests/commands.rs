//! The command line: its output, and its errors on invalid files.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal-train"));
    command.arg("--root").arg(root()).args(arguments).env("RUST_BACKTRACE", "0").output().expect("the program starts")
}

fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn complaint(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    String::from_utf8(output.stderr).expect("text")
}

/// A folder that is removed after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("caudal-train.{}.{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path.to_str().expect("text").to_owned()
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("text").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn rows_are_generated_read_and_evaluated_for_each_kind() {
    let folder = Folder::new("rows");
    for (kind, model) in [("risk", "risk-2"), ("nudge", "nudge-1"), ("accessibility", "accessibility-2")] {
        let rows = folder.path(&format!("{kind}.csv"));
        printed(&["generate", "--kind", kind, "--rows", "3000", "--output", &rows]);
        let text = fs::read_to_string(&rows).expect("rows");
        assert_eq!(text.lines().count(), 3001, "{kind}");
        assert_eq!(printed(&["generate", "--kind", kind, "--rows", "3000"]), text, "{kind}: the same seed");
        let other = printed(&["generate", "--kind", kind, "--rows", "3000", "--seed", "1"]);
        assert_ne!(other, text, "{kind}: another seed");

        let measured = printed(&["evaluate", "--model", model, "--input", &rows]);
        assert!(measured.starts_with("## Results"), "{measured}");
        assert!(!measured.contains("ceiling:"), "the true probabilities of rows from a file are unknown: {measured}");
        let stable = printed(&["psi", "--model", model, "--reference", &rows, "--observed", &rows]);
        assert!(stable.contains("| none") && !stable.contains("major"), "{stable}");

        let weights = folder.path(&format!("{kind}.bin"));
        let fitted = printed(&["fit", "--model", model, "--input", &rows, "--output", &weights]);
        assert!(fitted.contains("SHA-256"), "{fitted}");
        printed(&["evaluate", "--model", model, "--input", &rows, "--weights", &weights]);
    }
    let moved = folder
        .file("moved.csv", &fs::read_to_string(folder.path("risk.csv")).expect("rows").replace(",false,", ",true,"));
    let drift = printed(&["psi", "--model", "risk-2", "--reference", &folder.path("risk.csv"), "--observed", &moved]);
    assert!(drift.contains("major"), "{drift}");
}

#[test]
fn an_explanation_adds_up() {
    let folder = Folder::new("explain");
    let request = folder.file(
        "case.json",
        r#"{"amount":3000,"is_new_beneficiary":true,"hour_of_day":23,"num_past_transactions":10,
            "avg_transaction_amount":1000,"max_transaction_amount":1500,"num_transactions_to_beneficiary":0,
            "is_new_device":false,"geolocation_changed":false}"#,
    );
    let output = printed(&["explain", "--model", "risk-2", "--input", &request]);
    assert!(output.contains("high: AMOUNT_MUCH_HIGHER_THAN_AVERAGE, NEW_BENEFICIARY, UNUSUAL_TIME."), "{output}");
    let value = |line: &str| -> f64 {
        let cell = line.rsplit('|').nth(1).expect("a cell").trim();
        cell.parse().unwrap_or_else(|_| panic!("{line}"))
    };
    let lines: Vec<_> = output.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let total = lines.iter().position(|line| line.contains("linear predictor")).expect("a sum");
    let sum: f64 = lines[..total].iter().map(|line| value(line)).sum();
    assert!((sum - value(lines[total])).abs() < 0.002, "{output}");

    let visit = r#"{"screen":"confirm","num_validation_errors":5,"time_on_screen_seconds":60,"num_back_navigations":1,
        "steps_total":4,"current_step":2}"#;
    let output = printed(&["explain", "--model", "nudge-1", "--input", &folder.file("visit.json", visit)]);
    assert!(output.contains("assist: high_error_rate_or_time."), "{output}");
    let person = r#"{"can_read_small_text":false,"uses_screen_reader":false,"feels_confident_with_apps":"low",
        "age_range":"60_plus","avg_time_per_screen_seconds":50,"total_validation_errors":0,"requested_help_count":0}"#;
    let output = printed(&["explain", "--model", "accessibility-2", "--input", &folder.file("person.json", person)]);
    assert!(output.contains("Indicaste que te cuesta leer texto pequeño."), "{output}");
}

#[test]
fn cut_offs_follow_the_costs() {
    let folder = Folder::new("threshold");
    let table = |name: &str, costs: &str| printed(&["threshold", "--cost-matrix", &folder.file(name, costs)]);
    // Missing a high transfer costs a great deal, so warn of everything.
    let anxious = table("anxious.csv", "severity,low,medium,high\nlow,0,0,0\nmedium,1000,0,0\nhigh,1000,1000,0\n");
    assert!(anxious.contains("| cheapest      |      0.0000 |    0.0000 |"), "{anxious}");
    // Warnings cost and misses do not, so never warn.
    let calm = table("calm.csv", "severity,low,medium,high\nlow,0,1,1\nmedium,0,1,1\nhigh,0,1,1\n");
    assert!(
        calm.lines().any(|line| line.starts_with("| cheapest") && line.contains(" 0.0000 (0.0000 to 0.0000) | yes")),
        "{calm}"
    );
    // A cost of one for each level of difference: the current cut-offs are close to the best.
    let even = table("even.csv", "severity,low,medium,high\nlow,0,1,2\nmedium,1,0,1\nhigh,2,1,0\n");
    let cut = |line: &str, column: usize| -> f64 {
        even.lines()
            .find(|it| it.starts_with(line))
            .and_then(|it| it.split('|').nth(column))
            .and_then(|cell| cell.split_whitespace().next())
            .expect("a cell")
            .parse()
            .expect("a number")
    };
    assert!((cut("| cheapest", 2) - 0.25).abs() < 0.06 && (cut("| cheapest", 3) - 0.75).abs() < 0.06, "{even}");
    // Chosen on other rows than measured, so it may lose by a hair.
    assert!(cut("| cheapest", 4) <= cut("| current", 4) + 0.01, "{even}");
}

#[test]
fn invalid_files_are_reported_with_line_and_reason() {
    let folder = Folder::new("wrong");
    let head = "amount,is_new_beneficiary,hour_of_day,num_past_transactions,avg_transaction_amount,\
                max_transaction_amount,num_transactions_to_beneficiary,is_new_device,geolocation_changed,\
                beneficiary_saved_minutes,age_range,severity";
    let good = "10.0,false,12,5,10.0,20.0,1,false,false,,18_30,low";
    for (bad, expected) in [
        (
            "10.0,false,12,5,10.0,20.0,1,false,false,,18_30,lowish",
            "unknown variant `lowish`, expected one of `low`, `medium`, `high`",
        ),
        ("-1,false,12,5,10.0,20.0,1,false,false,,18_30,low", "amount: Money has to be"),
        ("10.0,false,24,5,10.0,20.0,1,false,false,,18_30,low", "hour_of_day: The hour"),
        ("10.0,maybe,12,5,10.0,20.0,1,false,false,,18_30,low", "is_new_beneficiary"),
        ("10.0,false,12,5,10.0,20.0,1,false,false,,teen,low", "unknown variant"),
    ] {
        let rows = folder.file("rows.csv", &format!("{head}\n{good}\n{bad}\n"));
        let complaint = complaint(&["evaluate", "--model", "risk-2", "--input", &rows]);
        assert!(complaint.contains("line 3") && complaint.contains(expected), "{bad}: {complaint}");
    }
    let text = fs::read_to_string(folder.file("full.csv", &format!("{head}\n{good}\n"))).expect("rows");
    let without = |column: &str| text.replacen(&format!("{column},"), "", 1);
    let rows = folder.file("less.csv", &without("hour_of_day").replacen("age_range,", "", 1));
    let lacking = complaint(&["evaluate", "--model", "risk-2", "--input", &rows]);
    assert!(lacking.ends_with("less.csv: the header lacks hour_of_day\n"), "{lacking}");
    let costs = folder.file("head.csv", "severity,low\nlow,0\n");
    let lacking = complaint(&["threshold", "--cost-matrix", &costs]);
    assert!(lacking.ends_with("head.csv: the header lacks medium, high\n"), "{lacking}");
    let rows = folder.file("optional.csv", &without("beneficiary_saved_minutes").replace("false,,18", "false,18"));
    printed(&["evaluate", "--model", "risk-2", "--input", &rows]);
    // As pandas writes it, without what nothing goes by.
    let pandas = text.replace("false", "False").replace("age_range,", "").replace("18_30,", "");
    printed(&["evaluate", "--model", "risk-2", "--input", &folder.file("pandas.csv", &pandas)]);
    let other = root().join("components/nudge/models/nudge-1/weights.bin");
    let output = complaint(&["evaluate", "--model", "risk-2", "--weights", other.to_str().expect("text")]);
    assert!(output.contains("these weights are for another kind of model"), "{output}");
    let costs = folder.file("costs.csv", "severity,low,medium,high\nlow,0,1,2\nhigh,2,1,0\n");
    assert!(
        complaint(&["threshold", "--cost-matrix", &costs]).contains("a severity is missing or a cost is not finite")
    );
    let output = complaint(&["threshold", "--cost-matrix", &costs, "--model", "nudge-1"]);
    assert!(output.contains("only risk models have cut-offs"), "{output}");
    assert!(complaint(&["evaluate", "--model", "risk-9"]).contains("invalid value 'risk-9'"));
}

#[test]
fn a_build_rejects_weights_of_another_kind_before_it_compiles() {
    let build = |kind: &str, weights: &str| {
        let arguments = ["--model", kind, weights, "/dev/null"];
        let output = Command::new(root().join("components/build.sh")).args(arguments).output().expect("bash runs");
        assert!(!output.status.success());
        String::from_utf8(output.stderr).expect("text")
    };
    let nudge = root().join("components/nudge/models/nudge-1/weights.bin");
    let nudge = nudge.to_str().expect("text");
    assert_eq!(build("risk", nudge), format!("components: '{nudge}' has weights for nudge, not for risk.\n"));
    let folder = Folder::new("weights");
    let text = folder.file("weights.bin", "text");
    assert_eq!(build("risk", &text), format!("components: '{text}' is not a weights file.\n"));
}
