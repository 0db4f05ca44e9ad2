//! `outcomes`.

use serde_json::json;

use crate::ledger::with_transfers;
use crate::process::{DataDir, Service, text};

#[test]
fn outcomes_are_imported_once_and_faults_name_their_lines() {
    let data = DataDir::new();
    with_transfers(&data, 1);
    let service = Service::start(&data);
    let transfers = service.must("GET", "/api/ledger/transactions", None);
    let transfer = transfers[0]["id"].as_str().unwrap();
    let line = |kind: &str| json!({"subject_id": transfer, "kind": kind, "source": "chargeback", "known_at": "2026-01-02T03:04:05Z"});
    let import = |content: String| {
        let file = data.file("outcomes.ndjson", &content);
        let output = data.ask(&service, &["outcomes", "import", &file]);
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, said, _) = import(format!("{}\n{}\n", line("reported"), line("confirmed_fraud")));
    assert_eq!((code, &*said), (Some(0), "outcomes recorded: 2; known before: 0"));
    let (code, said, _) = import(format!("{}\n{}", line("reported"), line("withdrawn")));
    assert_eq!((code, &*said), (Some(0), "outcomes recorded: 1; known before: 1"));
    let (code, _, failed) = import(format!("{}\n{}\n[]", line("withdrawn"), line("fraud")));
    assert!(code == Some(1) && failed.contains("\n  line 2, kind: must be one of reported"), "{failed}");
    assert!(failed.contains("\n  line 3: must be a JSON object"), "{failed}");

    let report = data.ask(&service, &["outcomes", "report", "--days", "30"]);
    assert!(text(&report.stdout).contains("Labels are not missing at random"), "{}", text(&report.stderr));
    service.stop();
    for (format, begins) in [("csv", "subject_id,decided_at,version,role,level,score,outcome"), ("ndjson", "")] {
        let export = data.run(&["outcomes", "export", "--since", "1d", "--format", format]);
        assert!(export.status.success() && text(&export.stdout).starts_with(begins), "{}", text(&export.stderr));
    }
    assert!(data.run(&["verify"]).status.success());
}
