//! `freeze` and `unfreeze`.

use serde_json::json;

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
fn an_operator_finds_what_customers_quote_and_a_second_one_approves() {
    let data = DataDir::new();
    let listeners = ["--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
    let service =
        Service::start_command(data.command(&[&["serve", "--sandbox", "--approvals"][..], &listeners].concat()));
    let account = service.must("POST", "/api/ledger/accounts", Some(json!({"accountType": "checking"})));
    let (id, number) = (account["id"].as_str().unwrap(), account["accountNumber"].as_str().unwrap());
    let payee = json!({"name": "Luis", "accountNumber": "012180004643051249", "bankName": "BBVA"});
    let payee = service.must("POST", "/api/ledger/beneficiaries", Some(payee));
    let order = json!({"fromAccountId": id, "toBeneficiaryId": payee["id"], "amount": 10});
    let sent = service.must("POST", "/api/ledger/transactions", Some(order));
    let ask = |command: &[&str], code: i32| {
        let output = data.ask(&service, command);
        let printed = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{command:?}: {printed}");
        printed
    };
    let found = ask(&["find", number], 0);
    assert!(found.starts_with("ACCOUNT") && found.contains(&format!("{id}  ")), "{found}");
    let found = ask(&["find", sent["speiReference"].as_str().unwrap()], 0);
    assert!(found.contains("\nTRANSACTION") && found.contains(sent["id"].as_str().unwrap()), "{found}");
    assert!(ask(&["find", "nobody"], 1).contains("nobody is not a user"));
    let spaced = format!("{} {}", &number[..3], &number[3..]);
    assert_eq!(ask(&["freeze", "--account", &spaced, "--reason", "x"], 0), format!("{id}: now frozen"));
    assert!(
        ask(&["freeze", "--account", "012180004643051249", "--reason", "x"], 1)
            .contains("nor a number that the bank issued")
    );
    assert!(ask(&["freeze", "--account", "x", "--reason", "x"], 1).contains("or its CLABE"));

    let fund = ["fund", "--account", number, "--amount", "1.00", "--transaction", NOBODY, "--by", "ana"];
    let ends = [(0, "done\n  accountId: "), (1, "approved, and nothing was changed: it was so before\n")];
    for (code, said) in ends {
        let proposed = ask(&fund, 0);
        let approval = proposed.rsplit(' ').next().unwrap();
        let read = ask(&["approvals", "approve", approval, "--by", "eva"], 1);
        let approve = ["approvals", "approve", approval, "--by", "eva", "--digest", read.rsplit(' ').next().unwrap()];
        let printed = ask(&approve, code);
        assert!(printed.starts_with(said) && !printed.contains('{'), "{printed}");
    }
    let other = DataDir::new();
    Service::start(&other).stop();
    let stranger = other.ask(&service, &["find", "ana"]);
    assert!(text(&stranger.stderr).contains(&format!("says {}", service.assist)), "{}", text(&stranger.stderr));
    service.stop();
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
