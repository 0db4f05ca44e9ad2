//! Which connections a listener has, and which it gives up for another one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::phase::{ANSWERING, ARRIVING, BUSY, IDLE, Spare, State};
use crate::audit::LIMIT_REACHED;
use crate::auth::network::client;
use crate::metrics::Metrics;

/// Connections of one listener. An idle one takes about 17 KiB, and each a file descriptor.
pub const CONNECTIONS_MAX: usize = 4_096;

/// Connections from one address, enough for a proxy or the people behind one router of a telephone company. IPv6 counts
/// by the network of 64 bits that a customer gets.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = 1_024;

/// How long a connection may be idle, and so also the longest time for a request's head to arrive. A sweep may come
/// [`SWEEP_EVERY`] later.
const IDLE_TIME_MAX: Duration = Duration::from_secs(30);

/// Sweeps without a request after which a connection may be evicted even if its address has few: a client
/// sends its request, and completes its TLS handshake, within two round trips. Otherwise anybody who connects once from each
/// of very many addresses would keep all of theirs, and customers behind a common address would lose all of theirs.
const STALE_SWEEPS: u32 = 3;

/// Pause between two sweeps, each of which visits every connection.
pub(super) const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// At most one report in this time.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// The connections of a listener.
pub(super) struct Connections {
    total_max: usize,
    per_address_max: usize,
    open: Mutex<Open>,
    /// Sweeps so far, which serve as the clock for idleness: a counter is cheaper to read than the time.
    sweeps: AtomicU32,
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

/// A request in progress, until its response was handed to the connection.
pub(super) struct Busy(Arc<Slot>);

impl Connections {
    pub(super) fn new(total_max: usize, per_address_max: usize, metrics: Metrics) -> Arc<Self> {
        Arc::new(Self { total_max, per_address_max, open: Mutex::default(), sweeps: AtomicU32::new(0), metrics })
    }

    /// Room for a connection, made if need be by closing one that can be spared. `None` if there is none.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Slot> {
        let address = client(address);
        let mut open = self.open();
        let has_too_many = open.count(address) >= self.per_address_max;
        if has_too_many || open.slots.len() >= self.total_max {
            let has_room = open.evict(has_too_many.then_some(address), self.sweeps.load(Ordering::Relaxed));
            let limit = if has_room { "idle-connections" } else { "connections" };
            self.metrics.refusals.of([LIMIT_REACHED, limit]).inc();
            if !has_room {
                open.report(0, 1);
                return None;
            }
        }
        let number = open.next;
        open.next += 1;
        let state = Arc::new(State::new(address, self.sweeps.load(Ordering::Relaxed)));
        open.slots.insert(number, Arc::clone(&state));
        *open.per_address.entry(address).or_default() += 1;
        Some(Slot { number, state, connections: Arc::clone(self) })
    }

    /// Closes what has been idle for too long. To be called every [`SWEEP_EVERY`].
    pub(super) fn sweep(&self) {
        let now = self.sweeps.fetch_add(1, Ordering::Relaxed) + 1;
        self.close(|state, spare| {
            let idle = SWEEP_EVERY * now.wrapping_sub(state.idle_since.load(Ordering::Acquire));
            spare == Spare::Idle && idle > IDLE_TIME_MAX
        });
    }

    /// Closes what a host that stops need not wait for.
    pub(super) fn close_idle(&self) {
        self.close(|_, spare| spare == Spare::Idle);
    }

    /// Closes everything but requests that are being answered.
    pub(super) fn close_spare(&self) {
        self.close(|_, _| true);
    }

    fn close(&self, which: impl Fn(&State, Spare) -> bool) {
        let mut open = self.open();
        let numbers: Vec<_> = open
            .slots
            .iter()
            .filter(|(_, state)| state.spare().is_some_and(|(spare, phase)| which(state, spare) && state.close(phase)))
            .map(|(number, _)| *number)
            .collect();
        numbers.into_iter().for_each(|number| open.remove(number));
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

    /// Closes a connection that can be spared, of this address if one is given. Those that have brought nothing for a
    /// while go first, then those of the address that has most. Of these, unread answers go last, and what has waited
    /// longest goes first.
    fn evict(&mut self, of: Option<IpAddr>, now: u32) -> bool {
        loop {
            let spare = self.slots.iter().filter_map(|(number, state)| {
                let (spare, phase) = state.spare().filter(|_| of.is_none_or(|address| state.address == address))?;
                let waited = now.wrapping_sub(state.idle_since.load(Ordering::Acquire));
                let is_read = spare != Spare::Sending;
                let is_stale = is_read && waited >= STALE_SWEEPS;
                let rank = (is_stale, self.count(state.address), is_read, waited, Reverse(*number));
                Some((rank, (spare, phase), state))
            });
            let Some(((.., Reverse(number)), seen, state)) = spare.max_by_key(|(rank, ..)| *rank) else {
                return false;
            };
            // Otherwise its request has begun or ended meanwhile, or its client has read the answer.
            if state.spare() == Some(seen) && state.close(seen.1) {
                self.remove(number);
                self.report(1, 0);
                return true;
            }
        }
    }

    fn remove(&mut self, number: u64) {
        let Some(state) = self.slots.remove(&number) else { return };
        if let Some(count) = self.per_address.get_mut(&state.address) {
            *count -= 1;
            if *count == 0 {
                self.per_address.remove(&state.address);
            }
        }
    }

    fn report(&mut self, evicted: u64, refused: u64) {
        let Report { evicted: all_evicted, refused: all_refused, told_at } = &mut self.report;
        (*all_evicted, *all_refused) = (*all_evicted + evicted, *all_refused + refused);
        if told_at.is_none_or(|told_at| told_at.elapsed() >= REPORT_EVERY) {
            tracing::warn!(
                closed = all_evicted,
                refused = all_refused,
                open = self.slots.len(),
                "too many connections: some that can be spared are closed, and clients refused where there are none"
            );
            (*all_evicted, *all_refused, *told_at) = (0, 0, Some(Instant::now()));
        }
    }
}

impl Slot {
    /// Begins a request. `None` if the connection was given up.
    pub(super) fn begin(this: &Arc<Self>) -> Option<Busy> {
        this.rest();
        this.state.enter(BUSY).then(|| Busy(Arc::clone(this)))
    }

    /// Whether somebody waits for more of the request. `false` if the connection was given up, and the request with it.
    pub(super) fn receive(&self, is_waiting: bool) -> bool {
        self.state.enter(if is_waiting { ARRIVING } else { BUSY })
    }

    /// The client does not take what is written.
    pub(super) fn sending(&self) {
        self.state.is_sending.store(true, Ordering::Release);
    }

    /// Nothing is left to write. Called whenever the connection is polled, so this alone does not make it less idle.
    pub(super) fn sent(&self) {
        if self.state.is_sending.load(Ordering::Acquire) {
            self.rest();
            self.state.is_sending.store(false, Ordering::Release);
        }
    }

    /// Completes once the connection has to be closed.
    pub(super) async fn closed(&self) {
        self.state.closed.notified().await;
    }

    /// Idleness counts from now on.
    fn rest(&self) {
        self.state.idle_since.store(self.connections.sweeps.load(Ordering::Relaxed), Ordering::Release);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.open().remove(self.number);
    }
}

impl Busy {
    /// The response is there.
    pub(super) fn answer(&self) {
        self.0.state.enter(ANSWERING);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // The end of the response is in the connection's buffer, which is flushed next.
        self.0.sending();
        self.0.state.enter(IDLE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn begun(slot: &Arc<Slot>) -> Busy {
        Slot::begin(slot).unwrap()
    }

    fn end(slot: &Slot, request: Busy) {
        drop(request);
        slot.sent();
    }

    fn is_evicted(slot: &Slot) -> bool {
        slot.closed().now_or_never().is_some()
    }

    #[test]
    fn the_address_with_most_gives_up_its_oldest_idle_connection() {
        let connections = Connections::new(4, 4, Metrics::default());
        let quiet = connections.admit(address(1)).unwrap();
        let greedy: Vec<_> = (0..3).map(|_| Arc::new(connections.admit(address(2)).unwrap())).collect();
        let busy = begun(&greedy[0]);
        let newcomer = connections.admit(address(3)).unwrap();
        assert!(!is_evicted(&greedy[0]) && is_evicted(&greedy[1]) && !is_evicted(&greedy[2]) && !is_evicted(&quiet));
        drop((busy, newcomer, quiet));
        assert_eq!(connections.open().slots.len(), 2);
    }

    #[test]
    fn only_what_was_idle_for_long_is_closed() {
        let connections = Connections::new(4, 4, Metrics::default());
        let [silent, busy, used] = [1, 2, 3].map(|last| Arc::new(connections.admit(address(last)).unwrap()));
        let request = begun(&busy);
        let sweeps = |count| (0..count).for_each(|_| connections.sweep());
        let half = u32::try_from(IDLE_TIME_MAX.as_secs() / SWEEP_EVERY.as_secs() / 2).unwrap();
        sweeps(half);
        end(&used, begun(&used));
        // It sent a part of a head.
        silent.sent();
        sweeps(half);
        assert!(!is_evicted(&silent));
        sweeps(1);
        assert!(is_evicted(&silent) && !is_evicted(&busy) && !is_evicted(&used));
        sweeps(half);
        assert!(is_evicted(&used));
        sweeps(5 * half);
        end(&busy, request);
        sweeps(2 * half);
        assert!(!is_evicted(&busy));
        sweeps(1);
        assert!(is_evicted(&busy));
        assert!(connections.open().slots.is_empty());
    }

    #[test]
    fn an_address_makes_room_among_its_own() {
        let connections = Connections::new(8, 2, Metrics::default());
        let first = Arc::new(connections.admit(address(1)).unwrap());
        let second = Arc::new(connections.admit(address(1)).unwrap());
        let other = connections.admit(address(2)).unwrap();
        let _third = connections.admit(address(1)).unwrap();
        assert!(is_evicted(&first) && !is_evicted(&other));
        let _request = begun(&second);
        assert!(connections.admit(address(1)).is_some(), "the third is idle");
    }

    #[test]
    fn nobody_is_interrupted() {
        let connections = Connections::new(2, 2, Metrics::default());
        let slots: Vec<_> = (1..3).map(|last| Arc::new(connections.admit(address(last)).unwrap())).collect();
        let requests: Vec<_> = slots.iter().map(begun).collect();
        assert!(connections.admit(address(3)).is_none());
        drop(requests);
        assert!(connections.admit(address(3)).is_some());
    }

    #[test]
    fn bodies_that_do_not_arrive_keep_nobody_out() {
        let connections = Connections::new(3, 3, Metrics::default());
        let slow: Vec<_> = (0..2).map(|_| Arc::new(connections.admit(address(1)).unwrap())).collect();
        let _bodies: Vec<_> = slow.iter().map(begun).collect();
        assert!(slow.iter().all(|slot| slot.receive(true)));
        let customer = Arc::new(connections.admit(address(2)).unwrap());
        let _request = begun(&customer);
        assert!(customer.receive(true) && customer.receive(false));
        assert!(connections.admit(address(3)).is_some() && is_evicted(&slow[0]) && !is_evicted(&customer));
        assert!(!slow[0].receive(false), "what is given up is not carried out");
        assert!(Slot::begin(&slow[0]).is_none());
    }

    #[test]
    fn newcomers_are_not_given_up_for_others() {
        let connections = Connections::new(2, 2, Metrics::default());
        let slow = Arc::new(connections.admit(address(1)).unwrap());
        let _body = begun(&slow);
        assert!(slow.receive(true));
        connections.sweep();
        let newcomer = connections.admit(address(2)).unwrap();
        let _next = connections.admit(address(3)).unwrap();
        assert!(is_evicted(&slow) && !is_evicted(&newcomer));
    }

    #[test]
    fn strangers_who_bring_nothing_go_before_those_who_share_an_address() {
        let connections = Connections::new(4, 4, Metrics::default());
        let strangers: Vec<_> = (1..3).map(|last| connections.admit(address(last)).unwrap()).collect();
        (0..STALE_SWEEPS).for_each(|_| connections.sweep());
        let shared: Vec<_> = (0..2).map(|_| connections.admit(address(9)).unwrap()).collect();
        let next: Vec<_> = (3..5).map(|last| connections.admit(address(last)).unwrap()).collect();
        assert!(strangers.iter().all(is_evicted) && !shared.iter().chain(&next).any(is_evicted));
    }

    #[test]
    fn an_answer_on_its_way_is_neither_idle_nor_first_to_go() {
        let connections = Connections::new(2, 2, Metrics::default());
        let [reader, silent] = [1, 1].map(|last| Arc::new(connections.admit(address(last)).unwrap()));
        drop(begun(&reader));
        let sweeps = 2 * u32::try_from(IDLE_TIME_MAX.as_secs() / SWEEP_EVERY.as_secs()).unwrap();
        (0..sweeps).for_each(|_| connections.sweep());
        assert!(is_evicted(&silent) && !is_evicted(&reader));
        let second = connections.admit(address(1)).unwrap();
        let _third = connections.admit(address(1)).unwrap();
        assert!(is_evicted(&second) && !is_evicted(&reader));
        reader.sent();
        connections.sweep();
        assert!(!is_evicted(&reader), "it rests since the last bytes were taken");
    }

    #[test]
    fn a_host_that_stops_waits_for_requests_and_not_for_readers() {
        let connections = Connections::new(4, 4, Metrics::default());
        let [idle, busy, reader, listener] =
            [1, 2, 3, 4].map(|last| Arc::new(connections.admit(address(last)).unwrap()));
        let requests = [&busy, &reader, &listener].map(begun);
        requests[1..].iter().for_each(Busy::answer);
        reader.sending();
        connections.close_idle();
        assert!(is_evicted(&idle) && !is_evicted(&reader));
        connections.close_spare();
        assert!(is_evicted(&reader) && !is_evicted(&busy) && !is_evicted(&listener));
    }
}
