//! What a user's completed transfers to each payee add up to.

use caudal::domain::clabe::SANDBOX_RANGE;
use sqlx::PgPool;

use crate::tamper::fill;

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
