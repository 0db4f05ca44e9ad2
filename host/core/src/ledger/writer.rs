//! Leases of chains: which batcher extends which chain.
//!
//! Each batcher leases one chain, and with it one stripe of the bank's own accounts, so hosts never wait for each
//! other's settlement row. The lease keeps writers apart; the primary key of `ledger_batch` enforces it: a writer that
//! lost its lease cannot extend the chain.

use time::Duration;
use uuid::Uuid;

use crate::sealing::digest::Hash;

/// How long a lease lasts, and thus how long a crashed host's chain stays unused. A running host renews it in time.
pub const LEASE: Duration = Duration::seconds(30);

/// A leased chain.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    pub chain_id: Uuid,
    /// Stripe of the bank's own accounts.
    pub stripe: i16,
    /// Sequence number of the next batch.
    pub next_seq: i64,
    /// What the next batch links to: the last batch, or the record that announces a new chain.
    pub head: Hash,
    /// Identifies the batcher that holds the lease.
    pub holder: Uuid,
}

impl Writer {
    /// The writer after batch `seq` is committed.
    #[must_use]
    pub fn after(self, seq: i64, hash: Hash) -> Self {
        Self { next_seq: seq + 1, head: hash, ..self }
    }
}
