//! `/admin/models/{kind}/rollouts`: canaries whose share of the users grows by itself.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::{App, Settings};
use crate::audit::{self, Event};
use crate::auth::Operator;
use crate::auth::reader::Reader;
use crate::db::components::{self, Component};
use crate::db::deployments::{self, Canary, Deployment};
use crate::db::{comparisons, rollouts};
use crate::domain::approval::Person;
use crate::domain::model::ModelKind;
use crate::domain::rollout::{Bounds, DEFAULT_STEPS, Rollout, RolloutState, STEPS_MAX, WHOLE, check_steps};
use crate::http::admin::action::{Action, Start, Versions, propose};
use crate::http::admin::attestations::require_signatures;
use crate::http::admin::confirmation::{Confirmed, setbacks_of, unconfirmed};
use crate::http::admin::deployment::etag;
use crate::http::admin::if_match::IfMatch;
use crate::http::admin::names::{VERSION_CHARS_MAX, find, name_of, unprocessable};
use crate::http::admin::versions::{VERSION_EXAMPLE, kind_of};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, Unpaged};
use crate::http::ledger::accounts::{ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::models::deploying::built_in::built_in;
use crate::models::deploying::catalog::{self, Plan, REASON_CHARS_MAX};
use crate::models::deploying::rollout::{self, Order, Ordered, Promotion, TwoPeople};
use crate::models::observing::evidence::{Evidence, Judgment};
use crate::models::observing::report::Share;
use crate::schema::{Shape, answer, request};

/// Rollouts listed of a kind, the newest.
const ROLLOUTS_MAX: i64 = 20;

/// Most decisions that a step can wait for, and longest time: what no canary gets within months is a mistake.
const DECISIONS_MAX: u32 = 10_000_000;
const SECONDS_MAX: u32 = 30 * 24 * 3_600;

/// Largest bound of the latency: a hundred times the champion's.
const LATENCY_PERCENT_MAX: u32 = 10_000;

/// One percentage of users.
const STEP: Shape = Shape::Integer { at_least: Some(1), at_most: Some(WHOLE as i64) };

request! {
    /// A canary whose share of the users grows by itself.
    pub(crate) struct RolloutRequest {
        /// Its `model_version`.
        canary: String { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        /// The version again, if it was withdrawn or rolled back: see the deployment's `setbacks`.
        despite_setback: Option<String> { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        /// The running canary, if this ends it.
        ends_canary: Option<String> { chars_max: VERSION_CHARS_MAX, example: "\"risk-1.0.0+5c11e2d0\"" },
        /// Percentage of its decisions that may fail; 1 by default.
        max_failure_percent: Option<u8> { at_least: 1.0, at_most: 100.0, example: "1" },
        /// Percentage of answers in another class than the champion's; 10 by default.
        max_flip_percent: Option<u8> { at_least: 1.0, at_most: 100.0, example: "10" },
        /// The 95th percentile of its times as a percentage of the champion's; 200 by default. Times below a
        /// millisecond always pass.
        max_latency_percent: Option<u32> { at_least: 100.0, at_most: LATENCY_PERCENT_MAX as f64, example: "200" },
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"better recall\"" },
        /// Decisions of the canary that each step takes at least; 500 by default.
        step_decisions: Option<u32> { at_least: 1.0, at_most: DECISIONS_MAX as f64, example: "500" },
        /// Seconds that each step takes at least; 600 by default.
        step_seconds: Option<u32> { at_least: 0.0, at_most: SECONDS_MAX as f64, example: "600" },
        /// Percentages of users, ascending to 100, which makes it the champion; 5, 25 and 100 by default.
        steps: Option<Vec<u8>> { length_max: STEPS_MAX, items: &STEP, example: "[5, 25, 100]" },
    }
}

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
        /// Percentages of users.
        steps: Vec<u8> { example: "[5, 25, 100]" },
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
        max_latency_percent: u32 { example: "200" },
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
        decisions: i64 { example: "512" },
        /// Of its decisions.
        failures: Share,
        /// Answers in another class, of those compared with the champion's.
        flips: Share,
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

/// How this host's promotions wait for a second operator.
pub fn two_people(settings: &Settings) -> Option<TwoPeople> {
    settings.approvals.map(|policy| TwoPeople { lifetime: policy.lifetime, action: promotion })
}

fn promotion(it: &Promotion) -> serde_json::Result<String> {
    let versions = Versions {
        epoch: it.epoch,
        champion: it.champion.clone(),
        canary: None,
        shadows: it.shadows.clone(),
        despite_setback: it.despite_setback.then(|| it.champion.clone()),
        ends_canary: None,
    };
    serde_json::to_string(&Action::Deploy { kind: it.kind.to_string(), versions })
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
        listed.push(shown(&mut db, &it, &registered, app.clock.now()).await?);
    }
    Ok(Json(RolloutsJson { rollouts: listed }))
}

async fn shown(
    db: &mut PgConnection,
    it: &Rollout,
    registered: &[Component],
    now: OffsetDateTime,
) -> Result<RolloutJson, Error> {
    let Bounds { decisions, seconds, max_failure_percent, max_flip_percent, max_latency_percent } = it.bounds;
    let evidence = if it.state.is_open() {
        let seen = Evidence::of(&comparisons::of_epoch(db, it.kind, it.epoch, true).await?, it.canary);
        let waits_for = match seen.judge(&it.bounds, (now - it.step_at).whole_seconds()) {
            Judgment::Ready => None,
            Judgment::Waits(why) | Judgment::Violated(why) => Some(why),
        };
        let (failures, flips) = (Share::of(seen.failed, seen.decisions()), Share::of(seen.flipped, seen.compared));
        Some(EvidenceJson { decisions: seen.decisions(), failures, flips, waits_for })
    } else {
        None
    };
    Ok(RolloutJson {
        rollout_id: it.rollout_id,
        kind: it.kind,
        canary: name_of(it.canary, registered).map(str::to_owned),
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
        max_latency_percent: max_latency_percent.into(),
        reason: it.reason.clone(),
        started_by: it.started_by.name.clone(),
        started_at: it.started_at,
        changed_by: it.changed_by.clone(),
        changed_at: it.changed_at,
        approval: it.approval_id,
        evidence,
    })
}

/// Starts a rollout if the epoch of the deployment still matches `If-Match`. Champion and shadows stay.
pub(crate) async fn start_rollout(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    headers: HeaderMap,
    // Read once it is clear that the operator may change this kind.
    body: Result<AssistBody, Error>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    // Its promotion is proposed in the same name.
    if operator.person.is_machine && kind == ModelKind::Risk && app.settings.approvals.is_some() {
        return Err(Error::NoPerson);
    }
    let if_match = IfMatch::read(&headers)?;
    let AssistBody(mut fields) = body?;
    let asked: RolloutRequest = fields.read();
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let nothing = || built_in(kind).map(|champion| Deployment::nothing(kind, champion));
    let deployed = deployments::deployment_of(&mut db, kind).await?.or_else(nothing).ok_or(Error::NotFound)?;
    if !if_match.matches(&etag(deployed.epoch)) {
        return Err(Error::Stale);
    }
    let default = Bounds::default();
    let start = Start {
        rollout_id: app.clock.new_id(),
        epoch: deployed.epoch,
        canary: asked.canary,
        steps: asked.steps.unwrap_or_else(|| DEFAULT_STEPS.to_vec()),
        step_decisions: asked.step_decisions.unwrap_or(default.decisions),
        step_seconds: asked.step_seconds.unwrap_or(default.seconds),
        max_failure_percent: asked.max_failure_percent.unwrap_or(default.max_failure_percent),
        max_flip_percent: asked.max_flip_percent.unwrap_or(default.max_flip_percent),
        max_latency_percent: asked
            .max_latency_percent
            .map_or(default.max_latency_percent, |percent| u16::try_from(percent).unwrap_or(u16::MAX)),
        despite_setback: asked.despite_setback,
        ends_canary: asked.ends_canary,
    };
    let why = (&*asked.reason, &operator.person, &*operator.person.name);
    start.check(&app, &mut db, kind, why).await?;
    drop(db);
    let most = start.steps.iter().copied().filter(|step| *step < WHOLE).max().unwrap_or_default();
    if catalog::takes_two(kind, most, start.max_flip_percent) {
        let action = Action::StartRollout { kind: kind.to_string(), rollout: start.clone() };
        if let Some(waiting) = propose(&app, &operator.person, &action, &asked.reason).await? {
            return Ok(waiting);
        }
    }
    start.run(&app, kind, why).await
}

impl Start {
    /// The rollout, if it can start: for a reason, proposed by somebody, and in whose name it is stored.
    async fn check(
        &self,
        app: &App,
        db: &mut PgConnection,
        kind: ModelKind,
        (reason, by, people): (&str, &Person, &str),
    ) -> Result<Rollout, Error> {
        check_steps(&self.steps).map_err(|detail| unprocessable("steps", "not-allowed", detail))?;
        let nothing = || built_in(kind).map(|champion| Deployment::nothing(kind, champion));
        let deployed = deployments::deployment_of(&mut *db, kind).await?.or_else(nothing).ok_or(Error::NotFound)?;
        if deployed.epoch != self.epoch {
            return Err(Error::Stale);
        }
        let registered = components::list(&mut *db).await?;
        let canary = find(kind, &registered, "canary", &self.canary)?;
        let now = app.clock.now();
        let rollout = Rollout {
            rollout_id: self.rollout_id,
            kind,
            canary,
            steps: self.steps.clone(),
            bounds: Bounds {
                decisions: self.step_decisions,
                seconds: self.step_seconds,
                max_failure_percent: self.max_failure_percent,
                max_flip_percent: self.max_flip_percent,
                max_latency_percent: self.max_latency_percent,
            },
            despite_setback: self.despite_setback.is_some(),
            detail: reason.to_owned(),
            reason: reason.to_owned(),
            started_at: now,
            state: RolloutState::Running,
            step: 0,
            epoch: self.epoch + 1,
            step_at: now,
            approval_id: None,
            changed_by: people.to_owned(),
            changed_at: now,
            started_by: by.clone(),
        };
        let plan = Plan { canary: Some(Canary::from(&rollout)), ..Plan::from(&deployed) };
        plan.check().map_err(|(field, detail)| unprocessable(own_field(field), "not-allowed", detail))?;
        require_signatures(&mut *db, &app.settings.model_keys, [canary]).await?;
        if is_open(&mut *db, kind).await? {
            return Err(Error::RolloutOpen);
        }
        let despite = self.despite_setback.as_deref();
        let confirmed = Confirmed::find(kind, &registered, self.ends_canary.as_deref(), despite)?;
        let setbacks = setbacks_of(db, kind).await?;
        confirmed.check(&deployed, &plan, &setbacks, &registered)?;
        // Its last step promotes it.
        match setbacks.iter().find(|it| it.version == canary && !confirmed.knows_setback(canary)) {
            Some(setback) => Err(unconfirmed(setback, &registered)),
            None => Ok(rollout),
        }
    }

    /// Repeating it changes nothing.
    pub(super) async fn run(&self, app: &App, kind: ModelKind, why: (&str, &Person, &str)) -> Result<Response, Error> {
        let mut db = app.db.acquire().await?;
        let last = rollouts::of_kind(&mut db, kind, 1).await?.into_iter().next();
        let rollout = match last.filter(|it| it.rollout_id == self.rollout_id) {
            Some(started) => started,
            None => {
                let rollout = self.check(app, &mut db, kind, why).await?;
                if !rollout::start(&mut db, &app.key, &rollout, rollout.started_at).await? {
                    let is_open = is_open(&mut db, kind).await?;
                    return Err(if is_open { Error::RolloutOpen } else { Error::Stale });
                }
                audit::done(Event::RolloutStarted, why.2, &format_args!("{kind} {}", rollout.epoch));
                rollout
            }
        };
        let registered = components::list(&mut db).await?;
        let json = shown(&mut db, &rollout, &registered, app.clock.now()).await?;
        Ok((StatusCode::CREATED, Json(json)).into_response())
    }
}

async fn is_open(db: &mut PgConnection, kind: ModelKind) -> Result<bool, Error> {
    Ok(rollouts::of_kind(db, kind, 1).await?.first().is_some_and(|it| it.state.is_open()))
}

/// The field of a rollout for what is wrong with its first step's deployment.
fn own_field(field: &'static str) -> &'static str {
    match field {
        "canary.max_flip_percent" => "max_flip_percent",
        "canary.percent" => "steps",
        _ => "canary",
    }
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
            shown(&mut db, &it, &registered, now).await.map(Json)
        }
        Ordered::Refused(state) => Err(Error::RolloutState(state)),
        Ordered::Stale => Err(Error::Stale),
        Ordered::NoRollout => Err(Error::NotFound),
    }
}
