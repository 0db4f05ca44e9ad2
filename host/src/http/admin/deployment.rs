//! `/admin/models/{kind}/deployment`, `rollback`, `history` and `report`: a kind's deployment, and how its
//! challengers compare.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::Operator;
use crate::auth::reader::Reader;
use crate::db::approvals::{Action, CanaryVersion, Versions};
use crate::db::components::{self, Component};
use crate::db::deployments::{self, Canary, Deployment};
use crate::domain::model::{Digest, ModelKind, is_semantic_version};
use crate::http::admin::action::propose;
use crate::http::admin::confirmation::{self, Confirmed, DESPITE_SETBACK, SetbackJson, setbacks_of, unconfirmed};
use crate::http::admin::if_match::IfMatch;
use crate::http::admin::names::{VERSION_CHARS_MAX, check_release, find, name_of, named, unprocessable};
use crate::http::admin::signatures::require_signatures;
use crate::http::admin::versions::{VERSION_EXAMPLE, kind_of};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, Parameters, Unpaged};
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::models::deploying::built_in::built_in;
use crate::models::deploying::catalog::{
    self, CANARY_PERCENT_MAX, MAX_FLIP_PERCENT, Plan, REASON_CHARS_MAX, SHADOWS_MAX,
};
use crate::models::deploying::rollback::{Rollback, RolledBack, target};
use crate::models::observing::report::Report;
use crate::schema::{Flat, Shape, answer, request};

/// Most changes in a history.
const HISTORY_MAX: i64 = 100;

/// The deployment of a kind; its `ETag` is the epoch.
pub(crate) async fn get_deployment(
    State(app): State<App>,
    reader: Reader,
    Path(kind): Path<String>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    let mut db = app.db.acquire().await?;
    answer(&mut db, kind).await
}

async fn answer(db: &mut PgConnection, kind: ModelKind) -> Result<Response, Error> {
    let deployed = deployments::deployment_of(db, kind).await?;
    let registered = components::list(&mut *db).await?;
    let setbacks = setbacks_of(db, kind).await?;
    let rollback_to = match &deployed {
        Some(deployment) => name_of(target(db, deployment).await?, &registered).map(str::to_owned),
        None => None,
    };
    let now = match &deployed {
        Some(deployment) => shown(deployment, &registered),
        None => DeploymentJson {
            kind,
            epoch: 0,
            champion: built_in(kind).and_then(|digest| name_of(digest, &registered)).map(str::to_owned),
            previous: None,
            fallback: false,
            canary: None,
            shadows: Vec::new(),
            minimum_release: None,
            reason: None,
            changed_by: None,
            changed_at: None,
        },
    };
    let epoch = deployed.map_or(0, |it| it.epoch);
    let etag = HeaderValue::from_str(&etag(epoch)).map_err(|error| Error::Internal(error.into()))?;
    let setbacks = setbacks.iter().map(|it| confirmation::shown(it, &registered)).collect();
    Ok(([(header::ETAG, etag)], Json(PresentJson { now: Flat(now), rollback_to, setbacks })).into_response())
}

pub(super) fn etag(epoch: i64) -> String {
    format!("\"{epoch}\"")
}

answer! {
    /// A kind's present deployment, and where it can go from there.
    pub(crate) struct PresentJson as "PresentDeployment" {
        now: Flat<DeploymentJson>,
        /// The version that a rollback restores: the previous one, or the champion before it if that is on trial as a
        /// challenger. Without any it is the champion itself, and a rollback only ends the trial.
        rollback_to: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// Versions that were withdrawn or rolled back and have not served well since, the latest first. Promoting one
        /// takes `despite_setback`.
        setbacks: Vec<SetbackJson>,
    }
}

answer! {
    /// A kind's deployment.
    pub(crate) struct DeploymentJson as "Deployment" {
        kind: ModelKind { example: "\"risk\"" },
        /// Counts the kind's deployments; 0 before the first.
        epoch: i64 { example: "3" },
        /// Answers users outside the canary.
        champion: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// The champion before.
        previous: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// Whether the previous version answers when the champion fails: not after a rollback.
        fallback: bool { example: "true" },
        canary: Option<CanaryJson> { nullable: true },
        /// Versions that are compared with the champion without answering requests.
        shadows: Vec<Option<String>> { example: "[]" },
        /// The oldest version that may be deployed.
        minimum_release: Option<String> { nullable: true, example: "\"2.0.0\"" },
        /// Why it was changed.
        reason: Option<String> { nullable: true, example: "\"better recall\"" },
        changed_by: Option<String> { nullable: true, example: "\"ops\"" },
        changed_at: Option<OffsetDateTime> { nullable: true, example: INSTANT_EXAMPLE },
    }
}

answer! {
    /// A version that answers some users.
    pub(crate) struct CanaryJson as "Canary" {
        version: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// Percentage of users.
        percent: u8 { at_least: 1.0, at_most: CANARY_PERCENT_MAX as f64, example: "10" },
        /// Percentage of answers in another class than the champion's above which it is withdrawn.
        max_flip_percent: u8 { at_least: 1.0, at_most: 100.0, example: "10" },
    }
}

answer! {
    /// A kind's deployments, newest first.
    pub(crate) struct HistoryJson as "History" {
        history: Vec<DeploymentJson>,
    }
}

fn shown(deployment: &Deployment, registered: &[Component]) -> DeploymentJson {
    let name = |digest: Digest| name_of(digest, registered).map(str::to_owned);
    DeploymentJson {
        kind: deployment.kind,
        epoch: deployment.epoch,
        champion: name(deployment.champion),
        previous: name(deployment.previous),
        fallback: deployment.stands_in,
        canary: deployment.canary.map(|canary| CanaryJson {
            version: name(canary.digest),
            percent: canary.percent,
            max_flip_percent: canary.max_flip_percent,
        }),
        shadows: deployment.shadows.iter().map(|digest| name(*digest)).collect(),
        minimum_release: deployment.minimum_release.clone(),
        reason: Some(deployment.reason.clone()),
        changed_by: Some(deployment.changed_by.clone()),
        changed_at: Some(deployment.changed_at),
    }
}

/// A kind's deployments, newest first.
pub(crate) async fn get_history(
    State(app): State<App>,
    reader: Reader,
    Path(kind): Path<String>,
    _: Unpaged,
) -> Result<Json<HistoryJson>, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    let mut db = app.db.acquire().await?;
    let registered = components::list(&mut db).await?;
    let history = deployments::history_of(&mut db, kind, HISTORY_MAX).await?;
    Ok(Json(HistoryJson { history: history.iter().map(|it| shown(it, &registered)).collect() }))
}

/// Compares the challengers of deployment `epoch`, by default the latest one with challengers.
pub(crate) async fn get_report(
    State(app): State<App>,
    reader: Reader,
    Path(kind): Path<String>,
    Parameters(mut fields): Parameters,
) -> Result<Json<Report>, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    let ReportQuery { epoch } = fields.read();
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let report = Report::read(&mut db, kind, epoch.map(i64::from)).await?;
    report.map(Json).ok_or(Error::NotFound)
}

/// Replaces the deployment if its epoch still matches `If-Match`. Omitted roles are cleared.
pub(crate) async fn put_deployment(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    headers: HeaderMap,
    // Read once it is clear that the operator may change this kind.
    body: Result<AssistBody, Error>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let if_match = IfMatch::read(&headers)?;
    let AssistBody(mut fields) = body?;
    let DeploymentRequest { champion, canary, despite_setback, ends_canary, minimum_release, shadows, reason } =
        fields.read();
    fields.finish()?;

    let mut db = app.db.acquire().await?;
    let deployed = deployments::deployment_of(&mut db, kind).await?;
    let seen = deployed.as_ref().map_or(0, |it| it.epoch);
    if !if_match.matches(&etag(seen)) {
        return Err(Error::Stale);
    }
    let canary = canary.map(|it| CanaryVersion {
        version: it.version,
        // A canary with 0 percent is rejected below.
        percent: it.percent.unwrap_or(0),
        max_flip_percent: it.max_flip_percent.unwrap_or(MAX_FLIP_PERCENT),
    });
    let shadows = shadows.unwrap_or_default();
    let versions = Versions { epoch: seen, champion, canary, shadows, minimum_release, despite_setback, ends_canary };
    let plan = versions.plan(&app, &mut db, kind).await?;
    if let Some(deployed) = &deployed {
        let registered = components::list(&mut db).await?;
        let (ends_canary, despite_setback) = (versions.ends_canary.as_deref(), versions.despite_setback.as_deref());
        let confirmed = Confirmed::find(kind, &registered, ends_canary, despite_setback)?;
        confirmed.check(deployed, &plan, &setbacks_of(&mut db, kind).await?, &registered)?;
    }
    drop(db);
    if plan.takes_two(deployed.as_ref()) {
        let action = Action::Deploy { kind: kind.to_string(), versions: versions.clone() };
        if let Some(waiting) = propose(&app, &operator.person, &action, &reason).await? {
            return Ok(waiting);
        }
    }
    versions.deploy(&app, kind, (&reason, &operator.person.name)).await
}

impl Versions {
    async fn plan(&self, app: &App, db: &mut PgConnection, kind: ModelKind) -> Result<Plan, Error> {
        let registered = components::list(&mut *db).await?;
        let find = |field: &'static str, version: &str| find(kind, &registered, field, version);
        let canary = self.canary.as_ref().map(|it| {
            let digest = find("canary.version", &it.version)?;
            Ok::<_, Error>(Canary { digest, percent: it.percent, max_flip_percent: it.max_flip_percent })
        });
        let plan = Plan {
            kind,
            champion: find("champion", &self.champion)?,
            canary: canary.transpose()?,
            shadows: self.shadows.iter().map(|version| find("shadows", version)).collect::<Result<_, _>>()?,
            has_fallback: true,
            minimum_release: self.minimum_release.clone(),
        };
        if !self.minimum_release.as_deref().is_none_or(is_semantic_version) {
            return Err(unprocessable("minimum_release", "wrong-format", "must have the form 1.2.3"));
        }
        let deployed = deployments::deployment_of(db, kind).await?;
        let minimum = self.minimum_release.clone().or(deployed.and_then(|it| it.minimum_release));
        let fields = [("champion", &self.champion)].into_iter();
        let fields = fields.chain(self.canary.iter().map(|it| ("canary.version", &it.version)));
        for (field, version) in fields.chain(self.shadows.iter().map(|it| ("shadows", it))) {
            check_release(field, version, minimum.as_deref())?;
        }
        plan.check().map_err(|(field, detail)| unprocessable(field, "not-allowed", detail))?;
        let canary = plan.canary.map(|it| it.digest);
        let all = [plan.champion].into_iter().chain(canary).chain(plan.shadows.iter().copied());
        require_signatures(db, &app.settings.model_keys, all).await?;
        Ok(plan)
    }

    /// Repeating it changes nothing.
    pub(super) async fn deploy(
        self,
        app: &App,
        kind: ModelKind,
        (reason, by): (&str, &str),
    ) -> Result<Response, Error> {
        let mut db = app.db.acquire().await?;
        let plan = self.plan(app, &mut db, kind).await?;
        let epoch = catalog::deploy(&mut db, &app.key, &plan, self.epoch, (reason, by), app.clock.now()).await?;
        if let Some(epoch) = epoch {
            audit::done(Event::Deployment, by, &format_args!("{kind} {epoch}"));
        } else {
            let present = deployments::deployment_of(&mut db, kind).await?;
            let is_done = |it: &Deployment| {
                (it.epoch, it.champion, it.canary) == (self.epoch + 1, plan.champion, plan.canary)
                    && (&it.shadows, &*it.changed_by, &*it.reason) == (&plan.shadows, by, reason)
            };
            present.filter(is_done).ok_or(Error::Stale)?;
        }
        answer(&mut db, kind).await
    }
}

request! {
    /// A version that answers some users.
    pub(crate) struct CanaryRequest {
        /// Percentage of answers in another class than the champion's above which the canary is withdrawn;
        /// 10 by default.
        max_flip_percent: Option<u8> { at_least: 1.0, at_most: 100.0, example: "10" },
        /// Percentage of users.
        percent: Option<u8> { at_least: 1.0, at_most: CANARY_PERCENT_MAX as f64, example: "10" },
        /// Its `model_version`.
        version: String { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
    }
}

request! {
    /// The versions to deploy.
    pub(crate) struct DeploymentRequest {
        /// Its `model_version`.
        champion: String { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        canary: Option<CanaryRequest>,
        /// The new champion again, if it was withdrawn or rolled back: see the deployment's `setbacks`.
        despite_setback: Option<String> { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        /// The running canary, if this ends it: it neither stays nor becomes the champion.
        ends_canary: Option<String> { chars_max: VERSION_CHARS_MAX, example: "\"risk-1.0.0+5c11e2d0\"" },
        /// The oldest version that may be deployed from now on, by its own number; it stays as it is if left out.
        minimum_release: Option<String> { chars_max: VERSION_CHARS_MAX, example: "\"2.0.0\"" },
        /// Versions to compare with the champion.
        shadows: Option<Vec<String>> {
            length_max: SHADOWS_MAX, items: &Shape::text(VERSION_CHARS_MAX), example: "[]"
        },
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"better recall\"" },
    }
}

request! {
    /// A rollback. It names both versions, so that a repeated one cannot undo the first.
    pub(crate) struct RollbackRequest {
        /// The version to return to again, if it was withdrawn or itself rolled back: see the deployment's `setbacks`.
        despite_setback: Option<String> { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        /// The `model_version` to leave: the champion.
        from: String { chars_max: VERSION_CHARS_MAX, example: VERSION_EXAMPLE },
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"too many false alarms\"" },
        /// The `model_version` to return to: the deployment's `rollback_to`.
        to: String { chars_max: VERSION_CHARS_MAX, example: "\"risk-1.0.0+5c11e2d0\"" },
    }
}

request! {
    /// The deployment to report on.
    pub(crate) struct ReportQuery {
        /// The latest with challengers by default.
        epoch: Option<u32> { at_least: 1.0, at_most: u32::MAX as f64, example: "3" },
    }
}

/// Deploys the champion before, without challengers. Repeating it changes nothing, whatever `If-Match` says.
pub(crate) async fn roll_back(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    headers: HeaderMap,
    body: Result<AssistBody, Error>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let if_match = IfMatch::read(&headers)?;
    let AssistBody(mut fields) = body?;
    let RollbackRequest { despite_setback, from, reason, to } = fields.read();
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let registered = components::list(&mut db).await?;
    let deployed = deployments::deployment_of(&mut db, kind).await?;
    check_release("to", &to, deployed.and_then(|it| it.minimum_release).as_deref())?;
    let (from, to) = (find(kind, &registered, "from", &from)?, find(kind, &registered, "to", &to)?);
    let despite_setback = despite_setback.map(|it| find(kind, &registered, DESPITE_SETBACK, &it)).transpose()?;
    require_signatures(&mut db, &app.settings.model_keys, [to]).await?;
    let rollback = Rollback { kind, from, to, despite_setback };
    let is_current = |epoch| if_match.matches(&etag(epoch));
    let why = (&*reason, &*operator.person.name);
    match rollback.run(&mut db, &app.key, is_current, why, app.clock.now()).await? {
        RolledBack::Now(epoch) => {
            audit::done(Event::Rollback, &operator.person.name, &format_args!("{kind} {epoch}"));
            answer(&mut db, kind).await
        }
        RolledBack::Before(_) => answer(&mut db, kind).await,
        RolledBack::NothingDeployed => Err(Error::NothingDeployed),
        RolledBack::Stale => Err(Error::Stale),
        RolledBack::NotChampion => Err(unprocessable("from", "not-allowed", "is not the champion")),
        RolledBack::NotTarget(target) => {
            let detail =
                format!("is not {}, to which a rollback returns: deploy it instead", named(target, &registered));
            Err(unprocessable("to", "not-allowed", &detail))
        }
        RolledBack::Challenger(target) => {
            let target = named(target, &registered);
            let detail =
                format!("is a challenger: deploy it to promote it. A rollback ends it and returns to {target}");
            Err(unprocessable("to", "not-allowed", &detail))
        }
        RolledBack::Setback(setback) => Err(unconfirmed(&setback, &registered)),
    }
}
