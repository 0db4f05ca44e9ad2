//! `token`, `fund`, `verify`, `postgres`.

use serde_json::json;

use crate::process::{DataDir, Service, text};

#[test]
fn a_printed_token_is_usable() {
    let data = DataDir::new();
    // Before the service first runs: it adopts the secret.
    let token = text(&data.run(&["--create", "token", "--user", "luis", "--ttl", "5m"]).stdout);
    let mut service = Service::start(&data);
    service.token = token;
    service.must("GET", "/api/ledger/accounts", None);
    service.token = text(&data.run(&["token", "--user", "luis", "--ttl", "1s"]).stdout);
    assert_eq!(service.call("GET", "/api/ledger/accounts", None).0, 200, "within the leeway");
    service.token += "x";
    assert_eq!(service.call("GET", "/api/ledger/accounts", None).0, 401);
    service.stop();
}

#[test]
fn fund_credits_an_account_while_the_service_runs_and_verify_proves_it() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let account = json!({"accountNumber": "1", "accountType": "checking"});
    let id = service.must("POST", "/api/ledger/accounts", Some(account))["id"].as_str().unwrap().to_owned();
    let transaction = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";
    let credit = ["fund", "--account", &id, "--amount", "100.50", "--transaction", transaction];
    let fund = data.ask(&service, &credit);
    assert_eq!(text(&fund.stdout), "credited 100.50 MXN, new balance 10100.50 MXN", "{}", text(&fund.stderr));
    assert_eq!(text(&data.ask(&service, &credit).stdout), "already credited 100.50 MXN");
    assert_eq!(service.must("GET", "/api/ledger/accounts", None)[0]["balance"], 10_100.5);
    assert_eq!(
        service.must("GET", "/api/ledger/transactions", None),
        json!([]),
        "a credit is not one of the user's transfers"
    );
    service.stop();

    // Without a service the command starts the database itself, and stops it.
    let verify = data.run(&["verify"]);
    assert!(verify.status.success());
    assert!(text(&verify.stdout).ends_with("the ledger is sound"), "{}", text(&verify.stdout));
    assert_eq!(data.postgres(), None);

    let tamper = "psql -q \"$DATABASE_URL\" -c \"update account_balance set posted = posted + 1 where posted > 0\"";
    assert!(data.run(&["postgres", "--", "sh", "-c", tamper]).status.success());
    let verify = data.run(&["verify"]);
    assert_eq!(verify.status.code(), Some(1));
    assert!(text(&verify.stdout).contains("BROKEN"), "{}", text(&verify.stdout));
}

#[test]
fn fund_rejects_invalid_accounts_and_amounts() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let nobody = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";
    let funding = "00000000-0000-7000-8000-000000000001";
    for (account, amount, complaint) in [
        (nobody, "1", "there is no customer account"),
        (funding, "1", "there is no customer account"),
        (nobody, "0", "must be at least 0.01"),
        (nobody, "1.005", "must have at most two decimals"),
        (nobody, "-1", "must be at least 0.01"),
        (nobody, "all", "must be a JSON number"),
        ("nobody", "1", "must be the id of an account, or its CLABE"),
    ] {
        let fund = data.ask(&service, &["fund", "--account", account, &format!("--amount={amount}")]);
        assert!(!fund.status.success(), "{account} {amount}");
        let printed = text(&fund.stderr);
        assert!(printed.contains(complaint), "{account} {amount}: {printed}");
    }
}

#[test]
fn replaying_no_decisions_is_not_a_success() {
    let data = DataDir::new();
    let replay = data.run(&["--create", "replay", "--since", "2h"]);
    assert_eq!(replay.status.code(), Some(1));
    assert!(text(&replay.stderr).contains("no risk decision was kept within --since 2h"), "{}", text(&replay.stderr));
}

#[test]
fn postgres_runs_a_command_and_returns_its_exit_code() {
    let data = DataDir::new();
    let psql = data.run(&["postgres", "--", "sh", "-c", "psql -At \"$DATABASE_URL\" -c 'select 6 * 7'"]);
    assert_eq!(text(&psql.stdout), "42");
    assert_eq!(data.run(&["postgres", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(data.postgres(), None);
}
