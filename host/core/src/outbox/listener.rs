//! One listener: its backlog, then live events.

use std::iter::Peekable;
use std::sync::Arc;

use tokio::sync::broadcast;

use super::cursor::Cursor;
use super::listeners::Page;
use crate::db::outbox::{Event, Position};

/// A user's events: first those since the cursor, then new ones.
pub struct Listener {
    cursor: Cursor,
    /// What was read at once, and up to where.
    backlog: Peekable<std::vec::IntoIter<Event>>,
    end: Arc<Position>,
    live: broadcast::Receiver<Page>,
}

impl Listener {
    pub(super) fn new(cursor: Cursor, backlog: Vec<Event>, end: Position, live: broadcast::Receiver<Page>) -> Self {
        let mut listener = Self { cursor, backlog: backlog.into_iter().peekable(), end: Arc::new(end), live };
        listener.finish_backlog();
        listener
    }

    /// The user's next events, all from one batch, and the cursor after them. `None` if the listener was too slow or
    /// the host is shutting down; the client then reconnects with its last cursor.
    pub async fn next(&mut self) -> Option<(Vec<Event>, Cursor)> {
        while self.backlog.peek().is_none() {
            let page = self.live.recv().await.ok()?;
            // A page published while the backlog was read may be in both.
            let new: Vec<_> = page.events.iter().filter(|event| !self.cursor.has_passed(event)).cloned().collect();
            (self.backlog, self.end) = (new.into_iter().peekable(), page.end);
        }
        let mut events = Vec::new();
        while let Some(event) = self.backlog.next_if(|next| events.last().is_none_or(|last| is_same_batch(last, next)))
        {
            events.push(event);
        }
        for event in &events {
            self.cursor.advance_past(event);
        }
        self.finish_backlog();
        Some((events, self.cursor.clone()))
    }

    /// The batches after the user's last event are others', so the cursor need not stay before them.
    fn finish_backlog(&mut self) {
        if self.backlog.peek().is_none() {
            self.cursor.0.advance_to(&self.end);
        }
    }
}

pub(super) fn is_same_batch(one: &Event, other: &Event) -> bool {
    (one.stripe, one.seq) == (other.stripe, other.seq)
}
