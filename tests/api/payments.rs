//! Transfers that settle later: where their money is, how they end, and that this is final.

use std::time::{Duration, Instant};

use caudal::domain::transfer::{Reason, Report};
use caudal::ledger::{Command, Outcome, PaymentReport};
use caudal::rail::simulated::Behaviour;
use sqlx::PgPool;
use uuid::Uuid;

use crate::harness::{CLABE, Client, Options, TestApp};
use crate::stp::wait;

/// Decides at once and notifies once.
pub(crate) const PROMPT: Behaviour = Behaviour {
    delay: Duration::ZERO,
    rejected: 0,
    returned: 0,
    twice: 0,
    late: 0,
    silent: 0,
    disordered: 0,
    answered: 0,
};

/// Sends no notifications and rarely answers inquiries: payments stay pending.
const SLOW: Behaviour = Behaviour { delay: Duration::from_secs(3_600), ..PROMPT };

async fn app(db: PgPool, behaviour: Behaviour) -> TestApp {
    TestApp::with(db, Options { rail: Some(behaviour), ..Options::default() }).await
}

/// Waits until the newest transaction has a status.
pub(crate) async fn wait_for(ana: &Client, status: &str) {
    let start = Instant::now();
    loop {
        let list = ana.get("/api/ledger/transactions?limit=1").await.json();
        if list[0]["status"] == status {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "still not {status}: {list}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Balances of the SPEI and in-transit accounts, summed over all stripes.
pub(crate) async fn bank(app: &TestApp) -> (i64, i64) {
    let of = |kind| async move {
        let sum = "select coalesce(sum(posted), 0)::bigint from account_balance join account using (account_id) where kind = $1";
        sqlx::query_scalar::<_, i64>(sum).bind(kind).fetch_one(&app.db).await.unwrap()
    };
    (of("spei").await, of("in-transit").await)
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn money_waits_in_transit_until_it_settles(db: PgPool) {
    let app = app(db, Behaviour { delay: Duration::from_millis(800), ..PROMPT }).await;
    let ana = app.user("ana").with("idempotency-key", "k");
    let (from, to) = ana.account_and_payee().await;
    let sent = ana.transfer(&from, &to, "100").await;
    assert_eq!(sent.assert_status(200).json()["status"], "pending");
    assert_eq!((ana.balance().await.as_str(), bank(&app).await), ("9900.00", (0, 10_000)));
    app.assert_sound().await;
    wait_for(&ana, "completed").await;
    assert_eq!((ana.balance().await.as_str(), bank(&app).await), ("9900.00", (10_000, 0)));
    assert_eq!(app.count("select count(*) from rail_payment").await, 0);
    app.assert_sound().await;
    // A replay returns the transfer with its present status.
    let again = ana.transfer(&from, &to, "100").await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!((&again.json()["id"], again.json()["status"].as_str()), (&sent.json()["id"], Some("completed")));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_payment_is_history_once_it_is_completed(db: PgPool) {
    let rejecting = Behaviour { rejected: 100, ..PROMPT };
    for (behaviour, end, counted) in [(SLOW, "pending", 0), (rejecting, "failed", 0), (PROMPT, "completed", 1)] {
        let app = app(db.clone(), behaviour).await;
        // Each is another user.
        let user = app.user(end);
        let (from, to) = user.account_and_payee().await;
        user.transfer(&from, &to, "100").await.assert_status(200);
        wait_for(&user, end).await;
        let path = format!("/api/ledger/risk-context?fromAccountId={from}&toBeneficiaryId={to}&amount=500");
        let context = user.get(&path).await.assert_status(200).json();
        assert_eq!(context["request"]["num_past_transactions"], counted, "{end}");
        app.assert_sound().await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_rejected_payment_is_refunded_and_does_not_count_for_the_day(db: PgPool) {
    let app = app(db, Behaviour { rejected: 100, ..PROMPT }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    app.write("update app_user set per_day_limit = 10000").await;
    for _ in 0..3 {
        // The newest transaction is the one just sent.
        app.clock.advance(time::Duration::SECOND);
        ana.transfer(&from, &to, "100").await.assert_status(200);
        wait_for(&ana, "failed").await;
    }
    assert_eq!((ana.balance().await.as_str(), bank(&app).await), ("10000.00", (0, 0)));
    let statement = ana.get(&format!("/api/ledger/accounts/{from}/entries?limit=2")).await.json();
    assert_eq!((statement[0]["type"].as_str(), statement[1]["type"].as_str()), (Some("refund"), Some("transfer")));
    assert_eq!(statement[0]["transactionId"], statement[1]["transactionId"]);
    let reasons = "select count(*) from transfer_event where status = 'failed' and reason ~ '^[0-9]{2}$'";
    assert_eq!(app.count(reasons).await, 3);
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_later_return_is_a_credit_of_its_own(db: PgPool) {
    let app = app(db, Behaviour { returned: 100, twice: 100, ..PROMPT }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let sent = ana.transfer(&from, &to, "100").await.assert_status(200).json();
    let start = Instant::now();
    while ana.balance().await != "10000.00" {
        assert!(start.elapsed() < Duration::from_secs(20), "it is not returned");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The transfer stays settled; the list shows transfers only.
    let list = ana.get("/api/ledger/transactions").await.json();
    assert_eq!((list.as_array().unwrap().len(), list[0]["status"].as_str()), (1, Some("completed")));
    let statement = ana.get(&format!("/api/ledger/accounts/{from}/entries?limit=1")).await.json();
    assert_eq!((statement[0]["type"].as_str(), &statement[0]["transactionId"]), (Some("return"), &sent["id"]));
    // Reported twice, it is credited once.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(app.count("select count(*) from transfer where kind = 'return'").await, 1);
    assert_eq!(bank(&app).await, (0, 0));
    app.assert_sound().await;
}

async fn report(app: &TestApp, id: &str, account: &str, report: Report) -> Outcome {
    let (transfer_id, account_id) = (Uuid::parse_str(id).unwrap(), Uuid::parse_str(account).unwrap());
    let reason = Reason::parse("26");
    let (return_id, payee_account_id, by_hand) = (Uuid::now_v7(), None, None);
    let command = PaymentReport { transfer_id, account_id, payee_account_id, report, reason, return_id, by_hand };
    app.core.submit(Command::Report(command)).await.unwrap()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_final_status_survives_later_reports(db: PgPool) {
    use caudal::domain::transfer::Status::{Completed, Failed};
    let app = app(db, SLOW).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let rows = [
        // The report and its outcome.
        (Report::Settled, Outcome::StatusChanged(Completed)),
        (Report::Settled, Outcome::StatusUnchanged(Completed)),
        (Report::Rejected, Outcome::StatusUnchanged(Completed)),
        (Report::Returned, Outcome::Returned),
        (Report::Returned, Outcome::StatusUnchanged(Completed)),
        (Report::Settled, Outcome::StatusUnchanged(Completed)),
    ];
    let handed_over = async |payments| {
        wait("it is handed over", async || app.count("select count(*) from rail_order").await == payments).await;
    };
    let id = ana.transfer(&from, &to, "10").await.id();
    handed_over(1).await;
    for (report_kind, outcome) in rows {
        assert_eq!(report(&app, &id, &from, report_kind).await, outcome);
        app.assert_sound().await;
    }
    for (payments, first) in [(2, Report::Rejected), (3, Report::Returned)] {
        let id = ana.transfer(&from, &to, "10").await.id();
        handed_over(payments).await;
        assert_eq!(report(&app, &id, &from, first).await, Outcome::StatusChanged(Failed));
        for later in [Report::Settled, Report::Rejected, Report::Returned] {
            assert_eq!(report(&app, &id, &from, later).await, Outcome::StatusUnchanged(Failed));
        }
    }
    // Another account's transfer, and an unknown one.
    let other = app.user("luis").open_account(CLABE).await;
    let id = ana.transfer(&from, &to, "10").await.id();
    assert_eq!(report(&app, &id, &other, Report::Settled).await, Outcome::TransferNotFound);
    assert_eq!(report(&app, &other, &from, Report::Settled).await, Outcome::TransferNotFound);
    assert_eq!(ana.balance().await, "9990.00");
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_restart_resumes_pending_payments(db: PgPool) {
    let slow = app(db.clone(), SLOW).await;
    let ana = slow.user("ana");
    let (from, to) = ana.account_and_payee().await;
    for _ in 0..3 {
        ana.transfer(&from, &to, "10").await.assert_status(200);
    }
    // The first host accepts them and stops; the next one starts later, with a rail that does not know them.
    let start = Instant::now();
    while slow.count("select count(*) from rail_payment where attempts = 0").await > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "the first host does not accept them");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    slow.stop_courier();
    let next = app(db, PROMPT).await;
    next.clock.advance(time::Duration::hours(1));
    let start = Instant::now();
    while next.count("select count(*) from rail_payment").await > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "they stay pending");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let list = next.user("ana").get("/api/ledger/transactions").await.json();
    assert!(list.as_array().unwrap().iter().all(|it| it["status"] == "completed"), "{list}");
    next.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn silent_payments_are_inquired_about(db: PgPool) {
    let app = app(db, Behaviour { silent: 100, ..PROMPT }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    ana.transfer(&from, &to, "10").await.assert_status(200);
    let start = Instant::now();
    while app.count("select count(*) from rail_payment where due_at > '2026-11-21T18:00:01Z' and attempts = 1").await
        == 0
    {
        assert!(start.elapsed() < Duration::from_secs(20), "it is not handed over");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    app.clock.advance(time::Duration::hours(1));
    wait_for(&ana, "completed").await;
    app.assert_sound().await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn stp_notifications_require_the_stp_rail(db: PgPool) {
    let app = app(db, SLOW).await;
    let notice = serde_json::json!({"claveRastreo": "CAUD1", "estado": "LIQUIDACION"});
    app.ai().post("/rails/stp/state", notice).await.assert_problem(404, "not-found", None);
}
