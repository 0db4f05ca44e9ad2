//! Which connections a listener has, and which it gives up for another one.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::audit::LIMIT_REACHED;
use crate::auth::network::client;
use crate::metrics::Metrics;

/// Connections of one listener. An idle one takes about 20 KiB, and each a file descriptor.
pub const CONNECTIONS_MAX: usize = 4_096;

/// Connections from one address, enough for a proxy or the people behind one router of a telephone company. IPv6 counts by
/// the network of 64 bits that a customer gets.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = 1_024;

/// At most one report in this time.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// The connections of a listener.
pub(super) struct Connections {
    total_max: usize,
    per_address_max: usize,
    open: Mutex<Open>,
    metrics: Metrics,
}

#[derive(Default)]
struct Open {
    /// By age.
    slots: BTreeMap<u64, Arc<State>>,
    per_address: HashMap<IpAddr, usize>,
    next: u64,
    report: Report,
}

struct State {
    address: IpAddr,
    /// Requests in progress, with their responses.
    requests: AtomicU32,
    evicted: Notify,
}

#[derive(Default)]
struct Report {
    evicted: u64,
    refused: u64,
    told_at: Option<Instant>,
}

/// An open connection; dropping it makes room.
pub(super) struct Slot {
    number: u64,
    state: Arc<State>,
    connections: Arc<Connections>,
}

/// A request in progress.
pub(super) struct Busy(Arc<Slot>);

impl Connections {
    pub(super) fn new(total_max: usize, per_address_max: usize, metrics: Metrics) -> Arc<Self> {
        Arc::new(Self { total_max, per_address_max, open: Mutex::default(), metrics })
    }

    /// Room for a connection, made if need be by closing an idle one. `None` if none is idle.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Slot> {
        let address = client(address);
        let mut open = self.open();
        let has_too_many = open.count(address) >= self.per_address_max;
        if has_too_many || open.slots.len() >= self.total_max {
            let has_room = open.evict(has_too_many.then_some(address));
            let limit = if has_room { "idle-connections" } else { "connections" };
            self.metrics.refusals.of([LIMIT_REACHED, limit]).inc();
            if !has_room {
                open.report(0, 1);
                return None;
            }
        }
        let number = open.next;
        open.next += 1;
        let state = Arc::new(State { address, requests: AtomicU32::new(0), evicted: Notify::new() });
        open.slots.insert(number, Arc::clone(&state));
        *open.per_address.entry(address).or_default() += 1;
        Some(Slot { number, state, connections: Arc::clone(self) })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // A panic cannot leave the counts inconsistent.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn count(&self, address: IpAddr) -> usize {
        self.per_address.get(&address).copied().unwrap_or_default()
    }

    /// Closes the oldest idle connection: of this address, or else of whoever has most.
    fn evict(&mut self, of: Option<IpAddr>) -> bool {
        let idle = self.slots.iter().filter(|(_, state)| {
            of.is_none_or(|address| state.address == address) && state.requests.load(Ordering::Acquire) == 0
        });
        let victim = idle.max_by_key(|(number, state)| (self.count(state.address), std::cmp::Reverse(**number)));
        let Some(number) = victim.map(|(number, _)| *number) else { return false };
        if let Some(state) = self.remove(number) {
            state.evicted.notify_one();
        }
        self.report(1, 0);
        true
    }

    fn remove(&mut self, number: u64) -> Option<Arc<State>> {
        let state = self.slots.remove(&number)?;
        if let Some(count) = self.per_address.get_mut(&state.address) {
            *count -= 1;
            if *count == 0 {
                self.per_address.remove(&state.address);
            }
        }
        Some(state)
    }

    fn report(&mut self, evicted: u64, refused: u64) {
        let Report { evicted: all_evicted, refused: all_refused, told_at } = &mut self.report;
        (*all_evicted, *all_refused) = (*all_evicted + evicted, *all_refused + refused);
        if told_at.is_none_or(|told_at| told_at.elapsed() >= REPORT_EVERY) {
            tracing::warn!(
                closed = all_evicted,
                refused = all_refused,
                open = self.slots.len(),
                "too many connections: idle ones are closed, and clients refused where none is idle"
            );
            (*all_evicted, *all_refused, *told_at) = (0, 0, Some(Instant::now()));
        }
    }
}

impl Slot {
    /// Until this is dropped, the connection is not idle.
    pub(super) fn busy(this: &Arc<Self>) -> Busy {
        this.state.requests.fetch_add(1, Ordering::AcqRel);
        Busy(Arc::clone(this))
    }

    /// Completes once the connection has to make room.
    pub(super) async fn evicted(&self) {
        self.state.evicted.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.open().remove(self.number);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.state.requests.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn is_evicted(slot: &Slot) -> bool {
        slot.evicted().now_or_never().is_some()
    }

    #[test]
    fn whoever_has_most_gives_up_the_oldest_idle_connection() {
        let connections = Connections::new(4, 4, Metrics::default());
        let quiet = connections.admit(address(1)).unwrap();
        let greedy: Vec<_> = (0..3).map(|_| Arc::new(connections.admit(address(2)).unwrap())).collect();
        let busy = Slot::busy(&greedy[0]);
        let newcomer = connections.admit(address(3)).unwrap();
        assert!(!is_evicted(&greedy[0]) && is_evicted(&greedy[1]) && !is_evicted(&greedy[2]) && !is_evicted(&quiet));
        drop((busy, newcomer, quiet));
        assert_eq!(connections.open().slots.len(), 2);
    }

    #[test]
    fn an_address_makes_room_among_its_own() {
        let connections = Connections::new(8, 2, Metrics::default());
        let first = Arc::new(connections.admit(address(1)).unwrap());
        let second = Arc::new(connections.admit(address(1)).unwrap());
        let other = connections.admit(address(2)).unwrap();
        let _third = connections.admit(address(1)).unwrap();
        assert!(is_evicted(&first) && !is_evicted(&other));
        let _requests = Slot::busy(&second);
        assert!(connections.admit(address(1)).is_some(), "the third is idle");
    }

    #[test]
    fn nobody_is_interrupted() {
        let connections = Connections::new(2, 2, Metrics::default());
        let slots: Vec<_> = (1..3).map(|last| Arc::new(connections.admit(address(last)).unwrap())).collect();
        let requests: Vec<_> = slots.iter().map(Slot::busy).collect();
        assert!(connections.admit(address(3)).is_none());
        drop(requests);
        assert!(connections.admit(address(3)).is_some());
    }
}
