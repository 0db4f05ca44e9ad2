//! Starts a rollout, for which one operator or two are asked.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use sqlx::PgConnection;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::Operator;
use crate::db::approvals::{Action, Start};
use crate::db::{components, rollouts};
use crate::domain::approval::Person;
use crate::domain::model::{Digest, ModelKind, PolicyClass};
use crate::domain::rollout::{
    Bounds, DEFAULT_STEPS, OnViolation, Rollout, RolloutState, STEPS_MAX, WHOLE, check_steps,
};
use crate::gate::report::Report;
use crate::http::admin::action::propose;
use crate::http::admin::confirmation;
use crate::http::admin::deployment::{SHA256_BYTES, check_fork_report, etag};
use crate::http::admin::if_match::IfMatch;
use crate::http::admin::names::{VERSION_CHARS_MAX, check_release, find, unprocessable};
use crate::http::admin::rollout::to_json;
use crate::http::admin::signatures::require_signatures;
use crate::http::admin::versions::{VERSION_EXAMPLE, kind_of};
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::models::deploying::catalog::{self, Catalog, REASON_CHARS_MAX};
use crate::models::deploying::rollout;
use crate::schema::{Shape, request};

/// Most decisions that a step can wait for, and longest time: what no canary gets within months is a mistake.
const DECISIONS_MAX: u32 = 10_000_000;
const SECONDS_MAX: u32 = 30 * 24 * 3_600;

/// What a call of the canary may cost, in instructions, as a percentage of what it costs the champion: ten times, by which
/// requests take microseconds longer.
const FUEL_PERCENT: u32 = 1_000;

/// Largest such bound: more than any model costs within its deadline.
const FUEL_PERCENT_MAX: u32 = 100_000_000;

/// One percentage of users.
const STEP: Shape = Shape::Integer { at_least: Some(0), at_most: Some(WHOLE as i64) };

request! {
    /// A canary whose share of the users grows by itself.
    pub(crate) struct RolloutRequest {
        /// Its `model_version`.
        canary: String { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        /// The version again, if it was withdrawn or rolled back: see the deployment's `setbacks`.
        despite_setback: Option<String> { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        /// The running canary, if this ends it.
        ends_canary: Option<String> { chars_max: VERSION_CHARS_MAX, example: "\"risk-1.0.0+5c11e2d0\"" },
        /// SHA-256 of a fork's report, for the approver of the promotion.
        fork_report: Option<String> { chars_max: 2 * SHA256_BYTES, example: "\"9f86d081884c7d65...\"" },
        /// Percentage of its decisions that may fail; 1 by default.
        max_failure_percent: Option<u8> { at_least: 1.0, at_most: 100.0, example: "1" },
        /// Percentage of answers in another class than the champion's; 10 by default. Of a risk, half as many may be in a
        /// lower class, and a quarter go from high to low.
        max_flip_percent: Option<u8> { at_least: 1.0, at_most: 100.0, example: "10" },
        /// What a call of it may cost, in instructions, as a percentage of what it costs the champion; 1000 by default.
        max_fuel_percent: Option<u32> { at_least: 1.0, at_most: FUEL_PERCENT_MAX as f64, example: "1000" },
        /// Whether a violated bound takes it from all users, as it does by default, or pauses the rollout.
        on_violation: Option<OnViolation> { example: "\"withdraw\"" },
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"better recall\"" },
        /// Decisions of the canary that each step takes at least; 500 by default.
        step_decisions: Option<u32> { at_least: 1.0, at_most: DECISIONS_MAX as f64, example: "500" },
        /// Seconds that each step takes at least; 600 by default.
        step_seconds: Option<u32> { at_least: 0.0, at_most: SECONDS_MAX as f64, example: "600" },
        /// Percentages of users, ascending to 100, which makes it the champion; with 0 it is compared on all requests and
        /// answers nobody. 0, 5, 25 and 100 by default.
        steps: Option<Vec<u8>> { length_max: STEPS_MAX, items: &STEP, example: "[0, 5, 25, 100]" },
    }
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
    let catalog = Catalog::read(&mut db, &app.key, kind).await?;
    let epoch = catalog.deployed.epoch;
    if !if_match.matches(&etag(epoch)) {
        return Err(Error::Stale);
    }
    let default = Bounds::default();
    let start = Start {
        rollout_id: app.clock.new_id(),
        epoch,
        canary: asked.canary,
        steps: asked.steps.unwrap_or_else(|| DEFAULT_STEPS.to_vec()),
        step_decisions: asked.step_decisions.unwrap_or(default.decisions),
        step_seconds: asked.step_seconds.unwrap_or(default.seconds),
        max_failure_percent: asked.max_failure_percent.unwrap_or(default.max_failure_percent),
        max_flip_percent: asked.max_flip_percent.unwrap_or(default.max_flip_percent),
        max_fuel_percent: asked.max_fuel_percent.unwrap_or(FUEL_PERCENT),
        on_violation: asked.on_violation.unwrap_or(OnViolation::Withdraw).as_str().to_owned(),
        despite_setback: asked.despite_setback,
        ends_canary: asked.ends_canary,
        fork_report: asked.fork_report,
    };
    check_fork_report(&app, start.fork_report.as_deref(), kind == ModelKind::Risk)?;
    let why = (&*asked.reason, &operator.person, &*operator.person.name);
    let rollout = plan(&start, &app, &mut db, &catalog, why).await?;
    drop(db);
    let most = start.steps.iter().copied().filter(|step| *step < WHOLE).max().unwrap_or_default();
    if catalog::takes_two(kind, most, start.max_flip_percent) {
        let action = Action::StartRollout { kind: kind.to_string(), rollout: start.clone() };
        if let Some(waiting) = propose(&app, &operator.person, &action, &asked.reason).await? {
            return Ok(waiting);
        }
    }
    begin(&app, &rollout, &catalog).await
}

/// Starts a rollout, beside what is deployed.
async fn begin(app: &App, rollout: &Rollout, catalog: &Catalog) -> Result<Response, Error> {
    let mut db = app.db.acquire().await?;
    let Rollout { kind, epoch, .. } = *rollout;
    if !rollout::start(&mut db, &app.key, rollout, &catalog.deployed).await? {
        let is_open = is_open(&mut db, kind).await?;
        return Err(if is_open { Error::RolloutOpen } else { Error::Stale });
    }
    audit::done(Event::RolloutStarted, &rollout.changed_by, &format_args!("{kind} {epoch}"));
    answer(app, &mut db, rollout, catalog).await
}

async fn answer(app: &App, db: &mut PgConnection, it: &Rollout, catalog: &Catalog) -> Result<Response, Error> {
    let json = to_json(db, &app.key, (it, &catalog.registered), app.clock.now()).await?;
    Ok((StatusCode::CREATED, Json(json)).into_response())
}

/// The rollout, if it can start: for a reason, proposed by somebody, and in whose name it is stored.
async fn plan(
    start: &Start,
    app: &App,
    db: &mut PgConnection,
    catalog: &Catalog,
    (reason, by, people): (&str, &Person, &str),
) -> Result<Rollout, Error> {
    check_steps(&start.steps).map_err(|detail| unprocessable("steps", "not-allowed", detail))?;
    let deployed = &catalog.deployed;
    if deployed.epoch != start.epoch {
        return Err(Error::Stale);
    }
    let canary = find(catalog, "canary", &start.canary)?;
    check_release("canary", &start.canary, deployed.minimum_release.as_deref())?;
    let now = app.clock.now();
    let rollout = Rollout {
        rollout_id: start.rollout_id,
        kind: deployed.kind,
        canary,
        steps: start.steps.clone(),
        bounds: Bounds {
            decisions: start.step_decisions,
            seconds: start.step_seconds,
            max_failure_percent: start.max_failure_percent,
            max_flip_percent: start.max_flip_percent,
        },
        on_violation: OnViolation::parse(&start.on_violation).unwrap_or(OnViolation::Withdraw),
        despite_setback: start.despite_setback.is_some(),
        fork_report: start.fork_report.clone(),
        detail: reason.to_owned(),
        reason: reason.to_owned(),
        started_at: now,
        state: RolloutState::Running,
        step: 0,
        epoch: start.epoch + 1,
        step_at: now,
        approval_id: None,
        changed_by: people.to_owned(),
        changed_at: now,
        started_by: by.clone(),
    };
    let next = rollout::first_step(&rollout, deployed);
    catalog::check(&next).map_err(|(field, detail)| unprocessable(own_field(field), "not-allowed", detail))?;
    require_signatures(&mut *db, &app.settings.model_keys, [canary]).await?;
    check_fuel(&mut *db, catalog, canary, start.max_fuel_percent).await?;
    if is_open(&mut *db, deployed.kind).await? {
        return Err(Error::RolloutOpen);
    }
    // Its last step promotes it.
    let named = (start.ends_canary.as_deref(), start.despite_setback.as_deref());
    confirmation::check(catalog, &next, Some(canary), named)?;
    Ok(rollout)
}

/// Refuses a canary that costs too much, as the gate measured it and the champion. Of a version that this program was built
/// with, another one's examination has the figure; between two of them there is none, and they cost about the same.
async fn check_fuel(db: &mut PgConnection, catalog: &Catalog, canary: Digest, percent: u32) -> Result<(), Error> {
    let champion = catalog.deployed.champion;
    let mut measured = BTreeMap::new();
    for version in [champion, canary] {
        let report = components::report_of(&mut *db, version).await?;
        let report = report.and_then(|it| serde_json::from_value::<Report>(it).ok());
        measured.extend(report.unwrap_or_default().fuel);
    }
    let of = |version: Digest| measured.get(&version.to_string()).copied();
    let class = catalog.registered.iter().find(|it| it.digest == canary).map(|it| it.class);
    let detail = match (of(canary), of(champion)) {
        (Some(is), Some(was)) if u128::from(is) * 100 > u128::from(was) * u128::from(percent) => {
            format!("costs {is} instructions a call, more than {percent}% of the champion's {was}")
        }
        (None, Some(_)) if class == Some(PolicyClass::DenyAll) => {
            "has a language runtime, whose cost is not measured: deploy it by hand".to_owned()
        }
        _ => return Ok(()),
    };
    Err(unprocessable("canary", "not-allowed", &detail))
}

/// Starts it once it is approved. Repeating it changes nothing.
pub(super) async fn start_approved(
    start: &Start,
    app: &App,
    kind: ModelKind,
    why: (&str, &Person, &str),
) -> Result<Response, Error> {
    let mut db = app.db.acquire().await?;
    let last = rollouts::of_kind(&mut db, kind, 1).await?.into_iter().next();
    let catalog = Catalog::read(&mut db, &app.key, kind).await?;
    if let Some(started) = last.filter(|it| it.rollout_id == start.rollout_id) {
        return answer(app, &mut db, &started, &catalog).await;
    }
    let rollout = plan(start, app, &mut db, &catalog, why).await?;
    drop(db);
    begin(app, &rollout, &catalog).await
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
