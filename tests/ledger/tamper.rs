//! Changes to history are detected: any column of any row, whole rows, a truncated tail, and a chain recomputed with
//! another key.

use std::collections::BTreeMap;

use caudal::db::audit;
use caudal::domain::money::Money;
use caudal::domain::rules::{Facts, Verdict, Violation};
use caudal::domain::transfer::{RailName, Reason, Report};
use caudal::ledger::apply::apply;
use caudal::ledger::batch::{Context, Policy, Terms};
use caudal::ledger::chain::ChainKey;
use caudal::ledger::store::proof::{self, Head};
use caudal::ledger::store::{Postgres, Store as _};
use caudal::ledger::writer::Writer;
use caudal::ledger::{Command, Fund, OpenAccount, Order, PaymentReport, Risk};
use sqlx::{PgConnection, PgPool};
use time::Duration;
use uuid::Uuid;

use crate::model::{CONTEXT, key, lenient};

const ACCOUNT: Uuid = Uuid::from_u128(0xA000);
const PAYEE: Uuid = Uuid::from_u128(0xB000);

fn order(number: u128, amount: i64) -> Command {
    Command::Transfer(Order {
        transfer_id: Uuid::from_u128(0xC000 + number),
        owner: "ana".to_owned(),
        key: Some(number.to_string()),
        from_account_id: ACCOUNT,
        to_beneficiary_id: PAYEE,
        amount: Money::from_minor(amount),
        risk: Risk::NotEnforced,
    })
}

fn report(number: u128, report: Report) -> Command {
    Command::Report(PaymentReport {
        transfer_id: Uuid::from_u128(0xC000 + number),
        account_id: ACCOUNT,
        report,
        reason: Reason::parse("02"),
        return_id: Uuid::from_u128(0xD000 + number),
    })
}

/// Fills a ledger with every kind of row, one batch for each command.
async fn fill(db: &PgPool) {
    let payee = "insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, created_at) \
                 values ($1, 'ana', 'Luis', 'BBVA', '012', $2)";
    sqlx::query(payee).bind(PAYEE).bind(CONTEXT.now).execute(db).await.unwrap();
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    let mut writer = store.acquire(Uuid::from_u128(1), CONTEXT.now).await.unwrap();
    let open = OpenAccount {
        account_id: ACCOUNT,
        owner: "ana".to_owned(),
        account_number: "1".to_owned(),
        account_type: "checking".to_owned(),
        opening_credit: Money::from_minor(1_000),
        transfer_id: Uuid::from_u128(0xE000),
    };
    let fund = Fund { transfer_id: Uuid::from_u128(0xE001), account_id: ACCOUNT, amount: Money::from_minor(5) };
    let (instant, simulated) = (RailName::Instant, RailName::Simulated);
    for (rail, command) in [
        (instant, Command::Open(open)),
        (instant, Command::Fund(fund)),
        (instant, order(1, 10)),
        (simulated, order(2, 20)),
        (simulated, order(3, 30)),
        (simulated, order(4, 40)),
        (simulated, report(2, Report::Settled)),
        (simulated, report(3, Report::Rejected)),
        (simulated, report(2, Report::Returned)),
        (instant, order(5, 999_999)),
        (instant, order(6, 7)),
    ] {
        let context = Context {
            now: CONTEXT.now + Duration::seconds(writer.next_seq),
            stripe: writer.stripe,
            terms: Terms { rail, ..Terms::OPEN },
        };
        write(&store, &mut writer, &[command], &context).await;
    }
}

async fn write(store: &Postgres, writer: &mut Writer, commands: &[Command], context: &Context) {
    let reject_uncovered = |_: Uuid, facts: &Facts| {
        let detail = "No.".to_owned();
        let violation = Violation { code: "insufficient-funds".to_owned(), detail };
        let enough = facts.available >= facts.amount;
        Ok(if enough { Verdict::Accepted } else { Verdict::Rejected(vec![violation]) })
    };
    let mut state = store.lookup(commands, writer, context).await.unwrap();
    let (batch, outcomes) = apply(&mut state, commands, context, &Policy { decide: &reject_uncovered, ..lenient() });
    assert!(!batch.is_empty(), "{outcomes:?}");
    let seal = key().seal(&batch, Uuid::new_v4(), writer, context);
    store.commit(&batch, &seal, context).await.unwrap();
    writer.next_seq += 1;
    writer.head = Some(seal.hash);
}

/// Everything that `caudal verify` complains about.
async fn complaints(db: &mut PgConnection, key: &ChainKey, recorded: &BTreeMap<Uuid, Head>) -> Vec<String> {
    let broken = audit::prove(db).await.unwrap().into_iter().filter(|finding| finding.broken > 0);
    let mut complaints: Vec<_> = broken.map(|finding| finding.rule.to_owned()).collect();
    let proof = proof::prove(db, key).await.unwrap();
    complaints.extend(proof.breaks.iter().map(|it| format!("batch {}: {}", it.seq, it.what)));
    let missing = proof::missing(db, recorded).await.unwrap();
    complaints.extend(missing.iter().map(|it| format!("batch {} is missing", it.seq)));
    complaints
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_column_of_every_row_is_covered(db: PgPool) {
    fill(&db).await;
    let none = BTreeMap::new();
    assert_eq!(complaints(&mut db.acquire().await.unwrap(), &key(), &none).await, Vec::<String>::new());
    let tables = ["transfer", "entry", "ledger_batch", "transfer_event", "idempotency", "account"];
    let mut tried = 0;
    for table in tables {
        let columns: Vec<(String, String)> = sqlx::query_as(
            "select column_name::text, data_type::text from information_schema.columns where table_name = $1",
        )
        .bind(table)
        .fetch_all(&db)
        .await
        .unwrap();
        let of_batches = if table == "account" { "where owner is not null" } else { "" };
        let rows: Vec<String> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select ctid::text from {table} {of_batches}")))
                .fetch_all(&db)
                .await
                .unwrap();
        for row in &rows {
            for (column, kind) in &columns {
                // A CHECK allows MXN only.
                if column == "currency" {
                    continue;
                }
                let value = match kind.as_str() {
                    "text" => format!("coalesce({column}, '') || '7'"),
                    "bigint" | "integer" | "smallint" => format!("{column} + 1"),
                    "uuid" => "gen_random_uuid()".to_owned(),
                    "timestamp with time zone" => format!("{column} + interval '1 millisecond'"),
                    "bytea" => format!("sha256({column})"),
                    "jsonb" => r#"'[{"code": "insufficient-funds", "detail": "No.", "more": 1}]'"#.to_owned(),
                    "ARRAY" => format!("array_append({column}, gen_random_uuid())"),
                    other => panic!("{table}.{column} is of type {other}"),
                };
                let change = format!("update {table} set {column} = {value} where ctid = '{row}'");
                tried += usize::from(assert_detected(&db, table, &change).await);
            }
            assert_detected(&db, table, &format!("delete from {table} where ctid = '{row}'")).await;
        }
    }
    assert!(tried > 500, "{tried} changes were tried");
}

/// Makes a change as a superuser without the key could. False if it changes nothing.
async fn assert_detected(db: &PgPool, table: &str, change: &str) -> bool {
    let mut transaction = db.begin().await.unwrap();
    let constraints: Vec<String> = sqlx::query_scalar(
        "select conname::text from pg_constraint where conrelid = $1::regclass and contype in ('c', 'u', 'p')",
    )
    .bind(table)
    .fetch_all(&mut *transaction)
    .await
    .unwrap();
    for constraint in constraints {
        let drop = format!("alter table {table} drop constraint {constraint}");
        sqlx::query(sqlx::AssertSqlSafe(drop)).execute(&mut *transaction).await.unwrap();
    }
    let copy = format!("create temp table before on commit drop as select * from {table}");
    sqlx::query(sqlx::AssertSqlSafe(copy)).execute(&mut *transaction).await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(change.to_owned())).execute(&mut *transaction).await.unwrap();
    let differs = format!("select exists (select * from before except select * from {table})");
    let differs: bool = sqlx::query_scalar(sqlx::AssertSqlSafe(differs)).fetch_one(&mut *transaction).await.unwrap();
    let complaints = complaints(&mut transaction, &key(), &BTreeMap::new()).await;
    transaction.rollback().await.unwrap();
    assert!(!differs || !complaints.is_empty(), "{change} is not detected");
    differs
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_cleanly_truncated_tail_is_detected(db: PgPool) {
    fill(&db).await;
    let mut db = db.acquire().await.unwrap();
    let recorded = proof::heads(&mut db).await.unwrap();
    // Undoes everything that the last batch wrote.
    for statement in [
        "create temp table tail as select chain_id, seq from ledger_batch order by seq desc limit 1",
        "create temp table gone as select e.* from entry e join tail using (chain_id, seq)",
        "update account_balance b set posted = posted - g.delta, version = b.version - 1
            from gone g where g.account_id = b.account_id and g.stripe = b.stripe",
        "delete from entry e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
        "delete from transfer_event e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
        "delete from idempotency e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
        "delete from transfer e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
        "delete from ledger_batch e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
    ] {
        assert!(sqlx::query(statement).execute(&mut *db).await.unwrap().rows_affected() > 0, "{statement}");
    }
    assert_eq!(complaints(&mut db, &key(), &BTreeMap::new()).await, Vec::<String>::new());
    assert_eq!(complaints(&mut db, &key(), &recorded).await, ["batch 10 is missing"]);
    let gone = recorded.into_iter().map(|(chain, head)| (chain, Head { hash: None, ..head })).collect();
    assert_eq!(complaints(&mut db, &key(), &gone).await, ["batch 10 is missing"]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_chain_made_with_another_key_is_detected(db: PgPool) {
    fill(&db).await;
    let mut db = db.acquire().await.unwrap();
    let recorded = proof::heads(&mut db).await.unwrap();
    // Every check that does not involve the key passes.
    let other = ChainKey::new(b"a key of thirty-two bytes, but another").unwrap();
    let complaints = complaints(&mut db, &other, &recorded).await;
    assert_eq!(complaints.len(), 12, "{complaints:?}");
    assert_eq!(complaints[0], "batch 0: it does not link to the batch before it");
    for seq in 0..11 {
        let expected = format!("batch {seq}: its ledger_batch row was altered");
        assert!(complaints.contains(&expected), "{complaints:?}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_host_with_another_key_is_refused(db: PgPool) {
    fill(&db).await;
    let other = ChainKey::new(b"a key of thirty-two bytes, but another").unwrap();
    let error = Postgres::open(db.clone(), &other, CONTEXT.now).await.unwrap_err();
    assert!(error.to_string().contains("another key"), "{error}");
    assert!(Postgres::check(&db, &other).await.is_err());
    assert!(Postgres::open(db, &key(), CONTEXT.now).await.is_ok());
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn batches_without_a_hash_are_accepted_only_at_the_beginning(db: PgPool) {
    fill(&db).await;
    let mut db = db.acquire().await.unwrap();
    let remove_hashes =
        "update ledger_batch set prev_hash = null, hash = null, accounts_digest = null, transfers_digest = null,
        entries_digest = null, statuses_digest = null, keys_digest = null where seq";
    for (which, expected) in [
        ("= 5", "batch 5: it has no hash"),
        ("<= 5", "batch 6: it does not link to the batch before it"),
        (">= 9", "batch 9: it has no hash"),
    ] {
        sqlx::query("begin").execute(&mut *db).await.unwrap();
        sqlx::query(sqlx::AssertSqlSafe(format!("{remove_hashes} {which}"))).execute(&mut *db).await.unwrap();
        let complaints = complaints(&mut db, &key(), &BTreeMap::new()).await;
        assert!(complaints.contains(&expected.to_owned()), "{which}: {complaints:?}");
        sqlx::query("rollback").execute(&mut *db).await.unwrap();
    }
}

/// Credits Ana's account with a million from the bank's own funds, in a chain that no host wrote.
const FORGED_CHAIN: [&str; 8] = [
    "insert into ledger_writer (chain_id, stripe, holder, leased_until)
        values ('00000000-0000-4000-8000-00000000f00d', 9, gen_random_uuid(), 'epoch')",
    "insert into ledger_batch (chain_id, seq, batch_id, created_at, transfers_meant, transfers_written,
            transfers_debited, entries_meant, entries_written, balances_meant, balances_written, balances_explained,
            statuses_meant, statuses_written, debits, credits, transfer_ids)
        values ('00000000-0000-4000-8000-00000000f00d', 0, gen_random_uuid(), now(), 1, 1, 1, 2, 2, 2, 2, 2, 1, 1,
            100000000, 100000000, '{00000000-0000-0000-0000-00000000f001}')",
    "insert into transfer (transfer_id, kind, owner, debit_account_id, credit_account_id, amount, status, chain_id,
            seq, created_at)
        values ('00000000-0000-0000-0000-00000000f001', 'funding', 'ana', '00000000-0000-7000-8000-000000000001',
            '00000000-0000-0000-0000-00000000a000', 100000000, 'completed', '00000000-0000-4000-8000-00000000f00d', 0,
            now())",
    "insert into transfer_event (transfer_id, ordinal, status, chain_id, seq, created_at)
        values ('00000000-0000-0000-0000-00000000f001', 0, 'completed', '00000000-0000-4000-8000-00000000f00d', 0,
            now())",
    "insert into account_balance (account_id, stripe, posted, floor, version, changed_at)
        values ('00000000-0000-7000-8000-000000000001', 9, -100000000, -9223372036854775807, 1, now())",
    "insert into entry (account_id, stripe, version, transfer_id, delta, balance_after, chain_id, seq, created_at)
        values ('00000000-0000-7000-8000-000000000001', 9, 1, '00000000-0000-0000-0000-00000000f001', -100000000,
            -100000000, '00000000-0000-4000-8000-00000000f00d', 0, now())",
    "insert into entry (account_id, stripe, version, transfer_id, delta, balance_after, chain_id, seq, created_at)
        select account_id, stripe, version + 1, '00000000-0000-0000-0000-00000000f001', 100000000, posted + 100000000,
            '00000000-0000-4000-8000-00000000f00d', 0, now()
        from account_balance where account_id = '00000000-0000-0000-0000-00000000a000'",
    "update account_balance set posted = posted + 100000000, version = version + 1, changed_at = now()
        where account_id = '00000000-0000-0000-0000-00000000a000'",
];

async fn run_all(db: &mut PgConnection, statements: &[&'static str]) {
    for statement in statements {
        assert!(sqlx::query(*statement).execute(&mut *db).await.unwrap().rows_affected() > 0, "{statement}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn money_from_a_chain_that_no_host_began_is_detected(db: PgPool) {
    fill(&db).await;
    let mut db = db.acquire().await.unwrap();
    run_all(&mut db, &FORGED_CHAIN).await;
    assert_ne!(complaints(&mut db, &key(), &BTreeMap::new()).await, Vec::<String>::new());
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_history_without_hashes_is_not_signed_again(db: PgPool) {
    fill(&db).await;
    let mut connection = db.acquire().await.unwrap();
    run_all(
        &mut connection,
        &[
            "update ledger_batch set prev_hash = null, hash = null, accounts_digest = null, transfers_digest = null,
                entries_digest = null, statuses_digest = null, keys_digest = null",
            "update transfer set beneficiary_account_number = '999', payee_key = '999' where kind = 'spei'",
            "update ledger_writer set leased_until = 'epoch'",
        ],
    )
    .await;
    drop(connection);
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    let error = store.acquire(Uuid::from_u128(2), CONTEXT.now).await.unwrap_err();
    assert!(error.to_string().contains("caudal verify"), "{error}");
    let mut connection = db.acquire().await.unwrap();
    assert_ne!(complaints(&mut connection, &key(), &BTreeMap::new()).await, Vec::<String>::new());
}
