//! Who listens on a host. A user's listeners are woken by that user's events only, so what others do costs them
//! nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;

use crate::db::outbox::{Event, Position};

/// A quarter of the connections that a host's listener takes: open pages leave room for requests.
pub const LISTENERS_MAX: usize = 1_024;
/// For one user: a phone, a page and a few tabs.
pub const LISTENERS_EACH_MAX: usize = 5;

/// Pages queued for a slow listener before it is disconnected; it reconnects with its cursor. There are five a second,
/// more while the feed catches up.
const LAG_MAX: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Also returned when the host is shutting down.
    #[error("there are too many listeners")]
    Overloaded,
    #[error("the user has too many listeners")]
    TooManyOfUser,
    #[error("the cursor is too far back")]
    TooFarBack,
    #[error("the cursor belongs to another history")]
    Expired,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// A user's events that were read at once, earliest first, and up to where everybody's were read.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) events: Arc<[Event]>,
    pub(super) end: Arc<Position>,
}

/// The listeners of each user. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Listeners(Arc<Mutex<BTreeMap<String, broadcast::Sender<Page>>>>);

impl Listeners {
    /// Adds a listener, until the receiver is dropped.
    pub(super) fn subscribe(&self, owner: &str) -> Result<broadcast::Receiver<Page>, ListenError> {
        let mut users = self.users();
        let own = users.get(owner).map_or(0, broadcast::Sender::receiver_count);
        if own >= LISTENERS_EACH_MAX {
            return Err(ListenError::TooManyOfUser);
        }
        let total: usize = users.values().map(broadcast::Sender::receiver_count).sum();
        if total >= LISTENERS_MAX {
            return Err(ListenError::Overloaded);
        }
        let pages = users.entry(owner.to_owned()).or_insert_with(|| broadcast::Sender::new(LAG_MAX));
        Ok(pages.subscribe())
    }

    /// Whether nobody listens. Forgets users who have left.
    pub(super) fn is_empty(&self) -> bool {
        let mut users = self.users();
        users.retain(|_, pages| pages.receiver_count() > 0);
        users.is_empty()
    }

    /// Gives each user's listeners the user's share of the events.
    pub(super) fn publish(&self, events: Vec<Event>, end: Position) {
        let (users, end) = (self.users(), Arc::new(end));
        let mut shares: BTreeMap<&String, Vec<Event>> = BTreeMap::new();
        for event in events {
            if let Some((owner, _)) = users.get_key_value(&event.owner) {
                shares.entry(owner).or_default().push(event);
            }
        }
        for (owner, share) in shares {
            // The last listener may have left.
            let _ = users[owner].send(Page { events: share.into(), end: Arc::clone(&end) });
        }
    }

    /// Ends all listeners.
    pub(super) fn disconnect(&self) {
        self.users().clear();
    }

    fn users(&self) -> MutexGuard<'_, BTreeMap<String, broadcast::Sender<Page>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;
    use tokio::sync::broadcast::error::TryRecvError;
    use uuid::Uuid;

    use super::*;
    use crate::domain::money::Money;
    use crate::domain::remittance::Remittance;

    fn event(owner: &str, seq: i64) -> Event {
        Event {
            stripe: 0,
            seq,
            transfer_id: Uuid::nil(),
            ordinal: 0,
            status: "completed".into(),
            reason: None,
            created_at: OffsetDateTime::UNIX_EPOCH,
            owner: owner.into(),
            receiver: None,
            kind: "spei".into(),
            account_id: Uuid::nil(),
            debit_account_id: Uuid::nil(),
            credit_account_id: Uuid::nil(),
            amount: Money::from_minor(1),
            beneficiary_name: None,
            spei_reference: None,
            returns: None,
            payer: None,
            remittance: Remittance::NONE,
        }
    }

    #[test]
    fn a_listener_is_woken_by_its_users_events_only() {
        let listeners = Listeners::default();
        let (mut ana, mut luis) = (listeners.subscribe("ana").unwrap(), listeners.subscribe("luis").unwrap());
        listeners.publish(vec![event("ana", 1), event("eva", 2), event("ana", 3)], Position::default());
        let seen: Vec<_> = ana.try_recv().unwrap().events.iter().map(|event| event.seq).collect();
        assert_eq!(seen, [1, 3]);
        assert_eq!(luis.try_recv().unwrap_err(), TryRecvError::Empty);
    }

    #[test]
    fn others_cannot_crowd_a_listener_out_but_its_own_events_can() {
        let listeners = Listeners::default();
        let mut ana = listeners.subscribe("ana").unwrap();
        let _luis = listeners.subscribe("luis").unwrap();
        for seq in 0..=LAG_MAX as i64 {
            listeners.publish(vec![event("luis", seq)], Position::default());
        }
        assert_eq!(ana.try_recv().unwrap_err(), TryRecvError::Empty);
        for seq in 0..=LAG_MAX as i64 {
            listeners.publish(vec![event("ana", seq)], Position::default());
        }
        assert_eq!(ana.try_recv().unwrap_err(), TryRecvError::Lagged(1));
    }

    #[test]
    fn users_who_left_are_forgotten() {
        let listeners = Listeners::default();
        drop(listeners.subscribe("ana").unwrap());
        let luis = listeners.subscribe("luis").unwrap();
        assert!(!listeners.is_empty());
        assert_eq!(listeners.users().len(), 1);
        drop(luis);
        assert!(listeners.is_empty());
    }
}
