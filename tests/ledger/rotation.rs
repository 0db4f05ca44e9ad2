//! Replacing the ledger's key: what each key proves afterwards, and that the old one is good for nothing else.

use std::collections::BTreeMap;
use std::path::PathBuf;

use caudal::domain::money::Money;
use caudal::ledger::batch::{Context, Terms};
use caudal::ledger::chain::{ChainKey, Keyring};
use caudal::ledger::heads::{HeadsError, RecordedHeads};
use caudal::ledger::store::proof::{self, Proof, Scope, Watch, is_of_records};
use caudal::ledger::store::{self, Cause, Loss, OpenError, Postgres, RotateError, Store as _};
use caudal::ledger::writer::Writer;
use caudal::ledger::{Command, Fund};
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::model::{CONTEXT, key, put_on_record};
use crate::tamper::{ACCOUNT, fill, write_with};

const CAUSE: Cause<'_> = Cause { reason: "an administrator left", by: "rosa", at: LATER };

/// When every lease of the filled ledger has expired.
const LATER: OffsetDateTime = CONTEXT.now.saturating_add(Duration::HOUR);

fn second() -> ChainKey {
    ChainKey::new(b"the second key, of thirty-two bytes").unwrap()
}

fn third() -> ChainKey {
    ChainKey::new(b"the third key, also of thirty-two bytes").unwrap()
}

async fn rotate(db: &PgPool, old: &ChainKey, new: &ChainKey) -> Result<store::Rotated, RotateError> {
    store::rotate(&mut db.acquire().await.unwrap(), old, new, CAUSE).await
}

async fn prove(db: &mut PgConnection, present: &ChainKey, retired: &[ChainKey]) -> Proof {
    prove_in(db, &Keyring::new(present.clone(), retired.to_vec()), &Scope::whole()).await
}

async fn prove_in(db: &mut PgConnection, keys: &Keyring, scope: &Scope) -> Proof {
    proof::prove_with(db, keys, scope, Watch::default(), |_| {}).await.unwrap()
}

fn complaints(proof: &Proof) -> Vec<String> {
    let breaks = proof.breaks.iter().map(|it| format!("batch {}: {}", it.seq, it.what));
    breaks.chain(proof.records.complaints.iter().cloned()).collect()
}

/// Credits the account in a chain of this key, as a host started later does.
async fn credit(db: &PgPool, key: &ChainKey, number: u128, at: OffsetDateTime) -> Writer {
    let store = Postgres::open(db.clone(), key, at).await.unwrap();
    let mut writer = store.acquire(Uuid::from_u128(number), at).await.unwrap();
    let transfer_id = Uuid::from_u128(0xE200 + number);
    let fund = Command::Fund(Fund { transfer_id, account_id: ACCOUNT, amount: Money::from_minor(5) });
    let context = Context { now: at, stripe: writer.stripe, terms: Terms::OPEN };
    put_on_record(db, key, &fund).await;
    write_with(key, &store, &mut writer, &[fund], &context).await;
    store.release(&writer).await.unwrap();
    writer
}

async fn execute(db: &mut PgConnection, statement: &str) {
    let statement = sqlx::AssertSqlSafe(statement.to_owned());
    assert!(sqlx::query(statement).execute(db).await.unwrap().rows_affected() > 0);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn both_keys_prove_everything_and_the_new_one_what_is_new(db: PgPool) {
    fill(&db).await;
    let heads = proof::heads(&mut db.acquire().await.unwrap()).await.unwrap();
    let rotated = rotate(&db, &key(), &second()).await.unwrap();
    assert_eq!(rotated.retired.chains(), 1);
    let writer = credit(&db, &second(), 2, LATER).await;
    assert_eq!((writer.stripe, writer.next_seq), (1, 1), "a new chain");
    let mut connection = db.acquire().await.unwrap();

    let both = prove(&mut connection, &second(), &[key()]).await;
    assert_eq!(complaints(&both), Vec::<String>::new());
    assert_eq!((both.unproven, both.records.unproven), (0, 0));
    assert_eq!(both.retired.len(), 1);
    let alone = prove(&mut connection, &second(), &[]).await;
    assert_eq!(complaints(&alone), Vec::<String>::new());
    assert_eq!(alone.unproven, 27, "twenty-six batches and the tombstone");
    let before: i64 = heads.iter().filter(|(id, _)| is_of_records(**id)).map(|(_, head)| head.seq + 1).sum();
    assert_eq!(alone.records.unproven, before + 1, "those before, and the closing record");
    assert!(both.is_sound() && alone.is_sound(), "{:?}", both.findings);
    assert_eq!(proof::missing(&mut connection, &second(), &heads).await.unwrap(), []);

    // Also what is recent only, across the rotation.
    for (retired, unproven) in [(vec![key()], 0), (vec![], 1)] {
        let keys = Keyring::new(second(), retired);
        let recent = prove_in(&mut connection, &keys, &Scope::since(heads.clone())).await;
        assert_eq!(complaints(&recent), Vec::<String>::new());
        assert_eq!((recent.checked.batches, recent.unproven), (2, unproven));
        assert!(recent.is_sound(), "{:?}", recent.findings);
    }
    // A wrong key among the retired ones proves nothing.
    assert_eq!(prove(&mut connection, &second(), &[third()]).await.unproven, 27);
}

/// The file of a host that was stopped meanwhile was signed with the old key.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn recorded_heads_count_if_one_of_the_ledgers_keys_signed_them(db: PgPool) {
    fill(&db).await;
    let mut connection = db.acquire().await.unwrap();
    let heads = proof::heads(&mut connection).await.unwrap();
    rotate(&db, &key(), &second()).await.unwrap();
    for (signer, is_ours) in [(key(), true), (second(), true), (third(), false)] {
        let path = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        RecordedHeads::read(&path).unwrap().advance(&heads, &signer).unwrap();
        let checked = RecordedHeads::read(&path).unwrap().check(&mut connection, &second()).await;
        std::fs::remove_file(&path).unwrap();
        assert!(matches!((checked, is_ours), (Ok(()), true) | (Err(HeadsError::Foreign(_)), false)), "{is_ours}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn keys_are_replaced_again(db: PgPool) {
    fill(&db).await;
    rotate(&db, &key(), &second()).await.unwrap();
    credit(&db, &second(), 2, LATER).await;
    rotate(&db, &second(), &third()).await.unwrap();
    credit(&db, &third(), 3, LATER).await;
    let mut connection = db.acquire().await.unwrap();
    for (retired, batches) in [(vec![key(), second()], 0), (vec![second()], 27), (vec![key()], 2), (vec![], 29)] {
        let proof = prove(&mut connection, &third(), &retired).await;
        assert_eq!((complaints(&proof), proof.unproven), (vec![], batches));
    }
    drop(connection);
    for used in [key(), second(), third()] {
        assert!(matches!(rotate(&db, &third(), &used).await.unwrap_err(), RotateError::UsedKey));
    }
    assert!(matches!(rotate(&db, &key(), &third()).await.unwrap_err(), RotateError::OtherKey));
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn the_old_key_is_refused(db: PgPool) {
    fill(&db).await;
    rotate(&db, &key(), &second()).await.unwrap();
    let error = Postgres::open(db.clone(), &key(), LATER).await.unwrap_err();
    assert!(matches!(error, OpenError::RetiredKey), "{error}");
    assert!(error.to_string().contains("configure the key that replaced it"), "{error}");
    assert!(Postgres::check(&db, &key()).await.is_err());
    // Neither does a host or a command go on that was running.
    let stale = Postgres::new(db.clone(), key());
    let error = stale.acquire(Uuid::from_u128(9), LATER).await.unwrap_err();
    assert!(error.to_string().contains("key was replaced"), "{error}");
    let mut db = db.acquire().await.unwrap();
    let error = store::accept(&mut db, &key(), &[loss()]).await.unwrap_err();
    assert!(error.to_string().contains("key was replaced"), "{error}");
    assert_eq!(complaints(&prove(&mut db, &second(), &[key()]).await), Vec::<String>::new());
}

fn loss() -> Loss {
    let (reason, by) = ("invented".to_owned(), "eva".to_owned());
    Loss { chain_id: Uuid::from_u128(8), from_seq: 0, to_seq: 9, head_hashes: vec![[1; 32]], reason, by, at: LATER }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_writer_that_was_paused_cannot_append_to_its_chain(db: PgPool) {
    fill(&db).await;
    let store = Postgres::new(db.clone(), key());
    let writer = store.acquire(Uuid::from_u128(1), LATER).await.unwrap();
    store.release(&writer).await.unwrap();
    rotate(&db, &key(), &second()).await.unwrap();
    let context = Context { now: LATER, stripe: writer.stripe, terms: Terms::OPEN };
    let seal = key().seal_tombstone(Uuid::new_v4(), &writer, LATER);
    assert!(store.commit(&caudal::ledger::batch::Batch::default(), &seal, &context).await.is_err());
}

/// With the rights of SQL and the retired key.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn forgeries_with_the_old_key_are_detected(db: PgPool) {
    fill(&db).await;
    rotate(&db, &key(), &second()).await.unwrap();
    let mut connection = db.acquire().await.unwrap();
    let (chain_id, seq, prev_hash): (Uuid, i64, Vec<u8>) =
        sqlx::query_as("select chain_id, seq, prev_hash from ledger_batch order by seq desc limit 1")
            .fetch_one(&mut *connection)
            .await
            .unwrap();
    let head = prev_hash.try_into().unwrap();
    let writer = Writer { chain_id, stripe: 0, next_seq: seq, head, holder: Uuid::nil() };
    let rewritten = key().seal_tombstone(Uuid::new_v4(), &writer, LATER + Duration::SECOND);
    let rewrite = format!(
        "update ledger_batch set batch_id = '{}', created_at = '{}', hash = '\\x{}' where seq = {seq}",
        rewritten.header.batch_id,
        rewritten.header.created_at,
        hex::encode(rewritten.hash)
    );
    let head = format!("update retired_chain set hash = '\\x{}'", hex::encode(rewritten.hash));
    let further = key().seal_tombstone(Uuid::new_v4(), &writer.after(seq, rewritten.hash), LATER);
    let append = format!(
        "insert into ledger_batch (chain_id, seq, batch_id, created_at, digests, prev_hash, hash)
        select chain_id, seq + 1, '{}', '{}', digests, hash, '\\x{}' from ledger_batch where seq = {seq}",
        further.header.batch_id,
        further.header.created_at,
        hex::encode(further.hash)
    );
    let closed = "does not end where it was closed";
    for (way, statements, expected) in [
        ("the end of a chain rewritten", vec![rewrite.clone()], closed),
        ("the same with the pinned head", vec![rewrite.clone(), head], "was altered"),
        ("a batch appended", vec![rewrite, append], closed),
        ("the pins removed", vec!["delete from retired_chain".to_owned()], "was altered"),
        (
            "the rotation undone",
            vec!["delete from retired_chain".to_owned(), "delete from retired_key".to_owned()],
            "it is gone",
        ),
    ] {
        for retired in [vec![key()], vec![]] {
            let mut transaction = sqlx::Connection::begin(&mut *connection).await.unwrap();
            for statement in &statements {
                execute(&mut transaction, statement).await;
            }
            let found = complaints(&prove(&mut transaction, &second(), &retired).await);
            transaction.rollback().await.unwrap();
            assert!(found.iter().any(|it| it.contains(expected)), "{way}: {found:?}");
        }
    }
    // A record that the old key seals after all: the fingerprint in the database stops honest programs only.
    execute(&mut connection, "update ledger_key set fingerprint = (select fingerprint from retired_key)").await;
    store::accept(&mut connection, &key(), &[loss()]).await.unwrap();
    let found = complaints(&prove(&mut connection, &second(), &[key()]).await);
    assert!(found.iter().any(|it| it.starts_with("record") && it.ends_with("it was altered")), "{found:?}");
    assert!(found.iter().any(|it| it.starts_with("lost-tail")), "{found:?}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_column_of_what_is_pinned_is_covered(db: PgPool) {
    fill(&db).await;
    rotate(&db, &key(), &second()).await.unwrap();
    let mut connection = db.acquire().await.unwrap();
    let drop = "alter table retired_chain drop constraint retired_chain_fingerprint_fkey";
    sqlx::query(drop).execute(&mut *connection).await.unwrap();
    for change in [
        "update retired_key set fingerprint = sha256('')",
        "update retired_key set last_record = last_record + 1",
        "update retired_key set last_record = 99",
        "update retired_key set reason = 'another'",
        "update retired_key set retired_by = 'eva'",
        "update retired_key set retired_at = retired_at + interval '1 ms'",
        "update retired_chain set chain_id = gen_random_uuid()",
        "update retired_chain set fingerprint = sha256('')",
        "update retired_chain set seq = seq - 1",
        "update retired_chain set hash = sha256('')",
        "insert into retired_key values (sha256(''), 99, 'a', 'b', now())",
        // The end of the records of what users change, and the pin of one of their chains.
        "update audit_record set hash = sha256('') where subject = 'schedule' and action = 'write'",
        "update audit_record set prev = sha256('') where subject = 'schedule' and action = 'reseal'",
        "delete from retired_chain where chain_id < '00000000-0000-0000-0000-000000000100'",
        // What the records of the old key say about the rotation, and its own records.
        "update audit_record set state = sha256('') where action = 'retire'",
        "update audit_record set hash = sha256('') where action = 'retire'",
        "update audit_record set prev = sha256('') where action = 'succeed'",
        "delete from audit_record where seq = 2",
    ] {
        let mut transaction = sqlx::Connection::begin(&mut *connection).await.unwrap();
        execute(&mut transaction, change).await;
        let found = complaints(&prove(&mut transaction, &second(), &[key()]).await);
        transaction.rollback().await.unwrap();
        assert_ne!(found, Vec::<String>::new(), "{change}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_key_is_not_replaced_while_a_host_runs(db: PgPool) {
    fill(&db).await;
    let store = Postgres::open(db.clone(), &key(), LATER).await.unwrap();
    let writer = store.acquire(Uuid::from_u128(1), LATER).await.unwrap();
    let error = rotate(&db, &key(), &second()).await.unwrap_err();
    assert!(matches!(error, RotateError::HostRuns { .. }), "{error}");
    assert!(error.to_string().contains("stop every host"), "{error}");
    assert_unchanged(&db).await;
    store.release(&writer).await.unwrap();
    rotate(&db, &key(), &second()).await.unwrap();
}

/// The old key proves everything and goes on.
async fn assert_unchanged(db: &PgPool) {
    let mut connection = db.acquire().await.unwrap();
    let proof = prove(&mut connection, &key(), &[]).await;
    assert_eq!((complaints(&proof), proof.retired.len(), proof.unproven), (vec![], 0, 0));
    assert!(Postgres::check(db, &key()).await.is_ok());
}

/// A payee, after it was compared with its record and before it is sealed again.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_altered_during_a_rotation_is_not_sealed(db: PgPool) {
    fill(&db).await;
    let mut lock = db.begin().await.unwrap();
    sqlx::query("lock table retired_key in share mode").execute(&mut *lock).await.unwrap();
    let alter = async {
        let waiting = "select exists (select from pg_stat_activity \
                       where datname = current_database() and wait_event_type = 'Lock')";
        while !sqlx::query_scalar::<_, bool>(waiting).fetch_one(&db).await.unwrap() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        execute(&mut db.acquire().await.unwrap(), "update beneficiary set account_number = '9'").await;
        lock.rollback().await.unwrap();
    };
    let (rotated, ()) = tokio::join!(async { rotate(&db, &key(), &second()).await }, alter);
    assert!(matches!(rotated, Err(RotateError::Database(_))), "{rotated:?}");
    let found = complaints(&prove(&mut db.acquire().await.unwrap(), &key(), &[]).await);
    assert!(found.iter().any(|it| it.contains("was altered")), "{found:?}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_interrupted_rotation_changes_nothing(db: PgPool) {
    fill(&db).await;
    for (table, event) in
        [("ledger_batch", "insert"), ("retired_chain", "insert"), ("ledger_key", "update"), ("audit_head", "update")]
    {
        let setup = format!(
            "create or replace function fail() returns trigger language plpgsql as
                $$ begin raise exception 'the connection broke'; end $$;
            create trigger fail before {event} on {table} execute function fail();"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(setup)).execute(&db).await.unwrap();
        assert!(rotate(&db, &key(), &second()).await.is_err(), "{table}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("drop trigger fail on {table}"))).execute(&db).await.unwrap();
        assert_unchanged(&db).await;
    }
    credit(&db, &key(), 1, LATER).await;
    assert_unchanged(&db).await;
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_new_key_seals_no_forgery(db: PgPool) {
    fill(&db).await;
    for change in [
        "update beneficiary set account_number = '9'",
        "update app_user set per_day_limit = 999 where owner = 'eva'",
        "update audit_record set actor = 'eva' where seq = 2",
        "update chain_origin set created_at = now()",
        "update lost_tail set to_seq = 9",
        "update ledger_batch set hash = sha256('') where seq = 25",
    ] {
        let mut connection = db.acquire().await.unwrap();
        let mut transaction = sqlx::Connection::begin(&mut *connection).await.unwrap();
        execute(&mut transaction, change).await;
        let error = store::rotate(&mut transaction, &key(), &second(), CAUSE).await.unwrap_err();
        assert!(
            error.to_string().contains("caudal verify") || format!("{error:?}").contains("caudal verify"),
            "{error:?}"
        );
        transaction.rollback().await.unwrap();
    }
    assert_unchanged(&db).await;
    let none = BTreeMap::new();
    assert_eq!(crate::tamper::complaints(&mut db.acquire().await.unwrap(), &key(), &none).await, Vec::<String>::new());
}
