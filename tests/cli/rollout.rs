//! `caudal models rollout`, as an operator types it.

use serde_json::Value;

use crate::models::serving;
use crate::process::{DataDir, Service, text};

impl DataDir {
    fn rollout(&self, service: &Service, arguments: &[&str]) -> String {
        self.models(service, &[&["rollout"], arguments].concat())
    }

    fn no_rollout(&self, service: &Service, arguments: &[&str]) -> String {
        let output = self.ask(service, &[&["models", "rollout"], arguments].concat());
        assert!(!output.status.success(), "{arguments:?}: {}", text(&output.stdout));
        text(&output.stderr)
    }
}

#[test]
fn a_rollout_is_started_listed_paused_resumed_and_aborted() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let (champion, canary) = (serving(&service, "risk"), data.version(&service, "risk-1.0.0+"));
    assert_eq!(data.rollout(&service, &["list", "risk"]), "there has been no rollout of risk yet");
    assert!(
        data.no_rollout(&service, &["pause", "risk", "--reason", "x"])
            .contains("there has been no rollout of risk yet")
    );
    assert!(data.no_rollout(&service, &["start", "risk-1", "--steps", "25,5,100", "--reason", "x"]).contains("steps"));
    assert!(data.no_rollout(&service, &["start", "risk-1", "--steps", "101", "--reason", "x"]).contains("--steps"));
    assert!(data.no_rollout(&service, &["start", "risk-1", "--reason", " "]).contains("not be blank"));

    let start = ["start", "risk-1", "--steps", "10,50,100", "--step-time", "1h", "--reason", "better recall"];
    let started = data.rollout(&service, &start);
    assert!(started.starts_with(&format!("{canary} is the canary; steps: [10], 50, 100%")), "{started}");
    assert!(data.no_rollout(&service, &start).contains("A rollout is under way"));
    let listed = data.rollout(&service, &["list", "risk"]);
    let lines: Vec<_> = listed.lines().collect();
    assert!(lines[0].starts_with("CANARY") && lines[0].ends_with("WHY"), "{listed}");
    assert!(lines[1].starts_with(&canary) && lines[1].contains("running  [10], 50, 100%"), "{listed}");
    assert!(lines[1].ends_with("0 of 500 decisions"), "{listed}");
    let json: Value = serde_json::from_str(&data.rollout(&service, &["list", "risk", "--json"])).unwrap();
    assert_eq!(
        (&json["rollouts"][0]["step_seconds"], &json["rollouts"][0]["max_failure_percent"]),
        (&3600.into(), &1.into())
    );

    let paused = data.rollout(&service, &["pause", "risk", "--reason", "a holiday"]);
    assert_eq!(paused, format!("{canary} is paused, at step [10], 50, 100%"));
    assert!(data.no_rollout(&service, &["pause", "risk", "--reason", "again"]).contains("It is paused"));
    data.rollout(&service, &["resume", "risk", "--reason", "back"]);
    let aborted = data.rollout(&service, &["abort", "risk", "--reason", "enough"]);
    assert_eq!(aborted, format!("aborted: {canary} no longer answers anyone"));
    let history = data.models(&service, &["history", "risk"]);
    assert!(history.contains("rollout aborted: enough") && history.contains(&format!("{canary} 10%")), "{history}");
    assert_eq!(serving(&service, "risk"), champion);
    service.stop();
}
