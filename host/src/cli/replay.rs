//! `caudal replay`: replays the decisions of a file, or of the decision log.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::cli::database::{Database, Use};
use crate::cli::ledger;
use crate::cli::models::registry::kind_of;
use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Common, Replay};
use crate::db::decisions;
use crate::models::deploying::built_in::register_built_in;
use crate::replay::{Recording, ReplayOutcome, Replayer};
use crate::sealing::ChainKey;
use crate::wasm::Runtime;

/// Decisions to replay at a time.
const BATCH: usize = 1_000;

/// Most mismatches to list.
const SHOWN_MAX: usize = 20;

pub(super) async fn run(common: &Common, replay: &Replay) -> Result<ExitCode> {
    let (database, key) = ledger::open(common, Use::Shared).await?;
    let outcome = run_on(&database, &key, replay).await;
    database.close().await?;
    let ReplayOutcome { replayed, equal, different } = outcome?;
    if replayed == 0 {
        match &replay.file {
            Some(file) => bail!("{} contains no decisions", file.display()),
            None => bail!(
                "no {} decision was logged within --since {}: hosts log them with --decision-log",
                replay.kind,
                humantime::format_duration(replay.since)
            ),
        }
    }
    for mismatch in different.iter().take(SHOWN_MAX) {
        let name = mismatch.id.clone().unwrap_or_else(|| format!("decision {}", mismatch.index + 1));
        print(&format!("{name}: {}", mismatch.differences.join("; ")))?;
    }
    if different.len() > SHOWN_MAX {
        print(&format!("and {} more", different.len() - SHOWN_MAX))?;
    }
    print(&format!("decisions replayed: {replayed}; identical bit for bit: {equal}; different: {}", different.len()))?;
    Ok(if different.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run_on(database: &Database, key: &ChainKey, replay: &Replay) -> Result<ReplayOutcome> {
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let now = Clock::system().now();
    // A host without deployments decides with built-in components that may not be registered yet.
    register_built_in(&mut db, key, &runtime, now).await.context("cannot register the built-in components")?;
    let mut replayer = Replayer::new(database.pool.clone(), runtime);
    let Some(file) = &replay.file else {
        let kind = kind_of(&replay.kind)?;
        let logged = decisions::latest(&mut db, kind, now - replay.since, i64::from(replay.limit)).await;
        let logged = logged.context("cannot read the decision log")?;
        let recordings: serde_json::Result<Vec<_>> = logged.iter().map(Recording::try_from).collect();
        replayer
            .replay(recordings.context("a logged decision cannot be read")?)
            .await
            .context("cannot read the registry")?;
        return Ok(replayer.finish());
    };
    drop(db);
    let input: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(file).with_context(|| format!("cannot read {}", file.display()))?)
    };
    let mut waiting = Vec::with_capacity(BATCH);
    for (at, line) in BufReader::new(input).lines().enumerate() {
        let line = line.context("cannot read the decisions")?;
        if line.trim().is_empty() {
            continue;
        }
        let recording: Recording =
            serde_json::from_str(&line).with_context(|| format!("line {} is not a decision", at + 1))?;
        waiting.push(recording);
        if waiting.len() == BATCH {
            replayer.replay(std::mem::take(&mut waiting)).await.context("cannot read the registry")?;
        }
    }
    replayer.replay(waiting).await.context("cannot read the registry")?;
    Ok(replayer.finish())
}
