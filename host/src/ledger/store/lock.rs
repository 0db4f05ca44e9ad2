//! Locks balances before they are read, for a batch that lost a race.

use std::collections::BTreeSet;

use sqlx::PgConnection;
use uuid::Uuid;

use crate::ledger::batch::BalanceKey;

/// In the order in which every batch locks its balances, so that no two wait for each other.
pub(super) async fn balances(db: &mut PgConnection, keys: &BTreeSet<BalanceKey>) -> Result<(), sqlx::Error> {
    if keys.is_empty() {
        return Ok(());
    }
    let (accounts, stripes): (Vec<Uuid>, Vec<i16>) = keys.iter().copied().unzip();
    sqlx::query!(
        r#"
        select b.account_id
        from account_balance b
        join unnest($1::uuid[], $2::smallint[]) as k (account_id, stripe) using (account_id, stripe)
        where b.account_id = any($1)
        order by b.account_id, b.stripe
        for no key update of b
        "#,
        &accounts,
        &stripes,
    )
    .fetch_all(db)
    .await
    .map(drop)
}
