//! A lost tail is accepted once: its numbers are not used again, and nothing else is forgiven.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use caudal::domain::money::Money;
use caudal::ledger::batch::{Context, Terms};
use caudal::ledger::heads::{HeadsError, RecordedHeads};
use caudal::ledger::store::proof::{self, Head, RECORDS};
use caudal::ledger::store::{self, Postgres, Store as _};
use caudal::ledger::writer::Writer;
use caudal::ledger::{Command, Fund};
use sqlx::{PgConnection, PgPool};
use time::Duration;
use uuid::Uuid;

use crate::model::{CONTEXT, key, open_account, put_on_record};
use crate::tamper::{ACCOUNT, complaints, write};

fn fund(number: u128) -> Command {
    let transfer_id = Uuid::from_u128(0xE100 + number);
    Command::Fund(Fund { transfer_id, account_id: ACCOUNT, amount: Money::from_minor(5) })
}

async fn credit(store: &Postgres, writer: &mut Writer, command: Command) {
    let now = CONTEXT.now + Duration::seconds(writer.next_seq);
    let context = Context { now, stripe: writer.stripe, terms: Terms::OPEN };
    write(store, writer, &[command], &context).await;
}

async fn all_complaints(db: &mut PgConnection) -> Vec<String> {
    complaints(db, &key(), &BTreeMap::new()).await
}

/// A ledger whose heads are recorded, in a folder that is removed at the end.
struct Recorded {
    store: Postgres,
    pool: PgPool,
    db: PgConnection,
    folder: PathBuf,
}

impl Recorded {
    async fn new(db: &PgPool) -> Self {
        let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
        let folder = PathBuf::from(format!("/tmp/caudal-loss.{}", Uuid::new_v4()));
        fs::create_dir(&folder).unwrap();
        Self { store, pool: db.clone(), db: db.acquire().await.unwrap().detach(), folder }
    }

    fn file(&self) -> RecordedHeads {
        RecordedHeads::read(&self.folder.join("heads.json")).unwrap()
    }

    async fn record(&mut self) {
        let heads = proof::heads(&mut self.db).await.unwrap();
        self.file().advance(&heads, &key()).unwrap();
    }

    /// A credit whose head is recorded.
    async fn credit(&mut self, writer: &mut Writer, number: u128) {
        let command = if number == 0 { Command::Open(open_account()) } else { fund(number) };
        put_on_record(&self.pool, &key(), &command).await;
        credit(&self.store, writer, command).await;
        self.record().await;
    }

    /// Cuts off the batches after `seq` and the audit records after `record`, as a replica does that never had them.
    async fn lose(&mut self, seq: i64, record: i64) {
        for statement in [
            "update account_balance b set posted = posted - e.delta, version = b.version - e.n, changed_at = coalesce(
                    (select max(f.created_at) from entry f
                        where f.account_id = e.account_id and f.stripe = e.stripe and f.seq <= $1), 'epoch')
                from (select account_id, stripe, sum(delta) as delta, count(*) as n from entry where seq > $1
                    group by 1, 2) as e
                where e.account_id = b.account_id and e.stripe = b.stripe",
            "delete from entry where seq > $1",
            "delete from transfer_event where seq > $1",
            "delete from transfer where seq > $1",
            "delete from ledger_batch where seq > $1",
        ] {
            sqlx::query(statement).bind(seq).execute(&mut self.db).await.unwrap();
        }
        for statement in [
            "delete from account_balance b using chain_origin o, audit_record r
                where o.stripe = b.stripe and r.subject_key = o.chain_id::text and r.seq > $1",
            "delete from ledger_writer w using audit_record r where r.subject_key = w.chain_id::text and r.seq > $1",
            "delete from chain_origin o using audit_record r where r.subject_key = o.chain_id::text and r.seq > $1",
            "delete from audit_record where seq > $1",
            "update audit_head h set (seq, hash) = (
                    select coalesce(max(seq), -1),
                        coalesce((array_agg(hash order by seq desc))[1], decode(repeat('00', 32), 'hex'))
                    from audit_record r where r.chain_id = h.chain_id
                ) where seq > $1",
        ] {
            sqlx::query(statement).bind(record).execute(&mut self.db).await.unwrap();
        }
    }

    /// Accepts what is lost; returns chain, first and last number of each loss.
    async fn accept(&mut self) -> Vec<(Uuid, i64, i64)> {
        let losses = self.file().losses(&mut self.db, &key(), ("a failover", "ops"), CONTEXT.now).await.unwrap();
        store::accept(&mut self.db, &key(), &losses).await.unwrap();
        self.file().check(&mut self.db, &key()).await.unwrap();
        self.file().resume(&proof::heads(&mut self.db).await.unwrap(), &key()).unwrap();
        losses.iter().map(|it| (it.chain_id, it.from_seq, it.to_seq)).collect()
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).unwrap();
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_lost_tail_is_accepted_under_a_name_and_its_numbers_are_not_used_again(db: PgPool) {
    let mut ledger = Recorded::new(&db).await;
    let mut writer = ledger.store.acquire(Uuid::from_u128(1), CONTEXT.now).await.unwrap();
    for number in 0..3 {
        ledger.credit(&mut writer, number).await;
    }
    ledger.lose(0, i64::MAX).await;
    assert_eq!(all_complaints(&mut ledger.db).await, Vec::<String>::new());
    let error = ledger.file().check(&mut ledger.db, &key()).await.unwrap_err();
    assert!(matches!(error, HeadsError::Gone { seq: 2, .. }), "{error}");
    assert!(error.to_string().contains("caudal verify"), "{error}");

    assert_eq!(ledger.accept().await, [(writer.chain_id, 1, 2)]);
    let losses = proof::prove(&mut ledger.db, &key()).await.unwrap().losses;
    assert_eq!((&losses[0].by[..], losses[0].head_hashes.len()), ("ops", 2));
    assert_eq!(all_complaints(&mut ledger.db).await, Vec::<String>::new());
    let heads = proof::heads(&mut ledger.db).await.unwrap();
    assert_eq!(ledger.file().latest()[&writer.chain_id], heads[&writer.chain_id]);

    // The next host goes on as the one does that was running: after the lost batches, linked to the last of them.
    let mut resumed = ledger.store.acquire(Uuid::from_u128(1), CONTEXT.now + Duration::HOUR).await.unwrap();
    assert_eq!((resumed.next_seq, resumed.head), (writer.next_seq, writer.head));
    ledger.credit(&mut resumed, 3).await;
    let recorded = ledger.file().latest();
    assert_eq!(complaints(&mut ledger.db, &key(), &recorded).await, Vec::<String>::new());
    sqlx::query("delete from lost_tail").execute(&mut ledger.db).await.unwrap();
    let complaints = all_complaints(&mut ledger.db).await;
    assert!(complaints.contains(&"batch 3: the batch before it is missing".to_owned()), "{complaints:?}");
    assert!(complaints.iter().any(|it| it.starts_with("lost-tail")), "{complaints:?}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn lost_audit_records_leave_their_numbers_unused(db: PgPool) {
    let mut ledger = Recorded::new(&db).await;
    ledger.store.acquire(Uuid::from_u128(1), CONTEXT.now).await.unwrap();
    ledger.record().await;
    // Each new chain is announced by a record.
    for holder in 2..5 {
        ledger.store.acquire(Uuid::from_u128(holder), CONTEXT.now).await.unwrap();
        ledger.record().await;
    }
    ledger.lose(i64::MAX, 1).await;
    assert_eq!(all_complaints(&mut ledger.db).await, Vec::<String>::new());
    assert_eq!(ledger.accept().await, [(RECORDS, 2, 3)]);
    ledger.store.acquire(Uuid::from_u128(5), CONTEXT.now).await.unwrap();
    let numbers: Vec<i64> =
        sqlx::query_scalar("select seq from audit_record order by seq").fetch_all(&mut ledger.db).await.unwrap();
    assert_eq!(numbers, [0, 1, 4, 5]);
    assert_eq!(all_complaints(&mut ledger.db).await, Vec::<String>::new());
    // The gap is explained by this loss only.
    sqlx::query("update lost_tail set to_seq = 2").execute(&mut ledger.db).await.unwrap();
    let complaints = all_complaints(&mut ledger.db).await;
    assert!(complaints.contains(&"record 4: the record before it is missing".to_owned()), "{complaints:?}");
}

/// Each chain of audit records goes on after what it lost, those of payees too, which do not wait for operators.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn lost_records_of_payees_leave_their_numbers_unused(db: PgPool) {
    let mut ledger = Recorded::new(&db).await;
    let save = async |numbers: std::ops::Range<u128>| {
        let mut operators = db.begin().await.unwrap();
        let lock = "select from audit_head where chain_id = '00000000-0000-0000-0000-000000000000' for update";
        sqlx::query(lock).execute(&mut *operators).await.unwrap();
        for number in numbers {
            let payee = "insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, created_at)
                values ($1, 'ana', 'Luis', 'BBVA', '012', $2)";
            sqlx::query(payee).bind(Uuid::from_u128(number)).bind(CONTEXT.now).execute(&db).await.unwrap();
        }
        proof::record_all(&mut db.acquire().await.unwrap(), &key(), CONTEXT.now).await.unwrap();
    };
    save(0..40).await;
    ledger.record().await;
    let heads = proof::heads(&mut ledger.db).await.unwrap();
    assert!(heads.len() > 10, "{heads:?}");
    sqlx::query("delete from beneficiary").execute(&mut ledger.db).await.unwrap();
    ledger.lose(i64::MAX, -1).await;
    assert_eq!(all_complaints(&mut ledger.db).await, Vec::<String>::new());
    let lost: Vec<_> = heads.iter().map(|(chain_id, head)| (*chain_id, 0, head.seq)).collect();
    assert_eq!(ledger.accept().await, lost);
    assert_eq!(all_complaints(&mut ledger.db).await, Vec::<String>::new());
    save(0..40).await;
    assert_eq!(all_complaints(&mut ledger.db).await, Vec::<String>::new());
    for (chain_id, from, to) in lost {
        let first = "select min(seq) from audit_record where chain_id = $1";
        let first: i64 = sqlx::query_scalar(first).bind(chain_id).fetch_one(&mut ledger.db).await.unwrap();
        assert_eq!((from, first), (0, to + 1), "{chain_id}");
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_is_cut_off_after_an_accepted_loss_is_found(db: PgPool) {
    let mut ledger = Recorded::new(&db).await;
    let mut writer = ledger.store.acquire(Uuid::from_u128(1), CONTEXT.now).await.unwrap();
    for number in 0..8 {
        ledger.credit(&mut writer, number).await;
    }
    let lost = ledger.file().latest();
    ledger.lose(2, i64::MAX).await;
    ledger.accept().await;
    let mut resumed = ledger.store.acquire(Uuid::from_u128(1), CONTEXT.now + Duration::HOUR).await.unwrap();
    for number in 3..6 {
        ledger.credit(&mut resumed, number).await;
    }
    let recorded = ledger.file().latest();
    assert_eq!(complaints(&mut ledger.db, &key(), &recorded).await, Vec::<String>::new());
    let last = recorded[&writer.chain_id].seq;
    ledger.lose(last - 1, i64::MAX).await;
    assert_eq!(complaints(&mut ledger.db, &key(), &recorded).await, [format!("batch {last} is missing")]);
    // What was lost stays forgiven, on every host that recorded it; another batch of such a number is not.
    assert_eq!(complaints(&mut ledger.db, &key(), &lost).await, Vec::<String>::new());
    let another = [(writer.chain_id, Head { seq: 5, hash: [7; 32] })].into();
    assert_eq!(complaints(&mut ledger.db, &key(), &another).await, ["batch 5 is missing"]);
}
