//! `caudal replay` and `caudal whatif`: run kept decisions again, on the versions that made them or on others.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::cli::candidate::bytes_of;
use crate::cli::database::{Database, Use};
use crate::cli::ledger;
use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Common, Replay, WhatIf};
use crate::db::decisions::Period;
use crate::domain::model::ModelKind;
use crate::models::LoadedComponent;
use crate::models::deploying::built_in::register_built_in;
use crate::replay::run::{replay_period, try_period};
use crate::replay::what_if::{Candidates, Change, Compared};
use crate::replay::{ReplayOutcome, what_if};
use crate::sealing::ChainKey;
use crate::wasm::Runtime;

/// Most mismatches to list.
const SHOWN_MAX: usize = 20;

/// Exit code if decisions would differ.
const EXIT_DIFFERENT: u8 = 3;

pub(super) async fn run(common: &Common, replay: &Replay) -> Result<ExitCode> {
    let (database, key) = ledger::open(common, Use::Shared).await?;
    let outcome = async {
        let runtime = prepare(&database, &key).await?;
        let period = last(&Clock::system(), replay.since);
        replay_period(&database.pool, runtime, replay.kind, (period, usize::MAX))
            .await
            .context("cannot read the decisions")
    };
    let outcome = outcome.await;
    database.close().await?;
    let ReplayOutcome { replayed, equal, different } = outcome?;
    if replayed == 0 {
        let hint = if replay.kind == ModelKind::Risk {
            ": orders are scored where `caudal policy` has risk-enforcement `shadow` or `enforce`"
        } else {
            ""
        };
        bail!("no {} decision was kept within --since {}{hint}", replay.kind, humantime::format_duration(replay.since));
    }
    for mismatch in different.iter().take(SHOWN_MAX) {
        print(&format!("{}: {}", mismatch.id, mismatch.differences.join("; ")))?;
    }
    if different.len() > SHOWN_MAX {
        print(&format!("and {} more", different.len() - SHOWN_MAX))?;
    }
    print(&format!("decisions replayed: {replayed}; identical bit for bit: {equal}; different: {}", different.len()))?;
    Ok(if different.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn last(clock: &Clock, since: std::time::Duration) -> Period {
    let since = time::Duration::try_from(since).unwrap_or(time::Duration::MAX);
    Period::since(clock.now().saturating_sub(since))
}

/// What runs components. A host without deployments decides with built-in components that may not be registered yet.
async fn prepare(database: &Database, key: &ChainKey) -> Result<Runtime> {
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let registered = register_built_in(&mut db, key, &runtime, Clock::system().now()).await;
    registered.context("cannot register the built-in components")?;
    Ok(runtime)
}

pub(super) async fn what_if(common: &Common, asked: &WhatIf) -> Result<ExitCode> {
    let (database, key) = ledger::open(common, Use::Shared).await?;
    let found = async {
        let runtime = prepare(&database, &key).await?;
        let candidates = Candidates {
            risk: candidate(&database, &runtime, ModelKind::Risk, asked.risk.as_deref()).await?,
            rules: candidate(&database, &runtime, ModelKind::TransferRules, asked.rules.as_deref()).await?,
        };
        let clock = Clock::system();
        let period = last(&clock, asked.since);
        try_period(&database.pool, runtime, candidates, (period, usize::MAX), &clock)
            .await
            .context("cannot read the decisions")
    };
    let found = found.await;
    database.close().await?;
    let found = found?;
    if asked.json {
        print(&serde_json::to_string_pretty(&found)?)?;
    } else {
        show(&found)?;
    }
    let is_same = found.risk.different + found.rules.different == 0;
    Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::from(EXIT_DIFFERENT) })
}

async fn candidate(
    database: &Database,
    runtime: &Runtime,
    kind: ModelKind,
    name: Option<&str>,
) -> Result<Option<LoadedComponent>> {
    let Some(name) = name else { return Ok(None) };
    let bytes = bytes_of(&mut *database.pool.acquire().await.context("cannot reach the database")?, name).await?;
    let loaded = LoadedComponent::load(runtime, kind, &bytes);
    Ok(Some(loaded.with_context(|| format!("{name} does not load as {kind}"))?))
}

fn show(found: &what_if::WhatIf) -> Result<()> {
    print(&format!("orders: {}", found.orders))?;
    for (kind, Compared { decisions, different, failed, changes }) in
        [(ModelKind::Risk, &found.risk), (ModelKind::TransferRules, &found.rules)]
    {
        if *decisions == 0 {
            continue;
        }
        print(&format!("{kind}: {decisions} decided again, {different} differently, {failed} without an answer"))?;
        for change in changes {
            show_change(change)?;
        }
    }
    Ok(())
}

fn show_change(change: &Change) -> Result<()> {
    let amount = crate::domain::money::Money::from_minor(change.amount);
    print(&format!("  {} instead of {}: {} orders, {amount} MXN", change.is, change.was, change.count))?;
    let counts = |counts: &mut dyn Iterator<Item = (&str, &u64)>| {
        counts.map(|(name, count)| format!("{name}: {count}")).collect::<Vec<_>>().join("; ")
    };
    print(&format!("    by amount: {}", counts(&mut change.by_amount.iter().map(|(name, count)| (*name, count)))))?;
    print(&format!("    by payee: {}", counts(&mut change.by_payee.iter().map(|(name, count)| (*name, count)))))?;
    if !change.by_outcome.is_empty() {
        let outcomes = &mut change.by_outcome.iter().map(|(name, count)| (*name, count));
        print(&format!("    what became of them: {}", counts(outcomes)))?;
    }
    let examples: Vec<_> = change.examples.iter().map(ToString::to_string).collect();
    print(&format!("    for example {}", examples.join(", ")))
}
