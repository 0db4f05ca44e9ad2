//! Concurrent requests: nothing is overspent, and nothing happens twice.

use std::collections::BTreeMap;

use sqlx::PgPool;

use crate::harness::{Answer, Client, Options, TestApp};
use caudal::domain::money::Money;
use caudal::ledger::{BATCH_LENGTH_MAX, BATCHERS, QUEUE_LENGTH_MAX, QUEUE_RESERVED};

/// Sends `times` copies of one transfer concurrently.
async fn send_at_once(client: &Client, times: usize, from: &str, to: &str, amount: &'static str) -> Vec<Answer> {
    let sent: Vec<_> = (0..times)
        .map(|_| {
            let (client, from, to) = (client.clone(), from.to_owned(), to.to_owned());
            tokio::spawn(async move { client.transfer(&from, &to, amount).await })
        })
        .collect();
    let mut answers = Vec::new();
    for answer in sent {
        answers.push(answer.await.unwrap());
    }
    answers
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn fifty_debits_of_thirty_leave_ten_of_a_hundred(db: PgPool) {
    let app = TestApp::with(db, Options { opening_credit: Money::from_minor(10_000), ..Options::default() }).await;
    let ana = app.user("ana");
    let (from, to) = ana.account_and_payee().await;
    let mut made = 0;
    for answer in send_at_once(&ana, 50, &from, &to, "30.00").await {
        if answer.status == 200 {
            made += 1;
        } else {
            answer.assert_problem(400, "insufficient-funds", Some("amount"));
        }
    }
    assert_eq!(made, 3);
    assert_eq!(ana.balance().await, "10.00");
    assert_eq!(app.count("select count(*) from transfer where kind = 'spei'").await, 3);
    assert_eq!(app.count("select sum(delta)::bigint from entry").await, 0);
    assert_eq!(app.sum_of_balances().await, 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_full_queue_refuses_at_once_and_accepted_commands_complete(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    // Enough for both queues.
    let mut others = Vec::new();
    for number in 0..8 {
        others.push(app.user("luis").open_account(&number.to_string()).await);
    }
    // Nothing moves while the accounts are locked elsewhere.
    let mut holder = app.db.begin().await.unwrap();
    sqlx::query("select from account_balance for update").execute(&mut *holder).await.unwrap();
    let sent = tokio::spawn({
        let (ana, from, to) = (ana.clone(), from.clone(), to.clone());
        async move { send_at_once(&ana, QUEUE_LENGTH_MAX + BATCH_LENGTH_MAX + 100, &from, &to, "1").await }
    });
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    // Operators have places of their own.
    let ops = app.operator(Some("ledger:operate"));
    let frozen = tokio::spawn(async move {
        let freeze = |id| {
            let (ops, path) = (&ops, format!("/admin/accounts/{id}/freeze"));
            async move { ops.post(&path, serde_json::json!({"reason": "a test"})).await }
        };
        futures_util::future::join_all(others.into_iter().map(freeze)).await
    });
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    holder.rollback().await.unwrap();
    let answers = sent.await.unwrap();
    let (taken, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    for answer in &refused {
        answer.assert_problem(503, "overloaded", None);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    // The batcher may hold a batch besides what is queued.
    let fewest = 100 + QUEUE_RESERVED;
    assert!((fewest..=fewest + BATCH_LENGTH_MAX).contains(&refused.len()), "{} refused", refused.len());
    for answer in frozen.await.unwrap() {
        answer.assert_status(200);
    }
    assert_eq!(ana.balance().await, format!("{}.00", 10_000 - taken.len()));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn one_key_sent_fifty_times_makes_one_transfer(db: PgPool) {
    let (app, ana, from, to) = TestApp::ready(db).await;
    let answers = send_at_once(&ana.with("idempotency-key", "once"), 50, &from, &to, "30.00").await;
    let mut bodies = BTreeMap::<String, usize>::new();
    for answer in &answers {
        answer.assert_status(200);
        *bodies.entry(answer.text.clone()).or_default() += 1;
    }
    assert_eq!(bodies.into_values().collect::<Vec<_>>(), [50], "fifty identical responses");
    let replayed = answers.iter().filter(|answer| answer.header("idempotency-replayed").is_some()).count();
    assert_eq!(replayed, 49);
    assert_eq!(ana.balance().await, "9970.00");
    assert_eq!(app.count("select count(*) from transfer where kind = 'spei'").await, 1);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn two_hosts_race_on_one_database_and_both_are_right(db: PgPool) {
    let options = || Options { opening_credit: Money::from_minor(10_000), ..Options::default() };
    let (one, two) = (TestApp::with(db.clone(), options()).await, TestApp::with(db, options()).await);
    let writers = i64::try_from(BATCHERS).unwrap();
    let (ana_one, ana_two) = (one.user("ana"), two.user("ana"));
    let (from, to) = ana_one.account_and_payee().await;
    let (keyed_one, keyed_two) = (ana_one.with("idempotency-key", "k"), ana_two.with("idempotency-key", "k"));
    let (plain_one, plain_two, same_one, same_two) = tokio::join!(
        send_at_once(&ana_one, 10, &from, &to, "30.00"),
        send_at_once(&ana_two, 10, &from, &to, "30.00"),
        send_at_once(&keyed_one, 10, &from, &to, "0.01"),
        send_at_once(&keyed_two, 10, &from, &to, "0.01"),
    );
    let made = plain_one.iter().chain(&plain_two).filter(|answer| answer.status == 200).count();
    for answer in plain_one.iter().chain(&plain_two).filter(|answer| answer.status != 200) {
        answer.assert_problem(400, "insufficient-funds", Some("amount"));
    }
    assert_eq!(made, 3);
    let mut ids: Vec<_> = same_one.iter().chain(&same_two).map(|answer| answer.assert_status(200).id()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "one key, one transfer, on both hosts");
    assert_eq!(ana_one.balance().await, "9.99");
    assert_eq!(one.count("select count(distinct stripe) from ledger_writer").await, 2 * writers);
    one.assert_sound().await;
}
