//! What a connection is doing, and whether it can be given up for another one.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use tokio::sync::Notify;

/// Shared between a connection and the listener's list of all connections.
pub(super) struct State {
    pub(super) address: IpAddr,
    phase: AtomicU8,
    /// Whether bytes of a response may be left that the client has not taken.
    pub(super) is_sending: AtomicBool,
    /// The sweep before which its last request began or ended, or its client took the last bytes.
    pub(super) idle_since: AtomicU32,
    pub(super) closed: Notify,
}

/// Between two requests.
pub(super) const IDLE: u8 = 0;
/// Somebody waits for more of a request's body.
pub(super) const ARRIVING: u8 = 1;
/// A request is being carried out.
pub(super) const BUSY: u8 = 2;
/// A response is being handed to the connection.
pub(super) const ANSWERING: u8 = 3;
/// Given up.
const CLOSED: u8 = 4;

impl State {
    pub(super) fn new(address: IpAddr, now: u32) -> Self {
        let (phase, idle_since) = (AtomicU8::new(IDLE), AtomicU32::new(now));
        Self { address, phase, is_sending: AtomicBool::new(false), idle_since, closed: Notify::new() }
    }

    /// How the connection can be spared, and its phase; `None` if it cannot be.
    pub(super) fn spare(&self) -> Option<(Spare, u8)> {
        match self.phase.load(Ordering::Acquire) {
            phase @ (IDLE | ANSWERING) if self.is_sending.load(Ordering::Acquire) => Some((Spare::Sending, phase)),
            IDLE => Some((Spare::Idle, IDLE)),
            ARRIVING => Some((Spare::Arriving, ARRIVING)),
            _ => None,
        }
    }

    /// Gives the connection up if it is still in this phase.
    pub(super) fn close(&self, phase: u8) -> bool {
        let is_closed = self.phase.compare_exchange(phase, CLOSED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if is_closed {
            self.closed.notify_one();
        }
        is_closed
    }

    /// `false` if the connection was given up.
    pub(super) fn enter(&self, phase: u8) -> bool {
        let next = |now| (now != CLOSED).then_some(phase);
        self.phase.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).is_ok()
    }
}

/// Why a connection can be spared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spare {
    Idle,
    /// Its request has not arrived, so nothing was decided.
    Arriving,
    /// Its client does not read the answer, which can be had again under its key.
    Sending,
}
