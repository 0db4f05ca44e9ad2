//! Two hosts send for one user with a limit for a day: the user's row is locked in the order of all locks, and not raced.

use std::sync::Arc;

use caudal::clock::Clock;
use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::ledger::batch::Terms;
use caudal::ledger::store::{Postgres, proof};
use caudal::ledger::{Command, Ledger, LedgerConfig, OpenAccount, Order, Outcome, Risk};
use caudal::models::{Models, Registry, Runtime};
use sqlx::PgPool;
use uuid::Uuid;

use crate::model::{CONTEXT, key};

const HOSTS: usize = 2;
const CLIENTS: usize = 12;
const ORDERS_EACH: usize = 20;
/// Postgres publishes its statistics once a second.
const STATISTICS_EVERY: std::time::Duration = std::time::Duration::from_millis(1_100);

async fn account(ledger: &Ledger, number: &str) -> Uuid {
    let open = OpenAccount {
        account_id: Uuid::now_v7(),
        owner: "ana".to_owned(),
        account_number: number.to_owned(),
        issued: None,
        account_type: "checking".to_owned(),
        opening_credit: Money::from_minor(1_000_000),
        transfer_id: Uuid::now_v7(),
    };
    let Outcome::Opened(opened) = ledger.submit(Command::Open(open)).await.unwrap() else { panic!() };
    opened.account_id
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn two_hosts_and_a_limit_for_a_day_lose_no_order_to_a_deadlock(db: PgPool) {
    let models = Models::new(Registry::embedded(&Runtime::new().unwrap()).unwrap());
    let sent = (CLIENTS * ORDERS_EACH) as i64;
    let mut hosts = Vec::new();
    for _ in 0..HOSTS {
        let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
        // One order too many.
        let terms = Terms { per_day_limit: Some(Money::from_minor(sent - 1)), ..Terms::OPEN };
        let config = LedgerConfig::new(terms, key());
        hosts.push(Ledger::start(store, models.clone(), Clock::fixed(CONTEXT.now), config).await.unwrap().0);
    }
    let accounts = [account(&hosts[0], "1").await, account(&hosts[0], "2").await];
    let payee = Uuid::now_v7();
    sqlx::query(
        "insert into beneficiary (beneficiary_id, owner, name, account_number, bank_name, created_at)
        values ($1, 'ana', 'Luis', '3', 'BBVA', $2)",
    )
    .bind(payee)
    .bind(CONTEXT.now - time::Duration::DAY)
    .execute(&db)
    .await
    .unwrap();
    proof::record_all(&mut db.acquire().await.unwrap(), &key(), CONTEXT.now).await.unwrap();
    let hosts = Arc::new(hosts);
    let clients = (0..CLIENTS).map(|client| {
        let hosts = Arc::clone(&hosts);
        tokio::spawn(async move {
            let mut refused = 0;
            for _ in 0..ORDERS_EACH {
                let order = Order {
                    transfer_id: Uuid::now_v7(),
                    owner: "ana".to_owned(),
                    key: None,
                    from_account_id: accounts[client / HOSTS % accounts.len()],
                    to_beneficiary_id: payee,
                    amount: Money::from_minor(1),
                    remittance: Remittance::NONE,
                    risk: Risk::NotEnforced,
                    risk_decisions: None,
                    hold_id: None,
                    device: None,
                    may_record_refusal: true,
                };
                match hosts[client % HOSTS].submit(Command::Transfer(order)).await {
                    Ok(Outcome::Sent { .. }) => {}
                    Ok(Outcome::Rejected { .. }) => refused += 1,
                    other => panic!("{other:?}"),
                }
            }
            refused
        })
    });
    let mut refused = 0;
    for client in clients.collect::<Vec<_>>() {
        refused += client.await.unwrap();
    }
    assert_eq!(refused, 1, "the limit holds");
    tokio::time::sleep(STATISTICS_EVERY).await;
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(sqlx::query_scalar::<_, i64>(deadlocks).fetch_one(&db).await.unwrap(), 0);
}
