//! A hash chain over each writer's batches, which makes changes to history detectable.
//!
//! A batch carries a digest of its rows in each table, and a hash over these digests, its own row and the previous
//! batch's hash. The hash is keyed: write access to the database suffices to change rows, but not to recompute
//! the chain. The key alone does not reveal truncation; for that, hosts record the chains' heads outside the
//! database.

pub(super) mod operations;
pub(super) mod rows;

use time::OffsetDateTime;
use uuid::Uuid;

use super::batch::{Batch, Context, Terms};
use super::writer::Writer;
use crate::sealing::digest::{Digest, Hash};

pub use crate::sealing::{ChainKey, KeyTooShort, Keyring};

/// Digests of a batch's rows, by table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digests {
    pub accounts: Hash,
    pub transfers: Hash,
    pub entries: Hash,
    /// Rows of `transfer_event`.
    pub statuses: Hash,
    /// Rows of `idempotency`.
    pub keys: Hash,
    /// Rows of `hold`, `hold_end` and `account_event`; `None` if there are none.
    pub operations: Option<Hash>,
}

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
    /// Transfers with a new status, in ascending order.
    pub transfer_ids: Vec<Uuid>,
    pub digests: Digests,
    pub prev_hash: Hash,
}

/// What is written with a batch's rows: its header, digests and hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    pub header: Header,
    pub hash: Hash,
}

impl ChainKey {
    pub fn hash(&self, header: &Header) -> Hash {
        let mut record = Digest::new(b"caudal ledger batch 1");
        record.uuid(header.chain_id);
        record.int(header.seq);
        record.uuid(header.batch_id);
        record.time(header.created_at);
        header.counts.add_to(&mut record);
        record.int(i64::try_from(header.transfer_ids.len()).unwrap_or(i64::MAX));
        header.transfer_ids.iter().for_each(|id| record.uuid(*id));
        let Digests { accounts, transfers, entries, statuses, keys, operations } = &header.digests;
        for digest in [accounts, transfers, entries, statuses, keys, &header.prev_hash] {
            record.bytes(digest);
        }
        record.optional_bytes(operations.as_ref().map(|digest| &digest[..]));
        self.seal_digest(record)
    }

    /// Seals a batch as the writer's next one.
    pub fn seal(&self, batch: &Batch, batch_id: Uuid, writer: &Writer, context: &Context) -> Seal {
        let at = context.now;
        let (transfer_ids, statuses) = rows::statuses(batch, at);
        let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        let debits = batch.entries.iter().map(|entry| (-entry.delta.minor()).max(0)).sum();
        let header = Header {
            chain_id: writer.chain_id,
            seq: writer.next_seq,
            batch_id,
            created_at: at,
            counts: Counts {
                users: count(batch.users.len()),
                balances: count(batch.balances.len()),
                transfers: count(batch.transfers.len()),
                moves: count(batch.moves.len()),
                statuses: count(transfer_ids.len()),
                entries: count(batch.entries.len()),
                keys: count(batch.answers.len()),
                debits,
                operations: count(batch.operations()),
            },
            transfer_ids,
            digests: Digests {
                accounts: rows::accounts(batch, at),
                transfers: rows::transfers(batch, at),
                entries: rows::entries(batch),
                statuses,
                keys: rows::keys(batch, at),
                operations: (batch.operations() > 0).then(|| operations::digest(batch, at)),
            },
            prev_hash: writer.head,
        };
        let hash = self.hash(&header);
        Seal { header, hash }
    }

    /// Seals an empty batch that occupies the sequence number of one that must never be committed.
    pub fn seal_tombstone(&self, batch_id: Uuid, writer: &Writer, now: OffsetDateTime) -> Seal {
        let context = Context { now, stripe: writer.stripe, terms: Terms::default() };
        self.seal(&Batch::default(), batch_id, writer, &context)
    }
}
