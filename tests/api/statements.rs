//! Statements of a day: camt.053, whose schema `tests/contract/camt.py` checks, and CSV.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use caudal::domain::incoming::IncomingOrder;
use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::transfer::RailName;
use caudal::ledger::{Command, Outcome, Receive};
use regex::Regex;
use serde_json::json;
use sqlx::PgPool;
use time::Duration;
use time::macros::date;

use crate::harness::{CLABE, Client, PAYEE_CLABE, TestApp, refused};

/// The tests start at noon of this day in Mexico City.
const TODAY: &str = "2026-11-21";

async fn camt(client: &Client, account: &str, day: &str) -> String {
    let answer = client.get(&format!("/api/ledger/accounts/{account}/statement?date={day}")).await;
    assert_eq!(answer.assert_status(200).header("content-type"), Some("application/xml"));
    answer.text
}

/// The rows of a statement in CSV, read as spreadsheets do.
async fn csv(client: &Client, account: &str, day: &str) -> Vec<Vec<String>> {
    let answer = client.get(&format!("/api/ledger/accounts/{account}/statement?date={day}&format=csv")).await;
    let text = answer.assert_status(200).text.strip_prefix('\u{feff}').unwrap();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The texts of all elements of this name, in order.
fn all<'a>(xml: &'a str, tag: &str) -> Vec<&'a str> {
    let element = Regex::new(&format!("<{tag}(?: [^>]*)?>([^<]*)</{tag}>")).unwrap();
    element.captures_iter(xml).map(|it| it.get(1).unwrap().as_str()).collect()
}

fn balances(xml: &str) -> Vec<(&str, &str)> {
    let parts: Vec<_> = xml.split("<Bal>").skip(1).map(|it| it.split("</Bal>").next().unwrap()).collect();
    parts.iter().map(|it| (all(it, "Cd")[0], all(it, "Amt")[0])).collect()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_statement_leads_from_the_opening_to_the_closing_balance(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let (account, number) = ana.issued_account().await;
    let payee = ana.save_payee("Luis", PAYEE_CLABE).await;
    app.clock.advance(Duration::DAY);
    let body = json!({"fromAccountId": account, "toBeneficiaryId": payee, "amount": 1500.5, "concept": "Renta",
        "numericReference": 202611});
    let sent = ana.post("/api/ledger/transactions", body).await.assert_status(200).json();
    let today = camt(&ana, &account, "2026-11-22").await;
    assert_eq!(balances(&today), [("OPBD", "10000.00"), ("ITBD", "8499.50")], "the day is not over");
    app.clock.advance(Duration::DAY);
    let xml = camt(&ana, &account, "2026-11-22").await;
    assert_eq!(balances(&xml), [("OPBD", "10000.00"), ("CLBD", "8499.50")]);
    let id = sent["id"].as_str().unwrap().replace('-', "");
    let key = sent["speiReference"].as_str().unwrap();
    for (tag, texts) in [
        ("NbOfNtries", vec!["1"]),
        ("AcctSvcrRef", vec![&*id, &id]),
        ("EndToEndId", vec![key]),
        ("TxId", vec![key]),
        ("SubFmlyCd", vec!["DMCT"]),
        ("Nm", vec!["Luis", "BBVA"]),
        ("MmbId", vec!["90999", "40012"]),
        ("Ustrd", vec!["Renta"]),
        ("Ref", vec!["202611"]),
        ("FrDtTm", vec!["2026-11-22T06:00:00.000Z"]),
        ("ToDtTm", vec!["2026-11-23T05:59:59.999Z"]),
    ] {
        assert_eq!(all(&xml, tag), texts, "{tag} in {xml}");
    }
    for id in [&*number, PAYEE_CLABE] {
        assert!(xml.contains(&format!("<Othr><Id>{id}</Id><SchmeNm><Prtry>CLABE</Prtry>")), "{xml}");
    }
    let entry = "<Amt Ccy=\"MXN\">1500.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>";
    assert!(xml.contains(entry), "{xml}");
    let rows = csv(&ana, &account, "2026-11-22").await;
    assert_eq!(rows[1][2..], ["Saldo inicial", "", "", "", "", "", "10000.00"]);
    let want = ["2026-11-22", "12:00:00", "Luis", "Renta", "202611", "Completada", key, "-1500.50", "8499.50"];
    assert_eq!(rows[2], want);
    assert_eq!((rows[3][2].as_str(), rows[3][8].as_str(), rows.len()), ("Saldo final", "8499.50", 4));
    let english = csv(&ana.with("accept-language", "en"), &account, "2026-11-22").await;
    assert_eq!((english[1][2].as_str(), english[2][5].as_str()), ("Opening balance", "Completed"));
    let first = camt(&ana, &account, TODAY).await;
    assert_eq!((balances(&first)[0], balances(&first)[1]), (("OPBD", "0.00"), ("CLBD", "10000.00")));
    let operator = app.operator(Some("ledger:read"));
    let path = format!("/admin/accounts/{account}/statement?date=2026-11-22");
    let seen = operator.get(&path).await.assert_status(200).text.clone();
    assert_eq!(all(&seen, "Stmt").len(), all(&xml, "Stmt").len());
    assert_eq!((balances(&seen), all(&seen, "Id")), (balances(&xml), all(&xml, "Id")));
    let recorded = "select subject_key || ' ' || action from audit_record where subject = 'look-up'";
    assert_eq!(app.text(recorded).await, "ana statement");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn hostile_texts_stay_texts(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    let account = ana.open_account(CLABE).await;
    let long = "ñ".repeat(200);
    for name in ["</Nm><Ntry>&\"']]>", "=1+1", "\t+7 \u{1f4b8}\r\n@x", "a,=b", &long] {
        let payee = ana.save_payee(name, "x1").await;
        let body =
            json!({"fromAccountId": account, "toBeneficiaryId": payee, "amount": 0.01, "concept": "<&>\u{1f4b8}"});
        ana.post("/api/ledger/transactions", body).await.assert_status(200);
    }
    let xml = camt(&ana, &account, TODAY).await;
    assert!(!xml.chars().any(|it| it.is_control()), "{xml}");
    let names: Vec<_> = all(&xml, "Nm").into_iter().filter(|name| *name != "BBVA").collect();
    assert_eq!(names[0], "&lt;/Nm&gt;&lt;Ntry&gt;&amp;&quot;&apos;]]&gt;");
    assert_eq!((names[2], names[4]), ("+7 \u{1f4b8}  @x", &*"ñ".repeat(140)));
    assert_eq!(all(&xml, "Ustrd"), ["&lt;&amp;&gt;\u{1f4b8}"; 5]);
    assert_eq!((all(&xml, "NbOfNtries"), xml.matches("<Ntry>").count()), (vec!["6"], 6));
    let rows = csv(&ana, &account, TODAY).await;
    let names: Vec<_> = rows[3..8].iter().map(|row| row[2].as_str()).collect();
    assert_eq!(names, ["</Nm><Ntry>&\"']]>", "'=1+1", "' +7 \u{1f4b8}  @x", "a,'=b", &long]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_day_may_have_no_entries_or_more_than_a_page(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let (account, payee) = ana.account_and_payee().await;
    app.clock.advance(Duration::DAY);
    for bulk in 0..2 {
        let transfer = |it: usize| {
            json!({"idempotencyKey": format!("{bulk}-{it}"), "fromAccountId": account, "toBeneficiaryId": payee,
                "amount": 0.01})
        };
        let transfers: Vec<_> = (0..1_000).map(transfer).collect();
        ana.post("/api/ledger/transactions/bulk", json!({"transfers": transfers})).await.assert_status(200);
    }
    app.clock.advance(Duration::DAY);
    let xml = camt(&ana, &account, "2026-11-22").await;
    assert_eq!(balances(&xml), [("OPBD", "10000.00"), ("CLBD", "9980.00")]);
    let numbers: Vec<_> = all(&xml, "NtryRef").iter().map(|it| it.parse::<u32>().unwrap()).collect();
    assert_eq!(numbers, (2..=2_001).collect::<Vec<_>>());
    assert!(xml.ends_with("</Stmt></BkToCstmrStmt></Document>"));
    let empty = camt(&ana, &account, "2026-11-23").await;
    assert_eq!(balances(&empty), [("OPBD", "9980.00"), ("ITBD", "9980.00")]);
    assert_eq!((all(&empty, "NbOfNtries"), empty.contains("<Ntry>")), (vec!["0"], false));
    assert_eq!(csv(&ana, &account, "2026-11-23").await.len(), 3);
    let before = camt(&ana, &account, "1970-01-01").await;
    assert_eq!(balances(&before), [("OPBD", "0.00"), ("CLBD", "0.00")]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn invalid_requests_are_refused(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let account = ana.open_account(CLABE).await;
    let path = format!("/api/ledger/accounts/{account}/statement");
    for (query, field) in [
        ("", "date"),
        ("?date=2026-11-22", "date"),
        ("?date=9999-12-31", "date"),
        ("?date=2026-02-30", "date"),
        ("?date=1969-12-31", "date"),
        ("?date=2026-11-21&format=pdf", "format"),
    ] {
        refused(&app, ana.get(&format!("{path}{query}")), 400, "validation-failed", Some(field)).await;
    }
    let day = format!("?date={TODAY}");
    app.user("luis").get(&format!("{path}{day}")).await.assert_problem(404, "not-found", None);
    app.anon().get(&format!("{path}{day}")).await.assert_problem(401, "unauthorized", None);
    // Midnight in Mexico City is six hours after that of UTC.
    app.clock.advance(Duration::hours(11));
    ana.get(&format!("{path}?date=2026-11-22")).await.assert_problem(400, "validation-failed", Some("date"));
}

/// The page's export and this one have the same columns and words.
#[test]
fn the_words_are_those_of_the_page() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let written = read("src/http/ledger/statement/csv.rs");
    let row = Regex::new(r#"(?m)^    \("([a-z.]+)", "([^"]*)", "([^"]*)"\),$"#).unwrap();
    let text = Regex::new(r#"(?m)^  "([a-z.]+)": "([^"]*)",$"#).unwrap();
    let words = |files: [&str; 2]| -> BTreeMap<String, String> {
        let all = files.map(|file| read(&format!("web/bank/{file}.js"))).concat();
        text.captures_iter(&all).map(|it| (it[1].to_owned(), it[2].to_owned())).collect()
    };
    let (spanish, english) = (words(["words-es", "words-es-home"]), words(["words-en", "words-en-home"]));
    let rows: Vec<_> = row.captures_iter(&written).collect();
    assert!(rows.len() > 20, "{}", rows.len());
    for row in &rows {
        assert_eq!(
            (spanish.get(&row[1]), english.get(&row[1])),
            (Some(&row[2].into()), Some(&row[3].into())),
            "{}",
            &row[1]
        );
    }
    let columns = read("web/bank/statement-export.js");
    let columns = columns.split("const COLUMNS = [").nth(1).unwrap().split(']').next().unwrap();
    let columns: Vec<_> = columns.split('"').skip(1).step_by(2).map(|it| format!("export.{it}")).collect();
    assert_eq!(rows[..columns.len()].iter().map(|it| it[1].to_owned()).collect::<Vec<_>>(), columns);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn money_from_another_bank_names_its_payer(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let (account, number) = ana.issued_account().await;
    let order = IncomingOrder {
        tracking_key: "Bbva0001".to_owned(),
        operating_date: date!(2026 - 11 - 23),
        institution: 40_012,
        amount: Money::from_minor(10_000),
        payer_name: Some("Jorge Ruiz".to_owned()),
        payer_number: Some("012180001234567897".to_owned()),
        payee_name: None,
        payee_number: number,
        remittance: Remittance { concept: Some("Renta".to_owned()), reference: None },
    };
    let received = app.core.submit(Command::Receive(Receive { rail: RailName::Simulated, order })).await.unwrap();
    assert!(matches!(received, Outcome::Received { .. }), "{received:?}");
    let xml = camt(&ana, &account, TODAY).await;
    let payer = "<RltdPties><Dbtr><Pty><Nm>Jorge Ruiz</Nm></Pty></Dbtr><DbtrAcct><Id><Othr><Id>012180001234567897</Id>";
    let bank = "<RltdAgts><DbtrAgt><FinInstnId><ClrSysMmbId><ClrSysId><Prtry>SPEI</Prtry></ClrSysId><MmbId>40012</MmbId>\
        </ClrSysMmbId><Nm>BBVA</Nm></FinInstnId></DbtrAgt></RltdAgts>";
    assert!(xml.contains(payer) && xml.contains(bank) && xml.contains("<TxId>Bbva0001</TxId>"), "{xml}");
    let row = &csv(&ana, &account, TODAY).await[3];
    assert_eq!(row[2..], ["Transferencia de Jorge Ruiz", "Renta", "", "", "Bbva0001", "100.00", "10100.00"]);
    let found = app.operator(Some("ledger:read")).get("/admin/customers?trackingKey=Bbva0001").await;
    let found = found.assert_status(200).json();
    let payment = &found["payments"][0];
    assert_eq!(
        (&found["user"], &payment["type"], &payment["name"]),
        (&json!("ana"), &json!("received"), &json!("Jorge Ruiz"))
    );
    assert_eq!((&payment["accountId"], &payment["amount"]), (&json!(account), &json!(100.0)));
}
