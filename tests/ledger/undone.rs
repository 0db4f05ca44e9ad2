//! Forgeries that somebody undoes after a host acted on them: what the host did is found all the same.

use std::collections::BTreeMap;

use caudal::domain::money::Money;
use caudal::domain::transfer::Report;
use caudal::ledger::batch::{Context, Terms};
use caudal::ledger::store::proof;
use caudal::ledger::store::{Postgres, Store as _};
use caudal::ledger::{Command, Freeze, Fund, Order};
use sqlx::PgPool;
use time::Duration;
use uuid::Uuid;

use crate::forgery::run_all;
use crate::model::{CONTEXT, key, put_on_record, scheduled};
use crate::tamper::{ACCOUNT, complaints, fill, new_order, report, write};

/// What somebody does by SQL, what the core then does, and how the traces are removed.
struct Episode {
    forge: &'static [&'static str],
    acts: Vec<Command>,
    restore: &'static [&'static str],
    expected: &'static str,
}

fn episodes() -> Vec<Episode> {
    let order = |number, amount| Command::Transfer(new_order(number, amount));
    let fund = |number: u128, amount| {
        let transfer_id = Uuid::from_u128(0xE100 + number);
        Command::Fund(Fund { transfer_id, account_id: ACCOUNT, amount: Money::from_minor(amount) })
    };
    let mut again = report(2, Report::Returned);
    if let Command::Report(report) = &mut again {
        report.return_id = Uuid::from_u128(0xD102);
    }
    let retried = Order { transfer_id: Uuid::from_u128(0xC101), ..new_order(1, 10) };
    let (actor, reason) = ("ops".to_owned(), "a court order".to_owned());
    let freeze = Command::Freeze(Freeze { account_id: ACCOUNT, frozen: true, actor, reason });
    vec![
        Episode {
            forge: &["update account_balance set floor = -100000 where account_id::text like '%a000'"],
            acts: vec![order(40, 1_000), fund(1, 1_100)],
            restore: &["update account_balance set floor = 0 where account_id::text like '%a000'"],
            expected: "no entry leaves a customer with less than nothing",
        },
        // The occurrence that is next, before its host recorded it.
        Episode { forge: &[], acts: vec![scheduled(new_order(43, 1), "2026-12-06")], restore: &[], expected: "" },
        Episode {
            forge: &["update schedule set next_date = '2026-12-07'"],
            acts: vec![scheduled(new_order(44, 1), "2026-12-07")],
            restore: &["update schedule set next_date = '2026-12-06'"],
            expected: "each transfer of a schedule is an occurrence that was sent or is next",
        },
        Episode {
            forge: &[
                "alter table idempotency drop constraint idempotency_pkey",
                "update idempotency set key = '1#' where key = '1'",
            ],
            acts: vec![Command::Transfer(retried)],
            restore: &[
                "update idempotency set key = '1' where key = '1#'",
                "create index idempotency_pkey on idempotency (owner, key)",
            ],
            expected: "no idempotency key was used twice",
        },
        Episode {
            forge: &["drop index transfer_returns", "update transfer set returns = transfer_id where kind = 'return'"],
            acts: vec![again],
            restore: &[
                "update transfer set returns = '00000000-0000-0000-0000-00000000c002' where kind = 'return'",
                "create index transfer_returns on transfer (returns)",
            ],
            expected: "no transfer was returned twice",
        },
        Episode {
            forge: &[],
            acts: vec![fund(2, 9)],
            restore: &[],
            expected: "each credit by the bank is on record, or opened its account",
        },
        Episode {
            forge: &["update account_balance set sent = 0 where account_id::text like '%a000'"],
            acts: vec![order(41, 50)],
            restore: &["update account_balance b set sent = (
                select sum(amount) from transfer t
                where t.kind = 'spei' and t.status <> 'failed' and t.debit_account_id = b.account_id
            ) where account_id::text like '%a000'"],
            expected: "no user sent more in a day than the limit allows",
        },
        Episode { forge: &[], acts: vec![freeze], restore: &[], expected: "" },
        Episode {
            forge: &["update account_balance set frozen = false, sent = 0 where account_id::text like '%a000'"],
            acts: vec![order(42, 7)],
            restore: &["update account_balance b set frozen = true, sent = (
                select sum(amount) from transfer t
                where t.kind = 'spei' and t.status <> 'failed' and t.debit_account_id = b.account_id
            ) where account_id::text like '%a000'"],
            expected: "no money left an account while it was frozen",
        },
    ]
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_was_done_on_a_forgery_is_found_after_it_was_undone(db: PgPool) {
    // Since the day before. It is enough for all but one.
    let limit = "insert into app_user (owner, per_day_limit, created_at) values ('ana', 1150, 'epoch')";
    sqlx::query(limit).execute(&db).await.unwrap();
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    proof::record_all(&mut db.acquire().await.unwrap(), &key(), CONTEXT.now - Duration::DAY).await.unwrap();
    fill(&db).await;
    let mut writer = store.acquire(Uuid::from_u128(1), CONTEXT.now + Duration::HOUR).await.unwrap();
    let mut connection = db.acquire().await.unwrap();
    let mut found = Vec::new();
    for Episode { forge, acts, restore, expected } in episodes() {
        run_all(&mut connection, forge).await;
        for act in acts {
            if !forge.is_empty() {
                put_on_record(&db, &key(), &act).await;
            }
            let now = CONTEXT.now + Duration::HOUR + Duration::seconds(writer.next_seq);
            let context = Context { now, stripe: writer.stripe, terms: Terms::OPEN };
            write(&store, &mut writer, &[act], &context).await;
        }
        run_all(&mut connection, restore).await;
        found.extend((!expected.is_empty()).then(|| expected.to_owned()));
        let mut complaints = complaints(&mut connection, &key(), &BTreeMap::new()).await;
        complaints.sort();
        found.sort();
        assert_eq!(complaints, found);
    }
    assert_eq!(found.len(), 7);
    // A limit that is raised later excuses nothing: the one in force that day is on record.
    run_all(&mut connection, &["update app_user set per_day_limit = 9999 where owner = 'ana'"]).await;
    proof::record_all(&mut connection, &key(), CONTEXT.now + Duration::days(2)).await.unwrap();
    let mut complaints = complaints(&mut connection, &key(), &BTreeMap::new()).await;
    complaints.sort();
    assert_eq!(complaints, found);
    let in_force = "select (content->>'per_day_limit')::bigint from audit_record r, ledger_batch b
        where r.subject = 'limits' and r.subject_key = 'ana' and r.recorded_at < b.created_at and b.seq = 1
        order by r.seq desc limit 1";
    assert_eq!(sqlx::query_scalar::<_, i64>(in_force).fetch_one(&mut *connection).await.unwrap(), 1150);
}
