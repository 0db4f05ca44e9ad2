//! Proofs over the whole ledger, by SQL that shares nothing with the code that writes it.

use sqlx::PgConnection;

/// One check: what holds, and how many rows break it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What has to hold.
    pub rule: &'static str,
    /// Rows that break it; 0 is good.
    pub broken: i64,
}

/// Counts of what was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Census {
    /// Customer accounts.
    pub accounts: i64,
    /// Transfers of every kind.
    pub transfers: i64,
    /// Entries.
    pub entries: i64,
    /// Batches.
    pub batches: i64,
}

/// Counts the ledger's rows.
///
/// # Errors
/// When the database fails.
pub async fn count_rows(db: &mut PgConnection) -> Result<Census, sqlx::Error> {
    sqlx::query_as!(
        Census,
        r#"
        select (select count(*) from account where kind = 'customer') as "accounts!",
            (select count(*) from transfer) as "transfers!",
            (select count(*) from entry) as "entries!",
            (select count(*) from ledger_batch) as "batches!"
        "#
    )
    .fetch_one(db)
    .await
}

/// Checks conservation, balances and history; run it in a repeatable-read transaction, so that all
/// checks see the same moment.
///
/// # Errors
/// When the database fails.
pub async fn prove(db: &mut PgConnection) -> Result<Vec<Finding>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select
            (select (coalesce(sum(posted), 0) <> 0)::int::bigint from account_balance) as "not_conserved!",
            (select count(*) from account_balance where posted < floor) as "overdrawn!",
            (select count(*) from (
                select b.account_id, b.stripe
                from account_balance b left join entry e using (account_id, stripe)
                group by b.account_id, b.stripe, b.posted, b.version
                having b.posted <> coalesce(sum(e.delta), 0)
                    or b.version <> count(e.version)
                    or b.version <> coalesce(max(e.version), 0)
            ) as unexplained) as "unexplained_balances!",
            (select count(*) from (
                select balance_after - delta
                    - coalesce(lag(balance_after) over (partition by account_id, stripe order by version), 0) as gap
                from entry
            ) as steps where gap <> 0) as "broken_steps!",
            (select count(*) from (
                select t.transfer_id
                from transfer t left join entry e using (transfer_id)
                group by t.transfer_id, t.amount, t.debit_account_id, t.credit_account_id, t.status
                having count(*) filter (where e.delta = -t.amount and e.account_id = t.debit_account_id) <> 1
                    or count(*) filter (where e.delta = t.amount and e.account_id = t.credit_account_id) <> 1
                    or count(e.transfer_id) <> 2
            ) as unbalanced) as "unbalanced_transfers!",
            (select count(*) from entry e where not exists (
                select from transfer t where t.transfer_id = e.transfer_id
            )) as "stray_entries!",
            (select count(*) from transfer t where t.status is distinct from (
                select status from transfer_event v where v.transfer_id = t.transfer_id order by ordinal desc limit 1
            )) as "untold_statuses!",
            (select count(*) from idempotency i where i.transfer_id is not null and not exists (
                select from transfer t where t.transfer_id = i.transfer_id and t.owner = i.owner
            )) as "stray_keys!",
            (select count(*) from (
                select chain_id from ledger_batch group by chain_id having count(*) <> max(seq) + 1 or min(seq) <> 0
            ) as gaps) as "gaps!",
            (select count(*) from transfer t where not exists (
                select from ledger_batch b where b.chain_id = t.chain_id and b.seq = t.seq
            )) as "unbatched_transfers!"
        "#
    )
    .fetch_one(db)
    .await?;
    let finding = |rule, broken| Finding { rule, broken };
    Ok(vec![
        finding("the balances of all accounts add up to zero", row.not_conserved),
        finding("no balance is below its floor", row.overdrawn),
        finding("each balance is the sum of its entries", row.unexplained_balances),
        finding("each entry continues the balance before it", row.broken_steps),
        finding("each transfer has one debit and one credit of its amount", row.unbalanced_transfers),
        finding("each entry belongs to a transfer", row.stray_entries),
        finding("each status is the last one recorded", row.untold_statuses),
        finding("each idempotency key points at a transfer of its owner", row.stray_keys),
        finding("no chain of batches has a gap", row.gaps),
        finding("each transfer belongs to a batch", row.unbatched_transfers),
    ])
}
