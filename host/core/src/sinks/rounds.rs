//! The order of deliveries: batches, and rounds of events that have nothing in common.

use std::collections::BTreeSet;

use crate::domain::sink::Undelivered;
use crate::outbox::Envelope;

/// Events sent at a time: over a network of a few milliseconds, some thousands a second.
pub(super) const ROUND_LENGTH: usize = 32;

/// Most events in a request: a hundred kilobytes, a tenth of what servers usually accept.
const BATCH_LENGTH: usize = 100;

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

    /// Takes the next new events that need not wait, and parks those that have to. One that waits for an event of the
    /// batch as well ends the batch: it is parked after that one.
    pub(super) fn next_batch(&mut self, items: &mut Vec<Item>, parked: &mut Vec<Undelivered>) -> Vec<Item> {
        let (mut batch, mut busy) = (Vec::new(), BTreeSet::new());
        let mut rest = std::mem::take(items).into_iter().peekable();
        while batch.len() < BATCH_LENGTH {
            let has = |keys: &BTreeSet<String>, item: &Item| item.row.keys.iter().any(|key| keys.contains(key));
            let Some(item) = rest.next_if(|item| !(has(&self.0, item) && has(&busy, item))) else { break };
            if has(&self.0, &item) {
                self.by(&item.row);
                parked.push(item.row);
            } else {
                busy.extend(item.row.keys.iter().cloned());
                batch.push(item);
            }
        }
        items.extend(rest);
        batch
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
    fn a_batch_has_no_event_that_waits() {
        let (mut blocked, mut parked) = (Blocked::default(), Vec::new());
        blocked.by(&item("1", &["a"]).row);
        let mut items = vec![item("2", &["a", "b"]), item("3", &["c"]), item("4", &["b"]), item("5", &["c"])];
        items.extend((0..BATCH_LENGTH).map(|_| item("more", &["d"])));
        let ids = |rows: Vec<Undelivered>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
        let batch = blocked.next_batch(&mut items, &mut parked);
        assert_eq!((batch.len(), items.len(), ids(parked)), (BATCH_LENGTH, 2, vec!["2".to_owned(), "4".to_owned()]));
        assert_eq!(ids(batch.into_iter().map(|item| item.row).collect())[..3], ["3", "5", "more"]);
        // Were 7 parked now and 6 refused, 7 would be sent again first.
        let mut items = vec![item("6", &["e"]), item("7", &["a", "e"]), item("8", &["f"])];
        assert_eq!((blocked.next_batch(&mut items, &mut Vec::new()).len(), items.len()), (1, 2));
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
