//! `caudal events`: what happened to transfers, for programs that read on where they stopped.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::cli::database::{Database, Use};
use crate::cli::print;
use crate::config::{Common, Events};
use crate::db::outbox::{self, Event};
use crate::http::ledger::events::EventJson;
use crate::outbox::Cursor;

/// Batches that are read at a time.
const BATCHES_TOGETHER: i64 = 500;

/// Pause between two looks for new batches.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// One line: the events of a batch, and the cursor to go on with after them.
#[derive(Serialize)]
struct Line<'a> {
    cursor: String,
    events: Vec<Owned<'a>>,
}

#[derive(Serialize)]
struct Owned<'a> {
    owner: &'a str,
    #[serde(flatten)]
    event: EventJson,
}

pub(super) async fn run(common: &Common, events: Events) -> Result<ExitCode> {
    let database = Database::open(common, Use::Shared).await?;
    let told = tokio::select! {
        told = tell(&database, events) => told,
        _ = tokio::signal::ctrl_c() => Ok(()),
    };
    database.close().await?;
    told?;
    Ok(ExitCode::SUCCESS)
}

async fn tell(database: &Database, Events { from, follow }: Events) -> Result<()> {
    let mut cursor = from;
    loop {
        let mut db = database.pool.acquire().await.context("cannot read the ledger")?;
        let read = outbox::read(&mut db, &cursor.0, BATCHES_TOGETHER).await;
        drop(db);
        let (events, next) = read.context("cannot read the ledger")?;
        for batch in events.chunk_by(|one, other| (one.stripe, one.seq) == (other.stripe, other.seq)) {
            batch.iter().for_each(|event| cursor.pass(event));
            print(&line(batch, &cursor)?)?;
        }
        let is_end = next == cursor.0;
        // Batches without events are passed too.
        cursor = Cursor(next);
        if is_end {
            if !follow {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

fn line(batch: &[Event], cursor: &Cursor) -> Result<String> {
    let events = batch.iter().map(|event| Owned { owner: &event.owner, event: event.clone().into() }).collect();
    Ok(serde_json::to_string(&Line { cursor: cursor.to_string(), events })?)
}
