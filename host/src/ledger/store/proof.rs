//! Reads the ledger back, batch by batch, and compares it with the chain of hashes.
//!
//! Each table is read once in the order of its batches; nothing is kept but what one batch hashes to.

mod rows;

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use uuid::Uuid;

use super::super::chain::{ChainKey, Counts, Digests, Hash, Header};
use super::super::writer::to_hash;

/// Something that does not fit the chain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Break {
    /// The chain.
    pub chain_id: Uuid,
    /// The batch.
    pub seq: i64,
    /// What is wrong with it.
    pub what: &'static str,
}

/// The end of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Number of its last batch.
    pub seq: i64,
    /// That one's hash; none in a batch older than the chain of hashes.
    pub hash: Option<Hash>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Proof {
    /// In the order of chains and numbers.
    pub breaks: Vec<Break>,
    /// The end of each chain.
    pub heads: BTreeMap<Uuid, Head>,
    /// Batches that are older than the chain of hashes: nothing can be said about them.
    pub unchained: i64,
}

/// A batch that was there once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The chain.
    pub chain_id: Uuid,
    /// The batch.
    pub seq: i64,
}

/// Where the chains end at the moment.
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
        heads.insert(row.chain_id, Head { seq: row.seq, hash: row.hash.map(to_hash).transpose()? });
    }
    Ok(heads)
}

/// Which of the noted ends of chains are not there any more, or are other batches now.
///
/// # Errors
/// When the database fails.
pub async fn missing(db: &mut PgConnection, noted: &BTreeMap<Uuid, Head>) -> Result<Vec<Missing>, sqlx::Error> {
    let mut missing = Vec::new();
    for (&chain_id, head) in noted {
        let hash =
            sqlx::query_scalar!("select hash from ledger_batch where chain_id = $1 and seq = $2", chain_id, head.seq);
        let found = hash.fetch_optional(&mut *db).await?.flatten().map(to_hash).transpose()?;
        if found != head.hash {
            missing.push(Missing { chain_id, seq: head.seq });
        }
    }
    Ok(missing)
}

/// Breaks that are told; a ledger with more is beyond counting.
const BREAKS_MAX: usize = 100;

/// Compares everything with the chain. Run it in a repeatable-read transaction.
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

impl Proof {
    fn add(&mut self, (chain_id, seq): Place, what: &'static str) {
        if self.breaks.len() < BREAKS_MAX {
            self.breaks.push(Break { chain_id, seq, what });
        }
    }
}

type Place = (Uuid, i64);

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
    // The chain, its last number and what the next one has to point at.
    let mut last: Option<(Uuid, Head)> = None;
    while let Some(row) = rows.try_next().await? {
        let place = (row.chain_id, row.seq);
        let before = last.filter(|(chain_id, _)| *chain_id == row.chain_id).map(|(_, head)| head);
        if row.seq != before.map_or(0, |head| head.seq + 1) {
            proof.add(place, "a batch before it is missing");
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
                        accounts: to_hash(accounts)?,
                        transfers: to_hash(transfers)?,
                        entries: to_hash(entries)?,
                        statuses: to_hash(statuses)?,
                        keys: to_hash(keys)?,
                    },
                    prev_hash: to_hash(prev_hash)?,
                };
                let hash = to_hash(hash)?;
                let expected = before.and_then(|head| head.hash).unwrap_or_else(|| key.genesis(row.chain_id, row.seq));
                if header.prev_hash != expected {
                    proof.add(place, "it does not continue the batch before it");
                }
                if key.hash(&header) != hash {
                    proof.add(place, "its row of ledger_batch is not the one that was written");
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
