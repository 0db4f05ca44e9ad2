//! Rows of `ledger_batch`, and what links them.

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::report::{Head, Proof};
use crate::ledger::chain::{ChainKey, Counts, Digests, Header, Keyring};
use crate::ledger::store::codec::hash_from_bytes;
use crate::ledger::store::losses::Loss;
use crate::ledger::store::origins::Announcement;
use crate::ledger::store::retired::Closed;
use crate::sealing::digest::{Digest, Hash};

/// Separates the digest of the batches from those of other tables.
const TABLE: &[u8] = b"ledger_batch";

pub(in crate::ledger::store) struct BatchRow {
    chain_id: Uuid,
    pub(in crate::ledger::store) seq: i64,
    batch_id: Uuid,
    pub(super) created_at: OffsetDateTime,
    users_meant: i32,
    balances_meant: i32,
    transfers_meant: i32,
    moves_meant: i32,
    statuses_meant: i32,
    entries_meant: i32,
    keys_meant: i32,
    debits: i64,
    transfer_ids: Vec<Uuid>,
    accounts_digest: Option<Vec<u8>>,
    transfers_digest: Option<Vec<u8>>,
    entries_digest: Option<Vec<u8>>,
    statuses_digest: Option<Vec<u8>>,
    keys_digest: Option<Vec<u8>>,
    prev_hash: Option<Vec<u8>>,
    hash: Option<Vec<u8>>,
    operations_meant: i32,
    operations_digest: Option<Vec<u8>>,
}

impl BatchRow {
    pub(super) fn counts(&self) -> Counts {
        Counts {
            users: self.users_meant,
            balances: self.balances_meant,
            transfers: self.transfers_meant,
            moves: self.moves_meant,
            statuses: self.statuses_meant,
            entries: self.entries_meant,
            keys: self.keys_meant,
            debits: self.debits,
            operations: self.operations_meant,
        }
    }

    /// The header and the hash beside it; `None` for a batch without a hash.
    pub(in crate::ledger::store) fn sealed(&self) -> Result<Option<(Header, Hash)>, sqlx::Error> {
        let digests = [
            &self.accounts_digest,
            &self.transfers_digest,
            &self.entries_digest,
            &self.statuses_digest,
            &self.keys_digest,
            &self.prev_hash,
            &self.hash,
        ];
        let Some(digests) = digests.into_iter().cloned().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let digests = digests.into_iter().map(hash_from_bytes).collect::<Result<Vec<_>, _>>()?;
        let [accounts, transfers, entries, statuses, keys, prev_hash, hash] = digests[..] else { return Ok(None) };
        let operations = self.operations_digest.clone().map(hash_from_bytes).transpose()?;
        let header = Header {
            chain_id: self.chain_id,
            seq: self.seq,
            batch_id: self.batch_id,
            created_at: self.created_at,
            counts: self.counts(),
            transfer_ids: self.transfer_ids.clone(),
            digests: Digests { accounts, transfers, entries, statuses, keys, operations },
            prev_hash,
        };
        Ok(Some((header, hash)))
    }

    fn add_to(&self, digest: &mut Digest) {
        digest.uuid(self.batch_id);
        digest.time(self.created_at);
        self.counts().add_to(digest);
        self.transfer_ids.iter().for_each(|id| digest.uuid(*id));
    }
}

/// The last batch of a chain.
pub(in crate::ledger::store) async fn last(
    db: &mut PgConnection,
    chain_id: Uuid,
) -> Result<Option<BatchRow>, sqlx::Error> {
    at_or_before(db, chain_id, i64::MAX).await
}

/// Verifies how batches are hashed and linked, and digests those without a hash.
pub(super) async fn verify(db: &mut PgConnection, mut walk: Walk<'_>, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query_as!(
        BatchRow,
        r#"
        select chain_id, seq, batch_id, created_at, users_meant, balances_meant, transfers_meant, moves_meant,
            statuses_meant, entries_meant, keys_meant, debits, transfer_ids, accounts_digest, transfers_digest,
            entries_digest, statuses_digest, keys_digest, prev_hash, hash, operations_meant, operations_digest
        from ledger_batch order by chain_id, seq
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        walk.add(&row, proof)?;
    }
    walk.finish(proof);
    Ok(())
}

/// Verifies batches in the order of their chains.
pub(super) struct Walk<'a> {
    keys: &'a Keyring,
    announced: BTreeMap<Uuid, &'a Announcement>,
    losses: &'a [Loss],
    closed: &'a BTreeMap<Uuid, Closed>,
    last: Option<(Uuid, Head)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        keys: &'a Keyring,
        announced: &'a [Announcement],
        losses: &'a [Loss],
        closed: &'a BTreeMap<Uuid, Closed>,
    ) -> Self {
        let announced = announced.iter().map(|it| (it.origin.chain_id, it)).collect();
        Self { keys, announced, losses, closed, last: None }
    }

    /// The key of a chain; `None` if it is retired and was not given.
    pub(super) fn key(&self, chain_id: Uuid) -> Option<&'a ChainKey> {
        match self.closed.get(&chain_id) {
            Some(closed) => self.keys.find(&closed.fingerprint),
            None => Some(self.keys.present()),
        }
    }

    /// Closed chains end where they were closed.
    pub(super) fn finish(&self, proof: &mut Proof) {
        for (chain_id, &Closed { seq, hash, .. }) in self.closed {
            if proof.heads.get(chain_id) != Some(&Head { seq, hash: Some(hash) }) {
                proof.add((*chain_id, seq), "its chain does not end where it was closed when its key was retired");
            }
        }
    }

    /// Continues after a trusted batch.
    pub(super) fn resume(&mut self, chain_id: Uuid, head: Head) {
        self.last = Some((chain_id, head));
    }

    pub(super) fn add(&mut self, row: &BatchRow, proof: &mut Proof) -> Result<(), sqlx::Error> {
        proof.watch.row("ledger_batch");
        let place = (row.chain_id, row.seq);
        let before = self.last.filter(|(chain_id, _)| *chain_id == row.chain_id).map(|(_, head)| head);
        let beginning = self.announced.get(&row.chain_id);
        let due = before.map_or(0, |head| head.seq + 1);
        // What follows an accepted loss has the number after it, and links to the last one lost: a writer that was running
        // when the database failed over went on like that, and so does the next one.
        let mut losses = self.losses.iter();
        let lost = losses.find(|it| it.chain_id == row.chain_id && it.from_seq == due && it.to_seq + 1 == row.seq);
        if row.seq != due && lost.is_none() {
            proof.add(place, "the batch before it is missing");
        }
        let is_before_hashes = beginning.is_some_and(|it| row.seq < it.origin.first_seq);
        let hash = match row.sealed()? {
            Some((header, hash)) => {
                let key = self.key(row.chain_id);
                let first = || match beginning {
                    Some(it) if it.origin.adopted.is_none() => it.hash,
                    _ => key.map_or(Some(header.prev_hash), |key| Some(key.genesis(row.chain_id, row.seq))),
                };
                let linked = lost.and_then(Loss::head).or_else(|| before.and_then(|head| head.hash));
                if Some(header.prev_hash) != linked.or_else(first) {
                    proof.add(place, "it does not link to the batch before it");
                }
                match key.map(|key| key.hash(&header)) {
                    Some(expected) if expected == hash => {}
                    Some(_) => proof.add(place, "its ledger_batch row was altered"),
                    None => proof.unproven += 1,
                }
                Some(hash)
            }
            None => {
                if !is_before_hashes {
                    proof.add(place, "it has no hash");
                }
                proof.unhashed.count(row.chain_id);
                row.add_to(proof.unhashed.table(place, TABLE));
                None
            }
        };
        let head = Head { seq: row.seq, hash };
        proof.heads.insert(row.chain_id, head);
        self.last = Some((row.chain_id, head));
        Ok(())
    }
}

/// Digests the batches without a hash.
pub(super) async fn unhashed(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query_as!(
        BatchRow,
        r#"
        select chain_id, seq, batch_id, created_at, users_meant, balances_meant, transfers_meant, moves_meant,
            statuses_meant, entries_meant, keys_meant, debits, transfer_ids, accounts_digest, transfers_digest,
            entries_digest, statuses_digest, keys_digest, prev_hash, hash, operations_meant, operations_digest
        from ledger_batch where hash is null order by chain_id, seq
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        proof.unhashed.count(row.chain_id);
        row.add_to(proof.unhashed.table((row.chain_id, row.seq), TABLE));
    }
    Ok(())
}

/// The batches of a chain after `after`; `visit` gets them in order.
pub(super) async fn each_after(
    db: &mut PgConnection,
    chain_id: Uuid,
    after: i64,
    mut visit: impl FnMut(&BatchRow) -> Result<(), sqlx::Error>,
) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query_as!(
        BatchRow,
        r#"
        select chain_id, seq, batch_id, created_at, users_meant, balances_meant, transfers_meant, moves_meant,
            statuses_meant, entries_meant, keys_meant, debits, transfer_ids, accounts_digest, transfers_digest,
            entries_digest, statuses_digest, keys_digest, prev_hash, hash, operations_meant, operations_digest
        from ledger_batch where chain_id = $1 and seq > $2 order by seq
        "#,
        chain_id,
        after,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        visit(&row)?;
    }
    Ok(())
}

/// The last batch of a chain that is not after `seq`.
pub(super) async fn at_or_before(
    db: &mut PgConnection,
    chain_id: Uuid,
    seq: i64,
) -> Result<Option<BatchRow>, sqlx::Error> {
    sqlx::query_as!(
        BatchRow,
        r#"
        select chain_id, seq, batch_id, created_at, users_meant, balances_meant, transfers_meant, moves_meant,
            statuses_meant, entries_meant, keys_meant, debits, transfer_ids, accounts_digest, transfers_digest,
            entries_digest, statuses_digest, keys_digest, prev_hash, hash, operations_meant, operations_digest
        from ledger_batch where chain_id = $1 and seq <= $2 order by seq desc limit 1
        "#,
        chain_id,
        seq,
    )
    .fetch_optional(db)
    .await
}
