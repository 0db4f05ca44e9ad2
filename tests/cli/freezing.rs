//! `freeze` and `unfreeze`.

use serde_json::{Value, json};

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
    let found = ask(&["customer", "--account-number", number], 0);
    let user = found.split(',').next().unwrap().to_owned();
    assert!(found.contains(&format!("\n{id}  {number}  checking")) && found.contains("\nTRANSACTION"), "{found}");
    let found = ask(&["customer", "--tracking-key", sent["speiReference"].as_str().unwrap(), "--limit", "1"], 0);
    assert!(found.contains(&format!("\nPAYMENT {:28}  TYPE", "")), "{found}");
    assert!(found.contains(sent["id"].as_str().unwrap()) && found.contains("the first 1 transactions"), "{found}");
    let json: Value = serde_json::from_str(&ask(&["customer", "--user", &user, "--json"], 0)).unwrap();
    assert_eq!((&json["accounts"][0]["id"], &json["transactions"][0]["id"]), (&account["id"], &sent["id"]));
    assert!(ask(&["customer", "--user", "nobody"], 1).contains("no customer has the user nobody"));
    assert!(ask(&["customer", "--tracking-key", "A/B"], 1).contains("must be 1 to 30 letters and digits"));
    assert!(ask(&["customer"], 2).contains("required"));
    let day = "2026-01-01";
    let statement = ask(&["statement", "--account", number, "--date", day], 0);
    assert!(statement.starts_with("<?xml") && statement.ends_with("</Document>"), "{statement}");
    let statement = ask(&["statement", "--account", id, "--date", day, "--format", "csv"], 0);
    assert!(statement.contains("Saldo inicial"), "{statement}");
    assert!(ask(&["statement", "--account", id, "--date", "9999-01-01"], 1).contains("date: is in the future"));
    let spaced = format!("{} {}", &number[..3], &number[3..]);
    assert_eq!(ask(&["freeze", "--account", &spaced, "--reason", "x"], 0), format!("{id}: now frozen"));
    assert!(
        ask(&["freeze", "--account", "012180004643051249", "--reason", "x"], 1)
            .contains("no customer has the account number 012180004643051249")
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
    let stranger = other.ask(&service, &["customer", "--user", "ana"]);
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
