//! One listener: its backlog, then live events.

use std::iter::Peekable;

use tokio::sync::broadcast;

use super::cursor::Cursor;
use super::listeners::Page;
use crate::db::outbox::Event;

/// A user's events: first those since the cursor, then new ones.
pub(crate) struct Listener {
    cursor: Cursor,
    backlog: Peekable<std::vec::IntoIter<Event>>,
    live: broadcast::Receiver<Page>,
}

impl Listener {
    pub(super) fn new(cursor: Cursor, backlog: Vec<Event>, live: broadcast::Receiver<Page>) -> Self {
        Self { cursor, backlog: backlog.into_iter().peekable(), live }
    }

    /// The user's next events, all from one batch, and the cursor after them. `None` if the listener was too slow or
    /// the host is shutting down; the client then reconnects with its last cursor.
    pub(crate) async fn next(&mut self) -> Option<(Vec<Event>, Cursor)> {
        while self.backlog.peek().is_none() {
            let page = self.live.recv().await.ok()?;
            // A page published while the backlog was read may be in both.
            let new: Vec<_> = page.iter().filter(|event| !self.cursor.has_passed(event)).cloned().collect();
            self.backlog = new.into_iter().peekable();
        }
        let mut events = Vec::new();
        while let Some(event) = self.backlog.next_if(|next| events.last().is_none_or(|last| is_same_batch(last, next)))
        {
            events.push(event);
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
