//! Batches and audit records lost in a failover and accepted as such by an operator. They do not count as tampering,
//! but every verification reports them.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::codec::hash_from_bytes;
use crate::db::records::{self, Change, Head, Subject};
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// A row of `lost_tail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Of batches, or of audit records.
    pub chain_id: Uuid,
    pub from_seq: i64,
    pub to_seq: i64,
    /// Of the lost ones that were recorded outside the database; the last is that of `to_seq`.
    pub head_hashes: Vec<Hash>,
    pub reason: String,
    /// The operator.
    pub by: String,
    pub at: OffsetDateTime,
}

impl Loss {
    /// Whether this head was missing when the loss was accepted. Numbers say nothing: what was written since may be
    /// missing as well.
    pub(super) fn covers(&self, chain_id: Uuid, hash: Hash) -> bool {
        self.chain_id == chain_id && self.head_hashes.contains(&hash)
    }

    /// What the batch after the loss links to.
    pub(super) fn head(&self) -> Option<Hash> {
        self.head_hashes.last().copied()
    }

    fn key(&self) -> String {
        format!("{}/{}/{}", self.chain_id, self.from_seq, self.to_seq)
    }
}

/// Records that an operator accepts losses. Their numbers are not used again: the next audit record has the
/// number after the lost ones, and so has the next batch of each chain.
///
/// # Errors
/// When the database fails, or a loss is on record already.
pub async fn accept(db: &mut PgConnection, key: &ChainKey, losses: &[Loss]) -> Result<(), sqlx::Error> {
    let Some(at) = losses.first().map(|loss| loss.at) else { return Ok(()) };
    let mut transaction = db.begin().await?;
    let heads = records::lock_all(&mut transaction).await?;
    for loss in losses {
        let is_end = heads.get(&loss.chain_id).is_some_and(|head| head.seq + 1 == loss.from_seq);
        if let Some(hash) = loss.head().filter(|_| is_end) {
            records::skip_to(&mut transaction, loss.chain_id, Head { seq: loss.to_seq, hash }).await?;
        }
        let hashes: Vec<Vec<u8>> = loss.head_hashes.iter().map(|hash| hash.to_vec()).collect();
        sqlx::query!(
            r#"
            insert into lost_tail (chain_id, from_seq, to_seq, head_hashes, reason, accepted_by, accepted_at)
            values ($1, $2, $3, $4, $5, $6, $7)
            "#,
            loss.chain_id,
            loss.from_seq,
            loss.to_seq,
            &hashes,
            loss.reason,
            loss.by,
            loss.at,
        )
        .execute(&mut *transaction)
        .await?;
    }
    let changes: Vec<_> =
        losses.iter().map(|loss| Change::new(Subject::LostTail, loss.key(), "accept", &loss.by)).collect();
    records::append_all(&mut transaction, key, &changes, at).await?;
    transaction.commit().await
}

/// The accepted losses, without rows that somebody wrote without the key.
pub(super) async fn accepted(db: &mut PgConnection, key: &ChainKey) -> Result<Vec<Loss>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select chain_id, from_seq, to_seq, head_hashes, reason, accepted_by, accepted_at
        from lost_tail order by accepted_at, chain_id, from_seq
        "#
    );
    let mut losses = Vec::new();
    for row in rows.fetch_all(&mut *db).await? {
        let loss = Loss {
            chain_id: row.chain_id,
            from_seq: row.from_seq,
            to_seq: row.to_seq,
            head_hashes: row.head_hashes.into_iter().map(hash_from_bytes).collect::<Result<_, _>>()?,
            reason: row.reason,
            by: row.accepted_by,
            at: row.accepted_at,
        };
        if records::is_sound(db, key, Subject::LostTail, &loss.key()).await? {
            losses.push(loss);
        }
    }
    Ok(losses)
}
