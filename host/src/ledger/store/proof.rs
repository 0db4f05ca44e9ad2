//! Reads the ledger back and verifies it against the hash chains.
//!
//! Each table is read once, ordered by batch; memory holds the digest of one batch at a time.

pub(super) mod batches;
mod report;
mod rows;
pub mod since;
mod stored;
mod watch;

use std::collections::BTreeMap;

use sqlx::PgConnection;
use uuid::Uuid;

use super::codec::hash_from_bytes;
use super::{losses, origins, retired};
use crate::db::payments::seals;
use crate::db::records;
use crate::ledger::chain::{ChainKey, Keyring};

use batches::Walk;
pub use report::{Break, Head, Missing, Proof};
pub use watch::Watch;

pub use super::losses::RECORDS;
pub use crate::db::records::proof::record_all;

/// Sequence number and hash of each chain's last batch.
pub type Heads = BTreeMap<Uuid, Head>;

/// The current head of each chain, that of the audit records included.
///
/// # Errors
/// When the database fails.
pub async fn heads(db: &mut PgConnection) -> Result<BTreeMap<Uuid, Head>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select w.chain_id, b.seq, b.hash
        from ledger_writer w
        cross join lateral (select seq, hash from ledger_batch b where b.chain_id = w.chain_id order by seq desc limit 1) b
        "#
    );
    let mut heads = BTreeMap::new();
    for row in rows.fetch_all(&mut *db).await? {
        heads.insert(row.chain_id, Head { seq: row.seq, hash: hash_from_bytes(row.hash)? });
    }
    let last = records::last(db).await?;
    if last.seq >= 0 {
        heads.insert(RECORDS, Head { seq: last.seq, hash: last.hash });
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
    let hash = if chain_id == RECORDS {
        let hash = sqlx::query_scalar!("select hash from audit_record where seq = $1", head.seq);
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
    let ends = if chain_id == RECORDS {
        sqlx::query_scalar!(r#"select max(seq) as "seq!" from audit_record where seq <= $1 having count(*) > 0"#, seq)
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

/// Verifies every batch and its rows, and the audit records. Run it in a repeatable-read transaction.
///
/// # Errors
/// When the database fails.
pub async fn prove(db: &mut PgConnection, key: &ChainKey) -> Result<Proof, sqlx::Error> {
    prove_with(db, &Keyring::from(key.clone()), Watch::default()).await
}

/// Like [`prove`], with retired keys and reports of progress.
///
/// # Errors
/// When the database fails.
pub async fn prove_with(db: &mut PgConnection, keys: &Keyring, watch: Watch) -> Result<Proof, sqlx::Error> {
    let key = keys.present();
    let mut proof = Proof { records: records::proof::prove(db, keys).await?, watch, ..Proof::default() };
    let retired = retired::all(db).await?;
    let announced = origins::all(db).await?;
    let accepted = losses::accepted(db, key).await?;
    let closed = retired::closed(&retired);
    batches::verify(db, Walk::new(keys, &announced, &accepted, &closed), &mut proof).await?;
    proof.retired = retired;
    rows::verify(db, &mut proof).await?;
    for it in &announced {
        if !it.has_writer {
            proof.add((it.origin.chain_id, 0), "ledger_writer has no such chain and stripe");
        }
    }
    for transfer_id in seals::broken(db, key).await? {
        proof.records.add(format!("payment {transfer_id}: it was altered"));
    }
    for chain_id in origins::unannounced(db).await? {
        proof.add((chain_id, 0), "no record says where its chain began");
    }
    proof.losses = accepted;
    let head = proof.records.last.map(|last| Head { seq: last.seq, hash: last.hash });
    proof.heads.extend(head.map(|head| (RECORDS, head)));
    proof.breaks.sort();
    proof.breaks.dedup();
    Ok(proof)
}
