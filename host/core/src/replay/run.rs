//! Reads the decisions of a period and runs them again, a batch at a time and on every processor.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use sqlx::PgPool;
use tokio::task::JoinSet;

use super::components::Components;
use super::what_if::{Candidates, OrderDecisions, WhatIf, decide_again};
use super::{ReplayOutcome, Replayer};
use crate::clock::Clock;
use crate::db::decisions::{self, Period};
use crate::db::outcomes;
use crate::domain::model::ModelKind;
use crate::domain::outcome::counting;
use crate::wasm::Runtime;

/// Orders or decisions in memory at once, for each processor.
const CHUNK: usize = 4_096;

/// Replays the decisions of a kind, `limit` of them at most.
///
/// # Errors
/// When the database fails.
pub async fn replay_period(
    db: &PgPool,
    runtime: Runtime,
    kind: ModelKind,
    (period, limit): (Period, usize),
) -> Result<ReplayOutcome, sqlx::Error> {
    let mut replayer = Replayer::new(db.clone(), runtime);
    let mut connection = db.acquire().await?;
    let mut batches = pin!(decisions::in_period(&mut connection, period));
    let (mut waiting, mut left) = (Vec::new(), limit);
    while let Some(kept) = batches.try_next().await?.filter(|_| left > 0) {
        let before = waiting.len();
        waiting.extend(kept.decisions.into_iter().filter(|it| it.by.kind == kind).take(left));
        left -= waiting.len() - before;
        if waiting.len() >= CHUNK {
            replayer.replay(std::mem::take(&mut waiting)).await?;
        }
    }
    replayer.replay(waiting).await?;
    Ok(replayer.finish())
}

/// What candidates would have decided about the orders, `limit` of them at most.
///
/// # Errors
/// When the database fails.
pub async fn try_period(
    db: &PgPool,
    runtime: Runtime,
    candidates: Candidates,
    (period, limit): (Period, usize),
    clock: &Clock,
) -> Result<WhatIf, sqlx::Error> {
    let mut components = Components::new(db.clone(), runtime);
    let mut connection = db.acquire().await?;
    let mut batches = pin!(decisions::in_period(&mut connection, period));
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut running, mut found, mut waiting) = (JoinSet::new(), WhatIf::default(), Vec::new());
    let (mut deployed, mut left) = (Arc::new(HashMap::new()), limit);
    loop {
        let kept = batches.try_next().await?.filter(|_| left > 0);
        let (is_last, before) = (kept.is_none(), waiting.len());
        waiting.extend(kept.into_iter().flat_map(OrderDecisions::of).take(left));
        left -= waiting.len() - before;
        if waiting.len() >= CHUNK || is_last {
            for by in waiting.iter().filter_map(|order: &OrderDecisions| Some(order.rules.as_ref()?.by)) {
                if candidates.rules.is_none() && !deployed.contains_key(&by.digest) {
                    let component = components.find(by.kind, by.digest).await?;
                    Arc::make_mut(&mut deployed).extend(component.map(|it| (by.digest, it)));
                }
            }
            if running.len() == most {
                running.join_next().await.into_iter().flatten().for_each(|it| found.merge(it));
            }
            let (candidates, deployed, orders) =
                (candidates.clone(), Arc::clone(&deployed), std::mem::take(&mut waiting));
            running.spawn_blocking(move || decide_again(&candidates, &deployed, &orders));
        }
        if is_last {
            break;
        }
    }
    while let Some(one) = running.join_next().await {
        one.into_iter().for_each(|it| found.merge(it));
    }
    let (stated, now) = (outcomes::by_subject(&mut *db.acquire().await?).await?, clock.now());
    for change in found.changes_mut() {
        for statement in change.subjects.iter().filter_map(|subject| counting(stated.get(subject)?, now)) {
            *change.by_outcome.entry(statement.kind.as_str()).or_default() += 1;
        }
    }
    Ok(found.sorted())
}
