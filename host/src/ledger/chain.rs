//! The chain of hashes over what a writer wrote, so that nobody changes history unnoticed.
//!
//! Each batch carries a digest of its rows in each table and a hash over those, over its own row and over the
//! hash of the batch before. The hash is keyed: whoever can write to the database and has no key can change rows, and
//! cannot make the chain fit them. What the key cannot tell, that the newest batches were cut off, the heads
//! tell that hosts write down outside of the database.

mod rows;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use time::OffsetDateTime;
use uuid::Uuid;

use super::batch::{Batch, Context};
use super::writer::Writer;
pub use rows::{AccountRow, Digest, EntryRow, KeyRow, Row, StatusRow, TransferRow};

/// A digest or a hash.
pub type Hash = [u8; 32];

/// Shortest key, in bytes: as long as the hash.
pub const KEY_BYTES_MIN: usize = 32;

/// The key of the chain.
#[derive(Clone)]
pub struct ChainKey(Hmac<Sha256>);

impl std::fmt::Debug for ChainKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChainKey")
    }
}

/// What the rows of one batch hash to, table by table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digests {
    /// Of `account`.
    pub accounts: Hash,
    /// Of `transfer`.
    pub transfers: Hash,
    /// Of `entry`.
    pub entries: Hash,
    /// Of `transfer_event`.
    pub statuses: Hash,
    /// Of `idempotency`.
    pub keys: Hash,
}

/// How many rows of each kind a batch writes, and how much it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Rows of `app_user` whose version grows.
    pub users: i32,
    /// Rows of `account_balance` that change.
    pub balances: i32,
    /// New rows of `transfer`.
    pub transfers: i32,
    /// Earlier transfers that reach their end.
    pub moves: i32,
    /// New rows of `transfer_event`.
    pub statuses: i32,
    /// New rows of `entry`.
    pub entries: i32,
    /// New rows of `idempotency`.
    pub keys: i32,
    /// Centavos that leave balances, and as many that enter them.
    pub debits: i64,
}

/// What a row of `ledger_batch` says, but for the hash over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The chain.
    pub chain_id: Uuid,
    /// Its number in the chain.
    pub seq: i64,
    /// Of this attempt to write it.
    pub batch_id: Uuid,
    /// When it was decided.
    pub created_at: OffsetDateTime,
    /// How much it is.
    pub counts: Counts,
    /// Transfers that got a status, in the order of their ids.
    pub transfer_ids: Vec<Uuid>,
    /// Of the rows.
    pub digests: Digests,
    /// The hash of the batch before.
    pub prev_hash: Hash,
}

/// A batch with its place in the chain: what is written besides the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// The row.
    pub header: Header,
    /// The keyed hash over it.
    pub hash: Hash,
}

impl ChainKey {
    /// From bytes that nobody else knows.
    ///
    /// # Errors
    /// When they are too few.
    pub fn new(key: &[u8]) -> Result<Self, KeyTooShort> {
        if key.len() < KEY_BYTES_MIN {
            return Err(KeyTooShort);
        }
        // HMAC takes keys of any length.
        Hmac::new_from_slice(key).map(Self).map_err(|_| KeyTooShort)
    }

    /// Tells keys apart without giving them away.
    pub fn fingerprint(&self) -> Hash {
        self.keyed(b"caudal ledger key 1")
    }

    /// What stands before the first hashed batch of a chain.
    pub fn genesis(&self, chain_id: Uuid, seq: i64) -> Hash {
        let mut record = Digest::new(b"caudal ledger chain 1");
        record.uuid(chain_id);
        record.int(seq);
        self.keyed(&record.finish())
    }

    /// The hash of a batch.
    pub fn hash(&self, header: &Header) -> Hash {
        let mut record = Digest::new(b"caudal ledger batch 1");
        record.uuid(header.chain_id);
        record.int(header.seq);
        record.uuid(header.batch_id);
        record.time(header.created_at);
        let Counts { users, balances, transfers, moves, statuses, entries, keys, debits } = header.counts;
        for count in [users, balances, transfers, moves, statuses, entries, keys] {
            record.int(i64::from(count));
        }
        record.int(debits);
        record.int(i64::try_from(header.transfer_ids.len()).unwrap_or(i64::MAX));
        header.transfer_ids.iter().for_each(|id| record.uuid(*id));
        let Digests { accounts, transfers, entries, statuses, keys } = &header.digests;
        for digest in [accounts, transfers, entries, statuses, keys, &header.prev_hash] {
            record.bytes(digest);
        }
        self.keyed(&record.finish())
    }

    /// Gives a batch its place after the writer's last one.
    pub fn seal(&self, batch: &Batch, batch_id: Uuid, writer: &Writer, context: &Context) -> Seal {
        let at = context.now;
        let (transfer_ids, statuses) = rows::statuses(batch, at);
        let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        let debits = batch.entries.iter().map(|entry| (-entry.delta.minor()).max(0)).sum();
        self.close(Header {
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
            },
            transfer_ids,
            digests: Digests {
                accounts: rows::accounts(batch, at),
                transfers: rows::transfers(batch, at),
                entries: rows::entries(batch),
                statuses,
                keys: rows::keys(batch, at),
            },
            prev_hash: self.before(writer),
        })
    }

    /// A batch of nothing, which takes the number of one that must never be.
    pub fn seal_tombstone(&self, batch_id: Uuid, writer: &Writer, now: OffsetDateTime) -> Seal {
        self.seal(
            &Batch::default(),
            batch_id,
            writer,
            &Context { now, stripe: writer.stripe, terms: Default::default() },
        )
    }

    fn close(&self, header: Header) -> Seal {
        let hash = self.hash(&header);
        Seal { header, hash }
    }

    fn before(&self, writer: &Writer) -> Hash {
        writer.head.unwrap_or_else(|| self.genesis(writer.chain_id, writer.next_seq))
    }

    fn keyed(&self, bytes: &[u8]) -> Hash {
        let mut mac = self.0.clone();
        mac.update(bytes);
        mac.finalize().into_bytes().into()
    }
}

/// A key of fewer bytes than [`KEY_BYTES_MIN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a ledger key has at least {KEY_BYTES_MIN} bytes")]
pub struct KeyTooShort;
