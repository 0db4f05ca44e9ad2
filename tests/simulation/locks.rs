//! Row locks of the modelled Postgres: granted first come, first served, and released when their transaction ends.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex};

use caudal::ledger::batch::{Batch, Row};
use tokio::sync::{Mutex as Lock, OwnedMutexGuard};

/// What a transaction locks, in this order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Locked {
    Row(Row),
    /// A user's total of a payee.
    Total(String, String),
}

impl Locked {
    /// What the commit of a batch locks.
    pub(crate) fn by(batch: &Batch) -> Vec<Self> {
        let totals = batch.transfers.iter().filter_map(|new| {
            let number = &new.transfer.payee.as_ref()?.number;
            Some(Self::Total(new.owner.clone(), number.clone()))
        });
        let mut all: Vec<_> = batch.rows().map(Self::Row).chain(totals).collect();
        all.sort();
        all
    }
}

pub(crate) type Guards = BTreeMap<Locked, OwnedMutexGuard<()>>;

/// Shared by all hosts.
#[derive(Clone, Default)]
pub(crate) struct Locks(Arc<Mutex<BTreeMap<Locked, Arc<Lock<()>>>>>);

impl Locks {
    /// Locks what `guards` does not hold yet, one after the other.
    pub(crate) async fn extend(&self, guards: &mut Guards, keys: impl IntoIterator<Item = Locked>) {
        for key in keys {
            if let Entry::Vacant(guard) = guards.entry(key.clone()) {
                let lock = Arc::clone(self.0.lock().unwrap().entry(key).or_default());
                guard.insert(lock.lock_owned().await);
            }
        }
    }
}
