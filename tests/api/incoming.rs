//! Orders of other banks through STP, whose notices anybody could forge: who is credited, what is sent back, and that nothing
//! counts twice.

use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::transfer::RailName;
use caudal::ledger::{Command, Outcome, Receive};
use caudal::rail::IncomingOrder;
use caudal::rail::courier::CLAIM;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::macros::date;

use crate::events::Listener;
use crate::harness::{Options, TestApp, refused};
use crate::stand_in::{Fault, INQUIRE, Incoming, RETURN, StandIn};
use crate::stp::{MONDAY, app, monday, wait};

const NOTICE: &str = "/rails/stp/order";

const OPERATE: Option<&str> = Some("ledger:operate");

/// Of another bank, for 100.00.
pub(crate) fn order(key: &str, payee: &str) -> Incoming {
    Incoming {
        tracking_key: key.to_owned(),
        institution: 40_012,
        amount: "100.00".to_owned(),
        payer: "012180001234567897".to_owned(),
        payee: payee.to_owned(),
        state: "LQ".to_owned(),
        cause: Value::Null,
    }
}

/// What STP posts about an order of BBVA's.
fn notice(key: &str) -> Value {
    json!({
        "id": 3_191_365, "fechaOperacion": 20_261_123, "institucionOrdenante": 40_012, "institucionBeneficiaria": 90_646,
        "claveRastreo": key, "monto": 100.00, "nombreOrdenante": "Jorge", "cuentaBeneficiario": "1", "empresa": "CAUDAL",
    })
}

async fn tell(app: &TestApp, key: &str) {
    let receipt = app.ai().post(NOTICE, notice(key)).await.assert_status(200).json();
    assert_eq!(receipt, json!({"mensaje": "confirmar"}));
}

async fn wait_until_asked(app: &TestApp) {
    wait("all notices are gone", async || app.count("select count(*) from incoming_notice").await == 0).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_order_credits_the_account_with_the_number_once(db: PgPool) {
    let (stp, app, ana) = monday(db).await;
    let (id, number) = ana.issued_account().await;
    stp.receive(order("BBVA0001", &number));
    let mut events = Listener::new(&ana, "").await;
    for _ in 0..3 {
        tell(&app, "BBVA0001").await;
    }
    wait("it is credited", async || ana.balance().await == "10100.00").await;
    tell(&app, "BBVA0001").await;
    wait_until_asked(&app).await;
    assert_eq!((ana.balance().await.as_str(), stp.requests(INQUIRE).len()), ("10100.00", 1));
    let entries = ana.get(&format!("/api/ledger/accounts/{id}/entries")).await.assert_status(200).json();
    let entry = &entries[0];
    assert_eq!(
        (&entry["type"], &entry["amount"], &entry["payerName"], &entry["payerAccountNumber"], &entry["payerBank"]),
        (&json!("received"), &json!(100.0), &json!("JORGE RUIZ"), &json!("012180001234567897"), &json!("BBVA"))
    );
    assert_eq!((&entry["concept"], &entry["speiReference"]), (&json!("Renta"), &json!("BBVA0001")));
    assert_eq!((entry.get("transactionId"), entry.get("beneficiaryName")), (None, None));
    let event = &events.next().await.unwrap().1[0];
    assert_eq!(
        (&event["type"], &event["payerName"], &event["accountId"]),
        (&json!("received"), &json!("JORGE RUIZ"), &json!(id))
    );
    assert_eq!(ana.get("/api/ledger/transactions").await.json(), json!([]), "these are the user's own");
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_no_issued_number_leads_to_is_sent_back(db: PgPool) {
    let (stp, app, ana) = monday(db).await;
    // Anybody may have typed any number.
    let typed = "012180001234567897";
    ana.post("/api/ledger/accounts", json!({"accountNumber": typed, "accountType": "checking"}))
        .await
        .assert_status(201);
    stp.receive(order("BBVA0001", typed));
    stp.receive(order("BBVA0002", "999180000000000009"));
    tell(&app, "BBVA0001").await;
    tell(&app, "BBVA0002").await;
    let failed = "select count(*) from transfer join transfer_event using (transfer_id)
        where kind = 'received' and transfer.status = 'failed' and owner = '' and reason = '01' and ordinal = 1";
    wait("STP has both back", async || stp.requests(RETURN).len() == 2).await;
    for _ in 0..2 {
        wait("nothing is claimed", async || {
            let due = "select count(*) from rail_payment where due_at = $1";
            let until = app.clock.now() + CLAIM;
            sqlx::query_scalar::<_, i64>(due).bind(until).fetch_one(&app.db).await.unwrap() == 0
        })
        .await;
        app.clock.advance(time::Duration::minutes(1));
    }
    wait("both returns are booked", async || app.count(failed).await == 2).await;
    assert_eq!((stp.requests(RETURN).len(), ana.balance().await.as_str()), (2, "10000.00"));
    let sent = &stp.requests(RETURN)[0].body;
    assert_eq!((&sent["monto"], &sent["fechaOperacion"]), (&json!(100.0), &json!(20_261_123)));
    assert_eq!(app.count("select count(*) from rail_payment").await, 0);
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_operator_decides_on_what_stp_does_not_take_back(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    stp.receive(order("BBVA0001", "999180000000000009"));
    stp.fail_registering(Some(Fault::Code(-999)));
    tell(&app, "BBVA0001").await;
    let parked = "select count(*) from rail_payment where parked_at is not null";
    wait("it is parked", async || app.count(parked).await == 1).await;
    let ops = app.operator(OPERATE);
    let listed = ops.get("/admin/payments").await.assert_status(200).json();
    let payment = &listed["payments"][0];
    assert_eq!((&payment["kind"], &payment["trackingKey"]), (&json!("return"), &json!("BBVA0001")));
    let path = |act: &str| format!("/admin/payments/{}/{act}", payment["transactionId"].as_str().unwrap());
    let reason = json!({"reason": "STP sent it back by hand"});
    refused(&app, ops.post(&path("settle"), reason.clone()), 422, "validation-failed", Some("id")).await;
    app.clock.advance(time::Duration::minutes(2));
    let decided = ops.post(&path("refuse"), reason).await.assert_status(200).json();
    assert_eq!((&decided["status"], &decided["changed"]), (&json!("failed"), &json!(true)));
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_frozen_account_receives_and_nothing_counts_towards_limits_or_risk(db: PgPool) {
    let (stp, app, ana) = monday(db).await;
    let (id, number) = ana.issued_account().await;
    let (_, to) = ana.account_and_payee().await;
    let risk = format!("/api/ledger/risk-context?fromAccountId={id}&toBeneficiaryId={to}&amount=5");
    let before = ana.get(&risk).await.assert_status(200).json();
    app.operator(OPERATE)
        .post(&format!("/admin/accounts/{id}/freeze"), json!({"reason": "a court order"}))
        .await
        .assert_status(200);
    stp.receive(order("BBVA0001", &number));
    tell(&app, "BBVA0001").await;
    wait_until_asked(&app).await;
    assert_eq!(app.count("select count(*) from transfer where kind = 'received' and status = 'completed'").await, 1);
    assert_eq!(ana.get(&risk).await.assert_status(200).json(), before);
    assert_eq!(app.count("select sum(sent)::bigint from account_balance").await, 0);
    assert_eq!(app.count("select count(*) from payee_total").await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn forged_notices_move_nothing_and_are_bounded(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    for (field, value) in [
        ("fechaOperacion", json!(20_261_224)),
        ("fechaOperacion", json!(20_200_127)),
        ("fechaOperacion", json!("hoy")),
        ("institucionOrdenante", json!(0)),
        ("claveRastreo", json!("A|B")),
        ("claveRastreo", json!("A".repeat(31))),
    ] {
        let mut forged = notice("BBVA0001");
        forged[field] = value;
        app.ai().post(NOTICE, forged).await.assert_status(400);
    }
    assert_eq!(app.count("select count(*) from incoming_notice").await, 0);
    stp.fail_inquiring(Some(Fault::Html));
    let fill = "insert into incoming_notice (rail, tracking_key, operating_date, institution, due_at, received_at)
        select 'stp', 'F' || n, '2026-11-23', 40012, $1, $1 from generate_series(1, $2) as n";
    let (later, most) = (app.clock.now() + time::Duration::days(1), caudal::db::payments::notices::NOTICES_MAX);
    sqlx::query(fill).bind(later).bind(most).execute(&app.db).await.unwrap();
    app.ai().post(NOTICE, notice("BBVA0001")).await.assert_status(503);
    app.ai().post(NOTICE, notice("F7")).await.assert_status(200);
    assert_eq!(app.count("select count(*) from incoming_notice").await, most);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_order_that_stp_does_not_have_is_forgotten(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let app = app(db, &stp).await;
    tell(&app, "BBVA0001").await;
    wait("STP is asked", async || stp.requests(INQUIRE).len() == 1).await;
    let waits = "select count(*) from incoming_notice where attempts = 1 and due_at < received_at + interval '30 s'";
    wait("it is asked again later", async || app.count(waits).await == 1).await;
    app.clock.advance(time::Duration::minutes(11));
    wait_until_asked(&app).await;
    assert_eq!(app.count("select count(*) from transfer").await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_stp_says_of_an_order_counts_only_if_it_is_clear(db: PgPool) {
    let (stp, app, ana) = monday(db).await;
    let (_, number) = ana.issued_account().await;
    let of = |state: &str, amount: &str, institution: u32| Incoming {
        state: state.to_owned(),
        amount: amount.to_owned(),
        institution,
        ..order(&format!("K{institution}{state}{}", amount.len()), &number)
    };
    // To be sent back, refused, sent back; amounts and a bank that are not what they should be.
    let unclear = [
        of("XR", "100.00", 40_012),
        of("CCR", "100.00", 40_012),
        of("RE", "100.00", 40_012),
        of("LQ", "100.001", 40_012),
        of("LQ", "\"100.00\"", 40_012),
        of("LQ", "-1.00", 40_012),
        of("LQ", "100.00", 40_072),
    ];
    for order in unclear {
        let key = order.tracking_key.clone();
        stp.receive(order);
        tell(&app, &key).await;
    }
    wait("all are asked about", async || stp.requests(INQUIRE).len() >= 7).await;
    let open = "select count(*) from incoming_notice where attempts = 1 and due_at < received_at + interval '30 s'";
    wait("those that are unclear stay", async || app.count(open).await == 6).await;
    assert_eq!(
        (ana.balance().await.as_str(), app.count("select count(*) from transfer where kind = 'received'").await),
        ("10000.00", 0)
    );
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn two_hosts_and_a_second_version_of_an_order_credit_it_once(db: PgPool) {
    let stp = StandIn::start(MONDAY).await;
    let one = app(db.clone(), &stp).await;
    let other = app(db, &stp).await;
    let ana = one.user("ana");
    let (_, number) = ana.issued_account().await;
    stp.receive(order("BBVA0001", &number));
    let (here, there) = (one.ai(), other.ai());
    let (first, second) = tokio::join!(here.post(NOTICE, notice("BBVA0001")), there.post(NOTICE, notice("BBVA0001")));
    first.assert_status(200);
    second.assert_status(200);
    wait("it is credited", async || ana.balance().await == "10100.00").await;
    // As a sweep would find it.
    let found = |amount| IncomingOrder {
        tracking_key: "BBVA0001".to_owned(),
        operating_date: date!(2026 - 11 - 23),
        institution: 40_012,
        amount: Money::from_minor(amount),
        payer_name: None,
        payer_number: None,
        payee_name: None,
        payee_number: number.clone(),
        remittance: Remittance::NONE,
    };
    for (amount, is_same) in [(10_000, true), (25_000, false)] {
        let receive = Command::Receive(Receive { rail: RailName::Stp, order: found(amount) });
        let outcome = other.core.submit(receive).await.unwrap();
        assert_eq!(outcome, Outcome::Received { is_new: false, is_same });
    }
    assert_eq!(ana.balance().await, "10100.00");
    one.assert_sound().await;
}

/// On the simulated rail, by an operator.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_simulated_rail_sends_orders_too(db: PgPool) {
    let rail = Some(crate::payments::PROMPT);
    let app = TestApp::with(db, Options { rail, ..Options::default() }).await;
    let (ana, ops) = (app.user("ana"), app.operator(OPERATE));
    let (_, number) = ana.issued_account().await;
    let path = "/admin/rails/simulated/orders";
    let body = json!({"accountNumber": number, "amount": 12.34, "payerName": "Eva", "concept": "Gracias"});
    let sent = ops.post(path, body).await.assert_status(200).json();
    assert_eq!(sent["isIssued"], true);
    wait("it is credited", async || ana.balance().await == "10012.34").await;
    let sent = ops.post(path, json!({"accountNumber": "1", "amount": 1})).await.assert_status(200).json();
    assert_eq!(sent["isIssued"], false);
    wait("it is sent back", async || app.count("select count(*) from transfer where status = 'failed'").await == 1)
        .await;
    app.assert_sound().await;
}
