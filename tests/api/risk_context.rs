//! `/api/ledger/risk-context`: what the ledger knows about an upcoming transfer, scored.

use serde_json::{Value, json};
use sqlx::PgPool;
use time::Duration;

use crate::assistance_limits::in_case;
use crate::harness::{CLABE, Client, PAYEE_CLABE, TestApp, refused};

fn path(from: &str, to: &str, rest: &str) -> String {
    format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}{rest}")
}

async fn context(user: &Client, from: &str, to: &str, rest: &str) -> Value {
    user.get(&path(from, to, rest)).await.assert_status(200).json()
}

/// From a known device and the usual place.
const USUAL: &str = "&isNewDevice=false&geolocationChanged=false";

fn score(context: &Value) -> f64 {
    context["assessment"]["result"]["risk_score"].as_f64().unwrap()
}

/// The facts of the specification.
fn specified(context: &Value) -> Value {
    let is_counted =
        |name: &str| ["sent_", "to_payee_", "payees_", "refusals_"].iter().any(|prefix| name.starts_with(prefix));
    context["request"].as_object().unwrap().clone().into_iter().filter(|(name, _)| !is_counted(name)).collect()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_first_transfer_to_a_payee_says_so(db: PgPool) {
    let (_app, ana, from, to) = TestApp::ready(db).await;
    let first = context(&ana, &from, &to, &format!("&amount=1234.56{USUAL}")).await;
    // The opening credit is not one of her transfers, and noon in Mexico City is 18:00 UTC.
    let request = json!({
        "amount": 1234.56, "is_new_beneficiary": true, "hour_of_day": 12, "num_past_transactions": 0,
        "avg_transaction_amount": 0.0, "max_transaction_amount": 0.0, "num_transactions_to_beneficiary": 0,
        "is_new_device": false, "geolocation_changed": false, "beneficiary_saved_minutes": 0, "user_id": "ana",
    });
    assert_eq!(specified(&first), request);
    assert_eq!(first["assessment"]["user_id"], "ana");
    assert_eq!(first["assessment"]["result"]["risk_factors"], json!(["NEW_BENEFICIARY", "LOW_HISTORY"]));
    assert_eq!(first.as_object().unwrap().len(), 2, "{first}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn history_counts_completed_transfers_by_the_payees_account_number(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let from = ana.open_account(CLABE).await;
    let second = ana.open_account("second").await;
    let spaced = ana.save_payee("Eva", "012 180 0046 4305 1249").await;
    let hyphened = ana.save_payee("Eva López", "012-180-00464305124-9").await;
    let zoe = ana.save_payee("Zoe", "646180110400000012").await;
    for (from, to, amount) in [(&from, &spaced, "100"), (&second, &hyphened, "300"), (&from, &zoe, "200")] {
        ana.transfer(from, to, amount).await.assert_status(200);
    }
    ana.transfer(&from, &spaced, "99999999").await.assert_problem(400, "insufficient-funds", None);
    let (luis_from, luis_to) = (luis.open_account(CLABE).await, luis.save_payee("Eva", PAYEE_CLABE).await);
    luis.transfer(&luis_from, &luis_to, "5").await.assert_status(200);

    let to = ana.save_payee("E. López", PAYEE_CLABE).await;
    let facts = async |to: &str| {
        let request = context(&ana, &from, to, "&amount=500").await["request"].take();
        ["num_past_transactions", "avg_transaction_amount", "max_transaction_amount", "num_transactions_to_beneficiary"]
            .map(|field| request[field].as_f64().unwrap())
    };
    assert_eq!(facts(&to).await, [3.0, 200.0, 300.0, 2.0]);
    assert_eq!(facts(&zoe).await, [3.0, 200.0, 300.0, 1.0]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn its_request_scores_the_same_at_the_risk_endpoint(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    for amount in ["0.1", "33.33", "1234.56"] {
        ana.transfer(&from, &to, amount).await.assert_status(200);
    }
    app.clock.advance(Duration::hours(3));
    for rest in [
        "&amount=0.01",
        "&amount=987.65&hourOfDay=4",
        "&amount=5000.50&isNewDevice=true",
        "&amount=90071992547409.91&hourOfDay=23&isNewDevice=true&geolocationChanged=true",
    ] {
        let context = context(&ana, &from, &to, rest).await;
        let answer = app.ai().post("/ai/risk", context["request"].clone()).await.assert_status(200).json();
        assert_eq!(answer, context["assessment"], "{rest}");
        assert!(answer["model_version"].as_str().unwrap().starts_with("risk-"), "{answer}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn each_transfer_lowers_the_score_of_the_next_one(db: PgPool) {
    let (_app, ana, from, to) = TestApp::ready(db).await;
    let rest = format!("&amount=100{USUAL}");
    let mut last = score(&context(&ana, &from, &to, &rest).await);
    for sent in 1..=4 {
        ana.transfer(&from, &to, "100").await.assert_status(200);
        let next = context(&ana, &from, &to, &rest).await;
        assert!(score(&next) < last, "after {sent}: {next} is not below {last}");
        assert_eq!(next["request"]["is_new_beneficiary"], false);
        assert_eq!(next["request"]["num_transactions_to_beneficiary"], sent);
        last = score(&next);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn saving_a_payee_earns_trust_with_time_and_not_by_saving_it_again(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    ana.transfer(&from, &to, "100").await.assert_status(200);
    let rest = &format!("&amount=100&hourOfDay=12{USUAL}");
    let fresh = context(&ana, &from, &to, rest).await;

    app.clock.advance(Duration::seconds(30 * 60 + 59));
    let half_an_hour = context(&ana, &from, &to, rest).await;
    assert_eq!(half_an_hour["request"]["beneficiary_saved_minutes"], 30);
    assert_eq!(half_an_hour["assessment"], fresh["assessment"]);
    app.clock.advance(Duration::DAY);
    let aged = context(&ana, &from, &to, rest).await;
    assert_eq!(aged["request"]["beneficiary_saved_minutes"], 24 * 60 + 30);
    assert!(score(&aged) < score(&fresh), "{aged} is not below {fresh}");

    ana.delete(&format!("/api/ledger/beneficiaries/{to}")).await.assert_status(204);
    refused(&app, ana.get(&path(&from, &to, rest)), 400, "beneficiary-not-found", Some("toBeneficiaryId")).await;
    let again = ana.save_payee("Someone else", "0121 8000 4643 0512 49").await;
    let again = context(&ana, &from, &again, rest).await;
    assert_eq!((specified(&again), &again["assessment"]), (specified(&fresh), &fresh["assessment"]));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_hour_is_mexico_citys_and_the_client_may_say_more(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    for (rest, hour, device, place) in [
        // As for a transfer: what nobody says is known counts as unknown.
        ("", 12, true, true),
        ("&hourOfDay=0&geolocationChanged=false", 0, true, false),
        ("&hourOfDay=23&isNewDevice=true", 23, true, true),
        ("&geolocationChanged=true&isNewDevice=false", 12, false, true),
        ("&unknown=1&geolocationChanged=false&isNewDevice=false", 12, false, false),
    ] {
        let context = context(&ana, &from, &to, &format!("&amount=1{rest}")).await;
        let request = &context["request"];
        let actual = json!([request["hour_of_day"], request["is_new_device"], request["geolocation_changed"]]);
        assert_eq!(actual, json!([hour, device, place]), "{rest}");
        let mut factors = vec!["NEW_BENEFICIARY"];
        for (holds, code) in
            [(!(6..=22).contains(&hour), "UNUSUAL_TIME"), (device, "NEW_DEVICE"), (place, "LOCATION_CHANGED")]
        {
            factors.extend(holds.then_some(code));
        }
        factors.push("LOW_HISTORY");
        assert_eq!(context["assessment"]["result"]["risk_factors"], json!(factors), "{rest}");
    }
    for (hours, hour) in [(10, 22), (1, 23), (1, 0), (5, 5), (1, 6)] {
        app.clock.advance(Duration::hours(hours));
        let context = context(&ana, &from, &to, "&amount=1").await;
        assert_eq!(context["request"]["hour_of_day"], hour);
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn strangers_and_unknown_ids_are_not_found(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let (from, to) = (ana.open_account(CLABE).await, ana.save_payee("Eva", PAYEE_CLABE).await);
    let (luis_from, luis_to) = (luis.open_account(CLABE).await, luis.save_payee("Eva", PAYEE_CLABE).await);
    let nobody = "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b";
    let the_banks_own = "00000000-0000-7000-8000-000000000001";
    for (from, to, code, field) in [
        (nobody, to.as_str(), "account-not-found", "fromAccountId"),
        (&luis_from, &to, "account-not-found", "fromAccountId"),
        (the_banks_own, &to, "account-not-found", "fromAccountId"),
        (&luis_from, &luis_to, "account-not-found", "fromAccountId"),
        (&from, nobody, "beneficiary-not-found", "toBeneficiaryId"),
        (&from, &luis_to, "beneficiary-not-found", "toBeneficiaryId"),
        (&from, &from, "beneficiary-not-found", "toBeneficiaryId"),
    ] {
        refused(&app, ana.get(&path(from, to, "&amount=1")), 400, code, Some(field)).await;
    }
    refused(&app, app.anon().get(&path(&from, &to, "&amount=1")), 401, "unauthorized", None).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn parameters_are_checked_and_named(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let (invalid, amount) = ("validation-failed", "invalid-amount");
    let with = |name: &str, value: &str| {
        let mut parameters = vec![("fromAccountId", from.as_str()), ("toBeneficiaryId", &to), ("amount", "1")];
        parameters.retain(|(known, _)| *known != name);
        let pairs = parameters.iter().map(|(name, value)| format!("{name}={value}&"));
        format!("/api/ledger/risk-context?{}{value}", pairs.collect::<String>())
    };
    for (name, value, code) in [
        ("fromAccountId", "", invalid),
        ("fromAccountId", "fromAccountId=", invalid),
        ("fromAccountId", "fromAccountId=1", invalid),
        ("toBeneficiaryId", "", invalid),
        ("toBeneficiaryId", "toBeneficiaryId=%00", invalid),
        ("amount", "", invalid),
        ("amount", "amount=", amount),
        ("amount", "amount=0", amount),
        ("amount", "amount=-1", amount),
        ("amount", "amount=0.009", amount),
        ("amount", "amount=1.001", amount),
        ("amount", "amount=1,50", amount),
        ("amount", "amount=NaN", amount),
        ("amount", "amount=1e400", amount),
        ("hourOfDay", "hourOfDay=-1", invalid),
        ("hourOfDay", "hourOfDay=24", invalid),
        ("hourOfDay", "hourOfDay=1.5", invalid),
        ("hourOfDay", "hourOfDay=noon", invalid),
        ("hourOfDay", "hourOfDay=", invalid),
        ("isNewDevice", "isNewDevice=yes", invalid),
        ("isNewDevice", "isNewDevice=1", invalid),
        ("geolocationChanged", "geolocationChanged=True", invalid),
        ("geolocationChanged", "geolocationChanged=", invalid),
    ] {
        let path = with(name, value);
        refused(&app, in_case(value, ana.get(&path)), 400, code, Some(name)).await;
    }
    for field in ["fromAccountId", "toBeneficiaryId", "amount"] {
        refused(&app, ana.get("/api/ledger/risk-context"), 400, invalid, Some(field)).await;
    }
    ana.get(&with("", "")).await.assert_status(200);
}
