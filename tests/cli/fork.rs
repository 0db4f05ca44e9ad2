//! `caudal fork`: history that is executed again, and history that somebody changed.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::ledger::{account_and_payee, send, sql};
use crate::process::{DataDir, Service, code, eventually, text};

/// Transfers that settle, one that is returned, holds, money of another bank and a freeze.
fn with_history(data: &DataDir) {
    let listeners = ["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"];
    let rail =
        ["--rail", "simulated", "--simulated-delay", "0s", "--simulated-rejected", "0", "--simulated-returned", "0"];
    let service = Service::start_command(data.command(&[&listeners[..], &rail].concat()));
    let (account, payee) = account_and_payee(&service);
    for amount in ["1.00", "2.00", "3.00"] {
        assert_eq!(send(&service, &account, &payee, amount), 200);
    }
    let hold = |amount: f64| {
        let body = json!({"fromAccountId": account, "toBeneficiaryId": payee, "amount": amount});
        service.must("POST", "/api/ledger/holds", Some(body))["id"].as_str().unwrap().to_owned()
    };
    let captured = format!("/api/ledger/holds/{}/capture", hold(5.0));
    service.must("POST", &captured, Some(json!({"amount": 4.0})));
    hold(6.0);
    let all_settled = || {
        let sent = service.must("GET", "/api/ledger/transactions", None);
        sent.as_array().unwrap().iter().all(|it| it["status"] == "completed")
    };
    eventually("they settle", all_settled);
    let sent = service.must("GET", "/api/ledger/transactions", None);
    let id = sent[0]["id"].as_str().unwrap();
    code(&data.ask(&service, &["reverse", "--transaction", id, "--reason", "a mistake"]), 0);
    let issued = service.must("POST", "/api/ledger/accounts", Some(json!({"accountType": "checking"})));
    let number = issued["accountNumber"].as_str().unwrap();
    code(&data.ask(&service, &["rail", "receive", "--to", number, "--amount", "7.00"]), 0);
    for command in ["freeze", "unfreeze"] {
        code(&data.ask(&service, &[command, "--account", &account, "--reason", "a test"]), 0);
    }
    service.stop();
}

#[test]
fn history_is_executed_again_and_a_change_of_it_is_found() {
    let data = DataDir::new();
    with_history(&data);
    let null = data.run(&["fork"]);
    code(&null, 0);
    assert!(text(&null.stdout).contains("every batch is as it was recorded"), "{}", text(&null.stdout));
    let json = data.run(&["fork", "--json"]);
    let digest = hex::encode(Sha256::digest(&json.stdout));
    assert!(text(&null.stdout).ends_with(&format!("SHA-256 of the report: {digest}")), "{}", text(&null.stdout));
    let report: Value = serde_json::from_str(&text(&json.stdout)).unwrap();
    assert_eq!((&report["is_proven"], &report["unproven"]), (&json!(true), &json!(0)), "{report}");
    assert_eq!((&report["changes"], &report["balances"]["differ"]), (&json!([]), &json!(0)), "{report}");
    assert!(report["executed"]["commands"].as_u64().unwrap() >= 14, "{report}");

    let alike = data.run(&["fork", "--json", "--rules", "transfer-rules"]);
    code(&alike, 0);
    let alike: Value = serde_json::from_str(&text(&alike.stdout)).unwrap();
    assert_eq!((&alike["changes"], &alike["balances"]["differ"]), (&json!([]), &json!(0)), "{alike}");
    assert_eq!(alike["executed"], report["executed"]);
    let early = data.run(&["fork", "--to", "2020-01-01T00:00:00Z"]);
    assert!(text(&early.stdout).starts_with("executed: batches 0"), "{}", text(&early.stdout));
    let unknown = data.run(&["fork", "--rules", "transfer-rules-9.0.0+00000000"]);
    code(&unknown, 1);
    assert!(text(&unknown.stderr).contains("there is no version"), "{}", text(&unknown.stderr));

    sql(&data, "update transfer set amount = 200 where kind = 'spei' and amount = 300");
    let altered = data.run(&["fork"]);
    code(&altered, 1);
    let said = text(&altered.stdout);
    assert!(said.contains("first difference: batch ") && said.contains("run `caudal verify`"), "{said}");
}
