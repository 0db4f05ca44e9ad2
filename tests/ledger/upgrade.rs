//! A database of a version without audit records is adopted once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use caudal::domain::money::Money;
use caudal::ledger::batch::{Context, Terms};
use caudal::ledger::store::proof;
use caudal::ledger::store::{Postgres, Store as _};
use caudal::ledger::writer::Writer;
use caudal::ledger::{Command, Fund, OpenAccount};
use sqlx::migrate::Migrator;
use sqlx::{Executor as _, PgConnection, PgPool};
use time::Duration;
use uuid::Uuid;

use crate::model::{CONTEXT, key};
use crate::tamper::{ACCOUNT, complaints, write};

/// The last version of the schema without audit records.
const BEFORE: i64 = 9;

/// Add what the writing statement of today needs; the last one needs 13.
const WRITTEN_TO: [i64; 5] = [13, 14, 17, 20, 21];

const CHAIN: Uuid = Uuid::from_u128(0xF000);

pub(crate) fn open() -> Command {
    Command::Open(OpenAccount {
        account_id: ACCOUNT,
        owner: "ana".to_owned(),
        account_number: "1".to_owned(),
        issued: None,
        account_type: "checking".to_owned(),
        opening_credit: Money::from_minor(1_000),
        transfer_id: Uuid::from_u128(0xE000),
    })
}

pub(crate) fn fund(number: u128) -> Command {
    let transfer_id = Uuid::from_u128(0xE100 + number);
    Command::Fund(Fund { transfer_id, account_id: ACCOUNT, amount: Money::from_minor(5) })
}

pub(crate) async fn credit(store: &Postgres, writer: &mut Writer, command: Command) {
    let now = CONTEXT.now + Duration::seconds(writer.next_seq);
    let context = Context { now, stripe: writer.stripe, terms: Terms::OPEN };
    write(store, writer, &[command], &context).await;
}

async fn execute(db: &PgPool, statements: &[&'static str]) {
    for statement in statements {
        assert!(sqlx::query(*statement).execute(db).await.unwrap().rows_affected() > 0, "{statement}");
    }
}

/// A ledger as the version before left it: three batches from before there were hashes, two with them, and one row of
/// everything that records cover now.
async fn old_ledger(db: &PgPool) {
    // A server for tests has the tables of this release in every new database.
    db.execute("drop schema public cascade; create schema public").await.unwrap();
    let is_needed = |version: &i64| *version <= BEFORE || WRITTEN_TO.contains(version);
    let migrations = caudal::MIGRATOR.iter().filter(|it| is_needed(&it.version)).cloned().collect();
    Migrator { migrations: Cow::Owned(migrations), ..Migrator::DEFAULT }.run(db).await.unwrap();
    execute(
        db,
        &[
            "insert into ledger_writer values ('00000000-0000-0000-0000-00000000f000', 0, gen_random_uuid(), 'epoch')",
            "insert into account_balance (account_id, stripe, posted, floor, version)
                select account_id, 0, 0, -9223372036854775807, 0 from account",
            "insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, created_at)
                values (gen_random_uuid(), 'ana', 'Luis', 'BBVA', '012', now())",
            "insert into app_user (owner, per_day_limit, created_at) values ('eva', 5, now())",
            "insert into component (sha256, kind, version, model_version, bytes, answers, registered_by, registered_at)
                values (sha256('old'), 'risk', '1.0.0', 'risk-1.0.0', 'old', '', 'ops', now())",
            "insert into deployment (kind, epoch, champion, previous, reason, changed_by, changed_at)
                values ('risk', 1, sha256('old'), sha256('old'), 'first', 'ops', now())",
            "insert into deployment_history (kind, epoch, champion, previous, reason, changed_by, changed_at)
                select kind, epoch, champion, previous, reason, changed_by, changed_at from deployment",
        ],
    )
    .await;
    let store = Postgres::new(db.clone(), key());
    let (chain_id, holder) = (CHAIN, Uuid::from_u128(1));
    let mut writer = Writer { chain_id, stripe: 0, next_seq: 0, head: None, holder };
    credit(&store, &mut writer, open()).await;
    credit(&store, &mut writer, fund(1)).await;
    credit(&store, &mut writer, fund(2)).await;
    execute(
        db,
        &[
            "update ledger_batch set prev_hash = null, hash = null, accounts_digest = null, transfers_digest = null,
                entries_digest = null, statuses_digest = null, keys_digest = null",
            "update account set chain_id = null, seq = null where owner is not null",
        ],
    )
    .await;
    writer.head = None;
    credit(&store, &mut writer, fund(3)).await;
    credit(&store, &mut writer, fund(4)).await;
}

pub(crate) async fn all_complaints(db: &mut PgConnection) -> Vec<String> {
    complaints(db, &key(), &BTreeMap::new()).await
}

#[sqlx::test(migrations = false)]
async fn an_old_ledger_is_adopted_once_and_goes_on(db: PgPool) {
    old_ledger(&db).await;
    caudal::MIGRATOR.run(&db).await.unwrap();
    let mut connection = db.acquire().await.unwrap();
    let before = all_complaints(&mut connection).await;
    assert!(before.iter().any(|it| it.contains("start a host first")), "{before:?}");

    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    assert_eq!(all_complaints(&mut connection).await, Vec::<String>::new());
    let adoption = proof::prove(&mut connection, &key()).await.unwrap().adoption.unwrap();
    let rows = (adoption.beneficiaries, adoption.limits, adoption.components, adoption.deployments);
    assert_eq!((adoption.chains, adoption.batches, adoption.accounts, rows), (1, 3, 1, (1, 1, 1, 1)));

    let mut writer = store.acquire(Uuid::from_u128(2), CONTEXT.now + Duration::HOUR).await.unwrap();
    assert_eq!((writer.chain_id, writer.next_seq), (CHAIN, 5));
    credit(&store, &mut writer, fund(5)).await;
    Postgres::open(db.clone(), &key(), CONTEXT.now + Duration::DAY).await.unwrap();
    let proof = proof::prove(&mut connection, &key()).await.unwrap();
    assert_eq!(proof.adoption.unwrap(), adoption, "it is not adopted again");
    assert_eq!(all_complaints(&mut connection).await, Vec::<String>::new());

    // What was trusted once is covered from then on.
    for (change, expected) in [
        (
            "update transfer set owner = 'eva', created_at = created_at + interval '1 s' where seq = 1",
            "batch 0: its batches without",
        ),
        ("update ledger_batch set batch_id = gen_random_uuid() where seq = 2", "batch 0: its batches without"),
        (
            "update account set account_number = '2', number_key = '2' where owner is not null",
            "those that no batch opened",
        ),
        ("update beneficiary set account_number = '2'", "was altered"),
        ("update app_user set per_day_limit = 6 where owner = 'eva'", "was altered"),
        ("update component set bytes = 'new'", "was altered"),
        ("update deployment_history set reason = 'second'", "was altered"),
    ] {
        let mut transaction = db.begin().await.unwrap();
        assert!(sqlx::query(change).execute(&mut *transaction).await.unwrap().rows_affected() > 0, "{change}");
        let complaints = complaints(&mut transaction, &key(), &BTreeMap::new()).await;
        transaction.rollback().await.unwrap();
        assert!(complaints.iter().any(|it| it.contains(expected)), "{change}: {complaints:?}");
    }
}
