//! What a user's completed transfers to each payee add up to.

use std::collections::BTreeMap;

use caudal::domain::clabe::SANDBOX_RANGE;
use sqlx::{Executor as _, PgPool};

use crate::model::key;
use crate::tamper::{complaints, fill};

type Total = (String, i64, i64, i64);

async fn totals(db: &PgPool) -> Vec<Total> {
    let rows =
        "select payee_key, transfers, amount::bigint, largest from payee_total where owner = 'ana' order by payee_key";
    sqlx::query_as(rows).fetch_all(db).await.unwrap()
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_total_counts_what_was_completed_at_once_or_later(db: PgPool) {
    fill(&db).await;
    // 10, 6 and 7 at once, 20 when its rail settled it; neither what was rejected, nor what is pending.
    let expected = [("012".to_owned(), 4, 43, 20), (SANDBOX_RANGE.pick(7).to_string(), 1, 8, 8)];
    assert_eq!(totals(&db).await, expected);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_migration_adds_up_what_earlier_releases_completed(db: PgPool) {
    fill(&db).await;
    let before = totals(&db).await;
    db.execute("drop table payee_total; delete from _sqlx_migrations where version = 20").await.unwrap();
    caudal::MIGRATOR.run(&db).await.unwrap();
    assert_eq!(totals(&db).await, before);
    let mut db = db.acquire().await.unwrap();
    assert_eq!(complaints(&mut db, &key(), &BTreeMap::new()).await, Vec::<String>::new());
}
