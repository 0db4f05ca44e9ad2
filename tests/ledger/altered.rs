//! What a proof of the rows as they are now cannot tell afterwards: rows that are altered, acted on and put back, and a
//! schema that does so by itself.

use std::collections::BTreeSet;

use caudal::db::catalogue;
use caudal::ledger::apply::apply;
use caudal::ledger::batch::Context;
use caudal::ledger::store::{Postgres, Store as _, proof};
use caudal::ledger::{Command, Outcome, Refusal};
use sqlx::{Connection as _, Executor as _, PgPool};
use time::Duration;
use uuid::Uuid;

use crate::model::{CONTEXT, key, lenient};
use crate::tamper::{fill, new_order};

/// What somebody alters is not acted on, so that putting it back before anybody verifies gains nothing.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn what_was_altered_is_not_acted_on(db: PgPool) {
    fill(&db).await;
    let store = Postgres::open(db.clone(), &key(), CONTEXT.now).await.unwrap();
    let writer = store.acquire(Uuid::from_u128(2), CONTEXT.now).await.unwrap();
    let context = Context { now: CONTEXT.now + Duration::HOUR, stripe: writer.stripe, ..CONTEXT };
    let act = async || {
        let commands = [Command::Transfer(new_order(50, 1))];
        let mut state = store.lookup(&commands, &writer, &context, &BTreeSet::new()).await.unwrap();
        let (batch, mut outcomes) = apply(&mut state, &commands, &context, &lenient());
        (batch.is_empty(), outcomes.remove(0))
    };
    let change = async |sql: &str| {
        assert_eq!(
            sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).execute(&db).await.unwrap().rows_affected(),
            1,
            "{sql}"
        );
    };
    let keep = "create table kept as select seal from beneficiary \
        where beneficiary_id = '00000000-0000-0000-0000-00000000b000'";
    sqlx::query(keep).execute(&db).await.unwrap();
    let payee = "beneficiary where beneficiary_id = '00000000-0000-0000-0000-00000000b000'";
    let user = "app_user where owner = 'ana'";
    let (not_found, frozen) =
        (Outcome::Refused(Refusal::BeneficiaryNotFound), Outcome::Refused(Refusal::AccountFrozen));
    for (row, altered, as_it_was, expected) in [
        (payee, "account_number = '9'", "account_number = '012'", &not_found),
        (payee, "name = 'Eva'", "name = 'Luis'", &not_found),
        (payee, "bank_name = 'BBVA'", "bank_name = 'Caudal'", &not_found),
        (payee, "alias = 'Eva'", "alias = null", &not_found),
        (payee, "seal = null", "seal = (select seal from kept)", &not_found),
        (payee, "created_at = created_at - interval '1 day'", "created_at = created_at + interval '1 day'", &not_found),
        (user, "per_day_limit = 999", "per_day_limit = null", &frozen),
        (user, "per_transfer_limit = 999", "per_transfer_limit = null", &frozen),
    ] {
        let (table, which) = row.split_once(' ').unwrap();
        change(&format!("update {table} set {altered} {which}")).await;
        assert_eq!(act().await, (true, expected.clone()), "{altered}");
        change(&format!("update {table} set {as_it_was} {which}")).await;
        assert!(!act().await.0, "{as_it_was}");
    }
    change("update app_user set per_day_limit = 5 where owner = 'ana'").await;
    proof::record_all(&mut db.acquire().await.unwrap(), &key(), CONTEXT.now).await.unwrap();
    assert!(!act().await.0);
    change("update app_user set per_day_limit = null where owner = 'ana'").await;
    assert_eq!(act().await, (true, frozen.clone()), "a limit is not removed either");
    change("update app_user set limits_seal = null where owner = 'ana'").await;
    assert_eq!(act().await, (true, frozen.clone()), "nor with its seal");
    change("delete from app_user where owner = 'ana'").await;
    assert_eq!(act().await, (true, frozen), "nor with the user");
}

/// Changes of the schema, with which hosts would do something else, and what is said of them.
const SCHEMES: [(&str, &str); 16] = [
    (
        "create function mule() returns trigger language plpgsql as 'begin return null; end';
            create trigger redirect after insert on rail_payment for each row execute function mule()",
        "trigger rail_payment.redirect is additional",
    ),
    ("create rule redirect as on insert to rail_order do nothing", "rule rail_order.redirect is additional"),
    (
        "alter table beneficiary enable row level security; create policy hide on beneficiary using (false)",
        "policy beneficiary.hide is additional",
    ),
    ("alter table entry enable row level security", "table entry is `row security`"),
    (
        "create schema elsewhere; create table elsewhere.more () inherits (payee_total)",
        "inheritance elsewhere.more of payee_total is additional",
    ),
    (
        "drop index transfer_returns; create index transfer_returns on transfer (returns) where returns is not null",
        "index transfer_returns is `CREATE INDEX",
    ),
    ("alter table idempotency drop constraint idempotency_pkey", "constraint idempotency.idempotency_pkey is missing"),
    (
        "alter table account_balance drop constraint no_overdraft;
            alter table account_balance add constraint no_overdraft check (posted - held >= floor) not valid",
        "constraint account_balance.no_overdraft is",
    ),
    ("alter table occurrence disable trigger all", "disabled constraint occurrence."),
    ("alter table rail_order alter operating_date set default '2030-01-01'", "column rail_order.operating_date is"),
    ("alter table entry alter delta drop not null", "column entry.delta is"),
    (
        "create function lpad(text, bigint) returns text language sql as 'select null'",
        "function lpad(text,bigint) is additional",
    ),
    (
        "do $$ begin
            execute format('alter database %I set search_path = mirror, public', current_database());
        end $$",
        "setting of every role, search_path=mirror, public is additional",
    ),
    ("create cast (text as uuid) with inout as implicit", "cast text as uuid is additional"),
    (
        "create function mule() returns event_trigger language plpgsql as 'begin end';
            create event trigger redirect on ddl_command_end execute function mule()",
        "event trigger redirect is additional",
    ),
    ("alter table transfer owner to pg_monitor", "table transfer is `of another owner`"),
];

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_changed_schema_is_detected(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    let none = Vec::<String>::new();
    assert_eq!(catalogue::differences(&mut db, false).await.unwrap(), none);
    for (change, expected) in SCHEMES {
        let mut transaction = db.begin().await.unwrap();
        transaction.execute(change).await.unwrap();
        // Nor does it pass for a later release's.
        for is_newer in [false, true] {
            let found = catalogue::differences(&mut transaction, is_newer).await.unwrap();
            assert!(found.iter().any(|it| it.starts_with(expected)), "{change}: {found:?}");
        }
        transaction.rollback().await.unwrap();
    }
    for change in ["alter table transfer add channel text", "create table more (id int)"] {
        let mut transaction = db.begin().await.unwrap();
        transaction.execute(change).await.unwrap();
        assert_ne!(catalogue::differences(&mut transaction, false).await.unwrap(), none, "{change}");
        assert_eq!(catalogue::differences(&mut transaction, true).await.unwrap(), none, "{change}");
        transaction.rollback().await.unwrap();
    }
}
