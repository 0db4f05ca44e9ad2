//! Ways to alter money, payees, limits, models or history with all the rights of SQL but without the key: each is
//! detected, or refused by a host.

use std::collections::BTreeMap;

use caudal::ledger::chain::ChainKey;
use caudal::ledger::store::proof;
use caudal::ledger::store::{Postgres, Store as _};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::model::{CONTEXT, key};
use crate::tamper::{complaints, fill};

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_cleanly_truncated_tail_is_detected(db: PgPool) {
    fill(&db).await;
    let mut db = db.acquire().await.unwrap();
    let recorded = proof::heads(&mut db).await.unwrap();
    // Undoes everything that the last batch wrote.
    for statement in [
        "create temp table tail as select chain_id, seq from ledger_batch order by seq desc limit 1",
        "create temp table gone as select e.* from entry e join tail using (chain_id, seq)",
        "update account_balance b set posted = posted - g.delta, version = b.version - 1, sent = greatest(0, b.sent - 7),
                sent_transfers = greatest(0, b.sent_transfers - 1), sent_total = greatest(0, b.sent_total - 7),
                changed_at = (select max(e.created_at) from entry e
                    where e.account_id = b.account_id and e.stripe = b.stripe and e.version < g.version)
            from gone g where g.account_id = b.account_id and g.stripe = b.stripe",
        "update payee_total p set transfers = p.transfers - 1, amount = p.amount - t.amount
            from transfer t join tail using (chain_id, seq) where (p.owner, p.payee_key) = (t.owner, t.payee_key)",
        "delete from entry e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
        "delete from transfer_event e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
        "delete from idempotency e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
        "delete from transfer e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
        "delete from ledger_batch e using tail t where e.chain_id = t.chain_id and e.seq = t.seq",
    ] {
        assert!(sqlx::query(statement).execute(&mut *db).await.unwrap().rows_affected() > 0, "{statement}");
    }
    assert_eq!(complaints(&mut db, &key(), &BTreeMap::new()).await, Vec::<String>::new());
    assert_eq!(complaints(&mut db, &key(), &recorded).await, ["batch 25 is missing"]);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_chain_made_with_another_key_is_detected(db: PgPool) {
    fill(&db).await;
    let mut db = db.acquire().await.unwrap();
    let recorded = proof::heads(&mut db).await.unwrap();
    // Every check that does not involve the key passes.
    let other = ChainKey::new(b"a key of thirty-two bytes, but another").unwrap();
    let complaints = complaints(&mut db, &other, &recorded).await;
    for seq in 0..11 {
        let expected = format!("batch {seq}: its ledger_batch row was altered");
        assert!(complaints.contains(&expected), "{complaints:?}");
    }
    assert!(complaints.contains(&"record 0: it was altered".to_owned()), "{complaints:?}");
    assert!(!complaints.iter().any(|it| it.contains("missing")), "{complaints:?}");
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

/// Credits Ana's account with a million from the bank's own funds, in a chain that no host wrote.
const FORGED_CHAIN: [&str; 8] = [
    "insert into ledger_writer (chain_id, stripe, holder, leased_until)
        values ('00000000-0000-4000-8000-00000000f00d', 9, gen_random_uuid(), 'epoch')",
    "insert into ledger_batch (chain_id, seq, batch_id, created_at, transfers_meant, transfers_written,
            transfers_debited, entries_meant, entries_written, balances_meant, balances_written, balances_explained,
            statuses_meant, statuses_written, debits, credits, transfer_ids, digests, prev_hash,
            hash)
        values ('00000000-0000-4000-8000-00000000f00d', 0, gen_random_uuid(), now(), 1, 1, 1, 2, 2, 2, 2, 2, 1, 1,
            100000000, 100000000, '{00000000-0000-0000-0000-00000000f001}', decode(repeat('00', 256), 'hex'), sha256(''),
            sha256(''))",
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

pub(crate) async fn run_all(db: &mut PgConnection, statements: &[&'static str]) {
    for statement in statements {
        let rows = sqlx::query(*statement).execute(&mut *db).await.unwrap().rows_affected();
        let is_of_rows = !["alter", "create", "drop"].iter().any(|word| statement.starts_with(word));
        assert!(rows > 0 || !is_of_rows, "{statement}");
    }
}

const FORGED_ORIGIN: &str = "insert into chain_origin (chain_id, stripe, created_at)
    values ('00000000-0000-4000-8000-00000000f00d', 9, now())";

/// Ways in, what they do by SQL, and what is said of them.
fn ways() -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    let announce = "with last as (
            select * from audit_record order by chain_id, seq desc limit 1
        ), forged as (
            insert into audit_record (chain_id, seq, subject, subject_key, action, actor, state, recorded_at, prev, hash)
            select chain_id, seq + 1, 'chain', '00000000-0000-4000-8000-00000000f00d', 'begin', 'host', sha256('state'), now(),
                hash, sha256('hash') from last returning chain_id, seq, hash
        ) update audit_head h set seq = f.seq, hash = f.hash from forged f where f.chain_id = h.chain_id";
    let forged = |more: &[&'static str]| [&FORGED_CHAIN[..], more].concat();
    vec![
        ("money from a chain of its own", forged(&[]), "no record says where its chain began"),
        ("the same with an origin", forged(&[FORGED_ORIGIN]), "was added without a record"),
        ("the same with a record", forged(&[FORGED_ORIGIN, announce]), "it was altered"),
        (
            "a balance raised",
            vec!["update account_balance set posted = posted + 5 where floor = 0"],
            "that of its last entry",
        ),
        (
            "an overdraft allowed",
            vec!["update account_balance set floor = -9 where floor = 0"],
            "the floor of its kind",
        ),
        (
            "what was sent lately hidden",
            vec!["update account_balance set sent_transfers = 0 where sent_transfers > 0"],
            "that of its last entry",
        ),
        ("a day's total reset", vec!["update account_balance set sent = 0 where sent > 0"], "total of a day"),
        (
            "a payment redirected afterwards",
            vec!["update transfer set beneficiary_account_number = '9' where kind = 'spei'"],
            "its transfer rows were altered",
        ),
        (
            "an answer to a retry removed",
            vec!["delete from idempotency where key = '1'"],
            "idempotency rows were altered",
        ),
        (
            "an account given to another",
            vec!["update account set owner = 'eva' where owner = 'ana'"],
            "account rows were altered",
        ),
        (
            "an account that no batch opened",
            vec![
                "insert into account (account_id, kind, owner, account_number, number_key, account_type, currency,
                    chain_id, seq, created_at)
                    values (gen_random_uuid(), 'customer', 'eva', '9', '9', 'checking', 'MXN', gen_random_uuid(), 0, now())",
            ],
            "it is not there, but account rows of it are",
        ),
        ("a freeze forgotten", vec!["delete from account_event"], "its account_event rows were altered"),
        (
            "a hold of no batch",
            vec!["update hold set seq = 999 where status = 'placed'"],
            "it is not there, but hold rows of it are",
        ),
        ("a payee's number changed", vec!["update beneficiary set account_number = '9'"], "beneficiary"),
        ("a payee made older", vec!["update beneficiary set created_at = 'epoch'"], "was altered"),
        ("a payee given to another", vec!["update beneficiary set owner = 'eva'"], "was altered"),
        (
            "a payee added",
            vec![
                "insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, created_at)
                    values (gen_random_uuid(), 'ana', 'Eva', 'BBVA', '9', now())",
            ],
            "was added without a record",
        ),
        ("a payee removed", vec!["delete from beneficiary"], "it is gone"),
        (
            "limits raised",
            vec!["update app_user set per_day_limit = 999 where owner = 'eva'"],
            "limits eva: was altered",
        ),
        ("limits given", vec!["update app_user set per_day_limit = 999 where owner = 'ana'"], "limits ana: was added"),
        (
            "limits removed",
            vec!["update app_user set per_day_limit = null, per_transfer_limit = null"],
            "limits eva: it is gone",
        ),
        ("a component's bytes exchanged", vec!["update component set bytes = 'another'"], "was altered"),
        ("a card forged", vec!["update component set card = '{}'"], "was altered"),
        ("a report on a component embellished", vec!["update component set report = '{}'"], "was altered"),
        (
            "a component smuggled in",
            vec![
                "insert into component (sha256, kind, version, model_version, bytes, class, answers, registered_by,
                    registered_at) values (sha256('evil'), 'risk', '9.9.9', 'risk-9.9.9', 'evil', 'pure', '', 'ops', now())",
            ],
            "was added without a record",
        ),
        ("a canary widened", vec!["update deployment set canary_percent = 99"], "not the last of its history"),
        (
            "the same with its history",
            vec!["update deployment set canary_percent = 99", "update deployment_history set canary_percent = 99"],
            "deployment risk/1: was altered",
        ),
        (
            "a level of risk moved",
            vec!["update deployment set high_from = 1", "update deployment_history set high_from = 1"],
            "deployment risk/1: was altered",
        ),
        ("a deployment undone", vec!["delete from deployment", "delete from deployment_history"], "risk/1: it is gone"),
        (
            "a loss invented",
            vec!["insert into lost_tail select gen_random_uuid(), 0, 9, array[sha256('')], 'a failover', 'ops', now()"],
            "was added without a record",
        ),
        ("a loss widened", vec!["update lost_tail set to_seq = 9"], "lost-tail"),
        (
            "a record removed",
            vec!["delete from audit_record where seq = 2"],
            "record 3: the record before it is missing",
        ),
        ("a record rewritten", vec!["update audit_record set actor = 'eva' where seq = 2"], "record 2: it was altered"),
        (
            "a chain removed with its origin",
            vec!["delete from chain_origin where stripe = 1", "delete from ledger_writer where stripe = 1"],
            "it is gone",
        ),
    ]
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn every_way_in_is_detected(db: PgPool) {
    fill(&db).await;
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    let second = store.acquire(Uuid::from_u128(2), CONTEXT.now).await.unwrap();
    assert_eq!(second.stripe, 1);
    let ways = ways();
    assert!(ways.len() >= 30, "{} ways", ways.len());
    for (way, statements, expected) in ways {
        let mut transaction = db.begin().await.unwrap();
        run_all(&mut transaction, &statements).await;
        let complaints = complaints(&mut transaction, &key(), &BTreeMap::new()).await;
        transaction.rollback().await.unwrap();
        assert!(complaints.iter().any(|it| it.contains(expected)), "{way}: {complaints:?}");
    }
    let mut db = db.acquire().await.unwrap();
    assert_eq!(complaints(&mut db, &key(), &BTreeMap::new()).await, Vec::<String>::new());
}

/// Of a user with what they were about, so that nothing else tells; and of operators.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn records_that_were_cut_off_are_found(db: PgPool) {
    fill(&db).await;
    let mut db = db.acquire().await.unwrap();
    // A payee to whom nothing was sent.
    let payee = "insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, created_at)
        values ('00000000-0000-7000-8000-00000000eeee', 'ana', 'Eva', 'BBVA', '014', now())";
    run_all(&mut db, &[payee]).await;
    proof::record_all(&mut db, &key(), CONTEXT.now).await.unwrap();
    let recorded = proof::heads(&mut db).await.unwrap();
    let of_user = [
        "delete from beneficiary where account_number = '014'",
        "delete from audit_record where subject_key = '00000000-0000-7000-8000-00000000eeee'",
    ];
    let of_operators = ["delete from audit_record where subject = 'funding'"];
    for (cut_off, is_clean) in [(&of_user[..], true), (&of_operators[..], false)] {
        let mut transaction = sqlx::Connection::begin(&mut *db).await.unwrap();
        run_all(&mut transaction, cut_off).await;
        let end = "update audit_head h set (seq, hash) = (
            select coalesce(max(seq), -1), coalesce((array_agg(hash order by seq desc))[1], decode(repeat('00', 32), 'hex'))
            from audit_record r where r.chain_id = h.chain_id
        )";
        run_all(&mut transaction, &[end]).await;
        let found = complaints(&mut transaction, &key(), &BTreeMap::new()).await;
        assert_eq!(found.is_empty(), is_clean, "{found:?}");
        let found = complaints(&mut transaction, &key(), &recorded).await;
        assert_eq!(found.iter().filter(|it| it.ends_with("is missing")).count(), 1, "{found:?}");
        transaction.rollback().await.unwrap();
    }
}

/// Without its records a ledger is not taken for a new one: no host continues its chains, and verification misses what
/// announced them and what recorded the rest.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_history_without_records_is_not_signed_again(db: PgPool) {
    fill(&db).await;
    let mut connection = db.acquire().await.unwrap();
    let recorded = proof::heads(&mut connection).await.unwrap();
    run_all(&mut connection, &FORGED_CHAIN).await;
    run_all(
        &mut connection,
        &[
            "delete from audit_record",
            "update audit_head set seq = -1, hash = decode(repeat('00', 32), 'hex')",
            "delete from chain_origin",
            "update ledger_writer set leased_until = 'epoch'",
        ],
    )
    .await;
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    let error = store.acquire(Uuid::from_u128(2), CONTEXT.now).await.unwrap_err();
    assert!(error.to_string().contains("caudal verify"), "{error}");
    let found = complaints(&mut connection, &key(), &recorded).await;
    for expected in ["no record says where its chain began", "was added without a record", "is missing"] {
        assert!(found.iter().any(|it| it.contains(expected)), "{expected}: {found:?}");
    }
}
