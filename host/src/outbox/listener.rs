//! One listener: its backlog, then live events.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;

use super::cursor::Cursor;
use crate::db::outbox::Event;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ListenError {
    /// Also returned when the host is shutting down.
    #[error("there are too many listeners")]
    Overloaded,
    #[error("the user has too many listeners")]
    TooManyOfUser,
    #[error("the cursor is too far back")]
    TooFarBack,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// A user's events: first those since the cursor, then new ones.
pub(crate) struct Listener {
    owner: String,
    cursor: Cursor,
    backlog: Peekable<std::vec::IntoIter<Event>>,
    live: broadcast::Receiver<Arc<[Event]>>,
    _slot: Slot,
}

impl Listener {
    pub(super) fn new(
        cursor: Cursor,
        backlog: Vec<Event>,
        live: broadcast::Receiver<Arc<[Event]>>,
        slot: Slot,
    ) -> Self {
        let owner = slot.owner.clone();
        Self { owner, cursor, backlog: backlog.into_iter().peekable(), live, _slot: slot }
    }

    /// The user's next events, all from one batch, and the cursor after them. `None` if the listener was too slow or
    /// the host is shutting down; the client then reconnects with its last cursor.
    pub(crate) async fn next(&mut self) -> Option<(Vec<Event>, Cursor)> {
        let mut events = Vec::new();
        while let Some(event) = self.backlog.next_if(|next| events.last().is_none_or(|last| is_same_batch(last, next)))
        {
            events.push(event);
        }
        while events.is_empty() {
            let batch = self.live.recv().await.ok()?;
            let is_new = |event: &&Event| event.owner == self.owner && !self.cursor.has_passed(event);
            events.extend(batch.iter().filter(is_new).cloned());
        }
        for event in &events {
            self.cursor.advance_past(event);
        }
        Some((events, self.cursor.clone()))
    }
}

pub(super) fn is_same_batch(one: &Event, other: &Event) -> bool {
    (one.stripe, one.seq) == (other.stripe, other.seq)
}

/// Number of listeners by user.
pub(super) type Slots = Arc<Mutex<BTreeMap<String, usize>>>;

/// Counts as one of its user's listeners until it is dropped.
pub(super) struct Slot {
    owner: String,
    slots: Slots,
}

impl Slot {
    /// An error if there are `max` listeners in total, or `max_each` for this user.
    pub(super) fn take(slots: &Slots, owner: String, max: usize, max_each: usize) -> Result<Self, ListenError> {
        let mut counts = slots.lock().unwrap_or_else(PoisonError::into_inner);
        let total: usize = counts.values().sum();
        let own = counts.get(&owner).copied().unwrap_or(0);
        if own >= max_each {
            return Err(ListenError::TooManyOfUser);
        }
        if total >= max {
            return Err(ListenError::Overloaded);
        }
        counts.insert(owner.clone(), own + 1);
        Ok(Self { owner, slots: Arc::clone(slots) })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = counts.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                counts.remove(&self.owner);
            }
        }
    }
}
