//! Rows of `ledger_batch`, and what links them.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::report::{Head, Proof};
use crate::domain::rules::DeployedRules;
use crate::ledger::chain::{ChainKey, Counts, Header, Keyring};
use crate::ledger::store::codec::{digests_from_bytes, hash_from_bytes};
use crate::ledger::store::losses::Loss;
use crate::ledger::store::origins::Announcement;
use crate::ledger::store::retired::Closed;
use crate::sealing::digest::Hash;

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
    pub(super) digests: Vec<u8>,
    prev_hash: Vec<u8>,
    hash: Vec<u8>,
    operations_meant: i32,
    moment: i64,
    commands: Vec<u8>,
    rules: Vec<u8>,
    rules_epoch: i64,
    pub(super) decisions: Vec<u8>,
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

    /// The header, and the hash beside it.
    pub(in crate::ledger::store) fn sealed(&self) -> Result<(Header, Hash), sqlx::Error> {
        let hash = |bytes: &Vec<u8>| hash_from_bytes(bytes.clone());
        let header = Header {
            chain_id: self.chain_id,
            seq: self.seq,
            batch_id: self.batch_id,
            created_at: self.created_at,
            counts: self.counts(),
            moment: self.moment,
            commands: self.commands.clone(),
            rules: DeployedRules { digest: self.rules.clone(), epoch: self.rules_epoch },
            transfer_ids: self.transfer_ids.clone(),
            digests: digests_from_bytes(&self.digests),
            decisions: hash(&self.decisions)?,
            prev_hash: hash(&self.prev_hash)?,
        };
        Ok((header, hash(&self.hash)?))
    }
}

/// The last batch of a chain.
pub(in crate::ledger::store) async fn last(
    db: &mut PgConnection,
    chain_id: Uuid,
) -> Result<Option<BatchRow>, sqlx::Error> {
    at_or_before(db, chain_id, i64::MAX).await
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
            if proof.heads.get(chain_id) != Some(&Head { seq, hash }) {
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
        let (header, hash) = row.sealed()?;
        let linked = lost.and_then(Loss::head).or_else(|| before.map(|head| head.hash));
        if linked.or_else(|| beginning?.hash) != Some(header.prev_hash) {
            proof.add(place, "it does not link to the batch before it");
        }
        match self.key(row.chain_id).map(|key| key.hash(&header)) {
            Some(expected) if expected == hash => {}
            Some(_) => proof.add(place, "its ledger_batch row was altered"),
            None => proof.unproven += 1,
        }
        let head = Head { seq: row.seq, hash };
        proof.heads.insert(row.chain_id, head);
        self.last = Some((row.chain_id, head));
        Ok(())
    }
}

/// The batches of a chain after `after` and up to `last`, in order: at most `batches_max`, and no more once they have
/// `rows_max` rows.
pub(in crate::ledger::store) async fn next(
    db: &mut PgConnection,
    (chain_id, after, last): (Uuid, i64, i64),
    (batches_max, rows_max): (i64, i64),
) -> Result<Vec<BatchRow>, sqlx::Error> {
    sqlx::query_as!(
        BatchRow,
        r#"
        with next as (
            select *, 1 + transfers_meant::bigint + statuses_meant + entries_meant + keys_meant + operations_meant as rows
            from ledger_batch where chain_id = $1 and seq > $2 and seq <= $3 order by seq limit $4
        )
        select chain_id, seq, batch_id, created_at, users_meant, balances_meant, transfers_meant, moves_meant,
            statuses_meant, entries_meant, keys_meant, debits, transfer_ids, digests, prev_hash, hash,
            operations_meant, moment, commands, rules, rules_epoch, decisions
        from (select *, (sum(rows) over (order by seq))::bigint - rows as before from next) as n
        where before < $5::bigint order by seq
        "#,
        chain_id,
        after,
        last,
        batches_max,
        rows_max,
    )
    .fetch_all(db)
    .await
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
            statuses_meant, entries_meant, keys_meant, debits, transfer_ids, digests, prev_hash, hash,
            operations_meant, moment, commands, rules, rules_epoch, decisions
        from ledger_batch where chain_id = $1 and seq <= $2 order by seq desc limit 1
        "#,
        chain_id,
        seq,
    )
    .fetch_optional(db)
    .await
}
