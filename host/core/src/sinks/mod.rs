//! Delivers events to the bank's own systems, at least once and in the order of each account.
//!
//! The hosts share the sinks: one claims a sink, reads what follows its cursor, sends it, and stores how far it is. What
//! a sink does not accept is parked with all later events of the same accounts and sent again; other accounts go on.
//! Events have ids, by which a sink recognises those that it gets twice, since a host that dies stores nothing.

mod rounds;
mod sender;

pub use sender::{REPLY_BYTES_MAX, Sender, TIME_MAX, Unusable, check_url, secret_of};

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::clock::Clock;
use crate::db::session::within;
use crate::db::sinks::delivery::{self, Claimed, Outcome};
use crate::domain::sink::Undelivered;
use crate::metrics::Metrics;
use crate::outbox::{Commit, Cursor, Envelope, Filter, ListenError, Outbox};
use crate::sealing::ChainKey;
use crate::workers::Workers;
use rounds::{Blocked, Item};

/// Each reads the outbox, which costs the database a millisecond, several times a second.
pub const SINKS_MAX: i64 = 16;

/// What a sink may leave undelivered before it waits as a whole. One batch more is possible.
pub const UNDELIVERED_MAX: usize = 1_000;

/// Pause of a sink that has everything.
const POLL_EVERY: Duration = Duration::from_millis(250);

/// Pause after an error, and between looks at what is undelivered.
const PAUSE: Duration = Duration::from_secs(2);

/// How long a host that died keeps a sink. It outlasts a batch and a round after it, which take [`TIME_MAX`] each at most.
const CLAIM: Duration = Duration::from_secs(30);

/// A third of the time that it takes to lose it, since a round of deliveries may come between.
const KEEP_EVERY: Duration = Duration::from_secs(10);

/// How long a host keeps a sink before it lets others have it.
const TURN_TIME: Duration = Duration::from_secs(60);

/// Longest wait for a reply from the database.
const REPLY_TIME_MAX: Duration = Duration::from_secs(10);

/// All sinks at once: most of the work is waiting for them.
const WORKERS: Workers = Workers { places: SINKS_MAX as usize, under_way_max: SINKS_MAX as usize };

pub type Senders = Arc<Mutex<BTreeMap<Uuid, Arc<Sender>>>>;

/// Cheap to clone.
#[derive(Clone)]
pub struct Sinks {
    pub db: PgPool,
    pub outbox: Outbox,
    pub key: ChainKey,
    pub clock: Clock,
    pub metrics: Metrics,
    /// Connections, by sink.
    pub senders: Senders,
}

/// A sink that this host delivers to, and when it last made sure that no other does.
struct Turn {
    claimed: Claimed,
    kept: Instant,
}

/// Why a host stops delivering to a sink.
#[derive(Debug, thiserror::Error)]
enum Interrupted {
    /// Another host has the sink, or an operator changed it.
    #[error("the claim is over")]
    ClaimLost,
    #[error("the sink cannot be used")]
    Unusable(#[from] Unusable),
    #[error("the events cannot be read")]
    Unreadable(#[from] ListenError),
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
}

impl Sinks {
    /// Runs until it is aborted, which is safe at any time.
    pub async fn run(self) {
        let deliver = async {
            loop {
                let work = |claimed| self.clone().work(claimed);
                if let Err(error) = WORKERS.work_off(|limit| self.claim(limit), work).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot look for events to deliver");
                    sleep(PAUSE).await;
                }
                sleep(POLL_EVERY).await;
            }
        };
        tokio::join!(deliver, self.watch());
    }

    async fn watch(&self) {
        loop {
            let watch = async { within(self.db.acquire().await?, REPLY_TIME_MAX, delivery::watch).await };
            match watch.await {
                Ok((active, oldest)) => {
                    self.metrics.oldest_undelivered.set(oldest.map_or(0, |at| at.unix_timestamp()));
                    self.senders.lock().unwrap_or_else(PoisonError::into_inner).retain(|id, _| active.contains(id));
                }
                Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "cannot look at the sinks"),
            }
            sleep(PAUSE).await;
        }
    }

    async fn claim(&self, limit: i64) -> Result<Vec<Claimed>, sqlx::Error> {
        let claim = async |db: &mut PgConnection| delivery::claim(db, &self.key, CLAIM, limit).await;
        within(self.db.acquire().await?, REPLY_TIME_MAX, claim).await
    }

    /// Delivers for a while, then leaves the sink to any host.
    async fn work(self, claimed: Claimed) {
        let sink = claimed.sink.id;
        let mut turn = Turn { claimed, kept: Instant::now() };
        let end = Instant::now() + TURN_TIME;
        let due_in = loop {
            match self.deliver(&mut turn).await {
                Ok(_) if Instant::now() > end => break Duration::ZERO,
                Ok(true) => {}
                Ok(false) => sleep(POLL_EVERY).await,
                Err(Interrupted::ClaimLost) => return,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, %sink, "cannot deliver events");
                    break PAUSE;
                }
            }
        };
        if let Err(error) = self.save(&mut turn, &Outcome::default(), due_in).await {
            tracing::warn!(error = &error as &dyn std::error::Error, %sink, "cannot leave a sink to other hosts");
        }
    }

    /// One page. Whether there is more to do at once.
    async fn deliver(&self, turn: &mut Turn) -> Result<bool, Interrupted> {
        let claimed = &turn.claimed;
        let sender = self.sender(claimed).await?;
        let read = async |db: &mut PgConnection| delivery::undelivered(db, claimed).await;
        let undelivered = within(self.db.acquire().await?, REPLY_TIME_MAX, read).await?;
        let undelivered = undelivered.ok_or(Interrupted::ClaimLost)?;
        let room = UNDELIVERED_MAX.saturating_sub(undelivered.len());
        let mut items: Vec<_> = undelivered.into_iter().map(Item::again).collect();
        let (mut cursor, mut is_end) = (None, true);
        if room > 0 {
            // A forged cursor in the table can only make the sink miss or repeat events.
            let from = claimed.sink.cursor.parse::<Cursor>().unwrap_or_default();
            let page = self.outbox.page(&from, &Filter::stored(claimed.sink.types.clone())).await?;
            is_end = page.is_end;
            let (fitting, next) = fitting(page.commits, from, page.cursor, room);
            items.extend(fitting);
            cursor = Some(next.to_string()).filter(|next| *next != claimed.sink.cursor);
        }
        let outcome = Outcome { cursor, ..self.send(turn, &sender, items).await? };
        if outcome != Outcome::default() || turn.kept.elapsed() > KEEP_EVERY {
            self.save(turn, &outcome, CLAIM).await?;
        }
        Ok(!is_end)
    }

    /// Sends events in batches, and those of a batch that the sink refused one by one.
    async fn send(&self, turn: &mut Turn, sender: &Sender, items: Vec<Item>) -> Result<Outcome, Interrupted> {
        let (mut outcome, mut blocked) = (Outcome::default(), Blocked::default());
        let (again, mut new): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.event.is_none());
        self.send_in_rounds(turn, sender, again, (&mut blocked, &mut outcome)).await?;
        while !new.is_empty() {
            let batch = blocked.next_batch(&mut new, &mut outcome.parked);
            let events: Vec<_> = batch.iter().filter_map(|item| item.event.as_ref()).collect();
            if turn.kept.elapsed() > KEEP_EVERY {
                self.save(turn, &Outcome::default(), CLAIM).await?;
            }
            let is_sent = events.len() > 1 && sender.takes_batches() && self.send_some(&events, sender).await.is_ok();
            if !is_sent {
                self.send_in_rounds(turn, sender, batch, (&mut blocked, &mut outcome)).await?;
            }
        }
        Ok(outcome)
    }

    /// Sends events singly, several at a time, and keeps the claim meanwhile.
    async fn send_in_rounds(
        &self,
        turn: &mut Turn,
        sender: &Sender,
        mut items: Vec<Item>,
        (blocked, outcome): (&mut Blocked, &mut Outcome),
    ) -> Result<(), Interrupted> {
        loop {
            let (round, rest) = blocked.next_round(items, &mut outcome.parked);
            items = rest;
            if round.is_empty() {
                return Ok(());
            }
            if turn.kept.elapsed() > KEEP_EVERY {
                self.save(turn, &Outcome::default(), CLAIM).await?;
            }
            let sent = round.into_iter().map(async |item: Item| {
                let sent = self.send_one(&item, sender).await;
                (item, sent)
            });
            for (item, sent) in futures_util::future::join_all(sent).await {
                match sent? {
                    Ok(()) => outcome.delivered.extend(item.event.is_none().then_some(item.row.number)),
                    Err(error) => {
                        blocked.by(&item.row);
                        if item.event.is_none() {
                            outcome.failed.push((item.row.number, error));
                        } else {
                            outcome.parked.push(Undelivered { attempts: 1, last_error: Some(error), ..item.row });
                        }
                    }
                }
            }
        }
    }

    /// The inner error is the sink's.
    async fn send_one(&self, item: &Item, sender: &Sender) -> Result<Result<(), String>, sqlx::Error> {
        let row = &item.row;
        let again: Option<Envelope>;
        let event = match &item.event {
            Some(event) => Some(event),
            None => {
                let events = self.outbox.commit(row.stripe, row.seq).await?;
                again = events.into_iter().find(|event| event.id == row.id);
                again.as_ref()
            }
        };
        // What an accepted loss took is not sent any more.
        let Some(event) = event else { return Ok(Ok(())) };
        Ok(self.send_some(&[event], sender).await)
    }

    async fn send_some(&self, events: &[&Envelope], sender: &Sender) -> Result<(), String> {
        let sent = sender.send(events, self.clock.now()).await;
        let result = if sent.is_ok() { "delivered" } else { "refused" };
        self.metrics.deliveries.of([sender.kind(), result]).inc_by(events.len() as u64);
        sent
    }

    async fn save(&self, turn: &mut Turn, outcome: &Outcome, due_in: Duration) -> Result<(), Interrupted> {
        let (claimed, begun) = (&mut turn.claimed, Instant::now());
        let save = async |db: &mut PgConnection| delivery::save(db, claimed, outcome, due_in).await;
        let saved = within(self.db.acquire().await?, REPLY_TIME_MAX, save).await?;
        claimed.until = saved.ok_or(Interrupted::ClaimLost)?;
        if let Some(cursor) = &outcome.cursor {
            claimed.sink.cursor.clone_from(cursor);
        }
        turn.kept = begun;
        Ok(())
    }

    async fn sender(&self, claimed: &Claimed) -> Result<Arc<Sender>, Unusable> {
        let id = claimed.sink.id;
        let known = self.senders.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        if let Some(sender) = known {
            return Ok(sender);
        }
        let sender = Arc::new(Sender::open(&claimed.sink, &self.key).await?);
        self.senders.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&sender));
        Ok(sender)
    }
}

/// As many whole commits as there is room for, one at least, and the cursor after them.
fn fitting(commits: Vec<Commit>, from: Cursor, end: Cursor, room: usize) -> (Vec<Item>, Cursor) {
    let (mut items, mut cursor) = (Vec::new(), from);
    for commit in commits {
        if !items.is_empty() && items.len() + commit.events.len() > room {
            cursor.0.history = end.0.history;
            return (items, cursor);
        }
        let at = (commit.stripe, commit.seq);
        cursor.0.next.insert(at.0, at.1 + 1);
        items.extend(commit.events.into_iter().map(|event| Item::new(event, at)));
    }
    (items, end)
}
