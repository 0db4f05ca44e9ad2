//! `caudal events`: the ledger's events, for programs that resume where they left off.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use crate::cli::database::{Database, Use};
use crate::cli::output::print;
use crate::config::{Common, Events};
use crate::db::outbox::{self, Event, Position};
use crate::outbox::{Cursor, TransferEvent};

/// Batches per read.
const BATCHES_PER_READ: i64 = 500;

/// How often `--follow` polls for new batches.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

const EXPIRED: &str = "the cursor is of another history, because events were lost: read again with --from 0, skip what \
    you processed, and undo what is gone, as OPERATING.md says under \"After a failover that lost batches\"";

/// The events of one batch, and the cursor after them.
#[derive(Serialize)]
struct Line<'a> {
    cursor: String,
    events: Vec<OwnedEvent<'a>>,
}

#[derive(Serialize)]
struct OwnedEvent<'a> {
    owner: &'a str,
    #[serde(flatten)]
    event: TransferEvent,
}

pub(super) async fn run(common: &Common, events: Events) -> Result<ExitCode> {
    let database = Database::open(common, Use::Shared).await?;
    let outcome = tokio::select! {
        outcome = print_events(&database, events) => outcome,
        _ = tokio::signal::ctrl_c() => Ok(()),
    };
    database.close().await?;
    outcome?;
    Ok(ExitCode::SUCCESS)
}

async fn print_events(database: &Database, Events { from, follow }: Events) -> Result<()> {
    let mut cursor = from;
    let ends = outbox::ends(&mut *database.pool.acquire().await?).await.context("cannot read the ledger")?;
    if !ends.follows(&cursor.0) {
        bail!(EXPIRED);
    }
    cursor.0.history = ends.history;
    cursor.0.raise_floor(&ends);
    loop {
        let (events, next) = read(database, &cursor).await.context("cannot read the ledger")?;
        if next.history != ends.history {
            bail!(EXPIRED);
        }
        for batch in events.chunk_by(|one, other| (one.stripe, one.seq) == (other.stripe, other.seq)) {
            batch.iter().for_each(|event| cursor.advance_past(event));
            print(&line(batch, &cursor)?)?;
        }
        let is_end = next == cursor.0;
        // Also skips batches without events.
        cursor = Cursor(next);
        if is_end {
            if !follow {
                return Ok(());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

async fn read(database: &Database, cursor: &Cursor) -> Result<(Vec<Event>, Position), sqlx::Error> {
    let view = database.barrier.begin();
    let read = outbox::read(&mut *database.pool.acquire().await?, &cursor.0, BATCHES_PER_READ).await?;
    database.barrier.pass(view).await?;
    Ok(read)
}

fn line(batch: &[Event], cursor: &Cursor) -> Result<String> {
    let events = batch.iter().map(|event| OwnedEvent { owner: &event.owner, event: event.clone().into() }).collect();
    Ok(serde_json::to_string(&Line { cursor: cursor.to_string(), events })?)
}
