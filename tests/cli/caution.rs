//! Changes that are easily made by mistake: each is tried without the flag that says that it is meant, and with it.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::models::{component, serving, wait_for};
use crate::process::{DataDir, Service, text};

impl DataDir {
    /// Runs `caudal models`, which must refuse, and returns why.
    fn refused(&self, service: &Service, arguments: &[&str]) -> String {
        let output = self.ask(service, &[&["models"], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", text(&output.stdout));
        text(&output.stderr)
    }

    /// Runs `caudal models` at a terminal, whose operator types a line.
    fn at_terminal(&self, service: &Service, arguments: &str, typed: &str) -> String {
        let command = format!("'{}' models {arguments}", env!("CARGO_BIN_EXE_caudal"));
        let mut script = std::process::Command::new("script");
        let script = script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
        let script = script.env("CAUDAL_DATA_DIR", &self.0).env("CAUDAL_ADMIN_URL", &service.assist);
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{typed}").unwrap();
        text(&child.wait_with_output().unwrap().stdout)
    }

    fn epoch(&self, service: &Service) -> i64 {
        let history: Value = serde_json::from_str(&self.models(service, &["history", "risk", "--json"])).unwrap();
        history["history"][0]["epoch"].as_i64().unwrap_or_default()
    }
}

#[test]
fn a_running_canary_is_ended_only_on_purpose() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let (champion, canary) = (serving(&service, "risk"), data.version(&service, "risk-1.0.0+"));
    let on_trial = ["deploy", "risk-2", "--canary", "risk-1", "--percent", "5", "--reason", "try it", "--wait"];
    data.models(&service, &on_trial);
    let warning = format!("this ends the canary {canary}, which answers 5% of the users");
    let refused = data.refused(&service, &["deploy", "risk-2", "--reason", "forgot it"]);
    assert_eq!(refused, format!("caudal: {warning}. Nothing was changed; to do it anyway, add --end-canary"));
    let asked = data.at_terminal(&service, "deploy risk-2 --reason 'forgot it'", "n");
    assert!(asked.contains(&format!("{warning}.")) && asked.contains("Continue? [y/N]"), "{asked}");
    assert!(asked.contains("nothing was changed"), "{asked}");
    assert_eq!(data.epoch(&service), 1);
    let ended = data.at_terminal(&service, "deploy risk-2 --reason 'enough seen'", "y");
    assert!(ended.contains(&format!("ended the canary {canary}")), "{ended}");
    assert_eq!(data.epoch(&service), 2);
    // The flag answers as well; keeping or promoting a canary ends nothing.
    data.models(&service, &on_trial);
    let more = ["deploy", "risk-2", "--canary", "risk-1", "--percent", "25", "--reason", "more", "--wait"];
    data.models(&service, &more);
    let ended = data.models(&service, &["deploy", "risk-2", "--reason", "enough", "--end-canary", "--wait"]);
    assert!(ended.starts_with(&format!("{champion} is deployed\nended the canary {canary}\n")), "{ended}");
    data.models(&service, &on_trial);
    let promoted = data.models(&service, &["deploy", "risk-1", "--reason", "it is good", "--wait"]);
    assert!(promoted.starts_with(&format!("{canary} is deployed in place of {champion}\n")), "{promoted}");
    service.stop();
}

#[test]
fn a_version_that_was_rolled_back_from_is_promoted_only_on_purpose() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let (second, first) = (serving(&service, "risk"), data.version(&service, "risk-1.0.0+"));
    data.models(&service, &["deploy", "risk-1", "--reason", "try it", "--wait"]);
    data.models(&service, &["rollback", "risk", "--reason", "too many alarms", "--wait", "--by", "eva"]);
    let warning = format!("{first} was rolled back by change 2 (eva): too many alarms");
    let advice = "Nothing was changed; to do it anyway, add --despite-setback";
    let refusals: [&[&str]; 2] =
        [&["deploy", "risk-1", "--reason", "again"], &["rollback", "risk", "--to", "risk-1", "--reason", "undo"]];
    for arguments in refusals {
        assert_eq!(data.refused(&service, arguments), format!("caudal: {warning}. {advice}"), "{arguments:?}");
    }
    let asked = data.at_terminal(&service, "deploy risk-1 --reason again", "");
    assert!(asked.contains(&warning) && asked.contains("nothing was changed"), "{asked}");
    assert_eq!(serving(&service, "risk"), second);
    // A second try with some users: a rollback ends it, and neither promotes nor restores the canary.
    let on_trial = ["deploy", "risk-2", "--canary", "risk-1", "--percent", "5", "--reason", "second try", "--wait"];
    let tried = data.models(&service, &on_trial);
    assert!(tried.starts_with(&format!("note: {warning}\n")), "{tried}");
    let back = data.models(&service, &["rollback", "risk", "--reason", "no better", "--wait"]);
    assert!(back.starts_with(&format!("{second} keeps serving\nended the canary {first}\n")), "{back}");
    assert_eq!(serving(&service, "risk"), second);
    data.models(&service, &["deploy", "risk-1", "--reason", "we know", "--despite-setback", "--wait"]);
    wait_for(&service, "risk", &first);
    service.stop();
}

#[test]
fn a_rollback_during_a_trial_leaves_a_blameless_champion() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let (built_in, champion) = (serving(&service, "risk"), data.version(&service, "risk-1.0.0+"));
    let pushed = data.models(&service, &["push", &component("fixtures/hostile-risk")]);
    let canary = pushed.rsplit(' ').next().unwrap();
    data.models(&service, &["deploy", &champion, "--reason", "better", "--wait"]);
    let trials: [&[&str]; 2] = [&["--canary", canary, "--percent", "5"], &["--shadow", canary]];
    for (trial, ended) in trials.into_iter().zip(["ended the canary", "removed the shadow"]) {
        data.models(&service, &[&["deploy", &champion, "--reason", "try", "--wait"], trial].concat());
        let back = data.models(&service, &["rollback", "risk", "--reason", "flips", "--wait"]);
        let kept = format!("{champion} keeps serving: to replace it too, add --to {built_in}\n{ended} {canary}\n");
        assert!(back.starts_with(&kept), "{back}");
        // A repeated command replaces nothing either, and another says how.
        let again = data.models(&service, &["rollback", "risk", "--reason", "flips", "--wait"]);
        assert!(again.starts_with(&format!("already ended: {champion} keeps serving\n")), "{again}");
        let refused = data.refused(&service, &["rollback", "risk", "--reason", "it too"]);
        assert!(refused.ends_with(&format!("add --to {built_in}")), "{refused}");
        assert_eq!(serving(&service, "risk"), champion);
    }
    data.models(&service, &["rollback", "risk", "--to", &built_in, "--reason", "it too", "--wait"]);
    wait_for(&service, "risk", &built_in);
    service.stop();
}

#[test]
fn a_start_of_a_name_is_enough_if_it_is_that_of_one_version() {
    let data = DataDir::new();
    let service = Service::start(&data);
    data.models(&service, &["push", &component("fixtures/hostile")]);
    let refused = data.refused(&service, &["deploy", "nudge-1", "--reason", "x"]);
    assert!(refused.contains("nudge-1 is ambiguous; it matches:\n  nudge-1.0.0+"), "{refused}");
    assert_eq!(refused.matches("\n  nudge-1.0.0+").count(), 2, "{refused}");
    let of_two_kinds = ["deploy", "risk-2", "--shadow", "accessibility-2", "--reason", "x"];
    assert!(data.refused(&service, &of_two_kinds).contains("belongs to accessibility, not to risk"));
    assert!(data.models(&service, &["show", "risk-2"]).starts_with("risk-2.0.0+"));
    service.stop();
}

/// A rollback keeps the cut-offs, so it is no way back from them.
#[test]
fn cut_offs_change_by_themselves_and_are_not_rolled_back() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let tried = ["deploy", "risk-2", "--shadow", "risk-1", "--reason", "compare", "--wait"];
    let (champion, shadow) = (serving(&service, "risk"), data.version(&service, "risk-1.0.0+"));
    let deployed = data.models(&service, &tried);
    assert!(deployed.starts_with(&format!("{champion} is deployed\nadded the shadow {shadow}\n")), "{deployed}");
    let moved = ["cut-offs", "risk", "--medium-from", "0.2", "--reason", "recall"];
    let said = data.models(&service, &[&moved[..], &["--wait"]].concat());
    let change = "risk is medium from 0.2, high from 0.75; it was medium from 0.25, high from 0.75";
    assert!(said.starts_with(change) && said.ends_with(&format!("1 of 1 hosts serve {champion}")), "{said}");
    assert_eq!(data.models(&service, &moved), "risk is medium from 0.2, high from 0.75 already");
    let history = data.models(&service, &["history", "risk"]);
    let last = history.lines().nth(1).unwrap();
    assert!(last.contains("0.2, 0.75") && last.contains(&shadow) && last.ends_with("recall"), "{history}");
    let refused = data.refused(&service, &["cut-offs", "risk", "--high-from", "0.1", "--reason", "x"]);
    assert!(refused.contains("cut_offs.high_from: must be above medium_from"), "{refused}");
    data.refused(&service, &["cut-offs", "nudge", "--high-from", "0.5", "--reason", "x"]);
    data.models(&service, &["deploy", "risk-2", "--reason", "enough seen", "--wait"]);
    data.models(&service, &["cut-offs", "risk", "--high-from", "0.6", "--reason", "more", "--wait"]);
    let back = data.refused(&service, &["rollback", "risk", "--reason", "too many"]);
    assert!(back.contains("`caudal models cut-offs risk --medium-from 0.2 --high-from 0.75`"), "{back}");
    service.stop();
}

#[test]
fn lists_have_headers_or_are_json() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let empty = data.models(&service, &["history", "risk"]);
    assert_eq!(empty, "nothing has been deployed for risk yet: the built-in version is serving");
    data.models(&service, &["deploy", "risk-1", "--reason", "try it", "--wait"]);
    let history = data.models(&service, &["history", "risk"]);
    let lines: Vec<_> = history.lines().collect();
    assert!(lines[0].starts_with("CHANGE  CHAMPION") && lines[0].ends_with("REASON"), "{history}");
    assert!(lines[1].starts_with("1       risk-1.0.0+") && lines[1].ends_with("try it"), "{history}");
    let lists: [(&[&str], &str); 5] = [
        (&["models", "list"], "models"),
        (&["models", "history", "risk"], "history"),
        (&["models", "rollout", "list", "risk"], "rollouts"),
        (&["payments", "list"], "payments"),
        (&["approvals", "list"], "approvals"),
    ];
    for (command, field) in lists {
        let output = data.ask(&service, &[command, &["--json"]].concat());
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(listed[field].is_array(), "{command:?}: {listed}");
    }
    service.stop();
}
