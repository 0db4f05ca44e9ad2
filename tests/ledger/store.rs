//! The commit statement proves each batch: a wrong one is refused entirely, by a named constraint.

use std::collections::BTreeSet;

use caudal::domain::hold::{self, Hold, OwnedHold};
use caudal::domain::money::Money;
use caudal::ledger::apply::apply;
use caudal::ledger::batch::{Balance, Batch, Context};
use caudal::ledger::chain::Seal;
use caudal::ledger::store::{CommitError, Fate, Postgres, Store as _, proof};
use caudal::ledger::writer::{LEASE, Writer};
use caudal::ledger::{Command, FUNDING_ACCOUNT, Fund, OpenAccount, Outcome, Refusal};
use futures_util::future::join_all;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::model::{CONTEXT, key, lenient, put_on_record, start};

async fn open_store(db: &PgPool) -> Postgres {
    Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap()
}

async fn writer_for(db: &PgPool, holder: u128, now: OffsetDateTime) -> Writer {
    open_store(db).await.acquire(Uuid::from_u128(holder), now).await.unwrap()
}

fn open(number: &str) -> Command {
    Command::Open(OpenAccount {
        account_id: Uuid::now_v7(),
        owner: "ana".to_owned(),
        account_number: number.to_owned(),
        issued: None,
        account_type: "checking".to_owned(),
        opening_credit: Money::from_minor(100),
        transfer_id: Uuid::now_v7(),
    })
}

/// Loads and decides without writing.
async fn decide(store: &Postgres, writer: &Writer, commands: &[Command]) -> (Batch, Vec<Outcome>) {
    let context = Context { stripe: writer.stripe, ..CONTEXT };
    let mut state = store.lookup(commands, writer, &context, &BTreeSet::new()).await.unwrap();
    apply(&mut state, commands, &context, &lenient())
}

fn seal(batch: &Batch, batch_id: Uuid, writer: &Writer) -> Seal {
    key().seal(batch, batch_id, writer, &Context { stripe: writer.stripe, ..CONTEXT })
}

fn tombstone(writer: &Writer) -> Seal {
    key().seal_tombstone(Uuid::new_v4(), writer, CONTEXT.now)
}

async fn count(db: &PgPool) -> (i64, i64, i64) {
    let query = "select (select count(*) from transfer), (select count(*) from entry), (select count(*) from account)";
    sqlx::query_as(query).fetch_one(db).await.unwrap()
}

/// A store with an account, and what will fund it.
async fn opened(db: &PgPool) -> (Postgres, Writer, Fund) {
    let store = open_store(db).await;
    let mut writer = writer_for(db, 1, CONTEXT.now).await;
    let (batch, outcomes) = decide(&store, &writer, &[open("1")]).await;
    store.commit(&batch, &seal(&batch, Uuid::new_v4(), &writer), &CONTEXT).await.unwrap();
    writer.next_seq += 1;
    let Outcome::Opened(opened) = &outcomes[0] else { panic!("{outcomes:?}") };
    let fund = Fund { transfer_id: Uuid::now_v7(), account_id: opened.account_id, amount: Money::from_minor(7) };
    (store, writer, fund)
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_kind_of_wrong_batch_is_refused_entirely(db: PgPool) {
    let (store, writer, fund) = opened(&db).await;
    let fund = Command::Fund(fund);
    put_on_record(&db, &key(), &fund).await;
    let (good, _) = decide(&store, &writer, &[fund]).await;

    type Sabotage = fn(&mut Batch);
    let sabotages: [(&str, Sabotage); 10] = [
        ("batch_balanced", |batch| batch.entries[1].delta = Money::from_minor(8)),
        ("batch_balanced", |batch| batch.entries.truncate(1)),
        ("batch_explained", |batch| {
            let customer =
                batch.balances.iter_mut().find(|(_, change)| change.after.posted > change.before.posted).unwrap();
            customer.1.after.posted = Money::from_minor(customer.1.after.posted.minor() + 1);
        }),
        ("batch_debited", |batch| {
            batch.balances.clear();
            batch.entries.clear();
        }),
        ("batch_race", |batch| batch.balances.values_mut().for_each(|change| change.before.moment += 1)),
        ("no_overdraft", |batch| {
            let customer =
                batch.balances.iter_mut().find(|(_, change)| change.after.posted > change.before.posted).unwrap();
            customer.1.after.posted = Money::from_minor(-1);
        }),
        ("entry_pkey", |batch| batch.entries[0].version = 1),
        ("entry_delta", |batch| batch.entries.iter_mut().for_each(|entry| entry.delta = Money::ZERO)),
        ("transfer_amount", |batch| batch.transfers[0].transfer.amount = Money::ZERO),
        ("transfer_accounts_differ", |batch| batch.transfers[0].credit_account_id = FUNDING_ACCOUNT),
    ];
    let before = count(&db).await;
    for (constraint, sabotage) in sabotages {
        let mut bad = good.clone();
        sabotage(&mut bad);
        let refusal = store.commit(&bad, &seal(&bad, Uuid::new_v4(), &writer), &CONTEXT).await.unwrap_err();
        match (&refusal, constraint) {
            (CommitError::LostRace, "batch_race" | "entry_pkey") => {}
            (CommitError::Refused(error), _) => {
                assert_eq!(error.as_database_error().unwrap().constraint(), Some(constraint), "{refusal:?}");
            }
            _ => panic!("{constraint}: {refusal:?}"),
        }
        assert_eq!(count(&db).await, before, "{constraint}");
    }
    store.commit(&good, &seal(&good, Uuid::new_v4(), &writer), &CONTEXT).await.unwrap();
    let proof = proof::prove(&mut db.acquire().await.unwrap(), &key()).await.unwrap();
    assert!(proof.findings.iter().all(|finding| finding.broken == 0), "{:?}", proof.findings);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_batch_decided_on_old_balances_loses_the_race(db: PgPool) {
    let store = open_store(&db).await;
    let (mut one, two) = (writer_for(&db, 1, CONTEXT.now).await, writer_for(&db, 2, CONTEXT.now).await);
    let (batch, outcomes) = decide(&store, &one, &[open("1")]).await;
    store.commit(&batch, &seal(&batch, Uuid::new_v4(), &one), &CONTEXT).await.unwrap();
    one.next_seq += 1;
    let Outcome::Opened(opened) = &outcomes[0] else { panic!("{outcomes:?}") };
    let fund =
        |amount| Fund { transfer_id: Uuid::now_v7(), account_id: opened.account_id, amount: Money::from_minor(amount) };
    let (first, _) = decide(&store, &one, &[Command::Fund(fund(1))]).await;
    let (second, _) = decide(&store, &two, &[Command::Fund(fund(2))]).await;
    store.commit(&first, &seal(&first, Uuid::new_v4(), &one), &CONTEXT).await.unwrap();
    assert!(matches!(
        store.commit(&second, &seal(&second, Uuid::new_v4(), &two), &CONTEXT).await,
        Err(CommitError::LostRace)
    ));
    // Decided again on fresh state, it succeeds.
    let (second, _) = decide(&store, &two, &[Command::Fund(fund(2))]).await;
    store.commit(&second, &seal(&second, Uuid::new_v4(), &two), &CONTEXT).await.unwrap();
    let (batch, outcomes) = decide(&store, &one, &[open("1")]).await;
    assert_eq!(outcomes, [Outcome::Refused(Refusal::AccountExists)]);
    assert!(batch.is_empty());
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_id_that_two_hosts_use_at_once_is_a_race(db: PgPool) {
    let store = open_store(&db).await;
    let (mut one, two) = (writer_for(&db, 1, CONTEXT.now).await, writer_for(&db, 2, CONTEXT.now).await);
    let (batch, outcomes) = decide(&store, &one, &[open("1"), open("2")]).await;
    store.commit(&batch, &seal(&batch, Uuid::new_v4(), &one), &CONTEXT).await.unwrap();
    one.next_seq += 1;
    let [Outcome::Opened(first), Outcome::Opened(second)] = &outcomes[..] else { panic!("{outcomes:?}") };
    let fund = |id, account_id| {
        [Command::Fund(Fund { transfer_id: Uuid::from_u128(id), account_id, amount: Money::from_minor(1) })]
    };
    let hold = |account_id| OwnedHold {
        owner: "ana".to_owned(),
        hold: Hold {
            hold_id: Uuid::from_u128(8),
            account_id,
            beneficiary_id: Uuid::from_u128(9),
            beneficiary_name: "Luis".to_owned(),
            amount: Money::from_minor(1),
            status: hold::Status::Placed,
            expires_at: CONTEXT.now + Duration::HOUR,
            created_at: CONTEXT.now,
        },
    };
    let with_hold = |batch: &Batch, account_id| {
        let mut batch = batch.clone();
        batch.transfers.clear();
        batch.entries.clear();
        batch.holds.push(hold(account_id));
        batch.balances.retain(|key, _| key.0 == account_id);
        let change = batch.balances.values_mut().next().unwrap();
        change.after = Balance { held: Money::from_minor(1), moment: change.after.moment, ..change.before };
        batch
    };
    for (id, is_hold) in [(6, false), (7, true)] {
        // Both decide before either commits.
        let (mut ours, _) = decide(&store, &one, &fund(id, first.account_id)).await;
        let (mut theirs, _) = decide(&store, &two, &fund(id, second.account_id)).await;
        if is_hold {
            (ours, theirs) = (with_hold(&ours, first.account_id), with_hold(&theirs, second.account_id));
        }
        store.commit(&ours, &seal(&ours, Uuid::new_v4(), &one), &CONTEXT).await.unwrap();
        one.next_seq += 1;
        let refusal = store.commit(&theirs, &seal(&theirs, Uuid::new_v4(), &two), &CONTEXT).await;
        assert!(matches!(refusal, Err(CommitError::LostRace)), "{refusal:?}");
    }
    let (batch, outcomes) = decide(&store, &two, &fund(6, second.account_id)).await;
    assert_eq!(outcomes, [Outcome::IdTaken]);
    assert!(batch.is_empty());
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_decision_of_a_host_that_was_paused_loses_the_race(db: PgPool) {
    let (store, writer, fund) = opened(&db).await;
    let paused = store.clone().with_decision_time(std::time::Duration::ZERO);
    let (batch, _) = decide(&paused, &writer, &[Command::Fund(fund)]).await;
    let late = paused.commit(&batch, &seal(&batch, Uuid::new_v4(), &writer), &CONTEXT).await;
    assert!(matches!(late, Err(CommitError::LostRace)), "{late:?}");
    store.commit(&batch, &seal(&batch, Uuid::new_v4(), &writer), &CONTEXT).await.unwrap();
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_constraint_decides_between_two_openings_of_one_number(db: PgPool) {
    let store = open_store(&db).await;
    let (one, two) = (writer_for(&db, 1, CONTEXT.now).await, writer_for(&db, 2, CONTEXT.now).await);
    let (first, _) = decide(&store, &one, &[open("1")]).await;
    let (second, _) = decide(&store, &two, &[open("1")]).await;
    store.commit(&first, &seal(&first, Uuid::new_v4(), &one), &CONTEXT).await.unwrap();
    let before = count(&db).await;
    assert!(matches!(
        store.commit(&second, &seal(&second, Uuid::new_v4(), &two), &CONTEXT).await,
        Err(CommitError::LostRace)
    ));
    assert_eq!(count(&db).await, before);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_chain_is_leased_to_one_writer_and_fenced_by_sequence_numbers(db: PgPool) {
    let now = CONTEXT.now;
    let (one, two) = (writer_for(&db, 1, now).await, writer_for(&db, 2, now).await);
    assert_ne!((one.chain_id, one.stripe), (two.chain_id, two.stripe));
    let store = open_store(&db).await;
    assert!(store.renew(&one, now + LEASE).await.unwrap());

    // The second lease expires, and a third host continues the chain.
    let later = now + LEASE + Duration::SECOND;
    let three = writer_for(&db, 3, later).await;
    assert_eq!(three.chain_id, two.chain_id);
    assert!(!store.renew(&two, later).await.unwrap());
    let (batch, _) = decide(&store, &three, &[open("3")]).await;
    store.commit(&batch, &seal(&batch, Uuid::new_v4(), &three), &CONTEXT).await.unwrap();
    let (batch, _) = decide(&store, &two, &[open("2")]).await;
    let refusal = store.commit(&batch, &seal(&batch, Uuid::new_v4(), &two), &CONTEXT).await.unwrap_err();
    assert!(matches!(refusal, CommitError::LostChain | CommitError::LostRace), "{refusal:?}");
    // A released chain is continued where it ended.
    store.release(&three).await.unwrap();
    let four = writer_for(&db, 4, later).await;
    assert_eq!((four.chain_id, four.next_seq), (three.chain_id, 1));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn hosts_that_start_at_once_get_different_chains(db: PgPool) {
    let start = |_| {
        let db = db.clone();
        tokio::spawn(async move {
            let host = start(db).await;
            // It stays: a host that has ended leaves its chain to the next one.
            (host.submit(open(&Uuid::now_v7().to_string())).await.unwrap(), host)
        })
    };
    let hosts = join_all((0..4).map(start)).await;
    assert!(hosts.iter().all(|it| matches!(it, Ok((Outcome::Opened(_), _)))));
    let chains: i64 =
        sqlx::query_scalar("select count(distinct chain_id) from ledger_batch").fetch_one(&db).await.unwrap();
    assert_eq!(chains, 4);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_unknown_outcome_is_settled_for_good(db: PgPool) {
    let store = open_store(&db).await;
    let mut writer = writer_for(&db, 1, CONTEXT.now).await;
    let (batch, _) = decide(&store, &writer, &[open("1")]).await;
    let (committed, uncommitted) = (Uuid::new_v4(), Uuid::new_v4());
    store.commit(&batch, &seal(&batch, committed, &writer), &CONTEXT).await.unwrap();
    assert_eq!(store.settle(committed, &tombstone(&writer)).await.unwrap(), Fate::Committed);
    assert_eq!(store.settle(uncommitted, &tombstone(&writer)).await.unwrap(), Fate::LostChain);

    // A batch that was settled as uncommitted can never commit afterwards.
    writer.next_seq += 1;
    let (batch, _) = decide(&store, &writer, &[open("2")]).await;
    assert_eq!(store.settle(uncommitted, &tombstone(&writer)).await.unwrap(), Fate::Never);
    let late = store.commit(&batch, &seal(&batch, uncommitted, &writer), &CONTEXT).await;
    assert!(matches!(late, Err(CommitError::LostChain)), "{late:?}");
    writer.next_seq += 1;
    store.commit(&batch, &seal(&batch, Uuid::new_v4(), &writer), &CONTEXT).await.unwrap();
    let proof = proof::prove(&mut db.acquire().await.unwrap(), &key()).await.unwrap();
    assert!(proof.findings.iter().all(|finding| finding.broken == 0), "{:?}", proof.findings);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn settling_waits_for_a_running_statement(db: PgPool) {
    let store = open_store(&db).await;
    let writer = writer_for(&db, 1, CONTEXT.now).await;
    let (batch, _) = decide(&store, &writer, &[open("1")]).await;
    // The batch is written but not committed when its connection is given up.
    let mut slow = db.begin().await.unwrap();
    let batch_id = Uuid::new_v4();
    let row = "insert into ledger_batch (chain_id, seq, batch_id, created_at, digests, prev_hash, hash) \
        values ($1, $2, $3, now(), decode(repeat('00', 256), 'hex'), sha256(''), sha256(''))";
    let row = sqlx::query(row).bind(writer.chain_id).bind(writer.next_seq).bind(batch_id);
    row.execute(&mut *slow).await.unwrap();
    let settling = tokio::spawn(async move { store.settle(batch_id, &tombstone(&writer)).await });
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert!(!settling.is_finished(), "it must wait for the other transaction");
    slow.commit().await.unwrap();
    assert_eq!(settling.await.unwrap().unwrap(), Fate::Committed);
    assert!(!batch.is_empty());
}
