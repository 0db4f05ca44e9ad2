//! `/api/ledger/transactions/bulk`: many transfers in one request.

use std::collections::BTreeSet;

use caudal::domain::risk::Enforcement;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{CLABE, Client, Options, TestApp, refused};

const PATH: &str = "/api/ledger/transactions/bulk";

/// An id that is nobody's.
const NOBODY: &str = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";

fn item(key: &str, from: &str, to: &str, amount: impl Into<Value>) -> Value {
    json!({"idempotencyKey": key, "fromAccountId": from, "toBeneficiaryId": to, "amount": amount.into()})
}

fn bulk(transfers: impl IntoIterator<Item = Value>) -> Value {
    json!({"transfers": transfers.into_iter().collect::<Vec<_>>()})
}

async fn results(user: &Client, body: Value) -> Vec<Value> {
    user.post(PATH, body).await.assert_status(200).json()["results"].as_array().unwrap().clone()
}

fn count(results: &[Value], status: u16, replayed: bool) -> usize {
    results.iter().filter(|it| it["status"] == status && it["replayed"] == replayed).count()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn each_transfer_is_answered_as_if_sent_alone(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let itself = ana.save_payee("Ana", CLABE).await;
    ana.with("idempotency-key", "used").transfer(&from, &to, "1").await.assert_status(200);
    let transfers = [
        item("a", &from, &to, 100.5),
        item("b", &from, &itself, 1),
        item("used", &from, &to, 1),
        item("c", NOBODY, &to, 1),
        item("d", &from, NOBODY, 1),
        item("e", &from, &to, 9_898.51),
        item("f", &from, &to, 9_898.5),
    ];
    let answer = ana.post(PATH, bulk(transfers.clone())).await;
    let all = answer.assert_status(200).json()["results"].as_array().unwrap().clone();
    let shown: Vec<_> = all
        .iter()
        .map(|it| {
            let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
            let code = it["problem"]["code"].as_str().unwrap_or_default().to_owned();
            (text("idempotencyKey"), it["status"].as_u64().unwrap(), it["replayed"].as_bool().unwrap(), code)
        })
        .collect();
    let want = [
        ("a", 200, false, ""),
        ("b", 400, false, "same-account"),
        ("used", 200, true, ""),
        ("c", 400, false, "account-not-found"),
        ("d", 400, false, "beneficiary-not-found"),
        ("e", 400, false, "insufficient-funds"),
        ("f", 200, false, ""),
    ];
    assert_eq!(shown, want.map(|(key, status, replayed, code)| (key.to_owned(), status, replayed, code.to_owned())));
    assert_eq!(ana.balance().await, "0.00");
    let listed = ana.get("/api/ledger/transactions").await.json();
    for made in all.iter().filter(|it| it["status"] == 200) {
        assert!(listed.as_array().unwrap().contains(&made["transaction"]), "{made}");
        assert!(made.get("problem").is_none());
    }
    // The problem that the same transfer, sent alone, has.
    let single = ana.with("idempotency-key", "e").transfer(&from, &to, "9898.51").await;
    let (mut alone, mut within) = (single.json(), all[5]["problem"].clone());
    assert_eq!(within["requestId"].as_str(), answer.header("x-request-id"));
    assert_eq!(within["instance"], PATH);
    for name in ["requestId", "instance"] {
        (alone[name], within[name]) = (json!(null), json!(null));
    }
    assert_eq!(within, alone);
    // A retry of the whole bulk repeats what was decided, and decides the rest.
    let before = app.rows().await;
    let again = results(&ana, bulk(transfers)).await;
    assert_eq!((count(&again, 200, true), count(&again, 400, true), count(&again, 400, false)), (3, 2, 2));
    assert_eq!(app.rows().await, before);
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_thousand_transfers_from_one_account_are_made_in_order(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    // The last one is covered only by what is left after all others: 10,000.00 - 999 * 10.00 = 10.00.
    let transfers: Vec<_> = (0..1_000).map(|at| item(&format!("key{at}"), &from, &to, 10)).collect();
    let all = results(&ana, bulk(transfers.clone())).await;
    assert_eq!(count(&all, 200, false), 1_000, "{:?}", all.iter().find(|it| it["status"] != 200));
    assert_eq!(ana.balance().await, "0.00");
    let order = "select count(*) from (select entry.version, row_number() over (order by substr(key, 4)::int) + 1 as n \
        from idempotency join entry using (transfer_id) join account using (account_id) where account.kind = 'customer') \
        as made where version <> n";
    assert_eq!(app.count(order).await, 0, "made in the order of the request");
    let before = app.rows().await;
    assert_eq!(count(&results(&ana, bulk(transfers)).await, 200, true), 1_000);
    assert_eq!(app.rows().await, before);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn large_bulks_at_once_leave_room_in_the_queue(db: PgPool) {
    let app = TestApp::new(db).await;
    // All have an account first: a busy machine sheds requests for one while bulks are made.
    let mut users = Vec::new();
    for user in 0..10 {
        let client = app.user(&format!("user{user}"));
        let (from, to) = client.account_and_payee().await;
        users.push((client, from, to));
    }
    let eva = app.user("eva");
    let (eva_from, eva_to) = eva.account_and_payee().await;
    let mut sent = tokio::task::JoinSet::new();
    for (client, from, to) in users {
        sent.spawn(async move {
            let transfers = (0..400).map(|at| item(&format!("key{at}"), &from, &to, 1));
            count(&results(&client, bulk(transfers)).await, 200, false)
        });
    }
    // A machine that is busy with something else as well sheds some.
    let (mut made, mut shed) = (0, 0);
    while sent.try_join_next().is_none() {
        match eva.transfer(&eva_from, &eva_to, "1").await.status.as_u16() {
            200 => made += 1,
            503 => shed += 1,
            status => panic!("{status}"),
        }
    }
    assert!(made > 0, "{shed} were shed");
    assert!(sent.join_all().await.iter().all(|made| *made == 400));
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn one_invalid_transfer_refuses_the_whole_bulk(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let good = |key: &str| item(key, &from, &to, 1);
    let third = |change: &dyn Fn(&mut Value)| {
        let mut transfers = [good("a"), good("b"), good("c"), good("d")];
        change(&mut transfers[3]);
        bulk(transfers)
    };
    for (name, value) in [
        ("fromAccountId", json!("x")),
        ("toBeneficiaryId", json!(null)),
        ("idempotencyKey", json!(null)),
        ("idempotencyKey", json!("")),
        ("idempotencyKey", json!("a b")),
        ("idempotencyKey", json!("ñ")),
        ("idempotencyKey", json!(7)),
        ("idempotencyKey", json!("k".repeat(256))),
        ("isNewDevice", json!("no")),
        ("acknowledgmentToken", json!("x".repeat(801))),
        // The same key twice.
        ("idempotencyKey", json!("b")),
    ] {
        let body = third(&|item| item[name] = value.clone());
        let field = format!("transfers[3].{name}");
        refused(&app, ana.post(PATH, body), 400, "validation-failed", Some(&field)).await;
    }
    let body = third(&|item| item["amount"] = json!(0));
    refused(&app, ana.post(PATH, body), 400, "invalid-amount", Some("transfers[3].amount")).await;
    for junk in [json!(7), json!([]), json!("x"), json!(null)] {
        let body = third(&|item| *item = junk.clone());
        refused(&app, ana.post(PATH, body), 400, "validation-failed", Some("transfers[3]")).await;
    }
    for body in [json!({}), bulk([]), json!({"transfers": {}}), json!({"transfers": "x"}), json!({"transfers": null})] {
        refused(&app, ana.post(PATH, body), 400, "validation-failed", Some("transfers")).await;
    }
    results(&ana, bulk([item(&"k".repeat(255), &from, &to, 1), good("!~")])).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn bulks_have_limits(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let many = bulk((0..1_001).map(|at| item(&format!("key{at}"), &from, &to, 1)));
    refused(&app, ana.post(PATH, many), 400, "validation-failed", Some("transfers")).await;
    let body = bulk([item("a", &from, &to, 1)]).to_string();
    let padded = |length: usize| format!("{body}{}", " ".repeat(length - body.len()));
    let large = ana.post_text(PATH, &padded((1 << 20) + 1)).await;
    assert!(large.text.contains("1048576 bytes"), "{large:?}");
    refused(&app, ana.post_text(PATH, &padded((1 << 20) + 1)), 413, "payload-too-large", None).await;
    ana.post_text(PATH, &padded(1 << 20)).await.assert_status(200);
    // Other routes keep their own.
    refused(&app, ana.post_text("/api/ledger/transactions", &padded((64 << 10) + 1)), 413, "payload-too-large", None)
        .await;
    // A thousand transfers with every field and indentation fit.
    let full = |at: usize| {
        let mut full = item(&format!("{at:0100}"), &from, &to, 1.55);
        full["isNewDevice"] = json!(false);
        full["geolocationChanged"] = json!(false);
        // Longer than those for what a customer's history says.
        full["acknowledgmentToken"] = json!("x".repeat(400));
        full
    };
    let text = serde_json::to_string_pretty(&bulk((0..1_000).map(full))).unwrap();
    assert!(text.len() > 700_000, "{}", text.len());
    ana.post_text(PATH, &text).await.assert_status(200);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn junk_is_refused_in_time(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let deep = format!("{}1{}", "[".repeat(400_000), "]".repeat(400_000));
    for (transfers, field) in [
        (deep.clone(), "transfers[0]"),
        (format!("[{deep}]"), "transfers[0]"),
        (format!(r#"[{{"amount":{deep}}}]"#), "transfers[0].amount"),
        (format!("[{}1]", "1,".repeat(500_000)), "transfers"),
    ] {
        let body = format!(r#"{{"transfers":{transfers}}}"#);
        refused(&app, ana.post_text(PATH, &body), 400, "validation-failed", Some(field)).await;
    }
    let empty = format!(r#"{{"transfers":[{}{{}}]}}"#, "{},".repeat(999));
    let answer = ana.post_text(PATH, &empty).await;
    let faults = answer.assert_problem(400, "validation-failed", None).json()["errors"].as_array().unwrap().len();
    assert!((100..110).contains(&faults), "{faults} faults");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn each_transfer_has_a_risk_of_its_own(db: PgPool) {
    let app = TestApp::with(db, Options { risk_enforcement: Enforcement::Enforce, ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let query =
        format!("fromAccountId={from}&toBeneficiaryId={to}&amount=5000&isNewDevice=true&geolocationChanged=true");
    let shown = ana.get(&format!("/api/ledger/risk-context?{query}")).await.assert_status(200).json();
    let mut acknowledged = item("b", &from, &to, 5_000);
    acknowledged["acknowledgmentToken"] = shown["acknowledgmentToken"].clone();
    let all = results(&ana, bulk([item("a", &from, &to, 5_000), acknowledged])).await;
    assert_eq!((&all[0]["status"], &all[0]["problem"]["code"]), (&json!(400), &json!("risk-acknowledgment-required")));
    assert_eq!(all[1]["status"], 200);
    let ids: BTreeSet<_> = all.iter().map(|it| it["idempotencyKey"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2);
}

/// Many transfers below what would be refused are refused together, also to a payee who is saved twice.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn amounts_to_one_payee_add_up_in_their_risks(db: PgPool) {
    let app = TestApp::with(db, Options { risk_enforcement: Enforcement::Enforce, ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, known) = ana.account_and_payee().await;
    let usual = |key: &str, to: &str, amount: u32| {
        let mut item = item(key, &from, to, amount);
        (item["isNewDevice"], item["geolocationChanged"]) = (json!(false), json!(false));
        item
    };
    app.clock.advance(time::Duration::days(2));
    for key in 0..5 {
        results(&ana, bulk([usual(&key.to_string(), &known, 10)])).await;
    }
    let (new, again) =
        (ana.save_payee("Eva", "646180110400000012").await, ana.save_payee("E.", "646 180110400000012").await);
    let split: Vec<_> =
        (0..40).map(|at| usual(&format!("s{at}"), if at % 2 == 0 { &new } else { &again }, 10)).collect();
    let all = results(&ana, bulk(split.into_iter().chain([usual("other", &known, 10)]))).await;
    assert_eq!((&all[0]["status"], &all[40]["status"]), (&json!(200), &json!(200)), "others' amounts do not count");
    let refused = |it: &Value| it["problem"]["code"] == "risk-acknowledgment-required";
    assert!(all[5..40].iter().all(refused), "{:?}", all[5..40].iter().find(|it| !refused(it)));
}
