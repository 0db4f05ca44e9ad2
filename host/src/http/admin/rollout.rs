//! `/admin/models/{kind}/rollouts`: canaries whose share of the users grows by itself.

use axum::Json;
use axum::extract::{Path, State};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::Operator;
use crate::auth::reader::Reader;
use crate::db::components::{self, Component, name_of};
use crate::db::{comparisons, rollouts};
use crate::domain::model::ModelKind;
use crate::domain::rollout::{Bounds, OnViolation, Rollout, RolloutState};
use crate::http::admin::versions::{VERSION_EXAMPLE, kind_of};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, Unpaged};
use crate::http::ledger::accounts::{ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::models::deploying::catalog::REASON_CHARS_MAX;
use crate::models::deploying::rollout::{self, Order, Ordered};
use crate::models::observing::evidence::{Evidence, Judgment};
use crate::models::observing::report::Share;
use crate::schema::{answer, request};
use crate::sealing::ChainKey;

/// Rollouts listed of a kind, the newest.
const ROLLOUTS_MAX: i64 = 20;

request! {
    /// Why a rollout is paused, resumed or aborted.
    pub(crate) struct RolloutOrderRequest {
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"a holiday\"" },
    }
}

answer! {
    /// A canary whose share of the users grows by itself.
    pub(crate) struct RolloutJson as "Rollout" {
        rollout_id: Uuid { example: ID_EXAMPLE },
        kind: ModelKind { example: "\"risk\"" },
        canary: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        state: RolloutState { example: "\"running\"" },
        /// Why it is in this state.
        detail: String { example: "\"a holiday\"" },
        /// Percentages of users; with 0 it is compared on all requests and answers nobody.
        steps: Vec<u8> { example: "[0, 5, 25, 100]" },
        /// Index of the present or last step.
        step: usize { example: "0" },
        /// Since when.
        step_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// The deployment that this step made.
        epoch: i64 { example: "3" },
        step_decisions: u32 { example: "500" },
        step_seconds: u32 { example: "600" },
        max_failure_percent: u8 { example: "1" },
        max_flip_percent: u8 { example: "10" },
        /// What a violated bound does.
        on_violation: OnViolation { example: "\"withdraw\"" },
        reason: String { example: "\"better recall\"" },
        started_by: String { example: "\"ops\"" },
        started_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        changed_by: String { example: "\"rollout\"" },
        changed_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// The promotion that waits for a second operator.
        approval: Option<Uuid> { nullable: true, example: ID_EXAMPLE },
        /// What was seen at this step; null if the rollout has ended.
        evidence: Option<EvidenceJson> { nullable: true },
    }
}

answer! {
    /// What all hosts saw of a canary at one step.
    pub(crate) struct EvidenceJson as "RolloutEvidence" {
        /// On the first request of each user, on each host.
        decisions: i64 { example: "512" },
        /// Of its decisions.
        failures: Share,
        /// Answers in another class, of those compared with the champion's.
        flips: Share,
        /// Of these, risks in a lower class, and those that went from high to low.
        lowered: Share,
        high_to_low: Share,
        /// What keeps it from the next step; null if nothing does.
        waits_for: Option<String> { nullable: true, example: "\"312 of 500 decisions\"" },
    }
}

answer! {
    /// A kind's rollouts, newest first.
    pub(crate) struct RolloutsJson as "Rollouts" {
        rollouts: Vec<RolloutJson>,
    }
}

/// A kind's rollouts, newest first.
pub(crate) async fn list_rollouts(
    State(app): State<App>,
    reader: Reader,
    Path(kind): Path<String>,
    _: Unpaged,
) -> Result<Json<RolloutsJson>, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    let mut db = app.db.acquire().await?;
    let registered = components::list(&mut db).await?;
    let mut listed = Vec::new();
    for it in rollouts::of_kind(&mut db, kind, ROLLOUTS_MAX).await? {
        listed.push(to_json(&mut db, &app.key, (&it, &registered), app.clock.now()).await?);
    }
    Ok(Json(RolloutsJson { rollouts: listed }))
}

pub(super) async fn to_json(
    db: &mut PgConnection,
    key: &ChainKey,
    (it, registered): (&Rollout, &[Component]),
    now: OffsetDateTime,
) -> Result<RolloutJson, Error> {
    let Bounds { decisions, seconds, max_failure_percent, max_flip_percent } = it.bounds;
    let evidence = if it.state.is_open() {
        let hosts = comparisons::evidence(db, key, (it.kind, it.epoch, it.canary)).await?;
        let seen = Evidence::of(it.kind, &hosts, it.canary);
        let waits_for = match seen.judge(&it.bounds, (now - it.step_at).whole_seconds()) {
            Judgment::Ready => None,
            Judgment::Waits(why) | Judgment::Violated(why) => Some(why),
        };
        let share = |(count, of)| Share::of(count, of);
        Some(EvidenceJson {
            decisions: seen.decisions(),
            failures: share(seen.failures()),
            flips: share(seen.flips()),
            lowered: share(seen.lowered()),
            high_to_low: share(seen.high_to_low()),
            waits_for,
        })
    } else {
        None
    };
    Ok(RolloutJson {
        rollout_id: it.rollout_id,
        kind: it.kind,
        canary: name_of(it.canary, registered),
        state: it.state,
        detail: it.detail.clone(),
        steps: it.steps.clone(),
        step: it.step,
        step_at: it.step_at,
        epoch: it.epoch,
        step_decisions: decisions,
        step_seconds: seconds,
        max_failure_percent,
        max_flip_percent,
        on_violation: it.on_violation,
        reason: it.reason.clone(),
        started_by: it.started_by.name.clone(),
        started_at: it.started_at,
        changed_by: it.changed_by.clone(),
        changed_at: it.changed_at,
        approval: it.approval_id,
        evidence,
    })
}

pub(crate) async fn pause_rollout(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    body: Result<AssistBody, Error>,
) -> Result<Json<RolloutJson>, Error> {
    give(&app, &operator, &kind, body, (Order::Pause, Event::RolloutPaused)).await
}

pub(crate) async fn resume_rollout(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    body: Result<AssistBody, Error>,
) -> Result<Json<RolloutJson>, Error> {
    give(&app, &operator, &kind, body, (Order::Resume, Event::RolloutResumed)).await
}

/// Ends the rollout: its canary answers nobody any more.
pub(crate) async fn abort_rollout(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    body: Result<AssistBody, Error>,
) -> Result<Json<RolloutJson>, Error> {
    give(&app, &operator, &kind, body, (Order::Abort, Event::RolloutAborted)).await
}

async fn give(
    app: &App,
    operator: &Operator,
    kind: &str,
    body: Result<AssistBody, Error>,
    (order, event): (Order, Event),
) -> Result<Json<RolloutJson>, Error> {
    let kind = kind_of(kind)?;
    operator.may_change(kind)?;
    let AssistBody(mut fields) = body?;
    let RolloutOrderRequest { reason } = fields.read();
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let (now, by) = (app.clock.now(), &*operator.person.name);
    match rollout::order(&mut db, &app.key, kind, (order, &reason, by), now).await? {
        Ordered::Done(it) => {
            audit::done(event, by, &format_args!("{kind} {}", it.epoch));
            let registered = components::list(&mut db).await?;
            to_json(&mut db, &app.key, (&it, &registered), now).await.map(Json)
        }
        Ordered::Refused(state) => Err(Error::RolloutState(state)),
        Ordered::Stale => Err(Error::Stale),
        Ordered::NoRollout => Err(Error::NotFound),
    }
}
