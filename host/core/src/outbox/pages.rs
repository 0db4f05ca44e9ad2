//! Everybody's events, a page at a time.

use sqlx::PgConnection;

use super::cursor::Cursor;
use super::envelope::{Envelope, Filter, of_record};
use super::feed::{Outbox, REPLY_TIME_MAX};
use super::listeners::ListenError;
use crate::db::outbox::operations;
use crate::db::outbox::{self, Position, recorded};
use crate::db::session::within;

/// Batches, and audit records, in a page: a page of a busy bank has some thousand events and takes a few milliseconds.
const PAGE_LENGTH: i64 = 100;

/// Streams of a host: each reads the database several times a second.
pub const STREAMS_MAX: usize = 16;

/// The events of a batch or an audit record.
#[derive(Debug, Clone)]
pub struct Commit {
    pub(crate) stripe: i16,
    pub(crate) seq: i64,
    pub events: Vec<Envelope>,
}

#[derive(Debug, Clone)]
pub struct Page {
    pub commits: Vec<Commit>,
    /// After all of them.
    pub cursor: Cursor,
    /// Whether there was nothing more.
    pub is_end: bool,
}

impl Outbox {
    /// A cursor to read from: one that is not of another history, without the chains that are closed and were read.
    ///
    /// # Errors
    /// [`ListenError::Expired`], or the database's.
    pub async fn resume(&self, from: &Cursor) -> Result<Cursor, ListenError> {
        let (ends, mut position) = (self.feed_ends().await?, from.0.clone());
        if !ends.follows(&position) {
            return Err(ListenError::Expired);
        }
        position.history = ends.history;
        position.raise_floor(&ends);
        Ok(Cursor(position))
    }

    /// The end of all chains, to read what comes after it.
    ///
    /// # Errors
    /// The database's.
    pub async fn latest(&self) -> Result<Cursor, sqlx::Error> {
        self.feed_ends().await.map(Cursor)
    }

    async fn feed_ends(&self) -> Result<Position, sqlx::Error> {
        let read = async |db: &mut PgConnection| {
            let mut ends = outbox::ends(db).await?;
            ends.next.extend(recorded::ends(db).await?);
            Ok(ends)
        };
        self.confirmed(read).await
    }

    /// The events after a cursor, confirmed by the replicas.
    ///
    /// # Errors
    /// [`ListenError::Expired`] if a loss was accepted meanwhile, or the database's.
    pub async fn page(&self, from: &Cursor, filter: &Filter) -> Result<Page, ListenError> {
        let page = self.confirmed(async |db: &mut PgConnection| read(db, &from.0, PAGE_LENGTH, None).await).await?;
        let (commits, next) = page;
        if from.0.history.is_some() && next.history != from.0.history {
            return Err(ListenError::Expired);
        }
        let is_end = next.batches_since(&from.0) < PAGE_LENGTH;
        let wanted = |commit: Commit| {
            let events: Vec<_> = commit.events.into_iter().filter(|event| filter.has(&event.kind)).collect();
            (!events.is_empty()).then_some(Commit { events, ..commit })
        };
        Ok(Page { commits: commits.into_iter().filter_map(wanted).collect(), cursor: Cursor(next), is_end })
    }

    /// The events of one commit.
    pub(crate) async fn commit(&self, stripe: i16, seq: i64) -> Result<Vec<Envelope>, sqlx::Error> {
        let at = Position { next: [(stripe, seq)].into(), ..Position::default() };
        let (commits, _) = self.confirmed(async |db: &mut PgConnection| read(db, &at, 1, Some(stripe)).await).await?;
        Ok(commits.into_iter().filter(|commit| commit.seq == seq).flat_map(|commit| commit.events).collect())
    }

    async fn confirmed<T>(
        &self,
        read: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let view = self.barrier.begin();
        let read = within(self.db.acquire().await?, REPLY_TIME_MAX, read).await?;
        self.barrier.pass(view).await?;
        Ok(read)
    }
}

async fn read(
    db: &mut PgConnection,
    from: &Position,
    limit: i64,
    only: Option<i16>,
) -> Result<(Vec<Commit>, Position), sqlx::Error> {
    let (batches, mut position) = outbox::read_batches(db, from, limit, only).await?;
    let mut operations = operations::read(db, &batches).await?;
    let records = recorded::read(db, &mut position, limit, only).await?;
    let commits = batches.into_iter().map(|batch| {
        let own = operations.extract_if(.., |it| (it.stripe, it.seq) == (batch.stripe, batch.seq)).map(Envelope::from);
        let events = batch.events.into_iter().map(Envelope::from).chain(own).enumerate();
        let events = events.map(|(place, it)| it.with_id(format!("{}-{}-{place}", batch.stripe, batch.seq)));
        Commit { stripe: batch.stripe, seq: batch.seq, events: events.collect() }
    });
    let mut commits: Vec<_> = commits.collect();
    commits.extend(records.into_iter().map(|record| {
        let (stripe, seq) = (record.stripe, record.seq);
        let event = of_record(record).map(|it| it.with_id(format!("r{}-{seq}", -1 - stripe)));
        Commit { stripe, seq, events: event.into_iter().collect() }
    }));
    Ok((commits, position))
}
