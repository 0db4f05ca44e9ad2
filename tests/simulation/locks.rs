//! Row locks of the modelled Postgres: granted first come, first served, and released when their transaction ends.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex};

use caudal::ledger::batch::BalanceKey;
use tokio::sync::{Mutex as Lock, OwnedMutexGuard};

pub(crate) type Guards = BTreeMap<BalanceKey, OwnedMutexGuard<()>>;

/// Shared by all hosts.
#[derive(Clone, Default)]
pub(crate) struct Locks(Arc<Mutex<BTreeMap<BalanceKey, Arc<Lock<()>>>>>);

impl Locks {
    /// Locks what `guards` does not hold yet, one after the other.
    pub(crate) async fn extend(&self, guards: &mut Guards, keys: impl IntoIterator<Item = BalanceKey>) {
        for key in keys {
            if let Entry::Vacant(guard) = guards.entry(key) {
                let lock = Arc::clone(self.0.lock().unwrap().entry(key).or_default());
                guard.insert(lock.lock_owned().await);
            }
        }
    }
}
