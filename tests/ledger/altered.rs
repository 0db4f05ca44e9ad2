//! What a proof of the rows as they are now cannot tell afterwards: rows that are altered, acted on and put back.

use std::collections::BTreeSet;

use caudal::ledger::apply::apply;
use caudal::ledger::batch::Context;
use caudal::ledger::store::{Postgres, Store as _, proof};
use caudal::ledger::{Command, Outcome};
use sqlx::PgPool;
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
    let payee = "beneficiary where beneficiary_id = '00000000-0000-0000-0000-00000000b000'";
    let user = "app_user where owner = 'ana'";
    let (not_found, frozen) = (Outcome::BeneficiaryNotFound, Outcome::AccountFrozen);
    for (row, altered, as_it_was, expected) in [
        (payee, "account_number = '9'", "account_number = '012'", &not_found),
        (payee, "name = 'Eva'", "name = 'Luis'", &not_found),
        (payee, "bank_name = 'BBVA'", "bank_name = 'Caudal'", &not_found),
        (payee, "alias = 'Eva'", "alias = null", &not_found),
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
    assert_eq!(act().await, (true, frozen), "a limit is not removed either");
}
