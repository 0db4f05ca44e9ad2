//! The order of deliveries: rounds of events that have nothing in common.

use std::collections::BTreeSet;

use crate::domain::sink::Undelivered;
use crate::outbox::Envelope;

/// Events sent at a time: over a network of a few milliseconds, some thousands a second.
pub(super) const ROUND_LENGTH: usize = 32;

/// An event to deliver.
pub(super) struct Item {
    /// Its number is 0 if it is a new one.
    pub(super) row: Undelivered,
    /// `None` if it has to be read again.
    pub(super) event: Option<Envelope>,
}

impl Item {
    pub(super) fn new(event: Envelope, (stripe, seq): (i16, i64)) -> Self {
        let row = Undelivered {
            number: 0,
            id: event.id.clone(),
            kind: event.kind.clone(),
            keys: event.keys.clone(),
            stripe,
            seq,
            time: event.time,
            attempts: 0,
            last_error: None,
            is_due: true,
        };
        Self { row, event: Some(event) }
    }

    pub(super) fn again(row: Undelivered) -> Self {
        Self { row, event: None }
    }
}

/// Keys of events that were not delivered: later events with any of them wait.
#[derive(Default)]
pub(super) struct Blocked(BTreeSet<String>);

impl Blocked {
    pub(super) fn by(&mut self, event: &Undelivered) {
        self.0.extend(event.keys.iter().cloned());
    }

    /// Takes events that have no key in common, and leaves the rest for later rounds. New ones that have to wait for one
    /// that was not delivered are parked.
    pub(super) fn next_round(&mut self, items: Vec<Item>, parked: &mut Vec<Undelivered>) -> (Vec<Item>, Vec<Item>) {
        let (mut round, mut rest, mut busy) = (Vec::new(), Vec::new(), BTreeSet::new());
        for item in items {
            // First: whether it may be parked depends on what becomes of the one before it.
            if round.len() == ROUND_LENGTH || item.row.keys.iter().any(|key| busy.contains(key)) {
                busy.extend(item.row.keys.iter().cloned());
                rest.push(item);
            } else if !item.row.is_due || item.row.keys.iter().any(|key| self.0.contains(key)) {
                self.by(&item.row);
                if item.event.is_some() {
                    parked.push(item.row);
                }
            } else {
                busy.extend(item.row.keys.iter().cloned());
                round.push(item);
            }
        }
        (round, rest)
    }
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;
    use crate::outbox::event_for_tests;

    fn item(id: &str, keys: &[&str]) -> Item {
        Item::new(event_for_tests(id, keys, OffsetDateTime::UNIX_EPOCH), (0, 0))
    }

    /// Delivers everything but these. Returns the rounds, and what was parked.
    fn deliver(items: Vec<Item>, refused: &[&str]) -> (Vec<Vec<String>>, Vec<String>) {
        let (mut blocked, mut parked, mut rounds, mut items) = (Blocked::default(), Vec::new(), Vec::new(), items);
        loop {
            let (round, rest) = blocked.next_round(items, &mut parked);
            if round.is_empty() {
                assert!(rest.is_empty());
                return (rounds, parked.into_iter().map(|row| row.id).collect());
            }
            items = rest;
            rounds.push(round.iter().map(|item| item.row.id.clone()).collect());
            for item in round {
                if refused.contains(&&*item.row.id) {
                    blocked.by(&item.row);
                    parked.push(item.row);
                }
            }
        }
    }

    #[test]
    fn events_of_an_account_keep_their_order_and_others_do_not_wait() {
        let items = || vec![item("1", &["a"]), item("2", &["a", "b"]), item("3", &["c"]), item("4", &["b"])];
        let (rounds, parked) = deliver(items(), &[]);
        assert_eq!((rounds, parked), (vec![vec!["1".into(), "3".into()], vec!["2".into()], vec!["4".into()]], vec![]));
        // A transfer between two accounts makes the second one wait as well.
        let (rounds, parked) = deliver(items(), &["1"]);
        assert_eq!((rounds, parked), (vec![vec!["1".into(), "3".into()]], vec!["1".into(), "2".into(), "4".into()]));
        // What waits for two is parked after both.
        let items = vec![item("1", &["a"]), item("2", &["b"]), item("3", &["b"]), item("4", &["a", "b"])];
        assert_eq!(deliver(items, &["1", "3"]).1, ["1", "3", "4"]);
    }
}
