//! What batches did besides transfers: holds that were placed or ended, accounts that were frozen or unfrozen.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::Batch;

/// One row of those tables.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) stripe: i16,
    pub(crate) seq: i64,
    pub(crate) account_id: Uuid,
    pub(crate) owner: String,
    /// `None` if it concerns the account itself.
    pub(crate) hold_id: Option<Uuid>,
    /// Of the hold or the account.
    pub(crate) status: String,
    pub(crate) amount: Option<i64>,
    pub(crate) beneficiary_name: Option<String>,
    pub(crate) expires_at: Option<OffsetDateTime>,
    /// The transfer that captured the hold.
    pub(crate) transfer_id: Option<Uuid>,
    pub(crate) actor: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) created_at: OffsetDateTime,
}

/// Those of these batches, by batch and in an order that does not change.
pub(crate) async fn read(db: &mut PgConnection, batches: &[Batch]) -> Result<Vec<Operation>, sqlx::Error> {
    // A summary of the pages of each table finds ranges of batches, not single ones.
    let mut ranges: BTreeMap<i16, (i64, i64)> = BTreeMap::new();
    for Batch { stripe, seq, .. } in batches.iter().filter(|batch| batch.has_operations) {
        let (first, last) = ranges.entry(*stripe).or_insert((*seq, *seq));
        (*first, *last) = ((*first).min(*seq), (*last).max(*seq));
    }
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    let stripes: Vec<_> = ranges.keys().copied().collect();
    let (firsts, lasts): (Vec<_>, Vec<_>) = ranges.into_values().unzip();
    let rows = sqlx::query_as!(
        Operation,
        r#"
        with chain as (
            select w.stripe, w.chain_id, c.first, c.last
            from unnest($1::smallint[], $2::bigint[], $3::bigint[]) as c (stripe, first, last)
            join ledger_writer w using (stripe)
        )
        select c.stripe as "stripe!", o.seq as "seq!", o.account_id as "account_id!", a.owner as "owner!",
            o.hold_id as "hold_id?", o.status as "status!", o.amount as "amount?", o.beneficiary_name as "beneficiary_name?",
            o.expires_at as "expires_at?", o.transfer_id as "transfer_id?", o.actor as "actor?", o.reason as "reason?",
            o.created_at as "created_at!"
        from chain c
        cross join lateral (
            select seq, account_id, hold_id, 'placed' as status, amount, beneficiary_name, expires_at,
                null::uuid as transfer_id, null as actor, null as reason, created_at, 0 as ordinal
            from hold where chain_id = c.chain_id and seq >= c.first and seq <= c.last
            union all
            select e.seq, h.account_id, h.hold_id, e.status, h.amount, h.beneficiary_name, h.expires_at, e.transfer_id,
                null, null, e.created_at, 1
            from hold_end e join hold h using (hold_id)
            where e.chain_id = c.chain_id and e.seq >= c.first and e.seq <= c.last
            union all
            select seq, account_id, null, event, null, null, null, null, actor, reason, created_at, ordinal
            from account_event where chain_id = c.chain_id and seq >= c.first and seq <= c.last
        ) as o
        join account a using (account_id)
        order by c.stripe, o.seq, o.hold_id, o.account_id, o.ordinal
        "#,
        &stripes,
        &firsts,
        &lasts,
    );
    rows.fetch_all(db).await
}
