//! Leases of chains.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::codec::hash_from_bytes;
use crate::domain::bank_account::{FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::ledger::writer::{LEASE, Writer};

/// See [`Store::acquire`](super::Store::acquire).
pub(super) async fn acquire(db: &mut PgConnection, holder: Uuid, now: OffsetDateTime) -> Result<Writer, sqlx::Error> {
    let leased_until = now + LEASE;
    let free = sqlx::query!(
        r#"
        update ledger_writer set holder = $1, leased_until = $2
        where chain_id = (
            select chain_id from ledger_writer where leased_until < $3
            order by stripe limit 1 for update skip locked
        )
        returning chain_id, stripe
        "#,
        holder,
        leased_until,
        now,
    )
    .fetch_optional(&mut *db)
    .await?;
    let (chain_id, stripe) = match free {
        Some(row) => (row.chain_id, row.stripe),
        None => {
            let row = sqlx::query!(
                r#"
                insert into ledger_writer (chain_id, stripe, holder, leased_until)
                select $1, coalesce(max(stripe) + 1, 0), $2, $3 from ledger_writer
                returning chain_id, stripe
                "#,
                Uuid::new_v4(),
                holder,
                leased_until,
            )
            .fetch_one(&mut *db)
            .await?;
            (row.chain_id, row.stripe)
        }
    };
    // The funding account goes negative as it pays out. The others may be negative on one stripe, but not in total.
    sqlx::query!(
        r#"
        insert into account_balance (account_id, stripe, posted, floor, version)
        select account_id, $2, 0, -9223372036854775807, 0 from unnest($1::uuid[]) as n (account_id)
        on conflict do nothing
        "#,
        &[FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT],
        stripe,
    )
    .execute(&mut *db)
    .await?;
    let last =
        sqlx::query!("select seq, hash from ledger_batch where chain_id = $1 order by seq desc limit 1", chain_id);
    let last = last.fetch_optional(db).await?;
    let next_seq = last.as_ref().map_or(0, |last| last.seq + 1);
    let head = last.and_then(|last| last.hash).map(hash_from_bytes).transpose()?;
    Ok(Writer { chain_id, stripe, next_seq, head, holder })
}

pub(super) async fn renew(db: &mut PgConnection, writer: &Writer, now: OffsetDateTime) -> Result<bool, sqlx::Error> {
    let renewed = sqlx::query!(
        "update ledger_writer set leased_until = $3 where chain_id = $1 and holder = $2",
        writer.chain_id,
        writer.holder,
        now + LEASE,
    )
    .execute(db)
    .await?;
    Ok(renewed.rows_affected() == 1)
}

pub(super) async fn release(db: &mut PgConnection, writer: &Writer) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update ledger_writer set leased_until = 'epoch' where chain_id = $1 and holder = $2",
        writer.chain_id,
        writer.holder,
    )
    .execute(db)
    .await?;
    Ok(())
}
