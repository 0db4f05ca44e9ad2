//! Leases of chains.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::proof::batches;
use super::{losses, origins};
use crate::domain::bank_account::{FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::ledger::writer::{LEASE, Writer};
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// See [`Store::acquire`](super::Store::acquire).
pub(super) async fn acquire(
    db: &mut PgConnection,
    key: &ChainKey,
    holder: Uuid,
    now: OffsetDateTime,
) -> Result<Writer, sqlx::Error> {
    let leased_until = now + LEASE;
    let free = sqlx::query!(
        r#"
        update ledger_writer set holder = $1, leased_until = $2
        where chain_id = (
            select chain_id from ledger_writer w where leased_until < $3
                and not exists (select from retired_chain c where c.chain_id = w.chain_id)
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
            let chain_id = Uuid::new_v4();
            let mut transaction = db.begin().await?;
            let stripe = origins::begin(&mut transaction, key, chain_id, holder, leased_until, now).await?;
            transaction.commit().await?;
            (chain_id, stripe)
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
    let (next_seq, head) = end(db, key, chain_id, stripe).await?;
    Ok(Writer { chain_id, stripe, next_seq, head, holder })
}

/// Where a chain is to be continued: numbers that were lost are not used again. What somebody without the key left there is never signed.
pub(super) async fn end(
    db: &mut PgConnection,
    key: &ChainKey,
    chain_id: Uuid,
    stripe: i16,
) -> Result<(i64, Hash), sqlx::Error> {
    let refused = |why: &str| {
        sqlx::Error::Protocol(format!("chain {chain_id} is not continued, because {why}: run `caudal verify`"))
    };
    let (_, announced) = origins::announced(db, key, chain_id)
        .await?
        .filter(|(origin, _)| origin.stripe == stripe)
        .ok_or_else(|| refused("no record says where it began"))?;
    let last = batches::last(db, chain_id).await?;
    let next_seq = last.as_ref().map_or(0, |last| last.seq + 1);
    let losses = losses::accepted(db, key).await?;
    let lost = losses.iter().filter(|it| it.chain_id == chain_id && it.from_seq == next_seq);
    if let Some((loss, head)) = lost.max_by_key(|it| it.to_seq).and_then(|it| Some((it, it.head()?))) {
        return Ok((loss.to_seq + 1, head));
    }
    let Some(last) = last else { return Ok((next_seq, announced)) };
    let (header, hash) = last.sealed()?;
    if key.hash(&header) != hash {
        return Err(refused("its last batch has no valid hash"));
    }
    Ok((next_seq, hash))
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
