//! What a transfer tells its payee: the concept and the numeric reference.

use caudal::domain::clabe::SANDBOX_RANGE;
use caudal::ledger::batch::Terms;
use caudal::ledger::store::proof;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use crate::harness::{Answer, CLABE, Client, Options, PAYEE_CLABE, TestApp, ledger_key, refused};

const PATH: &str = "/api/ledger/transactions";

/// Ana's order of one peso, with these fields on top.
async fn order(ana: &Client, more: Value) -> Value {
    let accounts = ana.get("/api/ledger/accounts").await.json();
    let from = match accounts[0]["id"].as_str() {
        Some(id) => id.to_owned(),
        None => ana.open_account(CLABE).await,
    };
    let payees = ana.get("/api/ledger/beneficiaries").await.json();
    let to = match payees[0]["id"].as_str() {
        Some(id) => id.to_owned(),
        None => ana.save_payee("Luis", PAYEE_CLABE).await,
    };
    let mut body = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 1});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

async fn send(ana: &Client, more: Value) -> Answer {
    ana.post(PATH, order(ana, more).await).await
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_transfer_keeps_what_it_tells_the_payee(db: PgPool) {
    let (_app, ana) = TestApp::with_user(db).await;
    let told = json!({"concept": "  Renta de noviembre, año 2026 \n", "numericReference": 202_611});
    let made = send(&ana, told).await.assert_status(200).json();
    let shown = |it: &Value| (it["concept"].clone(), it["numericReference"].clone());
    let want = (json!("Renta de noviembre, año 2026"), json!(202_611));
    assert_eq!(shown(&made), want);
    assert_eq!(ana.get(PATH).await.json(), json!([made]));
    let account = made["fromAccountId"].as_str().unwrap();
    let entries = ana.get(&format!("/api/ledger/accounts/{account}/entries?limit=1")).await.json();
    assert_eq!(shown(&entries[0]), want);

    // Neither, or only one of them.
    for (more, shown) in [
        (json!({}), json!({})),
        (json!({"concept": null, "numericReference": null}), json!({})),
        (json!({"concept": " \t "}), json!({})),
        (json!({"concept": "x"}), json!({"concept": "x"})),
        (json!({"numericReference": 1.0}), json!({"numericReference": 1})),
    ] {
        let made = send(&ana, more).await.assert_status(200).json();
        for field in ["concept", "numericReference"] {
            assert_eq!(made.get(field), shown.get(field), "{made}");
        }
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_spei_cannot_carry_is_refused_and_changes_nothing(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let longest = format!(" {} ", "ñ".repeat(40));
    send(&ana, json!({"concept": longest, "numericReference": 9_999_999})).await.assert_status(200);
    let order = async |field: &str, value: Value| order(&ana, json!({field: value})).await;
    for (value, code) in [
        (json!("ñ".repeat(41)), "too-long"),
        (json!("x".repeat(60_000)), "too-long"),
        (json!("a\nb"), "invalid-characters"),
        (json!("a\tb"), "invalid-characters"),
        (json!("a\u{0}"), "invalid-characters"),
        (json!("a\u{202e}b"), "invalid-characters"),
        (json!("a\u{200f}b"), "invalid-characters"),
        (json!("a\u{200b}b"), "invalid-characters"),
        (json!("\u{feff}"), "invalid-characters"),
        (json!("a\u{a0}b"), "invalid-characters"),
        (json!("a\u{2028}b"), "invalid-characters"),
        (json!(7), "wrong-type"),
        (json!(["Renta"]), "wrong-type"),
    ] {
        let body = order("concept", value).await;
        refused(&app, ana.post(PATH, body.clone()), 400, "validation-failed", Some("concept")).await;
        assert_eq!(ana.post(PATH, body).await.json()["errors"][0]["code"], code);
    }
    for (value, code) in [
        (json!(0), "out-of-range"),
        (json!(-1), "out-of-range"),
        (json!(10_000_000), "out-of-range"),
        (json!(1e300), "out-of-range"),
        (json!(1.5), "wrong-type"),
        (json!("7"), "wrong-type"),
        (json!(true), "wrong-type"),
    ] {
        let body = order("numericReference", value).await;
        refused(&app, ana.post(PATH, body.clone()), 400, "validation-failed", Some("numericReference")).await;
        assert_eq!(ana.post(PATH, body).await.json()["errors"][0]["code"], code);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_key_belongs_to_what_the_transfer_tells(db: PgPool) {
    let app = TestApp::new(db).await;
    let ana = app.user("ana").with("idempotency-key", "k");
    let first = send(&ana, json!({"concept": "Renta", "numericReference": 7})).await.assert_status(200).json();
    let again = send(&ana, json!({"concept": " Renta", "numericReference": 7.0})).await;
    assert_eq!((again.header("idempotency-replayed"), again.json()), (Some("true"), first));
    for other in [
        json!({}),
        json!({"concept": "Renta"}),
        json!({"numericReference": 7}),
        json!({"concept": "renta", "numericReference": 7}),
        json!({"concept": "Renta", "numericReference": 8}),
    ] {
        let body = order(&ana, other).await;
        refused(&app, ana.post(PATH, body), 422, "idempotency-key-reused", Some("Idempotency-Key")).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_bulk_and_a_capture_tell_it_too(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let told = json!({"concept": "Nómina 17", "numericReference": 17, "idempotencyKey": "a"});
    let mut wrong = order(&ana, json!({"concept": "a\u{202e}", "idempotencyKey": "b"})).await;
    let right = order(&ana, told).await;
    let bulk = "/api/ledger/transactions/bulk";
    let both = ana.post(bulk, json!({"transfers": [right, wrong]}));
    refused(&app, both, 400, "validation-failed", Some("transfers[1].concept")).await;
    wrong["concept"] = json!("b");
    let made = ana.post(bulk, json!({"transfers": [right, wrong]})).await.assert_status(200).json();
    assert_eq!(made["results"][0]["transaction"]["concept"], "Nómina 17");
    assert_eq!(made["results"][0]["transaction"]["numericReference"], 17);
    assert_eq!(made["results"][1]["transaction"]["concept"], "b");

    let hold = ana.post("/api/ledger/holds", order(&ana, json!({})).await).await.assert_status(201).json();
    let capture = format!("/api/ledger/holds/{}/capture", hold["id"].as_str().unwrap());
    let told = json!({"concept": "Renta"});
    let captured = ana.post(&capture, told.clone()).await.assert_status(200).json();
    assert_eq!(captured["concept"], "Renta");
    // Without a key the hold tells a retry from another request, by all that both say.
    assert_eq!(ana.post(&capture, told).await.assert_status(200).json(), captured);
    refused(&app, ana.post(&capture, json!({"concept": "Rent"})), 409, "hold-ended", None).await;
    refused(&app, ana.post(&capture, json!({})), 409, "hold-ended", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payee_at_the_bank_reads_it(db: PgPool) {
    let terms = Terms { on_us: Some(SANDBOX_RANGE), ..Terms::OPEN };
    let app = TestApp::with(db, Options { terms, ..Options::default() }).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let (account, number) = luis.issued_account().await;
    let (from, to) = (ana.open_account(CLABE).await, ana.save_payee("Luis", &number).await);
    let body =
        json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": 1, "concept": "Renta", "numericReference": 7});
    ana.post(PATH, body).await.assert_status(200);
    let entries = luis.get(&format!("/api/ledger/accounts/{account}/entries?limit=1")).await.json();
    assert_eq!((&entries[0]["concept"], &entries[0]["numericReference"]), (&json!("Renta"), &json!(7)));
    assert_eq!(entries[0].get("beneficiaryName"), None);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn it_is_sealed_with_the_transfer(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let ana = app.user("ana");
    send(&ana, json!({"concept": "Renta"})).await.assert_status(200);
    send(&ana, json!({})).await.assert_status(200);
    // An attacker drops what is in the way.
    sqlx::query("alter table transfer drop constraint transfer_numeric_reference").execute(&db).await.unwrap();
    let is_whole =
        async || proof::prove(&mut db.acquire().await.unwrap(), &ledger_key()).await.unwrap().breaks.is_empty();
    assert!(is_whole().await);
    for (of, change, back) in [
        ("concept = 'Renta'", "concept = 'Rento'", "concept = 'Renta'"),
        ("concept = 'Renta'", "concept = null", "concept = 'Renta'"),
        ("concept = 'Renta'", "numeric_reference = 0", "numeric_reference = null"),
        ("kind = 'spei' and concept is null", "concept = 'Renta'", "concept = null"),
        ("kind = 'spei' and concept is null", "numeric_reference = 7", "numeric_reference = null"),
    ] {
        let ids = sqlx::AssertSqlSafe(format!("select transfer_id from transfer where {of}"));
        let id: Uuid = sqlx::query_scalar(ids).fetch_one(&db).await.unwrap();
        let set = async |change: &str| {
            let update = sqlx::AssertSqlSafe(format!("update transfer set {change} where transfer_id = $1"));
            sqlx::query(update).bind(id).execute(&db).await.unwrap();
            is_whole().await
        };
        assert!(!set(change).await, "{change} where {of}");
        assert!(set(back).await, "{back}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn one_transfer_is_shown_to_its_sender_only(db: PgPool) {
    let (app, ana) = TestApp::with_user(db).await;
    let made = send(&ana, json!({"concept": "Renta"})).await.assert_status(200).json();
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    assert_eq!(ana.get(&path).await.assert_status(200).json(), made);
    refused(&app, app.user("luis").get(&path), 404, "not-found", None).await;
    refused(&app, app.anon().get(&path), 401, "unauthorized", None).await;
    for id in ["00000000-0000-0000-0000-000000000000", "x", "1", made["fromAccountId"].as_str().unwrap()] {
        refused(&app, ana.get(&format!("{PATH}/{id}")), 404, "not-found", None).await;
    }
    // What opened the account is no transfer of the user's.
    let opening = app.text("select transfer_id::text from transfer where kind = 'opening'").await;
    refused(&app, ana.get(&format!("{PATH}/{opening}")), 404, "not-found", None).await;
    ana.get(&format!("{PATH}/bulk")).await.assert_status(405);
}
