//! The model's leases of chains.

use caudal::ledger::writer::{LEASE, Writer};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::tables::{Lease, Model};

/// What the first batch of a chain links to: the model has no records that announce chains.
pub(crate) const NO_HEAD: [u8; 32] = [0; 32];

impl Model {
    pub(crate) fn acquire(&self, holder: Uuid, now: OffsetDateTime) -> Writer {
        let mut tables = self.tables();
        let free = tables.writers.iter().filter(|(_, lease)| lease.until < now).min_by_key(|(_, lease)| lease.stripe);
        let (chain_id, stripe) = match free {
            Some((chain_id, lease)) => (*chain_id, lease.stripe),
            None => {
                let stripe = i16::try_from(tables.writers.len()).unwrap();
                (Uuid::from_u128(0xD000 + u128::from(stripe.unsigned_abs())), stripe)
            }
        };
        tables.writers.insert(chain_id, Lease { stripe, holder, until: now + LEASE });
        tables.add_stripe(stripe);
        let last = tables.batches.range((chain_id, 0)..=(chain_id, i64::MAX)).next_back();
        let (next_seq, head) = last.map_or((0, NO_HEAD), |((_, seq), seal)| (seq + 1, seal.hash));
        Writer { chain_id, stripe, next_seq, head, holder }
    }

    pub(crate) fn renew(&self, writer: &Writer, now: OffsetDateTime) -> bool {
        let mut tables = self.tables();
        let lease = tables.writers.get_mut(&writer.chain_id).filter(|lease| lease.holder == writer.holder);
        lease.map(|lease| lease.until = now + LEASE).is_some()
    }

    pub(crate) fn release(&self, writer: &Writer) {
        let mut tables = self.tables();
        if let Some(lease) = tables.writers.get_mut(&writer.chain_id).filter(|lease| lease.holder == writer.holder) {
            lease.until = OffsetDateTime::UNIX_EPOCH;
        }
    }
}
