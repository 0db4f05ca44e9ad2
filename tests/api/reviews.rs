//! `/admin/reviews`: transfers that the rules want a person to decide on, and what becomes of their money.

use std::sync::Arc;

use caudal::decision::Ruling;
use caudal::domain::clabe::SANDBOX_RANGE;
use caudal::domain::model::ModelKind;
use caudal::domain::rules::Facts;
use caudal::domain::transfer::{RailEvent, Status};
use caudal::ledger::batch::Terms;
use caudal::ledger::fork::{Keys, Plan, Recorded, Report, Rules, run};
use caudal::ledger::store::History;
use caudal::models::{LoadedComponent, Models, Registry, ScoreError};
use caudal::rail::simulated::Behaviour;
use caudal::wasm::Runtime;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::events::Listener;
use crate::fixtures::misbehaving;
use crate::harness::{Answer, Client, Options, PAYEE_CLABE, TestApp, ledger_key, refused, registry};
use crate::payments::{PROMPT, bank, wait_for};

const ENDED: &str = "review-ended";
const NOT_CLAIMED: &str = "review-not-claimed";

/// With rules that want every transfer to be reviewed.
async fn app(db: PgPool, rail: Option<Behaviour>) -> TestApp {
    let terms = Terms { on_us: Some(SANDBOX_RANGE), ..Terms::OPEN };
    let app = TestApp::with(db, Options { rail, terms, ..Options::default() }).await;
    app.models.activate(reviewing());
    app
}

fn reviewing() -> Registry {
    let bytes = misbehaving("hostile-rules-2.wasm", "reviews");
    registry().with(LoadedComponent::load(&Runtime::new().unwrap(), ModelKind::TransferRules, &bytes).unwrap())
}

fn operator(app: &TestApp, name: &str) -> Client {
    app.operator_named(name, "ledger:operate")
}

async fn claim(ops: &Client, id: &str) -> Answer {
    ops.post(&format!("/admin/reviews/{id}/claim"), json!({})).await
}

async fn decide(ops: &Client, id: &str, decision: &str, is_scam: bool) -> Answer {
    let body = json!({"decision": decision, "reason": "a call", "isScam": is_scam});
    ops.post(&format!("/admin/reviews/{id}/decision"), body).await
}

async fn reviews(ops: &Client) -> Vec<Value> {
    ops.get("/admin/reviews").await.assert_status(200).json()["reviews"].as_array().unwrap().clone()
}

/// Those of all orders, and who says so.
async fn outcomes(app: &TestApp) -> String {
    app.text(
        "select coalesce(string_agg(concat_ws(' ', kind, source, recorded_by), ',' order by kind), '') from outcome",
    )
    .await
}

struct Served(Models);

impl Rules for Served {
    fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError> {
        self.0.snapshot().rule(facts)
    }

    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        self.0.snapshot().transition(status, event)
    }
}

/// A fork of everything that is there.
pub(crate) async fn fork(app: &TestApp, plan: Plan) -> Report {
    let mut db = app.db.acquire().await.unwrap();
    let mut history = History::begin(&mut db, None).await.unwrap();
    let mut all = Vec::new();
    while let Some((seal, stripe)) = history.next(&mut db).await.unwrap() {
        all.push(Recorded { seal, stripe, rules: Some(Arc::new(Served(app.models.clone()))) });
    }
    let keys = Keys { ring: ledger_key().into(), closed: Default::default() };
    run(plan, &keys, [all])
}

/// Whether the commands make again what is there, under the rules that decided or under a candidate.
pub(crate) async fn assert_same(app: &TestApp, candidate: Option<Registry>) {
    let rules = candidate.map(|registry| Arc::new(Served(Models::new(registry))) as Arc<dyn Rules>);
    let report = fork(app, Plan { rules, ..Plan::default() }).await;
    assert!(report.is_proven && report.first_difference.is_none() && report.balances.differ == 0, "{report:?}");
}

async fn assert_repeatable(app: &TestApp) {
    app.assert_sound().await;
    assert_same(app, None).await;
    assert_same(app, Some(reviewing())).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_released_settles(db: PgPool) {
    let app = app(db, Some(PROMPT)).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let sent = ana.transfer(&from, &to, "100").await.assert_status(200).json();
    let id = sent["id"].as_str().unwrap();
    assert_eq!((&sent["status"], bank(&app).await), (&json!("pending"), (0, 10_000)));
    // No change of the queue sends it: it has no seal to be sent with.
    app.write("update rail_payment set parked_at = null, due_at = 'epoch'").await;
    let parked = "select count(*) from rail_payment where parked_at is not null and last_error like '%caudal verify%'";
    while app.count(parked).await == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(app.count("select count(*) from rail_order").await, 0);
    assert_repeatable(&app).await;

    let (bea, eva) = (operator(&app, "bea"), operator(&app, "eva"));
    for (path, body) in [("claim", json!({})), ("decision", json!({"decision": "release", "reason": "x"}))] {
        let stranger = app.operator(Some("models:admin"));
        let path = format!("/admin/reviews/{id}/{path}");
        refused(&app, stranger.post(&path, body.clone()), 403, "insufficient-scope", None).await;
        let unknown = path.replace(id, "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b");
        refused(&app, bea.post(&unknown, body), 404, "not-found", None).await;
    }
    // Nor is it settled or refunded as if a rail had it, or decided by whom it is not.
    for action in ["settle", "refuse"] {
        let path = format!("/admin/payments/{id}/{action}");
        refused(&app, bea.post(&path, json!({"reason": "x"})), 404, "not-found", None).await;
    }
    refused(&app, decide(&bea, id, "release", false), 409, NOT_CLAIMED, None).await;
    assert_eq!(claim(&bea, id).await.assert_status(200).json()["claimedBy"], "bea");
    refused(&app, claim(&eva, id), 409, NOT_CLAIMED, None).await;
    refused(&app, decide(&eva, id, "release", false), 409, NOT_CLAIMED, None).await;
    refused(&app, decide(&bea, id, "release", true), 422, "validation-failed", Some("isScam")).await;
    app.clock.advance(time::Duration::minutes(61));
    claim(&eva, id).await.assert_status(200);
    refused(&app, decide(&bea, id, "release", false), 409, NOT_CLAIMED, None).await;
    let waiting = reviews(&eva).await;
    assert_eq!((waiting.len(), &waiting[0]["transactionId"], &waiting[0]["payer"]), (1, &json!(id), &json!("ana")));

    assert_eq!(decide(&eva, id, "release", false).await.assert_status(200).json()["outcome"], "false_alarm");
    wait_for(&ana, "completed").await;
    assert_eq!((ana.balance().await.as_str(), bank(&app).await), ("9900.00", (10_000, 0)));
    for again in
        [decide(&eva, id, "release", false).await, decide(&eva, id, "refuse", false).await, claim(&eva, id).await]
    {
        again.assert_problem(409, ENDED, None);
    }
    assert_eq!((outcomes(&app).await, reviews(&eva).await), ("false_alarm operator eva".to_owned(), vec![]));
    let history = "select string_agg(concat_ws(' ', status, actor, note), ',' order by ordinal) from transfer_event
        where ordinal > 0";
    assert_eq!(app.text(history).await, "pending eva a call,completed");
    assert_repeatable(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_refused_returns(db: PgPool) {
    for (rail, scam) in [(Some(PROMPT), true), (None, false)] {
        let app = app(db.clone(), rail).await;
        let user = app.user(if scam { "ana" } else { "luis" });
        let (from, to) = user.account_and_payee().await;
        let id = user.transfer(&from, &to, "100").await.assert_status(200).id();
        assert_eq!((user.balance().await.as_str(), bank(&app).await), ("9900.00", (0, 10_000)));
        let ops = operator(&app, "bea");
        claim(&ops, &id).await.assert_status(200);
        decide(&ops, &id, "refuse", scam).await.assert_status(200);
        wait_for(&user, "failed").await;
        assert_eq!((user.balance().await.as_str(), bank(&app).await), ("10000.00", (0, 0)));
        assert_eq!(app.count("select count(*) from rail_order").await, 0);
        assert_repeatable(&app).await;
    }
    let app = app(db, Some(PROMPT)).await;
    // What nobody reviewed, a fork does not leave pending.
    app.models.activate(registry());
    let eva = app.user("eva");
    let (from, to) = eva.account_and_payee().await;
    eva.transfer(&from, &to, "100").await.assert_status(200);
    wait_for(&eva, "completed").await;
    assert_same(&app, Some(reviewing())).await;
    assert_eq!(outcomes(&app).await, "authorised_scam operator bea,confirmed_fraud operator bea");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn transfers_that_no_rail_carries_wait_too(db: PgPool) {
    let app = app(db, None).await;
    let (ana, luis, ops) = (app.user("ana"), app.user("luis"), operator(&app, "bea"));
    let ((from, _), (own, own_number), (_, number)) =
        (ana.issued_account().await, ana.issued_account().await, luis.issued_account().await);
    for (payee, decision, left) in [(number.as_str(), "release", "10100.00"), (&number, "refuse", "10100.00")] {
        let to = ana.save_payee("Luis", payee).await;
        let before = luis.balance().await;
        let id = ana.transfer(&from, &to, "100").await.assert_status(200).id();
        assert_eq!((luis.balance().await, bank(&app).await), (before, (0, 10_000)));
        claim(&ops, &id).await.assert_status(200);
        decide(&ops, &id, decision, false).await.assert_status(200);
        assert_eq!((luis.balance().await.as_str(), bank(&app).await), (left, (0, 0)));
    }
    // To another account of one's own, and to another bank.
    let to = ana.save_payee("Ahorro", &own_number).await;
    let ids = [ana.transfer(&from, &to, "10").await.id(), {
        let to = ana.save_payee("Eva", PAYEE_CLABE).await;
        ana.transfer(&from, &to, "10").await.id()
    }];
    assert_repeatable(&app).await;
    for id in &ids {
        claim(&ops, id).await.assert_status(200);
        decide(&ops, id, "release", false).await.assert_status(200);
    }
    let balance = ana.get(&format!("/api/ledger/accounts/{own}/balance")).await.json();
    assert_eq!((&balance["balance"], bank(&app).await), (&json!(10_010.0), (1_000, 0)));
    assert_repeatable(&app).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_decision_that_was_interrupted_is_repeated(db: PgPool) {
    let app = app(db, Some(PROMPT)).await;
    let (ana, ops) = (app.user("ana"), operator(&app, "bea"));
    let (from, to) = ana.account_and_payee().await;
    let id = ana.transfer(&from, &to, "100").await.assert_status(200).id();
    claim(&ops, &id).await.assert_status(200);
    // The ledger enters the decision, and its outcome cannot be recorded.
    sqlx::query("alter table outcome rename to lost").execute(&app.db).await.unwrap();
    decide(&ops, &id, "release", false).await.assert_problem(500, "internal-error", None);
    sqlx::query("alter table lost rename to outcome").execute(&app.db).await.unwrap();
    assert_eq!(reviews(&ops).await[0]["decision"], "release");
    assert_eq!(app.count("select count(*) from rail_order").await, 0);
    assert_repeatable(&app).await;
    decide(&ops, &id, "refuse", false).await.assert_problem(409, ENDED, None);
    decide(&ops, &id, "release", false).await.assert_status(200);
    wait_for(&ana, "completed").await;
    assert_eq!(outcomes(&app).await, "false_alarm operator bea");
    assert_repeatable(&app).await;
}

/// What an operator decides, they decide on what was entered, and the ledger has entered it.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_somebody_altered_is_not_decided_on(db: PgPool) {
    let app = app(db, Some(PROMPT)).await;
    let (ana, luis, eva, ops) = (app.user("ana"), app.user("luis"), app.user("eva"), operator(&app, "bea"));
    let ((from, _), (_, number), (hers, _)) =
        (ana.issued_account().await, luis.issued_account().await, eva.issued_account().await);
    let to = [ana.save_payee("Luis", &number).await, ana.save_payee("Banco", PAYEE_CLABE).await];
    let mut events = Listener::new(&luis, "").await;
    for (to, change, decision) in [
        (&to[0], format!("credit_account_id = '{hers}'"), "refuse"),
        (&to[0], "amount = 999".to_owned(), "release"),
        (&to[1], "amount = 999".to_owned(), "refuse"),
        (&to[1], format!("debit_account_id = '{hers}'"), "refuse"),
    ] {
        let id = ana.transfer(&from, to, "100").await.assert_status(200).id();
        claim(&ops, &id).await.assert_status(200);
        let at_first = format!("create table first as select * from transfer where transfer_id = '{id}'");
        app.write(&at_first).await;
        app.write(&format!("update transfer set {change} where transfer_id = '{id}'")).await;
        for decision in ["release", "refuse"] {
            refused(&app, decide(&ops, &id, decision, false), 409, "payment-altered", None).await;
        }
        app.write(
            "update transfer t set credit_account_id = f.credit_account_id, amount = f.amount,
             debit_account_id = f.debit_account_id from first f where t.transfer_id = f.transfer_id",
        )
        .await;
        app.write("drop table first").await;
        decide(&ops, &id, decision, false).await.assert_status(200);
    }
    // The payee learns of the money once it is there, and not of what was never theirs.
    let (_, told) = events.next().await.unwrap();
    assert_eq!((&told[0]["type"], &told[0]["status"]), (&json!("deposit"), &json!("completed")));

    // A status that the ledger did not give is no decision, whichever batch is said to have it.
    let id = ana.transfer(&from, &to[1], "100").await.assert_status(200).id();
    claim(&ops, &id).await.assert_status(200);
    for batch in ["e.chain_id, e.seq", "e.chain_id, e.seq - 1", "gen_random_uuid(), 0"] {
        app.write(&format!(
            "insert into transfer_event (transfer_id, ordinal, status, chain_id, seq, created_at)
             select e.transfer_id, 1, 'pending', {batch}, e.created_at from transfer_event e
             where e.transfer_id = '{id}' and e.ordinal = 0"
        ))
        .await;
        refused(&app, decide(&ops, &id, "release", false), 409, "payment-altered", None).await;
        app.write("delete from transfer_event where ordinal = 1 and status = 'pending'").await;
    }
    assert_eq!(app.count("select count(*) from rail_order").await, 0);
    decide(&ops, &id, "release", false).await.assert_status(200);
}

/// A backup from before a release knows nothing of it; the rail does.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_the_rail_has_is_not_given_back(db: PgPool) {
    let app = app(db, Some(PROMPT)).await;
    let (ana, ops) = (app.user("ana"), operator(&app, "bea"));
    let (from, to) = ana.account_and_payee().await;
    let id = ana.transfer(&from, &to, "100").await.assert_status(200).id();
    claim(&ops, &id).await.assert_status(200);
    app.write("create table payments as select * from rail_payment").await;
    app.write("create table reviews as select * from review").await;
    decide(&ops, &id, "release", false).await.assert_status(200);
    wait_for(&ana, "completed").await;
    for restored in [
        "delete from transfer_event where ordinal > 0",
        "delete from rail_order",
        "update transfer set status = 'pending' where kind = 'spei'",
        "insert into rail_payment select * from payments",
        "insert into review select * from reviews",
    ] {
        app.write(restored).await;
    }
    refused(&app, decide(&ops, &id, "refuse", false), 409, "payment-sent", None).await;
}
