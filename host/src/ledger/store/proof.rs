//! Reads the ledger back and verifies it against the hash chain.
//!
//! Each table is read once, ordered by batch; memory holds the digest of one batch at a time.

mod report;
mod rows;

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use uuid::Uuid;

use super::codec::hash_from_bytes;
use crate::ledger::chain::{ChainKey, Counts, Digests, Header};

pub use report::{Break, Head, Missing, Proof};

/// The current head of each chain.
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
    for row in rows.fetch_all(db).await? {
        heads.insert(row.chain_id, Head { seq: row.seq, hash: row.hash.map(hash_from_bytes).transpose()? });
    }
    Ok(heads)
}

/// The recorded heads that are missing or have another hash: history was truncated or rewritten.
///
/// # Errors
/// When the database fails.
pub async fn missing(db: &mut PgConnection, recorded: &BTreeMap<Uuid, Head>) -> Result<Vec<Missing>, sqlx::Error> {
    let mut missing = Vec::new();
    for (&chain_id, head) in recorded {
        let hash =
            sqlx::query_scalar!("select hash from ledger_batch where chain_id = $1 and seq = $2", chain_id, head.seq);
        let found = hash.fetch_optional(&mut *db).await?;
        let found = found.map(|hash| hash.map(hash_from_bytes).transpose()).transpose()?;
        if found != Some(head.hash) {
            missing.push(Missing { chain_id, seq: head.seq });
        }
    }
    Ok(missing)
}

/// Verifies every batch and its rows. Run it in a repeatable-read transaction.
///
/// # Errors
/// When the database fails.
pub async fn prove(db: &mut PgConnection, key: &ChainKey) -> Result<Proof, sqlx::Error> {
    let mut proof = Proof::default();
    batches(db, key, &mut proof).await?;
    rows::accounts(db, &mut proof).await?;
    rows::transfers(db, &mut proof).await?;
    rows::entries(db, &mut proof).await?;
    rows::statuses(db, &mut proof).await?;
    rows::keys(db, &mut proof).await?;
    proof.breaks.sort();
    proof.breaks.dedup();
    Ok(proof)
}

async fn batches(db: &mut PgConnection, key: &ChainKey, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select chain_id, seq, batch_id, created_at, users_meant, balances_meant, transfers_meant, moves_meant,
            statuses_meant, entries_meant, keys_meant, debits, transfer_ids, accounts_digest, transfers_digest,
            entries_digest, statuses_digest, keys_digest, prev_hash, hash
        from ledger_batch order by chain_id, seq
        "#
    )
    .fetch(db);
    let mut last: Option<(Uuid, Head)> = None;
    while let Some(row) = rows.try_next().await? {
        let place = (row.chain_id, row.seq);
        let before = last.filter(|(chain_id, _)| *chain_id == row.chain_id).map(|(_, head)| head);
        if row.seq != before.map_or(0, |head| head.seq + 1) {
            proof.add(place, "the batch before it is missing");
        }
        let digests =
            (row.accounts_digest, row.transfers_digest, row.entries_digest, row.statuses_digest, row.keys_digest);
        let hash = match (digests, row.prev_hash, row.hash) {
            (
                (Some(accounts), Some(transfers), Some(entries), Some(statuses), Some(keys)),
                Some(prev_hash),
                Some(hash),
            ) => {
                let header = Header {
                    chain_id: row.chain_id,
                    seq: row.seq,
                    batch_id: row.batch_id,
                    created_at: row.created_at,
                    counts: Counts {
                        users: row.users_meant,
                        balances: row.balances_meant,
                        transfers: row.transfers_meant,
                        moves: row.moves_meant,
                        statuses: row.statuses_meant,
                        entries: row.entries_meant,
                        keys: row.keys_meant,
                        debits: row.debits,
                    },
                    transfer_ids: row.transfer_ids,
                    digests: Digests {
                        accounts: hash_from_bytes(accounts)?,
                        transfers: hash_from_bytes(transfers)?,
                        entries: hash_from_bytes(entries)?,
                        statuses: hash_from_bytes(statuses)?,
                        keys: hash_from_bytes(keys)?,
                    },
                    prev_hash: hash_from_bytes(prev_hash)?,
                };
                let hash = hash_from_bytes(hash)?;
                let expected = before.and_then(|head| head.hash).unwrap_or_else(|| key.genesis(row.chain_id, row.seq));
                if header.prev_hash != expected {
                    proof.add(place, "it does not link to the batch before it");
                }
                if key.hash(&header) != hash {
                    proof.add(place, "its ledger_batch row was altered");
                }
                Some(hash)
            }
            _ => {
                if before.is_some_and(|head| head.hash.is_some()) {
                    proof.add(place, "it has no hash");
                }
                proof.unchained += 1;
                None
            }
        };
        let head = Head { seq: row.seq, hash };
        proof.heads.insert(row.chain_id, head);
        last = Some((row.chain_id, head));
    }
    Ok(())
}
