//! `/admin/models/{kind}/deployment`, `rollback`, `history` and `report`: what is deployed of a kind, and how
//! its challengers compare.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::app::App;
use crate::clock::timestamp;
use crate::db::components::{self, Component};
use crate::db::deployments::{self, Canary, Deployment};
use crate::domain::model::{Digest, ModelKind};
use crate::http::admin::versions::kind_of;
use crate::auth::Operator;
use crate::http::error::Error;
use crate::http::extract::{AssistBody, Parameters};
use crate::http::fields::Fields;
use crate::models::deploying::built_in::built_in;
use crate::models::deploying::catalog::{self, MAX_FLIP_PERCENT, Plan, REASON_CHARS_MAX, SHADOWS_MAX};
use crate::models::observing::report::Report;

/// Longest `model_version`.
const VERSION_CHARS_MAX: usize = 100;

/// Changes in a history.
const HISTORY_MAX: i64 = 100;

/// The deployment of a kind; its `ETag` is the epoch.
pub(crate) async fn get_deployment(
    State(app): State<App>,
    _: Operator,
    Path(kind): Path<String>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    let mut db = app.db.acquire().await?;
    answer(&mut db, kind).await
}

async fn answer(db: &mut PgConnection, kind: ModelKind) -> Result<Response, Error> {
    let deployed = deployments::deployment_of(db, kind).await?;
    let registered = components::list(db).await?;
    let body = match &deployed {
        Some(deployment) => shown(deployment, &registered),
        None => json!({
            "kind": kind.as_str(),
            "epoch": 0,
            "champion": built_in(kind).and_then(|digest| name_of(digest, &registered)),
            "previous": null,
            "canary": null,
            "shadows": [],
            "reason": null,
            "changed_by": null,
            "changed_at": null,
        }),
    };
    let epoch = deployed.map_or(0, |it| it.epoch);
    let etag = HeaderValue::from_str(&format!("\"{epoch}\"")).map_err(|error| Error::Internal(error.into()))?;
    Ok(([(header::ETAG, etag)], Json(body)).into_response())
}

fn name_of(digest: Digest, registered: &[Component]) -> Option<&str> {
    registered.iter().find(|it| it.digest == digest).map(|it| it.model_version.as_str())
}

fn shown(deployment: &Deployment, registered: &[Component]) -> Value {
    let name = |digest: Digest| name_of(digest, registered);
    let canary = deployment.canary.map(|canary| {
        json!({
            "version": name(canary.digest),
            "percent": canary.percent,
            "max_flip_percent": canary.max_flip_percent,
        })
    });
    json!({
        "kind": deployment.kind.as_str(),
        "epoch": deployment.epoch,
        "champion": name(deployment.champion),
        "previous": name(deployment.previous),
        "canary": canary,
        "shadows": deployment.shadows.iter().map(|digest| name(*digest)).collect::<Vec<_>>(),
        "reason": deployment.reason,
        "changed_by": deployment.changed_by,
        "changed_at": timestamp(deployment.changed_at),
    })
}

/// The changes of a deployment, newest first.
pub(crate) async fn get_history(
    State(app): State<App>,
    _: Operator,
    Path(kind): Path<String>,
) -> Result<Json<Value>, Error> {
    let kind = kind_of(&kind)?;
    let mut db = app.db.acquire().await?;
    let registered = components::list(&mut db).await?;
    let history = deployments::history_of(&mut db, kind, HISTORY_MAX).await?;
    let changes: Vec<_> = history.iter().map(|it| shown(it, &registered)).collect();
    Ok(Json(json!({ "history": changes })))
}

/// Compares the challengers of deployment `epoch`, by default of the latest one that had some.
pub(crate) async fn get_report(
    State(app): State<App>,
    _: Operator,
    Path(kind): Path<String>,
    Parameters(mut fields): Parameters,
) -> Result<Json<Report>, Error> {
    let kind = kind_of(&kind)?;
    let epoch = fields.optional_integer("epoch", 1, u32::MAX);
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let report = Report::read(&mut db, kind, epoch.map(i64::from)).await?;
    report.map(Json).ok_or(Error::NotFound)
}

/// Replaces the deployment, if its epoch is still that in `If-Match`. Roles that are left out end.
pub(crate) async fn put_deployment(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    headers: HeaderMap,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let seen = seen_epoch(&headers)?;
    let champion = fields.text("champion", VERSION_CHARS_MAX);
    let canary = fields.optional_object("canary", read_canary);
    let shadows = fields.texts("shadows", SHADOWS_MAX, VERSION_CHARS_MAX);
    let reason = fields.text("reason", REASON_CHARS_MAX);
    fields.finish()?;

    let mut db = app.db.acquire().await?;
    let registered = components::list(&mut db).await?;
    let find = |field: &'static str, version: &str| {
        let found = registered.iter().find(|it| it.kind == kind && it.model_version == version);
        let detail = format!("names no registered {kind} component");
        found.map(|it| it.digest).ok_or_else(|| unprocessable(field, "unknown-value", &detail))
    };
    let canary = canary.map(|canary| {
        let digest = find("canary.version", &canary.version)?;
        Ok::<_, Error>(Canary { digest, percent: canary.percent, max_flip_percent: canary.max_flip_percent })
    });
    let plan = Plan {
        kind,
        champion: find("champion", &champion)?,
        canary: canary.transpose()?,
        shadows: shadows.iter().map(|version| find("shadows", version)).collect::<Result<_, _>>()?,
        has_fallback: true,
    };
    plan.check().map_err(|(field, detail)| unprocessable(field, "not-allowed", detail))?;
    change(&app, &mut db, &plan, seen, (&reason, &operator.name)).await
}

struct CanaryBody {
    version: String,
    percent: u8,
    max_flip_percent: u8,
}

fn read_canary(fields: &mut Fields) -> CanaryBody {
    let mut percent = |name, default| {
        let read = fields.optional_integer(name, 1, 100);
        read.map_or(default, |it| u8::try_from(it).unwrap_or(default))
    };
    let max_flip_percent = percent("max_flip_percent", MAX_FLIP_PERCENT);
    // 0 if it is missing, which the plan's check refuses.
    let percent = percent("percent", 0);
    CanaryBody { version: fields.text("version", VERSION_CHARS_MAX), percent, max_flip_percent }
}

fn unprocessable(field: &str, code: &'static str, detail: &str) -> Error {
    Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, field, code, detail)
}

/// Deploys the previous champion, without challengers. `If-Match` is optional in an emergency; with it, a
/// repeated request cannot undo the rollback.
pub(crate) async fn roll_back(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    headers: HeaderMap,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let seen = headers.contains_key(header::IF_MATCH).then(|| seen_epoch(&headers)).transpose()?;
    let reason = fields.text("reason", REASON_CHARS_MAX);
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let deployed = deployments::deployment_of(&mut db, kind).await?.ok_or(Error::NothingDeployed)?;
    let plan = Plan::rollback(kind, deployed.previous);
    change(&app, &mut db, &plan, seen.unwrap_or(deployed.epoch), (&reason, &operator.name)).await
}

async fn change(
    app: &App,
    db: &mut PgConnection,
    plan: &Plan,
    seen: i64,
    why: (&str, &str),
) -> Result<Response, Error> {
    let epoch = catalog::deploy(db, plan, seen, why, app.clock.now()).await?;
    epoch.ok_or(Error::Stale)?;
    answer(db, plan.kind).await
}

/// The epoch in `If-Match`.
fn seen_epoch(headers: &HeaderMap) -> Result<i64, Error> {
    let value = headers.get(header::IF_MATCH).ok_or(Error::IfMatchMissing)?;
    // A value that this service never issued matches nothing.
    let epoch = value.to_str().ok().and_then(|it| it.trim().strip_prefix('"')?.strip_suffix('"')?.parse().ok());
    epoch.filter(|epoch| (0..i64::MAX).contains(epoch)).ok_or(Error::Stale)
}
