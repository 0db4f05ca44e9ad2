//! What verification checks with SQL, independent of the code that writes the ledger.
//!
//! What batches wrote is checked in slices, and what only the present can tell at the end. A query joins the rows to check
//! with what they depend on; each rule is its sentence and a condition that breaks it. `always` makes a rule appear
//! among the findings if there is nothing to check.

mod finding;
mod holds;
mod slice;
mod state;

use sqlx::PgConnection;
use uuid::Uuid;

pub use finding::Finding;
pub(crate) use finding::Slice;
pub(crate) use slice::check as check_slice;
pub(crate) use state::{check_balances, check_everything, check_present};

/// Rows of the batches after these, as they count them: without reading the tables.
pub async fn count_rows(db: &mut PgConnection, chains: &[Uuid], after: &[i64]) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select coalesce(
            sum(1 + transfers_meant::bigint + entries_meant + statuses_meant + keys_meant + operations_meant), 0
        )::bigint as "rows!"
        from ledger_batch b left join unnest($1::uuid[], $2::bigint[]) as base (chain_id, after) using (chain_id)
        where b.seq > coalesce(base.after, -1)
        "#,
        chains,
        after,
    )
    .fetch_one(db)
    .await
}
