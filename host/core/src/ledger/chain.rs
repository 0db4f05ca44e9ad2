//! A hash chain over each writer's batches, which makes changes to history detectable.
//!
//! A batch carries the root of a Merkle tree over its rows, and a hash over this root, its own row and the previous
//! batch's hash. The hash is keyed: write access to the database suffices to change rows, but not to recompute
//! the chain. The key alone does not reveal truncation; for that, hosts record the chains' heads outside the
//! database.

use time::OffsetDateTime;
use uuid::Uuid;

use super::batch::{Batch, Context, Decided, Terms};
use super::commands;
use super::rows::{Digests, Rows};
use super::writer::Writer;
use crate::decision::Decision;
use crate::decision::kept::{self, Salt};
use crate::domain::rules::DeployedRules;
use crate::sealing::digest::{Digest, Hash};
use crate::sealing::merkle;

pub use super::rows::tree::Inclusion;
pub use crate::sealing::{ChainKey, KeyTooShort, Keyring};

/// How many rows a batch writes, and how much money it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Updates of `app_user`.
    pub users: i32,
    /// Updates of `account_balance`.
    pub balances: i32,
    /// Inserts into `transfer`.
    pub transfers: i32,
    /// Updates of `transfer`: existing transfers that reach their final status.
    pub moves: i32,
    /// Inserts into `transfer_event`.
    pub statuses: i32,
    /// Inserts into `entry`.
    pub entries: i32,
    /// Inserts into `idempotency`.
    pub keys: i32,
    /// Centavos debited, equal to those credited.
    pub debits: i64,
    /// Inserts into `hold`, `hold_end` and `account_event`.
    pub operations: i32,
}

impl Counts {
    pub(super) fn add_to(&self, digest: &mut Digest) {
        let Self { users, balances, transfers, moves, statuses, entries, keys, debits, operations } = *self;
        for count in [users, balances, transfers, moves, statuses, entries, keys] {
            digest.int(i64::from(count));
        }
        digest.int(debits);
        digest.int(i64::from(operations));
    }
}

/// A row of `ledger_batch` without its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub chain_id: Uuid,
    /// Position in the chain.
    pub seq: i64,
    /// Unique to each attempt.
    pub batch_id: Uuid,
    pub created_at: OffsetDateTime,
    pub counts: Counts,
    /// Above that of every batch which this one rests on.
    pub moment: i64,
    /// What was decided, as `commands` writes it.
    pub commands: Vec<u8>,
    /// That decided.
    pub rules: DeployedRules,
    /// Transfers with a new status, in ascending order.
    pub transfer_ids: Vec<Uuid>,
    pub digests: Digests,
    /// Of a Merkle tree over the decisions of models that it rests on.
    pub decisions: Hash,
    pub prev_hash: Hash,
}

impl Header {
    /// Of the Merkle tree over the batch's rows: its upper part is one over the tables.
    pub fn root(&self) -> Hash {
        merkle::root(&self.digests)
    }
}

/// A batch's rows, and what proves them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    pub header: Header,
    pub hash: Hash,
    pub rows: Rows,
    /// The decisions of models that it rests on, as `kept` writes them.
    pub kept: Vec<u8>,
}

impl Seal {
    /// The terms of the batch, and what was decided under them; `None` for a tombstone.
    pub fn decided(&self) -> Option<(Terms, Vec<Decided>)> {
        commands::decode(&self.header.commands, &self.rows)
    }

    /// What models decided; `None` if that cannot be read.
    pub fn decisions(&self) -> Option<Vec<Decision>> {
        Some(kept::decode(&self.kept)?.0)
    }
}

impl ChainKey {
    pub fn hash(&self, header: &Header) -> Hash {
        let mut record = Digest::new(b"caudal ledger batch 1");
        record.uuid(header.chain_id);
        record.int(header.seq);
        record.uuid(header.batch_id);
        record.time(header.created_at);
        header.counts.add_to(&mut record);
        record.int(header.moment);
        record.bytes(&commands::digest(&header.commands));
        record.bytes(&header.rules.digest);
        record.int(header.rules.epoch);
        record.int(i64::try_from(header.transfer_ids.len()).unwrap_or(i64::MAX));
        header.transfer_ids.iter().for_each(|id| record.uuid(*id));
        [header.root(), header.decisions, header.prev_hash].iter().for_each(|digest| record.bytes(digest));
        self.seal_digest(record)
    }

    /// Seals a batch as the writer's next one.
    pub fn seal(&self, batch: &Batch, batch_id: Uuid, writer: &Writer, context: &Context) -> Seal {
        let (chain_id, seq) = (writer.chain_id, writer.next_seq);
        let rows = Rows::of(batch, chain_id, seq, context.now);
        let salt = self.salt(batch_id);
        let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        let header = Header {
            chain_id,
            seq,
            batch_id,
            created_at: context.now,
            counts: Counts {
                users: count(batch.users.len()),
                balances: count(batch.balances.len()),
                transfers: count(rows.transfers.len()),
                moves: count(batch.moves.len()),
                statuses: count(rows.statuses.len()),
                entries: count(rows.entries.len()),
                keys: count(rows.keys.len()),
                debits: rows.entries.iter().map(|entry| (-entry.delta).max(0)).sum(),
                operations: count(rows.operations()),
            },
            moment: batch.moment,
            commands: commands::encode(&batch.commands, &context.terms, &rows),
            rules: batch.rules.clone(),
            transfer_ids: rows.statuses.iter().map(|status| status.transfer_id).collect(),
            digests: rows.digests(),
            decisions: kept::root(&batch.decisions, salt),
            prev_hash: writer.head,
        };
        let hash = self.hash(&header);
        Seal { header, hash, rows, kept: kept::encode(&batch.decisions, salt) }
    }

    /// Of a batch's decisions: nobody without the key can foresee it.
    fn salt(&self, batch_id: Uuid) -> Salt {
        let mut record = Digest::new(b"caudal decisions salt 1");
        record.uuid(batch_id);
        let mut salt = Salt::default();
        salt.copy_from_slice(&self.seal_digest(record)[..size_of::<Salt>()]);
        salt
    }

    /// Seals an empty batch that occupies the sequence number of one that must never be committed.
    pub fn seal_tombstone(&self, batch_id: Uuid, writer: &Writer, now: OffsetDateTime) -> Seal {
        let context = Context { now, stripe: writer.stripe, terms: Terms::default() };
        self.seal(&Batch::default(), batch_id, writer, &context)
    }
}
