//! Batches and audit records lost in a failover and accepted as such by an operator. They do not count as tampering,
//! but every verification reports them.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::codec::hash_from_bytes;
use crate::db::records::{self, Change, Covered, Recorded, Subject};
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// A row of `lost_tail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// [`RECORDS`](super::proof::RECORDS) for audit records.
    pub chain_id: Uuid,
    pub from_seq: i64,
    pub to_seq: i64,
    /// Of the last lost one, as it was recorded outside the database.
    pub head_hash: Hash,
    pub reason: String,
    /// The operator.
    pub by: String,
    pub at: OffsetDateTime,
}

impl Loss {
    pub(super) fn covers(&self, chain_id: Uuid, seq: i64) -> bool {
        self.chain_id == chain_id && (self.from_seq..=self.to_seq).contains(&seq)
    }

    pub(super) fn key(&self) -> String {
        format!("{}/{}/{}", self.chain_id, self.from_seq, self.to_seq)
    }

    pub(super) fn change(&self, key: &ChainKey) -> Change {
        let (actor, state) = (self.by.clone(), Some(self.state(key)));
        Change { subject: Subject::LostTail, key: self.key(), action: "accept", actor, state }
    }

    fn state(&self, key: &ChainKey) -> Hash {
        let mut digest = Subject::LostTail.state();
        digest.uuid(self.chain_id);
        digest.int(self.from_seq);
        digest.int(self.to_seq);
        digest.bytes(&self.head_hash);
        digest.text(&self.reason);
        digest.text(&self.by);
        digest.time(self.at);
        key.seal_digest(digest)
    }
}

/// Records that an operator accepts losses.
///
/// # Errors
/// When the database fails, or a loss is on record already.
pub async fn accept(db: &mut PgConnection, key: &ChainKey, losses: &[Loss]) -> Result<(), sqlx::Error> {
    for loss in losses {
        let mut transaction = db.begin().await?;
        sqlx::query!(
            r#"
            insert into lost_tail (chain_id, from_seq, to_seq, head_hash, reason, accepted_by, accepted_at)
            values ($1, $2, $3, $4, $5, $6, $7)
            "#,
            loss.chain_id,
            loss.from_seq,
            loss.to_seq,
            &loss.head_hash[..],
            loss.reason,
            loss.by,
            loss.at,
        )
        .execute(&mut *transaction)
        .await?;
        records::append(&mut transaction, key, loss.change(key), loss.at).await?;
        transaction.commit().await?;
    }
    Ok(())
}

/// The accepted losses. A row that somebody without the key wrote is in the second list, by its key.
pub(super) async fn accepted(db: &mut PgConnection, key: &ChainKey) -> Result<(Vec<Loss>, Vec<Covered>), sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select chain_id, from_seq, to_seq, head_hash, reason, accepted_by, accepted_at
        from lost_tail order by accepted_at, chain_id, from_seq
        "#
    );
    let (mut losses, mut forged) = (Vec::new(), Vec::new());
    for row in rows.fetch_all(&mut *db).await? {
        let loss = Loss {
            chain_id: row.chain_id,
            from_seq: row.from_seq,
            to_seq: row.to_seq,
            head_hash: hash_from_bytes(row.head_hash)?,
            reason: row.reason,
            by: row.accepted_by,
            at: row.accepted_at,
        };
        let state = loss.state(key);
        match records::find(db, key, Subject::LostTail, &loss.key()).await? {
            Some(record) if record.state.as_deref() == Some(&state[..]) => losses.push(loss),
            record => {
                let recorded = record.map_or(Recorded::Never, |record| Recorded::new(true, record.state));
                forged.push(Covered { key: loss.key(), state, recorded });
            }
        }
    }
    Ok((losses, forged))
}
