//! Reads the ledger back and verifies it against the hash chains.

pub(super) mod batches;
mod kept;
mod pace;
mod report;
pub(super) mod rows;
mod slices;
mod watch;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::codec::hash_from_bytes;
use super::{losses, origins};
use crate::db::records;
use crate::ledger::chain::ChainKey;

pub use pace::Pace;
pub use report::{Break, Checked, Head, Heads, Missing, Proof};
pub use slices::{Scope, prove, prove_with};
pub use watch::Watch;

pub use crate::db::records::proof::record_all;
pub use crate::db::records::{RECORDS, is_of_records, name_of};

/// The current head of each chain, those of audit records included.
///
/// # Errors
/// When the database fails.
pub async fn heads(db: &mut PgConnection) -> Result<Heads, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select w.chain_id, b.seq, b.hash
        from ledger_writer w
        cross join lateral (select seq, hash from ledger_batch b where b.chain_id = w.chain_id order by seq desc limit 1) b
        "#
    );
    let mut heads = records::heads(db).await?;
    for row in rows.fetch_all(&mut *db).await? {
        heads.insert(row.chain_id, Head { seq: row.seq, hash: hash_from_bytes(row.hash)? });
    }
    Ok(heads)
}

/// The recorded heads that are missing or have another hash, without those that an operator accepted as lost: history
/// was truncated or rewritten. In the order of their chains.
///
/// # Errors
/// When the database fails.
pub async fn missing(
    db: &mut PgConnection,
    key: &ChainKey,
    recorded: impl IntoIterator<Item = (&Uuid, &Head)>,
) -> Result<Vec<Missing>, sqlx::Error> {
    let mut missing = Vec::new();
    for (&chain_id, head) in recorded {
        if !is_present(db, chain_id, head).await? {
            missing.push(Missing { chain_id, seq: head.seq, hash: head.hash });
        }
    }
    if !missing.is_empty() {
        let losses = losses::accepted(db, key).await?;
        missing.retain(|it| !losses.iter().any(|loss| loss.covers(it.chain_id, it.hash)));
    }
    Ok(missing)
}

/// Whether a recorded head is still part of its chain.
///
/// # Errors
/// When the database fails.
pub async fn is_present(db: &mut PgConnection, chain_id: Uuid, head: &Head) -> Result<bool, sqlx::Error> {
    let hash = if is_of_records(chain_id) {
        let hash =
            sqlx::query_scalar!("select hash from audit_record where chain_id = $1 and seq = $2", chain_id, head.seq);
        hash.fetch_optional(db).await?
    } else {
        let hash =
            sqlx::query_scalar!("select hash from ledger_batch where chain_id = $1 and seq = $2", chain_id, head.seq);
        hash.fetch_optional(db).await?
    };
    Ok(hash.is_some_and(|hash| hash == head.hash))
}

/// Where a chain ends before `seq`, -1 at its very beginning; `None` if `seq` itself is there.
///
/// # Errors
/// When the database fails.
pub async fn end_before(db: &mut PgConnection, chain_id: Uuid, seq: i64) -> Result<Option<i64>, sqlx::Error> {
    let ends = if is_of_records(chain_id) {
        sqlx::query_scalar!(
            r#"select max(seq) as "seq!" from audit_record where chain_id = $1 and seq <= $2 having count(*) > 0"#,
            chain_id,
            seq,
        )
        .fetch_optional(db)
        .await?
    } else {
        sqlx::query_scalar!(
            r#"select max(seq) as "seq!" from ledger_batch where chain_id = $1 and seq <= $2 having count(*) > 0"#,
            chain_id,
            seq,
        )
        .fetch_optional(db)
        .await?
    };
    let end = ends.unwrap_or(-1);
    Ok((end != seq).then_some(end))
}

/// The last batch or audit record of each chain before a moment. A host whose clock was behind may have
/// written something before it later; that counts as after it.
///
/// # Errors
/// When the database fails.
pub async fn heads_before(db: &mut PgConnection, at: OffsetDateTime) -> Result<Heads, sqlx::Error> {
    let mut heads = records::heads_before(db, at).await?;
    for chain_id in origins::chains(db).await? {
        let (mut low, mut high) = (0, batches::last(db, chain_id).await?.map_or(-1, |last| last.seq));
        while low <= high {
            let middle = low + (high - low) / 2;
            match batches::at_or_before(db, chain_id, middle).await?.filter(|row| row.seq >= low) {
                Some(row) if row.created_at >= at => high = row.seq - 1,
                Some(row) => {
                    heads.insert(chain_id, Head { seq: row.seq, hash: row.sealed()?.1 });
                    low = middle + 1;
                }
                // Lost in a failover.
                None => low = middle + 1,
            }
        }
    }
    Ok(heads)
}
