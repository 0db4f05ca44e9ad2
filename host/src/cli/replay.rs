//! `caudal replay`: decisions of a file, or those that were kept, run again on the very components that made
//! them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::cli::database::{Database, Use};
use crate::cli::models::kind_of;
use crate::cli::print;
use crate::clock::Clock;
use crate::config::{Common, Replay};
use crate::db::decisions;
use crate::http::admin::replay::{Findings, Recorded, Replayer};
use crate::models::deploying::swap::register_built_in;
use crate::wasm::Runtime;

/// Decisions that are read before they are run.
const TOGETHER: usize = 1_000;

/// Differences that are told one by one.
const TOLD_MAX: usize = 20;

pub(super) async fn run(common: &Common, replay: &Replay) -> Result<ExitCode> {
    let database = Database::open(common, Use::Shared).await?;
    let findings = run_on(&database, replay).await;
    database.close().await?;
    let Findings { replayed, equal, different } = findings?;
    if replayed == 0 {
        match &replay.file {
            Some(file) => bail!("{} contains no decisions", file.display()),
            None => bail!(
                "no {} decision was logged in the last {}: hosts log them with --decision-log",
                replay.kind,
                humantime::format_duration(replay.since)
            ),
        }
    }
    for finding in different.iter().take(TOLD_MAX) {
        let name = finding.id.clone().unwrap_or_else(|| format!("decision {}", finding.index + 1));
        print(&format!("{name}: {}", finding.differences.join("; ")))?;
    }
    if different.len() > TOLD_MAX {
        print(&format!("and {} more", different.len() - TOLD_MAX))?;
    }
    print(&format!("{replayed} decisions run again: {equal} equal bit for bit, {} not", different.len()))?;
    Ok(if different.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run_on(database: &Database, replay: &Replay) -> Result<Findings> {
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let now = Clock::system().now();
    // What this program was built with may have decided before anything was registered.
    register_built_in(&mut db, &runtime, now).await.context("cannot register what is built in")?;
    let mut replayer = Replayer::new(database.pool.clone(), runtime);
    let Some(file) = &replay.file else {
        let kind = kind_of(&replay.kind)?;
        let kept = decisions::latest(&mut db, kind, now - replay.since, i64::from(replay.limit)).await;
        let kept = kept.context("cannot read what was kept")?;
        let recorded: serde_json::Result<Vec<_>> = kept.iter().map(Recorded::kept).collect();
        replayer.run(recorded.context("what was kept does not read")?).await.context("cannot read the registry")?;
        return Ok(replayer.findings);
    };
    drop(db);
    let input: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(file).with_context(|| format!("cannot read {}", file.display()))?)
    };
    let mut waiting = Vec::with_capacity(TOGETHER);
    for (at, line) in BufReader::new(input).lines().enumerate() {
        let line = line.context("cannot read the decisions")?;
        if line.trim().is_empty() {
            continue;
        }
        let recorded: Recorded =
            serde_json::from_str(&line).with_context(|| format!("line {} is no decision", at + 1))?;
        waiting.push(recorded);
        if waiting.len() == TOGETHER {
            replayer.run(std::mem::take(&mut waiting)).await.context("cannot read the registry")?;
        }
    }
    replayer.run(waiting).await.context("cannot read the registry")?;
    Ok(replayer.findings)
}
