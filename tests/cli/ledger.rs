//! `verify` with its chain of hashes, `limits`, `events`, and the key that hosts share.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::evidence::LOSE_THE_LAST_BATCH;
use crate::process::{DataDir, Service, eventually, text};

/// An account with a few transfers; the service is stopped.
pub(crate) fn with_transfers(data: &DataDir, count: usize) -> (String, String) {
    let service = Service::start(data);
    let (account, payee) = account_and_payee(&service);
    for _ in 0..count {
        send(&service, &account, &payee, "1.00");
    }
    let heads = data.0.join("ledger-heads.json");
    eventually("the host notes where the chains end", || {
        let file: Value =
            fs::read_to_string(&heads).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let noted: Value = serde_json::from_str(file["signed"].as_str().unwrap_or("{}")).unwrap();
        noted["chains"].as_object().is_some_and(|chains| {
            chains.values().any(|heads| {
                let latest = heads.as_array().and_then(|heads| heads.last()?[0].as_u64());
                latest >= Some(count as u64)
            })
        })
    });
    service.stop();
    (account, payee)
}

pub(crate) fn account_and_payee(service: &Service) -> (String, String) {
    let account = json!({"accountNumber": "1", "accountType": "checking"});
    let payee = json!({"name": "Luis", "accountNumber": "012180004643051249", "bankName": "BBVA"});
    let create = |path, body| service.must("POST", path, Some(body))["id"].as_str().unwrap().to_owned();
    (create("/api/ledger/accounts", account), create("/api/ledger/beneficiaries", payee))
}

pub(crate) fn send(service: &Service, account: &str, payee: &str, amount: &str) -> u16 {
    let body = format!(r#"{{"fromAccountId":"{account}","toBeneficiaryId":"{payee}","amount":{amount}}}"#);
    service.call("POST", "/api/ledger/transactions", Some(serde_json::from_str(&body).unwrap())).0
}

pub(crate) fn sql(data: &DataDir, statements: &str) {
    let command = format!("psql -q -v ON_ERROR_STOP=1 \"$DATABASE_URL\" -c \"{statements}\"");
    let output = data.run(&["postgres", "--", "sh", "-c", &command]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn verify_names_the_batch_whose_rows_were_changed() {
    let data = DataDir::new();
    with_transfers(&data, 3);
    let verify = data.run(&["verify"]);
    assert!(verify.status.success(), "{}", text(&verify.stdout));
    sql(&data, "update transfer set beneficiary_name = 'Eva' where kind = 'spei' and amount = 100");
    let verify = data.run(&["verify"]);
    let printed = text(&verify.stdout);
    assert_eq!(verify.status.code(), Some(1));
    assert_eq!(printed.matches("its transfer rows were altered").count(), 3, "{printed}");
    assert!(printed.ends_with("the ledger is NOT sound: stop transfers and inspect the rows"), "{printed}");
}

#[test]
fn verify_since_looks_at_what_is_recent_only() {
    let data = DataDir::new();
    let (account, payee) = with_transfers(&data, 3);
    let since = |when: &str| data.run(&["verify", "--since", when]);
    let refused = since("last");
    assert!(text(&refused.stderr).contains("run `caudal verify` without --since"), "{}", text(&refused.stderr));
    assert!(data.run(&["verify"]).status.success());
    let service = Service::start(&data);
    assert_eq!(send(&service, &account, &payee, "2.00"), 200);
    service.stop();
    for when in ["last", "1h", "2020-01-01T00:00:00Z"] {
        let verify = since(when);
        let printed = text(&verify.stdout);
        assert!(verify.status.success(), "{when}: {printed}");
        assert!(printed.contains("NOT checked") && !printed.contains("the ledger is sound"), "{when}: {printed}");
    }
    let printed = text(&since("last").stdout);
    assert!(printed.contains("checked: batches 1, transfers 1, entries 2"), "{printed}");
    // The host recorded its last batch when it stopped.
    let printed = text(&since("heads").stdout);
    assert!(printed.contains("checked: batches 0"), "{printed}");

    sql(&data, "update transfer set beneficiary_name = 'Eva' where kind = 'spei' and amount = 100");
    assert!(since("last").status.success(), "what is before is not looked at");
    sql(&data, "update transfer set beneficiary_name = 'Eva' where amount = 200");
    let verify = since("last");
    let printed = text(&verify.stdout);
    assert_eq!(verify.status.code(), Some(1), "{printed}");
    assert!(printed.contains("its transfer rows were altered") && printed.contains("NOT sound"), "{printed}");
    assert_eq!(text(&data.run(&["verify"]).stdout).matches("its transfer rows were altered").count(), 4);
    assert!(text(&since("yesterday").stderr).contains("a duration such as 2h"));
}

#[test]
fn a_replica_is_verified_and_only_what_was_interrupted_is_resumed() {
    let data = DataDir::new();
    with_transfers(&data, 2);
    let resumed = data.run(&["verify", "--resume"]);
    assert!(text(&resumed.stderr).contains("run `caudal verify` without --resume"), "{}", text(&resumed.stderr));
    fs::write(data.0.join("postgres/data/standby.signal"), "").unwrap();
    let verify = data.run(&["verify"]);
    assert!(text(&verify.stdout).ends_with("the ledger is sound"), "{}{}", text(&verify.stdout), text(&verify.stderr));
}

#[test]
fn verify_detects_truncation() {
    let data = DataDir::new();
    with_transfers(&data, 3);
    sql(&data, LOSE_THE_LAST_BATCH);
    let verify = data.run(&["verify"]);
    let printed = text(&verify.stdout);
    assert_eq!(verify.status.code(), Some(1), "{printed}");
    assert_eq!(printed.matches("BROKEN").count(), 1, "{printed}");
    assert!(printed.contains("history was truncated"), "{printed}");
}

#[test]
fn a_named_file_of_heads_has_to_hold_some_and_is_written_on_request_only() {
    let data = DataDir::new();
    with_transfers(&data, 3);
    let (folder, own) = (data.0.join("audit"), data.0.join("ledger-heads.json"));
    let file = folder.join("heads.json");
    let verify = |more: &[&str]| data.run(&[&["verify", "--heads", file.to_str().unwrap()], more].concat());
    let refused = |output: &Output, why: &str| {
        let printed = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(output.status.code() == Some(1) && printed.contains(why), "{printed}");
        assert!(!file.exists());
    };
    refused(&verify(&["--record-heads"]), "is its disk mounted?");
    fs::create_dir(&folder).unwrap();
    refused(&verify(&[]), "--record-heads` once");
    refused(&verify(&["--since", "1h"]), "--record-heads` once");
    refused(&data.run(&["accept-loss", "--reason", "x", "--heads", file.to_str().unwrap()]), "there are no heads");
    let written = fs::read_to_string(&own).unwrap();
    for altered in ["{}".to_owned(), written.replacen("recorded", "Recorded", 1)] {
        fs::write(&file, altered).unwrap();
        let refused = verify(&[]);
        assert!(text(&refused.stderr).contains("or was altered"), "{}", text(&refused.stderr));
    }
    fs::copy(&own, &file).unwrap();
    let verified = verify(&[]);
    assert!(verified.status.success());
    let public_key = serde_json::from_str::<Value>(&written).unwrap()["public_key"].as_str().unwrap().to_owned();
    assert!(text(&verified.stdout).contains(&format!("public key is {public_key}")), "{}", text(&verified.stdout));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "not even what was proven");
    fs::remove_file(&file).unwrap();
    assert!(verify(&["--record-heads"]).status.success());
    assert!(file.exists() && file.with_extension("proven.json").exists());
    sql(&data, LOSE_THE_LAST_BATCH);
    let verified = verify(&[]);
    assert!(text(&verified.stdout).contains("history was truncated"), "{}", text(&verified.stdout));
}

#[test]
fn a_host_with_another_key_is_refused() {
    let data = DataDir::new();
    with_transfers(&data, 1);
    let other = "a key of thirty-two bytes at least";
    for command in
        [&["verify"][..], &["serve", "--sandbox", "--ledger-addr", "127.0.0.1:0", "--assist-addr", "127.0.0.1:0"]]
    {
        let output = data.command(command).env("CAUDAL_LEDGER_KEY", other).output().unwrap();
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains("made with another key"), "{}", text(&output.stderr));
        let output = data.command(command).env("CAUDAL_LEDGER_KEY", "short").output().unwrap();
        assert!(text(&output.stderr).contains("CAUDAL_LEDGER_KEY is too short"), "{}", text(&output.stderr));
    }
}

#[test]
fn limits_are_shown_set_and_held() {
    let data = DataDir::new();
    let (account, payee) = with_transfers(&data, 1);
    let service = Service::start(&data);
    let limits = |arguments: &[&str]| data.ask(&service, &[&["limits", "--user", "ana"], arguments].concat());
    assert_eq!(text(&limits(&[]).stdout), "ana: per transfer default, per day default");
    assert_eq!(text(&limits(&["--per-transfer", "5"]).stdout), "ana: per transfer 5.00 MXN, per day default");
    assert_eq!(text(&limits(&["--per-day", "8.00"]).stdout), "ana: per transfer 5.00 MXN, per day 8.00 MXN");
    assert!(text(&limits(&["--per-day", "0"]).stderr).contains("must be at least 0.01"));
    assert!(text(&data.run(&["limits", "--user", " "]).stderr).contains("not be blank"));

    assert_eq!(send(&service, &account, &payee, "5.01"), 400);
    assert_eq!(send(&service, &account, &payee, "5.00"), 200);
    assert_eq!(send(&service, &account, &payee, "2.01"), 400, "1.00 and 5.00 were sent today");
    assert!(limits(&["--per-day", "default", "--per-transfer", "default"]).status.success());
    assert_eq!(send(&service, &account, &payee, "5.01"), 200);
    service.stop();
}

#[test]
fn a_holders_name_is_set_and_verified() {
    let data = DataDir::new();
    with_transfers(&data, 1);
    let service = Service::start(&data);
    let holder = |arguments: &[&str]| data.ask(&service, &[&["holder", "--user", "ana"], arguments].concat());
    assert!(text(&holder(&[]).stdout).starts_with("ana: no verified name"));
    assert_eq!(text(&holder(&["--name", "Ana López"]).stdout), "ana: Ana López");
    assert_eq!(text(&holder(&[]).stdout), "ana: Ana López");
    assert!(text(&holder(&["--name", " "]).stderr).contains("not be blank"));
    assert_eq!(text(&data.ask(&service, &["payments", "list"]).stdout), "no payment is pending");
    assert!(data.run(&["verify"]).status.success());
    let forge = "update app_user set holder_name = 'Luis' where owner = 'ana'";
    sql(&data, forge);
    let verified = data.run(&["verify"]);
    assert!(!verified.status.success() && text(&verified.stdout).contains("holder ana: was altered"), "{verified:?}");
}

#[test]
fn limits_hold_from_a_users_first_account_on() {
    let data = DataDir::new();
    let service = Service::start(&data);
    let limits =
        |arguments: &[&str]| text(&data.ask(&service, &[&["limits", "--user", "ana"], arguments].concat()).stdout);
    assert_eq!(limits(&[]), "ana: per transfer default, per day default");
    assert_eq!(limits(&["--per-transfer", "0.99"]), "ana: per transfer 0.99 MXN, per day default");
    let (account, payee) = account_and_payee(&service);
    assert_eq!(send(&service, &account, &payee, "1.00"), 400);
    assert_eq!(send(&service, &account, &payee, "0.99"), 200);
    service.stop();
}

#[test]
fn events_resume_where_an_earlier_run_stopped() {
    let data = DataDir::new();
    let (account, payee) = with_transfers(&data, 3);
    let lines = |from: &str| -> Vec<Value> {
        let output = data.run(&["events", "--from", from]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let first = lines("0");
    assert_eq!(lines(""), first);
    let kinds: Vec<_> = first.iter().map(|line| line["events"][0]["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["opening", "transfer", "transfer", "transfer"]);
    assert_eq!(
        (&first[1]["events"][0]["owner"], &first[1]["events"][0]["status"]),
        (&json!("ana"), &json!("completed"))
    );
    // From any line on, the rest is printed exactly once.
    for (at, line) in first.iter().enumerate() {
        assert_eq!(lines(line["cursor"].as_str().unwrap()), first[at + 1..]);
    }
    let service = Service::start(&data);
    assert_eq!(send(&service, &account, &payee, "2.00"), 200);
    let rest = lines(first[3]["cursor"].as_str().unwrap());
    assert_eq!((rest.len(), &rest[0]["events"][0]["amount"]), (1, &json!(2.0)));
    service.stop();
    assert!(text(&data.run(&["events", "--from", "x"]).stderr).contains("not a cursor"));
}

#[test]
fn newer_migrations_are_accepted_while_they_support_this_program() {
    let data = DataDir::new();
    let (account, payee) = with_transfers(&data, 1);
    // What the next release leaves behind: a migration that this program does not know.
    sql(
        &data,
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
            values (900, 'next release', true, '', 0);
        alter table transfer add column channel text",
    );
    let service = Service::start(&data);
    send(&service, &account, &payee, "1.00");
    service.stop();
    assert!(data.run(&["verify"]).status.success());
    sql(&data, "update schema_compatibility set oldest_migration = 900");
    let refused = data.run(&["verify"]);
    let printed = text(&refused.stderr);
    assert!(!refused.status.success());
    assert!(
        printed.contains("only programs that know migration 900 may use it")
            && printed.contains("start the newer release"),
        "{printed}"
    );
}
