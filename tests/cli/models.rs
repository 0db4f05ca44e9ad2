//! `caudal models list | push | deploy | rollback`, beside a running service.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{DataDir, PATIENCE, Service, text};

pub(crate) fn component(name: &str) -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.join("target/components").join(name).with_extension("wasm").to_str().unwrap().to_owned()
}

/// The version of a kind that serves.
pub(crate) fn serving(service: &Service, kind: &str) -> String {
    let health: Value = service.must("GET", "/ai/health", None);
    health["models"][kind]["version"].as_str().unwrap().to_owned()
}

pub(crate) fn wait_for(service: &Service, kind: &str, version: &str) {
    let start = Instant::now();
    while serving(service, kind) != version {
        assert!(start.elapsed() < PATIENCE, "{} serves instead of {version}", serving(service, kind));
        sleep(Duration::from_millis(20));
    }
}

impl DataDir {
    /// Runs `caudal models`, which must succeed, and returns its output.
    pub(crate) fn models(&self, service: &Service, arguments: &[&str]) -> String {
        let output = self.ask(service, &[&["models"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    /// The full name of a registered version.
    pub(crate) fn version(&self, service: &Service, start: &str) -> String {
        let list = self.models(service, &["list"]);
        let line = list.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start} in {list}"));
        line.split_whitespace().next().unwrap().to_owned()
    }
}

#[test]
fn an_operator_swaps_a_model_while_the_service_runs_and_back() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let second = serving(&service, "risk");
    assert!(second.starts_with("risk-2.0.0+"));
    let first = data.version(&service, "risk-1.0.0+");
    let output = data.models(&service, &["deploy", &first, "--reason", "compare with the baseline", "--by", "ops"]);
    let loading = "1 host is loading it: see `caudal models list`, or use --wait";
    assert_eq!(output, format!("{first} is deployed in place of {second}\n{loading}"));
    wait_for(&service, "risk", &first);
    let again = data.models(&service, &["deploy", "risk-1", "--reason", "again", "--wait"]);
    assert!(again.starts_with(&format!("{first} is already deployed\n")), "{again}");
    assert!(again.ends_with(&format!("1 of 1 hosts serve {first}")), "{again}");
    let list = data.models(&service, &["list"]);
    let column = |version: &str, at: usize| {
        let line = list.lines().find(|line| line.starts_with(version)).unwrap();
        line.split_whitespace().nth(at).unwrap().to_owned()
    };
    assert!(list.starts_with("VERSION") && list.contains("\nHOST "), "{list}");
    assert_eq!((&*column(&first, 1), &*column(&second, 1)), ("serves", "previous"), "{list}");
    assert!(list.contains(&format!("serves {first} (change 1)")), "{list}");
    let output = data.models(&service, &["rollback", "risk", "--reason", "enough seen", "--wait=60"]);
    assert!(output.starts_with(&format!("rolled back to {second}\n")), "{output}");
    assert!(output.ends_with(&format!("1 of 1 hosts serve {second}")), "{output}");
    assert_eq!(serving(&service, "risk"), second);
    // A repeated command does not undo the first; naming the version does.
    let again = data.models(&service, &["rollback", "risk", "--reason", "enough seen", "--wait=60"]);
    assert_eq!(again, format!("already rolled back to {second}\n1 of 1 hosts serve {second}"));
    let back = ["rollback", "risk", "--to", "risk-1", "--reason", "one more look", "--wait=60", "--despite-setback"];
    let back = data.models(&service, &back);
    assert!(back.starts_with(&format!("rolled back to {first}\n")), "{back}");
    let back =
        ["rollback", "risk", "--from", &first, "--to", &second, "--reason", "x", "--wait=60", "--despite-setback"];
    let back = data.models(&service, &back);
    assert!(back.starts_with(&format!("rolled back to {second}\n")), "{back}");

    // After a restart the host serves what is deployed rather than the default.
    data.models(&service, &["deploy", &first, "--reason", "over night", "--wait", "--despite-setback"]);
    service.stop();
    let service = Service::start(&data);
    assert_eq!(serving(&service, "risk"), first);
    service.stop();
}

#[test]
fn waiting_ends_with_the_reason_when_a_host_cannot_serve_a_version() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let before = serving(&service, "nudge");
    let pushed = data.models(&service, &["push", &component("fixtures/hostile")]);
    let version = pushed.rsplit(' ').next().unwrap();
    // Another program broke the bytes after the gate had accepted them.
    let statement = format!("update component set bytes = 'x' where model_version = '{version}'");
    let script = "psql --quiet \"$DATABASE_URL\" --command \"$0\"";
    let broken = data.run(&["postgres", "--", "sh", "-c", script, &statement]);
    assert!(broken.status.success(), "{}", text(&broken.stderr));
    let deployed = data.ask(&service, &["models", "deploy", version, "--reason", "a test", "--wait"]);
    let stderr = text(&deployed.stderr);
    assert_eq!(deployed.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(&format!("cannot serve {version}: its bytes cannot be read")), "{stderr}");
    assert!(stderr.contains("were altered: run `caudal verify`"), "{stderr}");
    assert_eq!(serving(&service, "nudge"), before, "the version in service still answers");
    let list = data.models(&service, &["list"]);
    assert!(list.contains("change 1 failed: its bytes cannot be read"), "{list}");
    service.stop();
}

#[test]
fn a_card_is_pushed_with_its_component_and_shown() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let reference = json!([{"fact": "steps_total", "ends": [1], "shares": [0, 0.5, 0.5]}]);
    let good = json!({
        "owner": "Design team", "purpose": "Offers help.", "training_data": "Sessions.", "metrics": [], "limits": [],
        "next_review": "2027-01-31", "reference": reference,
    });
    let (file, good) = (component("fixtures/hostile"), good.to_string());
    let bad = data.file("bad.json", &good.replace("steps_total", "shoe_size"));
    let refused = data.ask(&service, &["models", "push", &file, "--card", &bad]);
    assert_eq!(refused.status.code(), Some(1));
    let stderr = text(&refused.stderr);
    assert!(stderr.contains("reference[0].fact must be one of num_validation_errors, "), "{stderr}");
    let pushed = data.models(&service, &["push", &file, "--card", &data.file("card.json", &good)]);
    let (before, version) = pushed.rsplit_once(' ').unwrap();
    assert!(before.ends_with("registered as"), "nothing was registered before: {pushed}");
    let shown = data.models(&service, &["show", version]);
    assert!(shown.contains("\n\nOwner: Design team. Next review: 2027-01-31.\n"), "{shown}");
    service.stop();
}

#[test]
fn a_report_says_why_nothing_was_compared() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let (champion, canary) = (serving(&service, "risk"), data.version(&service, "risk-1.0.0+"));
    let deploy = ["deploy", &champion, "--canary", &canary, "--percent", "1", "--reason", "a test", "--wait"];
    data.models(&service, &deploy);
    let report = || data.models(&service, &["report", "risk"]);
    assert!(report().contains("nothing was compared: no request has arrived"), "{}", report());
    let request = json!({
        "amount": 10, "is_new_beneficiary": false, "hour_of_day": 12, "num_past_transactions": 9,
        "avg_transaction_amount": 10, "max_transaction_amount": 20, "num_transactions_to_beneficiary": 1,
        "is_new_device": false, "geolocation_changed": false,
    });
    for _ in 0..20 {
        service.must("POST", "/ai/risk", Some(request.clone()));
    }
    let start = Instant::now();
    while !report().contains("20 requests observed") {
        assert!(start.elapsed() < PATIENCE, "{}", report());
    }
    // Which version a request gets depends on the digests of the components.
    let report = report();
    assert!(report.contains("none of the 20 requests belongs to its 1%") || report.contains("20 compared"), "{report}");
    service.stop();
}

#[test]
fn only_what_the_gate_accepts_is_registered() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let known = data.models(&service, &["push", &component("risk-1")]);
    assert!(known.ends_with("was already registered"), "{known}");
    let pushed = data.models(&service, &["push", &component("fixtures/hostile"), "--by", "ana"]);
    assert!(pushed.contains("note    differs") && pushed.contains("registered as nudge-1.0.0+"), "{pushed}");
    let list = data.models(&service, &["list"]);
    assert!(list.lines().any(|line| line.starts_with("nudge-1.0.0+") && line.ends_with(" ana")), "{list}");

    let text_file = data.path().join("no.wasm");
    std::fs::write(&text_file, "no component").unwrap();
    let refused = data.ask(&service, &["models", "push", text_file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stdout).contains("REFUSED format"), "{}", text(&refused.stdout));
    assert_eq!(data.models(&service, &["list"]), list, "nothing was registered");
}

#[test]
fn impossible_deployments_are_refused_with_a_reason() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let first = data.version(&service, "risk-1.0.0+");
    for (arguments, expected) in [
        (
            vec!["deploy", "risk-7.0.0+00000000", "--reason", "x"],
            "no registered component is called risk-7.0.0+00000000",
        ),
        (vec!["deploy", &first, "--reason", " "], "not be blank"),
        (vec!["deploy", &first], "--reason <REASON>"),
        (vec!["rollback", "risk", "--reason", "x"], "nothing has been deployed for risk"),
        (vec!["rollback", "horoscope", "--reason", "x"], "there is no kind 'horoscope'; choose from risk, nudge"),
    ] {
        let output = data.ask(&service, &[&["models"], &arguments[..]].concat());
        assert!(!output.status.success(), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
    }
}
