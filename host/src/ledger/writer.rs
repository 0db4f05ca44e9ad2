//! Who writes which chain of batches.
//!
//! Each running ledger leases one chain and with it one stripe of the bank's own accounts, so two
//! hosts never wait for each other's settlement row. The lease keeps them apart; the primary key of
//! `ledger_batch` proves it: a writer that lost its lease cannot add to the chain.

use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::chain::{Hash, Seal};
use super::{FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};

/// How long a lease lasts. A crashed host's chain is free again after that; a living one renews
/// well before.
pub const LEASE: Duration = Duration::seconds(30);

/// A leased chain.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    /// The chain.
    pub chain_id: Uuid,
    /// Stripe of the bank's own accounts.
    pub stripe: i16,
    /// Number of the next batch.
    pub next_seq: i64,
    /// Hash of the last batch; none when there is none that has one.
    pub head: Option<Hash>,
    /// This process, as the lease knows it.
    pub holder: Uuid,
}

impl Writer {
    /// As it is after a batch of this writer is there.
    pub(super) fn after(mut self, seal: &Seal) -> Self {
        self.next_seq = seal.header.seq + 1;
        self.head = Some(seal.hash);
        self
    }
}

/// Leases a free chain, or starts a new one.
///
/// # Errors
/// When the database fails, or when another host took the same stripe in the same moment; trying
/// again helps then.
pub async fn acquire(db: &mut PgConnection, holder: Uuid, now: OffsetDateTime) -> Result<Writer, sqlx::Error> {
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
    // The funding account owes what it gave. What one stripe of the others owes, another one has.
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
    let head = last.and_then(|last| last.hash).map(to_hash).transpose()?;
    Ok(Writer { chain_id, stripe, next_seq, head, holder })
}

/// A stored hash.
pub(super) fn to_hash(bytes: Vec<u8>) -> Result<Hash, sqlx::Error> {
    bytes.try_into().map_err(|_| sqlx::Error::Decode("a hash's length".into()))
}

/// Extends the lease; false when another host has the chain by now.
///
/// # Errors
/// When the database fails.
pub async fn renew(db: &mut PgConnection, writer: &Writer, now: OffsetDateTime) -> Result<bool, sqlx::Error> {
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

/// Gives the chain back, for the next host to continue.
///
/// # Errors
/// When the database fails; the lease then runs out by itself.
pub async fn release(db: &mut PgConnection, writer: &Writer) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update ledger_writer set leased_until = 'epoch' where chain_id = $1 and holder = $2",
        writer.chain_id,
        writer.holder,
    )
    .execute(db)
    .await?;
    Ok(())
}
