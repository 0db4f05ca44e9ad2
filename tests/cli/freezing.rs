//! `freeze` and `unfreeze`.

use crate::ledger::{send, with_transfers};
use crate::process::{DataDir, Service, text};

/// An id that is nobody's.
const NOBODY: &str = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";

#[test]
fn a_frozen_account_sends_nothing_until_it_is_unfrozen() {
    let data = DataDir::new();
    let (account, payee) = with_transfers(&data, 1);
    let service = Service::start(&data);
    let set = |command: &str| {
        let output = data.ask(&service, &[command, "--account", &account, "--by", "eva", "--reason", "case 4711"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(set("freeze"), format!("{account}: now frozen"));
    assert_eq!(set("freeze"), format!("{account}: already frozen"));
    assert_eq!(send(&service, &account, &payee, "1.00"), 403);
    assert_eq!(set("unfreeze"), format!("{account}: no longer frozen"));
    assert_eq!(set("unfreeze"), format!("{account}: was not frozen"));
    assert_eq!(send(&service, &account, &payee, "1.00"), 200);
    assert_eq!(set("freeze"), format!("{account}: now frozen"));
    assert_eq!(send(&service, &account, &payee, "1.00"), 403);
    service.stop();
    let verify = data.run(&["verify"]);
    assert!(verify.status.success(), "{}", text(&verify.stdout));
}

#[test]
fn what_cannot_be_frozen_is_named() {
    let data = DataDir::new();
    let (account, _) = with_transfers(&data, 0);
    let service = Service::start(&data);
    for command in ["freeze", "unfreeze"] {
        let output = data.ask(&service, &[command, "--account", NOBODY, "--reason", "case 4711"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(&format!("there is no customer account {NOBODY}")));
        for reason in ["", " ", &"x".repeat(501)] {
            let output = data.ask(&service, &[command, "--account", &account, "--reason", reason]);
            assert!(text(&output.stderr).contains("must have 1 to 500 characters"), "{}", text(&output.stderr));
        }
        assert!(text(&data.run(&[command, "--account", &account]).stderr).contains("--reason"));
    }
}
