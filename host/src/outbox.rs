//! What happened to transfers, for consumers that read on where they stopped.
//!
//! There is no second record of events: the ledger's batches are the outbox, numbered without a gap in each chain.
//! A [`Cursor`] names a place in every chain at once; whoever keeps the last one misses nothing and sees nothing
//! twice, also across restarts of any host. [`Outbox`] follows the batches of all hosts and hands each user's events to
//! whoever listens.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Peekable;
use std::str::FromStr;
use std::sync::{Arc, Mutex as Guarded, PoisonError};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::{Mutex, broadcast};

use crate::db::outbox::{self, Event, Places};
use crate::db::session::within;

/// Longest cursor, in characters: some hundred chains.
pub const CURSOR_CHARS_MAX: usize = 4096;

/// Listeners of one host, which has 400 connections, and of one user: a phone, a page and some tabs.
pub const LISTENERS_MAX: usize = 100;
/// Of one user.
pub const LISTENERS_EACH_MAX: usize = 5;

/// Events that a listener may catch up on; who missed more does better to read the lists.
pub const BACKLOG_MAX: i64 = 10_000;

/// Events that may wait for a slow listener before it is dropped, and comes back with its cursor.
const LAG_MAX: usize = 4_096;

/// Pause between two looks for new batches, and how many are read at a time.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const BATCHES_TOGETHER: i64 = 500;

/// Longest wait for the database's reply.
const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// A place in every chain: `0.15-1.7` is after batch 14 of the chain with stripe 0 and batch 6 of the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor(pub Places);

impl Cursor {
    /// Goes on to the place after an event's batch.
    pub fn pass(&mut self, event: &Event) {
        let next = self.0.entry(event.stripe).or_insert(0);
        *next = (*next).max(event.seq + 1);
    }

    fn has_passed(&self, event: &Event) -> bool {
        self.0.get(&event.stripe).is_some_and(|next| event.seq < *next)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (stripe, next)) in self.0.iter().enumerate() {
            write!(f, "{}{stripe}.{next}", if at == 0 { "" } else { "-" })?;
        }
        Ok(())
    }
}

/// A text that no cursor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor that this service gave")]
pub struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    /// The empty text is the beginning.
    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let mut places = Places::new();
        if text.len() > CURSOR_CHARS_MAX {
            return Err(NoCursor);
        }
        for part in text.split('-').filter(|_| !text.is_empty()) {
            let (stripe, next) = part.split_once('.').ok_or(NoCursor)?;
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let place = digits(stripe).then(|| stripe.parse().ok()).flatten();
            let next = digits(next).then(|| next.parse().ok()).flatten().filter(|next: &i64| *next < i64::MAX);
            let (place, next) = place.zip(next).ok_or(NoCursor)?;
            if places.insert(place, next).is_some() {
                return Err(NoCursor);
            }
        }
        Ok(Self(places))
    }
}

/// Why nobody can listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Too many do, or the host goes down.
    #[error("too many listen")]
    Overloaded,
    /// More happened since the cursor than can be caught up on.
    #[error("the cursor is too far back")]
    TooFarBack,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Follows the ledger for all listeners of this host; cheap to clone.
#[derive(Clone)]
pub struct Outbox {
    db: PgPool,
    tail: Arc<Mutex<Option<Tail>>>,
    listeners: Arc<Guarded<BTreeMap<String, usize>>>,
}

struct Tail {
    /// How far it was read and handed out; none while nobody listens.
    places: Option<Places>,
    /// Batch by batch.
    events: broadcast::Sender<Arc<[Event]>>,
}

/// One user's events: first those since the cursor, then those to come.
pub struct Listener {
    owner: String,
    cursor: Cursor,
    backlog: Peekable<std::vec::IntoIter<Event>>,
    live: broadcast::Receiver<Arc<[Event]>>,
    _place: Place,
}

impl Outbox {
    /// An outbox that nobody listens to yet.
    pub fn new(db: PgPool) -> Self {
        let (events, _) = broadcast::channel(LAG_MAX);
        let tail = Arc::new(Mutex::new(Some(Tail { places: None, events })));
        Self { db, tail, listeners: Arc::default() }
    }

    /// Hands out what happens, for as long as somebody listens; it may be aborted at any moment.
    pub async fn run(self) {
        let mut every = tokio::time::interval(LOOK_EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            if let Err(error) = self.look().await {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot read what happened");
            }
        }
    }

    async fn look(&self) -> Result<(), sqlx::Error> {
        let mut tail = self.tail.lock().await;
        let Some(tail) = tail.as_mut() else { return Ok(()) };
        if tail.events.receiver_count() == 0 {
            tail.places = None;
        }
        while let Some(places) = &tail.places {
            let read = async |db: &mut sqlx::PgConnection| outbox::read(db, places, BATCHES_TOGETHER).await;
            let (events, next) = within(self.db.acquire().await?, REPLY_TIME_MAX, read).await?;
            let is_end = next == *places;
            for batch in events.chunk_by(is_same_batch) {
                // Nobody may listen any more.
                let _ = tail.events.send(batch.into());
            }
            tail.places = Some(next);
            if is_end {
                break;
            }
        }
        Ok(())
    }

    /// Listens to a user's events from the cursor on, or from now on.
    ///
    /// # Errors
    /// See [`ListenError`].
    pub async fn listen(&self, owner: String, from: Option<Cursor>) -> Result<Listener, ListenError> {
        let place = self.take_place(&owner)?;
        let mut tail = self.tail.lock().await;
        let tail = tail.as_mut().ok_or(ListenError::Overloaded)?;
        let mut db = self.db.acquire().await?;
        // From here on nothing is handed out until this listener has its place.
        let now = match tail.places.clone() {
            Some(places) => places,
            None => outbox::ends(&mut db).await?,
        };
        let cursor = from.unwrap_or_else(|| Cursor(now.clone()));
        let backlog = outbox::read_of(&mut db, &owner, &cursor.0, &now, BACKLOG_MAX + 1).await?;
        if backlog.len() as i64 > BACKLOG_MAX {
            return Err(ListenError::TooFarBack);
        }
        tail.places = Some(now);
        Ok(Listener {
            owner,
            cursor,
            backlog: backlog.into_iter().peekable(),
            live: tail.events.subscribe(),
            _place: place,
        })
    }

    /// Ends all listeners; nobody can listen after that.
    pub async fn close(&self) {
        self.tail.lock().await.take();
    }

    fn take_place(&self, owner: &str) -> Result<Place, ListenError> {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = listeners.values().sum();
        let own = listeners.get(owner).copied().unwrap_or(0);
        if all >= LISTENERS_MAX || own >= LISTENERS_EACH_MAX {
            return Err(ListenError::Overloaded);
        }
        listeners.insert(owner.to_owned(), own + 1);
        Ok(Place { owner: owner.to_owned(), listeners: Arc::clone(&self.listeners) })
    }
}

/// A listener's place among those of its user, given back in the end.
struct Place {
    owner: String,
    listeners: Arc<Guarded<BTreeMap<String, usize>>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = listeners.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                listeners.remove(&self.owner);
            }
        }
    }
}

impl Listener {
    /// The user's next events, which one batch wrote, and the cursor after them. None when the listener was too
    /// slow or the host goes down: then it listens anew from its last cursor.
    pub async fn next(&mut self) -> Option<(Vec<Event>, Cursor)> {
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
            self.cursor.pass(event);
        }
        Some((events, self.cursor.clone()))
    }
}

fn is_same_batch(one: &Event, other: &Event) -> bool {
    (one.stripe, one.seq) == (other.stripe, other.seq)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_survive_the_way_there_and_back() {
        for text in ["", "0.0", "0.15-1.7", "3.9223372036854775806"] {
            assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
        }
        for text in
            ["-", "0", "0.", ".1", "0.1-", "0.1-0.2", "a.1", "+1.2", "1.-2", "1.9223372036854775807", "99999.1", " 0.1"]
        {
            assert_eq!(text.parse::<Cursor>(), Err(NoCursor), "{text}");
        }
        assert_eq!("1".repeat(CURSOR_CHARS_MAX + 1).parse::<Cursor>(), Err(NoCursor));
    }
}
