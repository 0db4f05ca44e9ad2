//! Forgeries that somebody undoes after a host acted on them: what the host did is found all the same.

use std::collections::BTreeMap;

use caudal::domain::clabe::SANDBOX_RANGE;
use caudal::domain::money::Money;
use caudal::domain::transfer::{RailName, Report};
use caudal::ledger::batch::{Context, Terms};
use caudal::ledger::store::proof;
use caudal::ledger::store::{Postgres, Store as _};
use caudal::ledger::{Command, Freeze, Fund, OpenAccount, Order, PlaceHold, ReleaseHold};
use sqlx::PgPool;
use time::Duration;
use uuid::Uuid;

use crate::forgery::run_all;
use crate::model::{CONTEXT, key, open_account, put_on_record, scheduled};
use crate::tamper::{ACCOUNT, complaints, fill, new_order, report, write};

/// What somebody does by SQL, what the core then does, and how the traces are removed.
struct Episode {
    rail: RailName,
    forge: &'static [&'static str],
    acts: Vec<Command>,
    restore: &'static [&'static str],
    expected: &'static str,
}

const NOTHING: Episode = Episode { rail: RailName::Instant, forge: &[], acts: Vec::new(), restore: &[], expected: "" };

/// Luz' payee.
const PAYEE: Uuid = Uuid::from_u128(0xB002);

/// Put back as they follow from transfers and holds.
const SENT: &str = "update account_balance b set sent = (
        select sum(amount) from transfer t
        where t.kind = 'spei' and t.status <> 'failed' and t.debit_account_id = b.account_id and t.owner = 'ana'
    ) where account_id::text like '%a000'";
const HELD: &str = "update account_balance b set held = (
        select coalesce(sum(amount), 0) from hold h where h.status = 'placed' and h.account_id = b.account_id
    ) where account_id::text like '%a000'";

fn episodes() -> Vec<Episode> {
    let order = |number, amount| Command::Transfer(new_order(number, amount));
    let fund = |number: u128, amount| {
        let transfer_id = Uuid::from_u128(0xE100 + number);
        Command::Fund(Fund { transfer_id, account_id: ACCOUNT, amount: Money::from_minor(amount) })
    };
    let hold = Command::Hold(PlaceHold { order: new_order(45, 40), lifetime: Duration::HOUR });
    let release = |number: u128, owner: Option<&str>| {
        let (hold_id, owner) = (Uuid::from_u128(0xC000 + number), owner.map(str::to_owned));
        Command::Release(ReleaseHold { hold_id, account_id: ACCOUNT, owner })
    };
    let mut again = report(2, Report::Returned);
    if let Command::Report(report) = &mut again {
        report.return_id = Uuid::from_u128(0xD102);
    }
    let retried = Order { transfer_id: Uuid::from_u128(0xC101), ..new_order(1, 10) };
    let of_luz = Order { owner: "luz".to_owned(), to_beneficiary_id: PAYEE, ..new_order(48, 1) };
    let issued = SANDBOX_RANGE.pick(7);
    let open = Command::Open(OpenAccount {
        account_id: Uuid::from_u128(0xA002),
        owner: "eva".to_owned(),
        account_number: issued.to_string(),
        issued: Some(issued),
        opening_credit: Money::ZERO,
        ..open_account()
    });
    let (actor, reason) = ("ops".to_owned(), "a court order".to_owned());
    let freeze = Command::Freeze(Freeze { account_id: ACCOUNT, frozen: true, actor, reason });
    vec![
        Episode { acts: vec![release(22, Some("ana"))], ..NOTHING },
        Episode {
            forge: &["update account_balance set floor = -100000 where account_id::text like '%a000'"],
            acts: vec![order(40, 1_000), fund(1, 130)],
            restore: &["update account_balance set floor = 0 where account_id::text like '%a000'"],
            expected: "no entry leaves a customer with less than nothing",
            ..NOTHING
        },
        // The occurrence that is next, before its host recorded it.
        Episode { acts: vec![scheduled(new_order(43, 1), "2026-12-06"), hold], ..NOTHING },
        Episode {
            forge: &["update schedule set next_date = '2026-12-07'"],
            acts: vec![scheduled(new_order(44, 1), "2026-12-07")],
            restore: &["update schedule set next_date = '2026-12-06'"],
            expected: "each transfer of a schedule is an occurrence that was sent or is next",
            ..NOTHING
        },
        Episode {
            forge: &["update account_balance set held = 0 where account_id::text like '%a000'"],
            acts: vec![order(46, 30), fund(3, 30)],
            restore: &[HELD],
            expected: "no money left an account that its holds set aside",
            ..NOTHING
        },
        Episode {
            forge: &["update hold set expires_at = created_at where amount = 40"],
            acts: vec![release(45, None)],
            restore: &["update hold set expires_at = created_at + interval '1 hour' where amount = 40"],
            expected: "each hold was captured before it expired, or expired when it was due",
            ..NOTHING
        },
        Episode {
            forge: &[
                "alter table hold_end drop constraint hold_end_pkey",
                "update hold_end set hold_id = '00000000-0000-0000-0000-00000000dead' where hold_id::text like '%c015'",
                "update hold set status = 'placed' where hold_id::text like '%c015'",
                "update account_balance set held = 9 where account_id::text like '%a000'",
            ],
            acts: vec![release(21, Some("ana"))],
            restore: &[
                "update hold_end set hold_id = '00000000-0000-0000-0000-00000000c015' where hold_id::text like '%dead'",
                "create index hold_end_pkey on hold_end (hold_id)",
                HELD,
            ],
            expected: "no hold ended twice",
            ..NOTHING
        },
        // The order has the number of somebody else's account, and is removed.
        Episode {
            rail: RailName::Simulated,
            forge: &["update account set issued = 64618011040000000, number_key = '646180110400000007'
                where account_id::text like '%a000'"],
            acts: vec![order(47, 1), report(47, Report::Settled)],
            restore: &["update account set issued = null, number_key = '1' where account_id::text like '%a000'"],
            expected: "each payment that its rail decided has its order",
        },
        Episode {
            forge: &["update account set owner = 'luz' where account_id::text like '%a000'"],
            acts: vec![Command::Transfer(of_luz)],
            restore: &["update account set owner = 'ana' where account_id::text like '%a000'", SENT],
            expected: "each transfer is between its owner's account and the other side's",
            ..NOTHING
        },
        Episode {
            forge: &[
                "alter table account drop constraint account_issued",
                "update account set issued = null where account_id::text like '%a001'",
            ],
            acts: vec![open],
            restore: &[
                "update account set issued = left(number_key, 17)::bigint where account_id::text like '%a001'",
                "create index account_issued on account (issued)",
            ],
            expected: "no number was issued twice",
            ..NOTHING
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
            ..NOTHING
        },
        Episode {
            forge: &["drop index transfer_returns", "update transfer set returns = transfer_id where kind = 'return'"],
            acts: vec![again],
            restore: &[
                "update transfer set returns = '00000000-0000-0000-0000-00000000c002' where kind = 'return'",
                "create index transfer_returns on transfer (returns)",
            ],
            expected: "no transfer was returned twice",
            ..NOTHING
        },
        Episode {
            acts: vec![fund(2, 9)],
            expected: "each credit by the bank is on record, or opened its account",
            ..NOTHING
        },
        Episode {
            forge: &["update account_balance set sent = 0 where account_id::text like '%a000'"],
            acts: vec![order(41, 50)],
            restore: &[SENT],
            expected: "no user sent more in a day than the limit allows",
            ..NOTHING
        },
        Episode { acts: vec![freeze], ..NOTHING },
        Episode {
            forge: &["update account_balance set frozen = false, sent = 0 where account_id::text like '%a000'"],
            acts: vec![order(42, 7)],
            restore: &["update account_balance set frozen = true where account_id::text like '%a000'", SENT],
            expected: "no money left an account while it was frozen",
            ..NOTHING
        },
    ]
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_was_done_on_a_forgery_is_found_after_it_was_undone(db: PgPool) {
    // Since the day before. It is enough for all but one.
    let limit = "insert into app_user (owner, per_day_limit, created_at) values ('ana', 1150, 'epoch'), \
                 ('luz', null, 'epoch')";
    sqlx::query(limit).execute(&db).await.unwrap();
    let payee = "insert into beneficiary (beneficiary_id, owner, name, bank_name, account_number, created_at) \
                 values ($1, 'luz', 'Luis', 'BBVA', '012', $2)";
    sqlx::query(payee).bind(PAYEE).bind(CONTEXT.now).execute(&db).await.unwrap();
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    proof::record_all(&mut db.acquire().await.unwrap(), &key(), CONTEXT.now - Duration::DAY).await.unwrap();
    fill(&db).await;
    let mut writer = store.acquire(Uuid::from_u128(1), CONTEXT.now + Duration::HOUR).await.unwrap();
    let mut connection = db.acquire().await.unwrap();
    let mut found = Vec::new();
    for Episode { rail, forge, acts, restore, expected } in episodes() {
        run_all(&mut connection, forge).await;
        for act in acts {
            if !forge.is_empty() {
                put_on_record(&db, &key(), &act).await;
            }
            let now = CONTEXT.now + Duration::HOUR + Duration::seconds(writer.next_seq);
            let context = Context { now, stripe: writer.stripe, terms: Terms { rail, ..Terms::OPEN } };
            write(&store, &mut writer, &[act], &context).await;
        }
        run_all(&mut connection, restore).await;
        found.extend((!expected.is_empty()).then(|| expected.to_owned()));
        let mut complaints = complaints(&mut connection, &key(), &BTreeMap::new()).await;
        complaints.sort();
        found.sort();
        assert_eq!(complaints, found);
    }
    assert_eq!(found.len(), 13);
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
