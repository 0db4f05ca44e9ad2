//! What must not be executed: commands that nobody waits for any more, and any command by a host with a wrong clock.

use std::future::Future as _;
use std::task::Poll;

use caudal::clock::{CLOCK_SKEW_MAX, Clock};
use caudal::domain::money::Money;
use caudal::ledger::batch::Terms;
use caudal::ledger::store::Postgres;
use caudal::ledger::{Command, Fund, Ledger, LedgerConfig, OpenAccount, Outcome};
use caudal::models::{Models, Registry};
use sqlx::PgPool;
use time::Duration;
use uuid::Uuid;

use crate::model::{CONTEXT, key, start};

async fn open_account(ledger: &Ledger) -> Uuid {
    let open = OpenAccount {
        account_id: Uuid::now_v7(),
        owner: "ana".to_owned(),
        account_number: "1".to_owned(),
        issued: None,
        account_type: "checking".to_owned(),
        opening_credit: Money::from_minor(100),
        transfer_id: Uuid::now_v7(),
    };
    let Outcome::Opened(opened) = ledger.submit(Command::Open(open)).await.unwrap() else { panic!() };
    opened.account_id
}

fn fund(account_id: Uuid, amount: i64) -> Command {
    Command::Fund(Fund { transfer_id: Uuid::now_v7(), account_id, amount: Money::from_minor(amount) })
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_queued_command_whose_caller_left_is_not_executed(db: PgPool) {
    let ledger = start(db.clone()).await;
    let account_id = open_account(&ledger).await;
    // A lock keeps the batcher busy with the first credit.
    let mut lock = db.begin().await.unwrap();
    sqlx::query("select from account_balance where account_id = $1 for update")
        .bind(account_id)
        .fetch_one(&mut *lock)
        .await
        .unwrap();
    let busy = tokio::spawn({
        let (ledger, command) = (ledger.clone(), fund(account_id, 7));
        async move { ledger.submit(command).await }
    });
    loop {
        let waiting =
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        if sqlx::query_scalar::<_, i64>(waiting).fetch_one(&db).await.unwrap() > 0 {
            break;
        }
        tokio::task::yield_now().await;
    }
    let mut abandoned = Box::pin(ledger.submit(fund(account_id, 1_000)));
    std::future::poll_fn(|context| {
        assert!(abandoned.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
    drop(abandoned);
    lock.rollback().await.unwrap();
    busy.await.unwrap().unwrap();
    let Outcome::Funded(balance) = ledger.submit(fund(account_id, 1)).await.unwrap() else { panic!() };
    assert_eq!(balance, Money::from_minor(108));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_host_with_a_wrong_clock_does_not_start(db: PgPool) {
    for skew in [CLOCK_SKEW_MAX * 2, CLOCK_SKEW_MAX * -2, Duration::days(26_000)] {
        let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
        let (models, clock) = (Models::new(Registry::default()), Clock::system_off_by(skew));
        let config = LedgerConfig::new(Terms::OPEN, key());
        let Err(error) = Ledger::start(store, models, clock, config).await else { panic!("{skew} was accepted") };
        let error = error.to_string();
        let direction = if skew.is_negative() { "behind" } else { "ahead of" };
        assert!(error.contains(direction) && error.contains("NTP"), "{error}");
    }
    let written: i64 = sqlx::query_scalar("select count(*) from ledger_writer").fetch_one(&db).await.unwrap();
    assert_eq!(written, 0);
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    let clock = Clock::system_off_by(CLOCK_SKEW_MAX / 2);
    let config = LedgerConfig::new(Terms::OPEN, key());
    assert!(Ledger::start(store, Models::new(Registry::default()), clock, config).await.is_ok());
}
