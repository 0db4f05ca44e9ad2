//! Compares a rail's list of a day with the ledger, in memory: sixty bytes for each order of the ledger.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use anyhow::ensure;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::db::reconciliations::LedgerLine;
use crate::db::reconciliations::difference::{Counts, DIFFERENCES_MAX, Difference, Direction, Finding, Remedy, Side};
use crate::domain::account_number::normalise;
use crate::domain::money::Money;
use crate::domain::transfer::Status;
use crate::rail::{Incoming, IncomingStatus, Line, PaymentStatus};

/// Lines that a rail may list for a day: a list that does not end must not fill the memory.
pub(super) const LINES_MAX: usize = 4_000_000;

/// Identifies an order of a day: a hash of a sent order's tracking key, or the id of a received order's transfer.
type Key = [u8; 16];

/// Where an order's money is, on either side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending,
    Completed,
    Failed,
    /// It settled, and then its money came back; of a received order at the rail: it was sent back.
    Returned,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Returned => "returned",
        }
    }
}

/// An order of the ledger.
#[derive(Debug)]
struct Entry {
    key: Key,
    transfer_id: Uuid,
    amount: Money,
    payee: u64,
    direction: Direction,
    state: State,
    is_listed: bool,
}

impl Entry {
    fn of(line: &LedgerLine) -> Self {
        Self {
            key: match line.direction {
                Direction::Sent => key_of(&line.tracking_key),
                Direction::Received => line.transfer_id.into_bytes(),
            },
            transfer_id: line.transfer_id,
            amount: line.amount,
            payee: payee_of(&line.payee_number),
            direction: line.direction,
            state: match line.status {
                Status::Pending => State::Pending,
                Status::Completed if line.was_returned => State::Returned,
                Status::Completed => State::Completed,
                Status::Failed => State::Failed,
            },
            is_listed: false,
        }
    }

    fn side(&self) -> Side {
        Side { amount: self.amount.to_string(), payee_number: String::new(), status: self.state.name().to_owned() }
    }

    /// What follows if the rail has the order so; `None` if it agrees.
    fn remedy(&self, there: &There) -> Option<Remedy> {
        use State::{Completed, Failed, Pending, Returned};
        let state = there.state.filter(|_| (self.amount, self.payee) == (there.amount, payee_of(&there.payee_number)));
        let Some(state) = state else { return Some(Remedy::Decision) };
        match (self.direction, self.state, state) {
            (Direction::Sent, Failed, Failed | Returned) => None,
            (Direction::Sent, here, there) if here == there => None,
            (Direction::Sent, Pending, _) | (Direction::Sent, Completed, Returned) => Some(Remedy::Inquiry),
            // It is about to be sent back, and the courier goes on until it is.
            (Direction::Received, Pending, _) => None,
            (Direction::Received, Completed, Completed) | (Direction::Received, Failed, Returned) => None,
            _ => Some(Remedy::Decision),
        }
    }

    /// What follows if the rail does not list it; `None` if it need not.
    fn remedy_if_missing(&self) -> Option<Remedy> {
        match (self.direction, self.state) {
            // The rail refused to take it.
            (Direction::Sent, State::Failed) => None,
            (Direction::Sent, State::Pending) => Some(Remedy::Inquiry),
            // The courier is still processing it.
            (Direction::Received, State::Pending) => Some(Remedy::None),
            _ => Some(Remedy::Decision),
        }
    }
}

/// An order as the rail lists it.
struct There {
    key: Key,
    direction: Direction,
    tracking_key: String,
    institution: Option<u32>,
    amount: Money,
    /// `None` if what the rail says is not understood.
    state: Option<State>,
    payee_number: String,
    payee_name: Option<String>,
    sender_number: Option<String>,
}

impl There {
    fn of(line: Line, direction: Direction) -> Self {
        match line {
            Line::Sent { tracking_key, amount, sender_number, payee_name, payee_number, status } => Self {
                key: key_of(&tracking_key),
                direction: Direction::Sent,
                tracking_key,
                institution: None,
                amount,
                state: Some(match status {
                    PaymentStatus::Accepted => State::Pending,
                    PaymentStatus::Settled => State::Completed,
                    PaymentStatus::Rejected(_) => State::Failed,
                    PaymentStatus::Returned(_) => State::Returned,
                }),
                payee_number,
                payee_name,
                sender_number,
            },
            Line::Received(Incoming { order, status }) => Self {
                key: order.transfer_id().into_bytes(),
                direction: Direction::Received,
                tracking_key: order.tracking_key,
                institution: Some(order.institution),
                amount: order.amount,
                state: Some(match status {
                    IncomingStatus::Received => State::Completed,
                    IncomingStatus::Returned(_) => State::Returned,
                }),
                payee_number: order.payee_number,
                payee_name: order.payee_name,
                sender_number: order.payer_number,
            },
            Line::Unclear { tracking_key } => Self {
                key: key_of(&tracking_key),
                direction,
                tracking_key,
                institution: None,
                amount: Money::ZERO,
                state: None,
                payee_number: String::new(),
                payee_name: None,
                sender_number: None,
            },
        }
    }

    /// What follows if the ledger does not have it. No money of a customer's moved if it did not settle.
    fn remedy_if_missing(&self) -> Remedy {
        match (self.direction, self.state) {
            (_, Some(State::Failed | State::Returned)) => Remedy::None,
            (Direction::Received, Some(_)) => Remedy::Inquiry,
            _ => Remedy::Decision,
        }
    }

    fn differs(self, finding: Finding, remedy: Remedy, here: Option<&Entry>) -> Difference {
        let status = self.state.map_or("unclear", State::name).to_owned();
        Difference {
            direction: self.direction,
            finding,
            remedy,
            tracking_key: self.tracking_key,
            institution: self.institution,
            transaction_id: here.map(|entry| entry.transfer_id),
            here: here.map(Entry::side),
            there: Some(Side { amount: self.amount.to_string(), payee_number: self.payee_number, status }),
            sender_number: self.sender_number,
            payee_name: self.payee_name,
        }
    }
}

fn key_of(tracking_key: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&Sha256::digest(tracking_key)[..size_of::<Key>()]);
    key
}

fn payee_of(number: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    normalise(number).hash(&mut hasher);
    hasher.finish()
}

/// The ledger's orders of a day, which the rail's lines are compared with as they arrive.
#[derive(Default)]
pub(super) struct Comparison {
    entries: Vec<Entry>,
    is_sorted: bool,
    lines: usize,
    counts: Counts,
    differences: Vec<Difference>,
    /// Of lines that the ledger's orders of the day do not include.
    unknown: BTreeSet<Key>,
    strays: Vec<There>,
}

impl Comparison {
    /// Adds an order of the ledger, before all lines.
    pub(super) fn expect(&mut self, line: &LedgerLine) {
        self.entries.push(Entry::of(line));
    }

    /// Compares a line of the rail's list of a direction.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn compare(&mut self, line: Line, direction: Direction) -> anyhow::Result<()> {
        self.lines += 1;
        ensure!(self.lines <= LINES_MAX, "the rail lists more than {LINES_MAX} orders");
        if !std::mem::replace(&mut self.is_sorted, true) {
            self.entries.sort_unstable_by_key(|entry| entry.key);
        }
        let there = There::of(line, direction);
        let Ok(place) = self.entries.binary_search_by_key(&there.key, |entry| entry.key) else {
            if !self.unknown.insert(there.key) {
                self.note(there, Finding::Duplicated, Remedy::Decision, None);
            } else if self.strays.len() < DIFFERENCES_MAX {
                self.strays.push(there);
            } else {
                self.counts.add(Finding::MissingHere);
            }
            return Ok(());
        };
        let was_listed = std::mem::replace(&mut self.entries[place].is_listed, true);
        if was_listed {
            self.note(there, Finding::Duplicated, Remedy::Decision, Some(place));
        } else if let Some(remedy) = self.entries[place].remedy(&there) {
            self.note(there, Finding::Different, remedy, Some(place));
        } else {
            self.counts.matched += 1;
        }
        Ok(())
    }

    fn note(&mut self, there: There, finding: Finding, remedy: Remedy, place: Option<usize>) {
        self.counts.add(finding);
        if self.differences.len() < DIFFERENCES_MAX {
            self.differences.push(there.differs(finding, remedy, place.map(|place| &self.entries[place])));
        }
    }

    /// Tracking keys of sent orders that the ledger may have under another day, or entered since.
    pub(super) fn strays(&self) -> Vec<String> {
        let sent = self.strays.iter().filter(|there| there.direction == Direction::Sent);
        sent.map(|there| there.tracking_key.clone()).collect()
    }

    /// Given what the ledger has of the strays.
    pub(super) fn finish(mut self, found: &[LedgerLine]) -> (Counts, Vec<Difference>) {
        let mut found: Vec<Entry> = found.iter().map(Entry::of).collect();
        found.sort_unstable_by_key(|entry| entry.key);
        for there in std::mem::take(&mut self.strays) {
            let here = found.binary_search_by_key(&there.key, |entry| entry.key).ok().map(|place| &found[place]);
            let (finding, remedy) = match here.map(|entry| entry.remedy(&there)) {
                Some(None) => {
                    self.counts.matched += 1;
                    continue;
                }
                Some(Some(remedy)) => (Finding::Different, remedy),
                None => (Finding::MissingHere, there.remedy_if_missing()),
            };
            self.counts.add(finding);
            if self.differences.len() < DIFFERENCES_MAX {
                self.differences.push(there.differs(finding, remedy, here));
            }
        }
        for entry in self.entries.iter().filter(|entry| !entry.is_listed) {
            let Some(remedy) = entry.remedy_if_missing() else {
                self.counts.matched += 1;
                continue;
            };
            self.counts.add(Finding::MissingThere);
            if self.differences.len() < DIFFERENCES_MAX {
                self.differences.push(Difference {
                    direction: entry.direction,
                    finding: Finding::MissingThere,
                    remedy,
                    tracking_key: String::new(),
                    institution: None,
                    transaction_id: Some(entry.transfer_id),
                    here: Some(entry.side()),
                    there: None,
                    sender_number: None,
                    payee_name: None,
                });
            }
        }
        (self.counts, self.differences)
    }
}

#[cfg(test)]
mod tests;
