//! Facts that the ledger counts: what a user sent lately, and what came of it at the payee.

use std::sync::{Arc, Mutex};

use caudal::decision::{Decision, RulesAnswer, Ruling};
use caudal::domain::clabe::SANDBOX_RANGE;
use caudal::domain::model::ModelKind;
use caudal::domain::money::Money;
use caudal::domain::risk::{Enforcement, Request};
use caudal::domain::rules::{Facts, Verdict, Violation};
use caudal::domain::transfer::{RailEvent, Status};
use caudal::ledger::batch::Terms;
use caudal::ledger::fork::{Plan, Rules};
use caudal::models::ScoreError;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::harness::{CLABE, Client, Options, PAYEE_CLABE, TestApp};
use crate::random::Random;
use crate::reviews::fork;

const WINDOWS: [(&str, Duration); 4] =
    [("1h", Duration::HOUR), ("24h", Duration::DAY), ("7d", Duration::days(7)), ("30d", Duration::days(30))];

async fn app(db: PgPool) -> TestApp {
    let terms = Terms { on_us: Some(SANDBOX_RANGE), ..Terms::OPEN };
    TestApp::with(db, Options { terms, risk_enforcement: Enforcement::Shadow, ..Options::default() }).await
}

async fn context(user: &Client, from: &str, to: &str) -> Value {
    let path = format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=1");
    user.get(&path).await.assert_status(200).json()["request"].take()
}

/// What a model is asked about a transfer, which the sender does not see all of.
async fn asked(app: &TestApp, user: &Client, from: &str, to: &str) -> Request {
    user.transfer(from, to, "0.01").await.assert_status(200);
    app.decisions(ModelKind::Risk).await.last().unwrap().request()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_was_sent_lately_is_counted_to_the_second(db: PgPool) {
    let app = app(db).await;
    let (ana, luis) = (app.user("ana"), app.user("luis"));
    let ((first, _), (second, own)) = (ana.issued_account().await, ana.issued_account().await);
    let (_, number) = luis.issued_account().await;
    let payees = [ana.save_payee("Eva", PAYEE_CLABE).await, ana.save_payee("Luis", &number).await];
    let myself = ana.save_payee("Yo", &own).await;
    let mut random = Random::new(7);
    let mut sent: Vec<(OffsetDateTime, usize, u64)> = Vec::new();
    for step in 0..60 {
        let centavos = random.next() % 10_000 + 1;
        let amount = format!("{}.{:02}", centavos / 100, centavos % 100);
        let (from, to) = ([&first, &second][step % 2], usize::try_from(random.next() % 2).unwrap());
        ana.transfer(from, &payees[to], &amount).await.assert_status(200);
        sent.push((app.clock.now(), to, centavos));
        // What moves between one's own accounts is sent to nobody.
        ana.transfer(&first, &myself, "0.01").await.assert_status(200);
        // Sometimes exactly to the end of a window.
        let pause = [60, 3_600, 86_400, random.next() % 90_000][usize::try_from(random.next() % 4).unwrap()];
        app.clock.advance(Duration::seconds(pause.try_into().unwrap()));
        let facts = context(&ana, &first, &payees[to]).await;
        for (name, window) in WINDOWS {
            let since = app.clock.now() - window;
            let of = |is_counted: &dyn Fn(usize) -> bool| {
                let counted = sent.iter().filter(|(at, payee, _)| *at >= since && is_counted(*payee));
                counted.fold((0, 0), |(count, sum), (.., centavos)| (count + 1, sum + centavos))
            };
            for (prefix, (count, sum)) in [("sent", of(&|_| true)), ("to_payee", of(&|payee| payee == to))] {
                let found = ["count", "amount"].map(|of| facts[format!("{prefix}_{of}_{name}")].as_f64().unwrap());
                assert_eq!(found, [f64::from(count), sum as f64 / 100.0], "{prefix} {name} at step {step}");
            }
        }
    }
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_model_learns_what_a_payee_of_this_bank_does_with_the_money_and_the_sender_does_not(db: PgPool) {
    let app = app(db).await;
    let (ana, eva, mule) = (app.user("ana"), app.user("eva"), app.user("mule"));
    let (theirs, number) = mule.issued_account().await;
    let out = mule.save_payee("Lejos", PAYEE_CLABE).await;
    let mut own = Vec::new();
    for user in [&ana, &eva] {
        let from = user.open_account(CLABE).await;
        let to = user.save_payee("Mula", &number).await;
        own.push((user, from, to));
    }
    for (user, from, to) in &own {
        user.transfer(from, to, "100").await.assert_status(200);
        user.transfer(from, to, "50").await.assert_status(200);
    }
    app.clock.advance(Duration::seconds(4 * 60 + 59));
    mule.transfer(&theirs, &out, "290").await.assert_status(200);
    app.clock.advance(Duration::minutes(30));
    let (_, from, to) = &own[0];
    let seen = context(&ana, from, to).await;
    let of = |facts: Request| (facts.payee_senders_24h, facts.payee_received_24h, facts.payee_minutes_to_sending);
    assert_eq!(of(asked(&app, &ana, from, to).await), (Some(2), Some(300.0), Some(4)));
    for name in ["payee_senders_24h", "payee_received_24h", "payee_minutes_to_sending"] {
        assert_eq!(seen[name], Value::Null, "{seen}");
    }
    app.clock.advance(Duration::days(1) + Duration::SECOND);
    assert_eq!(of(asked(&app, &ana, from, to).await), (Some(0), Some(0.0), None), "a day later");
    let elsewhere = ana.save_payee("Eva", PAYEE_CLABE).await;
    assert_eq!(of(asked(&app, &ana, from, &elsewhere).await), (None, None, None), "not at this bank");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn new_payees_refusals_and_new_limits_are_noticed(db: PgPool) {
    let app = app(db).await;
    let (ana, operator) = (app.user("ana"), app.operator(Some("ledger:operate")));
    let (from, to) = ana.account_and_payee().await;
    let facts = async || {
        let facts = context(&ana, &from, &to).await;
        ["payees_added_today", "refusals_1h", "minutes_since_limits_change"].map(|name| facts[name].clone())
    };
    assert_eq!(facts().await, [json!(1), json!(0), Value::Null]);
    ana.save_payee("Zoe", "646180110400000012").await;
    operator
        .put("/admin/users/ana/limits", json!({"perTransfer": 5_000.0, "reason": "asked for"}))
        .await
        .assert_status(200);
    app.clock.advance(Duration::minutes(7));
    let keyed = ana.with("idempotency-key", "1");
    keyed.transfer(&from, &to, "5000.01").await.assert_problem(400, "limit-exceeded", None);
    assert_eq!(facts().await, [json!(2), json!(1), json!(7)]);
    app.clock.advance(Duration::DAY);
    assert_eq!(facts().await, [json!(0), json!(0), json!(7 + 24 * 60)]);
}

/// Reading everything that a business sends to one payee would take longer than scoring it.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_goes_to_one_payee_is_counted_up_to_a_limit(db: PgPool) {
    const ROWS_MAX: usize = 2_000;
    let app = app(db).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    for bulk in 0..=ROWS_MAX / 500 {
        let transfer = |at| json!({"idempotencyKey": format!("{bulk}-{at}"), "fromAccountId": from, "toBeneficiaryId": to, "amount": 0.01});
        let transfers: Vec<_> = (0..500).map(transfer).collect();
        ana.post("/api/ledger/transactions/bulk", json!({"transfers": transfers})).await.assert_status(200);
    }
    let facts = context(&ana, &from, &to).await;
    let counts = ["to_payee_count_30d", "sent_count_30d"].map(|name| facts[name].as_u64().unwrap());
    assert_eq!(counts, [ROWS_MAX as u64, (ROWS_MAX + 500) as u64]);
    assert_eq!(facts["to_payee_amount_30d"], 20.0);
}

/// Refuses what is more than 310 pesos.
struct Strict;

impl Rules for Strict {
    fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError> {
        let violation = Violation { code: "limit-exceeded".to_owned(), detail: "No.".to_owned() };
        let is_refused = facts.amount > Money::from_minor(31_000);
        let verdict = if is_refused { Verdict::Rejected(vec![violation]) } else { Verdict::Accepted };
        Ok(Ruling { verdict, own: RulesAnswer::Violations(Vec::new()) })
    }

    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        Ok(status.after(event))
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_candidate_in_a_fork_is_asked_about_what_was_sent_there(db: PgPool) {
    let options = Options { risk_enforcement: Enforcement::Enforce, ..Options::default() };
    let app = TestApp::with(db, options).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    for amount in [300, 320, 50] {
        let order = json!({"fromAccountId": from, "toBeneficiaryId": to, "amount": amount,
            "isNewDevice": false, "geolocationChanged": false});
        let keyed = ana.with("idempotency-key", &amount.to_string());
        keyed.post("/api/ledger/transactions", order).await.assert_status(200);
        app.clock.advance(Duration::minutes(2));
    }
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let risk = move |request: &Request| {
        noted.lock().unwrap().push(request.clone());
        Ok(0.0)
    };
    fork(&app, Plan { rules: Some(Arc::new(Strict)), risk: Some(Arc::new(risk)), ..Plan::default() }).await;
    let kept: Vec<_> = app.decisions(ModelKind::Risk).await.iter().map(Decision::request).collect();
    assert_eq!((kept[2].sent_count_1h, kept[2].sent_amount_1h), (Some(2), Some(620.0)));
    let (once, all) = (Some(1), Some(300.0));
    let third = Request {
        num_past_transactions: 1,
        avg_transaction_amount: 300.0,
        max_transaction_amount: 300.0,
        num_transactions_to_beneficiary: 1,
        sent_count_1h: once,
        sent_amount_1h: all,
        sent_count_24h: once,
        sent_amount_24h: all,
        sent_count_7d: once,
        sent_amount_7d: all,
        sent_count_30d: once,
        sent_amount_30d: all,
        to_payee_count_1h: once,
        to_payee_amount_1h: all,
        to_payee_count_24h: once,
        to_payee_amount_24h: all,
        to_payee_count_7d: once,
        to_payee_amount_7d: all,
        to_payee_count_30d: once,
        to_payee_amount_30d: all,
        refusals_1h: once,
        ..kept[2].clone()
    };
    assert_eq!(*asked.lock().unwrap(), [kept[0].clone(), kept[1].clone(), third]);
}
