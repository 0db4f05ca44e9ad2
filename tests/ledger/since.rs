//! A verification of what is recent detects every tampering with it, and leaves what is before to one of everything.

use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::domain::transfer::RailName;
use caudal::ledger::batch::{Context, Terms};
use caudal::ledger::store::proof::{self, Head, Heads, Proof, Scope, Watch, heads_before, is_of_records, prove_with};
use caudal::ledger::store::{Postgres, Store as _};
use caudal::ledger::{Command, Freeze, Fund, OpenAccount, Order, PlaceHold, Risk};
use sqlx::{Connection as _, PgConnection, PgPool};
use time::Duration;
use uuid::Uuid;

use crate::model::{CONTEXT, key, put_on_record};
use crate::tamper::{ACCOUNT, PAYEE, complaints, complaints_of, fill, write};

/// The account that is opened after the heads.
const LATER: Uuid = Uuid::from_u128(0xA100);

/// What `caudal verify --since` complains about.
async fn recent_complaints(db: &mut PgConnection, heads: &Heads) -> Vec<String> {
    let proof = prove_since(db, heads).await;
    complaints_of(db, &key(), proof, heads).await
}

async fn prove_since(db: &mut PgConnection, heads: &Heads) -> Proof {
    prove_with(db, &key().into(), &Scope::since(heads.clone()), Watch::default(), |_| {}).await.unwrap()
}

fn order(number: u128, amount: i64) -> Order {
    Order {
        transfer_id: Uuid::from_u128(0xC100 + number),
        owner: "ana".to_owned(),
        key: Some(format!("later {number}")),
        from_account_id: ACCOUNT,
        to_beneficiary_id: PAYEE,
        amount: Money::from_minor(amount),
        remittance: Remittance::NONE,
        risk: Risk::NotEnforced,
        risk_decisions: None,
        hold_id: None,
        device: None,
        may_record_refusal: true,
    }
}

/// Fills a ledger, notes its heads, and goes on: batches 26 to 32 in the first chain, batch 0 in a second, and a payee.
async fn fill_further(db: &PgPool) -> Heads {
    fill(db).await;
    let heads = proof::heads(&mut db.acquire().await.unwrap()).await.unwrap();
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    let later = CONTEXT.now + Duration::HOUR;
    let mut writer = store.acquire(Uuid::from_u128(1), later).await.unwrap();
    let mut second = store.acquire(Uuid::from_u128(2), later).await.unwrap();
    assert_eq!((writer.next_seq, second.next_seq), (26, 0));
    let open = OpenAccount {
        account_id: LATER,
        owner: "eva".to_owned(),
        account_number: "2".to_owned(),
        issued: None,
        account_type: "checking".to_owned(),
        opening_credit: Money::from_minor(500),
        transfer_id: Uuid::from_u128(0xE100),
    };
    let settled = Command::Report(caudal::ledger::PaymentReport {
        transfer_id: Uuid::from_u128(0xC000 + 4),
        account_id: ACCOUNT,
        payee_account_id: None,
        report: caudal::domain::transfer::Report::Settled,
        reason: None,
        return_id: Uuid::from_u128(0xD100),
        by_hand: None,
    });
    let fund = Fund { transfer_id: Uuid::from_u128(0xE101), account_id: LATER, amount: Money::from_minor(5) };
    let (actor, reason) = ("ops".to_owned(), "a court order".to_owned());
    let freeze = Freeze { account_id: LATER, frozen: true, actor, reason };
    let mut now = later;
    for (rail, command) in [
        (RailName::Instant, Command::Open(open)),
        (RailName::Instant, Command::Transfer(order(1, 11))),
        (RailName::Simulated, Command::Transfer(order(2, 12))),
        (RailName::Simulated, settled),
        (RailName::Instant, Command::Transfer(order(3, 999_999))),
        (RailName::Instant, Command::Hold(PlaceHold { order: order(4, 13), lifetime: Duration::HOUR })),
        (RailName::Instant, Command::Freeze(freeze)),
    ] {
        now += Duration::SECOND;
        let context = Context { now, stripe: writer.stripe, terms: Terms { rail, ..Terms::OPEN } };
        write(&store, &mut writer, &[command], &context).await;
    }
    let context = Context { now: now + Duration::SECOND, stripe: second.stripe, terms: Terms::OPEN };
    let fund = Command::Fund(fund);
    put_on_record(db, &key(), &fund).await;
    write(&store, &mut second, &[fund], &context).await;
    heads
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_recent_is_sound_and_counted(db: PgPool) {
    let heads = fill_further(&db).await;
    let mut db = db.acquire().await.unwrap();
    assert_eq!(recent_complaints(&mut db, &heads).await, Vec::<String>::new());
    let recent = prove_since(&mut db, &heads).await;
    let checked = recent.checked;
    assert_eq!((checked.batches, checked.transfers, checked.entries, checked.accounts), (8, 4, 10, 1));
    let records_before: i64 = heads.iter().filter(|(id, _)| is_of_records(**id)).map(|(_, head)| head.seq + 1).sum();
    assert_eq!((checked.batches_before, checked.records_before), (26, records_before));
    assert_eq!(recent.records.records, 2, "the second chain was announced, and a credit");
    assert_eq!(recent.heads, proof::heads(&mut db).await.unwrap());
    // From a moment on, from the beginning on, and from the end on.
    let at = heads_before(&mut db, CONTEXT.now + Duration::minutes(1)).await.unwrap();
    assert_eq!(at, heads);
    let none = heads_before(&mut db, CONTEXT.now).await.unwrap();
    assert_eq!(none, Heads::new());
    for (beginning, batches) in [(none, 34), (proof::heads(&mut db).await.unwrap(), 0)] {
        assert_eq!(recent_complaints(&mut db, &beginning).await, Vec::<String>::new());
        assert_eq!(prove_since(&mut db, &beginning).await.checked.batches, batches);
    }
}

/// Changes of what is recent, and what is said of them.
const RECENT: [(&str, &str); 41] = [
    ("update transfer set beneficiary_account_number = '9' where seq = 27", "batch 27: its transfer rows were altered"),
    ("update transfer set amount = amount + 1 where seq = 27", "batch 27: its transfer rows were altered"),
    ("delete from transfer where seq = 27 and kind = 'spei'", "batch 27: its transfer rows were altered"),
    ("update transfer set seq = 3 where seq = 27", "batch 27: its transfer rows were altered"),
    ("update transfer set status = 'failed' where seq = 27", "status is the last one recorded"),
    ("update transfer set status = 'completed' where seq = 28", "status is the last one recorded"),
    ("update transfer set status = 'pending' where transfer_id::text like '%c004'", "status is the last one recorded"),
    ("update transfer_event set reason = '09' where seq = 29", "batch 29: its transfer_event rows were altered"),
    ("delete from transfer_event where seq = 29", "batch 29: its transfer_event rows were altered"),
    ("update transfer_event set status = 'failed' where seq = 29", "where its status says"),
    (
        "update entry set delta = delta - 1, balance_after = balance_after - 1 where seq = 27 and delta < 0",
        "its entry rows",
    ),
    (
        "update entry set balance_after = balance_after + 1 where seq = 27 and delta > 0",
        "continues from the entry before",
    ),
    (
        "update entry set created_at = created_at + interval '1 s' where seq = 27",
        "batch 27: its entry rows were altered",
    ),
    ("delete from entry where seq = 27 and delta < 0", "batch 27: its entry rows were altered"),
    ("update entry set version = version + 1 where seq = 28 and delta < 0", "batch 28: its entry rows were altered"),
    ("update idempotency set fingerprint = sha256('') where seq = 27", "batch 27: its idempotency rows were altered"),
    ("update idempotency set rejection = '[{\"code\": \"a\", \"detail\": \"b\"}]' where seq = 30", "idempotency rows"),
    ("delete from idempotency where seq = 30", "batch 30: its idempotency rows were altered"),
    (
        "insert into idempotency (owner, key, fingerprint, rejection, chain_id, seq, created_at)
            select owner, 'forged', fingerprint, rejection, chain_id, seq, created_at from idempotency where seq = 30",
        "batch 30: its idempotency rows were altered",
    ),
    ("update account set owner = 'ana' where seq = 26", "batch 26: its account rows were altered"),
    ("delete from account where seq = 26", "batch 26: its account rows were altered"),
    (
        "update ledger_batch set batch_id = gen_random_uuid() where seq = 27",
        "batch 27: its ledger_batch row was altered",
    ),
    ("update ledger_batch set hash = sha256('') where seq = 30", "batch 30: its ledger_batch row was altered"),
    ("update ledger_batch set prev_hash = sha256('') where seq = 26", "batch 26: it does not link"),
    (
        "update ledger_batch set credits = credits + 1, debits = debits + 1 where seq = 27",
        "ledger_batch row was altered",
    ),
    ("update ledger_batch set entries_written = 9, entries_meant = 9 where seq = 27", "ledger_batch row was altered"),
    ("delete from ledger_batch where seq = 28", "batch 29: the batch before it is missing"),
    ("update account_balance set posted = posted + 1 where account_id::text like '%a100'", "add up to zero"),
    ("update account_balance set version = version + 1 where account_id::text like '%a100'", "that of its last entry"),
    ("update account_balance set sent = 0 where account_id::text like '%a000'", "total of a day"),
    ("update account_balance set sent_day = sent_day + 1 where account_id::text like '%a000'", "total of a day"),
    ("update account_balance set sent_day = 'epoch', sent = 0 where account_id::text like '%a000'", "total of a day"),
    ("update account_balance set floor = -9 where account_id::text like '%a100'", "the floor of its kind"),
    ("delete from rail_payment where transfer_id::text like '%c102'", "with a rail"),
    ("update chain_origin set created_at = now() where stripe = 1", "was altered"),
    ("update hold set amount = amount + 1 where seq = 31", "batch 31: its hold rows were altered"),
    ("delete from hold where seq = 31", "batch 31: its hold rows were altered"),
    ("update account_event set reason = 'none' where seq = 32", "batch 32: its account_event rows were altered"),
    ("update account_balance set held = 0 where account_id::text like '%a000'", "its open holds add up to"),
    ("update account_balance set frozen = false where account_id::text like '%a100'", "frozen exactly if"),
    (
        "insert into hold_end (hold_id, status, chain_id, seq, created_at)
            select hold_id, 'voided', chain_id, seq, created_at from hold where seq = 31",
        "batch 31: its hold_end rows were altered",
    ),
];

/// As a superuser without the key could.
async fn without_constraints(db: &mut PgConnection, change: &'static str) {
    let constraints: Vec<(String, String)> = sqlx::query_as(
        "select conrelid::regclass::text, conname::text from pg_constraint
            where contype in ('c', 'f') and connamespace = 'public'::regnamespace",
    )
    .fetch_all(&mut *db)
    .await
    .unwrap();
    for (table, constraint) in constraints {
        let drop = format!("alter table {table} drop constraint if exists {constraint}");
        sqlx::query(sqlx::AssertSqlSafe(drop)).execute(&mut *db).await.unwrap();
    }
    assert!(sqlx::query(change).execute(&mut *db).await.unwrap().rows_affected() > 0, "{change}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn tampering_after_the_heads_is_detected(db: PgPool) {
    let heads = fill_further(&db).await;
    for (change, expected) in RECENT {
        let mut transaction = db.begin().await.unwrap();
        without_constraints(&mut transaction, change).await;
        let complaints = recent_complaints(&mut transaction, &heads).await;
        transaction.rollback().await.unwrap();
        assert!(complaints.iter().any(|it| it.contains(expected)), "{change}: {complaints:?}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn tampering_before_the_heads_is_left_to_a_full_verification(db: PgPool) {
    let heads = fill_further(&db).await;
    for change in [
        "update transfer set beneficiary_account_number = '9' where seq = 2",
        "update idempotency set fingerprint = sha256('') where seq = 3",
        "update transfer_event set reason = '09' where seq = 8",
        "update entry set balance_after = balance_after + 1 where seq = 2",
        "update ledger_batch set batch_id = gen_random_uuid() where seq = 5",
        "update audit_record set actor = 'eva' where seq = 2",
        "update hold set beneficiary_name = 'eva' where seq = 17",
        "update beneficiary set account_number = '9'",
    ] {
        let mut transaction = db.begin().await.unwrap();
        without_constraints(&mut transaction, change).await;
        assert_eq!(recent_complaints(&mut transaction, &heads).await, Vec::<String>::new(), "{change}");
        let all = complaints(&mut transaction, &key(), &heads).await;
        transaction.rollback().await.unwrap();
        assert_ne!(all, Vec::<String>::new(), "{change}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn heads_that_are_gone_are_reported(db: PgPool) {
    let heads = fill_further(&db).await;
    let mut db = db.acquire().await.unwrap();
    let rewritten: Heads = heads.iter().map(|(id, head)| (*id, Head { hash: [7; 32], ..*head })).collect();
    let further: Heads = heads.iter().map(|(id, head)| (*id, Head { seq: head.seq + 100, ..*head })).collect();
    for wrong in [rewritten, further] {
        let complaints = recent_complaints(&mut db, &wrong).await;
        assert_eq!(complaints.iter().filter(|it| it.ends_with("is missing")).count(), heads.len(), "{complaints:?}");
        assert!(complaints.iter().any(|it| it.contains("verify in full")), "{complaints:?}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_chain_that_nobody_announced_is_recent(db: PgPool) {
    let heads = fill_further(&db).await;
    let mut db = db.acquire().await.unwrap();
    let forged = "insert into ledger_batch (chain_id, seq, batch_id, created_at, digests, prev_hash, hash)
        values ('00000000-0000-4000-8000-00000000f00d', 0, gen_random_uuid(), now(), decode(repeat('00', 256), 'hex'), sha256(''), sha256(''))";
    without_constraints(&mut db, forged).await;
    let complaints = recent_complaints(&mut db, &heads).await;
    assert!(complaints.contains(&"batch 0: no record says where its chain began".to_owned()), "{complaints:?}");
}

/// Each batch in a slice of its own, and a verification that goes on where another one was interrupted.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn slices_find_what_a_verification_at_once_finds(db: PgPool) {
    fill_further(&db).await;
    let slices = Scope { slice_rows: 1, ..Scope::whole() };
    let in_slices = async |db: &mut PgConnection, scope: &Scope, seen: &mut Vec<Heads>| {
        prove_with(db, &key().into(), scope, Watch::default(), |proof| seen.push(proof.heads.clone())).await.unwrap()
    };
    let mut seen = Vec::new();
    let whole = in_slices(&mut *db.acquire().await.unwrap(), &slices, &mut seen).await;
    assert!(whole.is_sound(), "{whole:?}");
    let of_records = seen.len() - whole.checked.batches as usize;
    assert!(of_records as i64 >= whole.records.records, "one batch or record each");
    let after = Scope { after: seen[of_records / 2].clone(), ..slices.clone() };
    let resumed = in_slices(&mut *db.acquire().await.unwrap(), &after, &mut Vec::new()).await;
    assert!(resumed.is_sound() && resumed.checked.records_before > 0, "{resumed:?}");
    assert_eq!(resumed.checked.records_before + resumed.records.records, whole.records.records);
    for (change, expected) in RECENT {
        let mut transaction = db.begin().await.unwrap();
        without_constraints(&mut transaction, change).await;
        let proof = in_slices(&mut transaction, &slices, &mut Vec::new()).await;
        let found = complaints_of(&mut transaction, &key(), proof, &Heads::new()).await;
        assert!(found.iter().any(|it| it.contains(expected)), "{change}: {found:?}");
        // What was verified before the interruption is not read again, and what is present is.
        let after = Scope { after: seen[of_records + 9].clone(), ..slices.clone() };
        let resumed = in_slices(&mut transaction, &after, &mut Vec::new()).await;
        assert_eq!(resumed.checked.batches_before, 10);
        let found = complaints_of(&mut transaction, &key(), resumed, &Heads::new()).await;
        transaction.rollback().await.unwrap();
        assert!(found.iter().any(|it| it.contains(expected)), "{change}: {found:?}");
    }
}

/// While a snapshot lasts, old versions of rows stay, which slows transfers down.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn no_snapshot_is_held_between_slices(db: PgPool) {
    fill_further(&db).await;
    let mut verifier = db.acquire().await.unwrap();
    let pid: i32 = sqlx::query_scalar("select pg_backend_pid()").fetch_one(&mut *verifier).await.unwrap();
    let options = db.connect_options();
    let holds_one = || {
        let query = "select backend_xmin is not null or state <> 'idle' from pg_stat_activity where pid = $1";
        let ask = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut db = PgConnection::connect_with(&options).await.unwrap();
                sqlx::query_scalar::<_, bool>(query).bind(pid).fetch_one(&mut db).await.unwrap()
            })
        };
        std::thread::scope(|threads| threads.spawn(ask).join().unwrap())
    };
    let slices = Scope { slice_rows: 1, ..Scope::whole() };
    let mut seen = Vec::new();
    prove_with(&mut verifier, &key().into(), &slices, Watch::default(), |_| seen.push(holds_one())).await.unwrap();
    assert!(seen.len() > 28 && !seen.contains(&true), "{seen:?}");
}
