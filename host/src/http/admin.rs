//! `/admin/models`: the registry of components and what serves. For operators, on the internal
//! listener, with a bearer token of the scope `models:admin` (`rules:admin` to change transfer rules).

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::auth::Operator;
use super::error::{Error, FieldError};
use super::extract::AssistBody;
use super::transactions::timestamp;
use crate::app::App;
use crate::db::components::{self, Component, Deployment, Registered};
use crate::domain::model::{Digest, ModelKind};
use crate::models::catalog::{self, REASON_CHARS_MAX};
use crate::models::gate::{Check, Outcome};

/// Longest `model_version`.
const VERSION_CHARS_MAX: usize = 100;

fn kind_of(text: &str) -> Result<ModelKind, Error> {
    ModelKind::parse(text).ok_or(Error::NotFound)
}

fn shown(component: &Component, role: &str) -> Value {
    json!({
        "model_version": component.model_version,
        "kind": component.kind.as_str(),
        "sha256": component.digest.to_string(),
        "bytes": component.size,
        "built_in": component.is_embedded,
        "registered_by": component.registered_by,
        "registered_at": timestamp(component.registered_at),
        "role": role,
    })
}

/// What a component is to what serves.
fn role_of(digest: Digest, kind: ModelKind, deployed: Option<&Deployment>) -> &'static str {
    match deployed {
        Some(it) if it.champion == digest => "champion",
        Some(it) if it.previous == digest => "previous",
        None if catalog::built_in(kind) == Some(digest) => "champion",
        _ => "registered",
    }
}

/// Every kind with its versions and what serves.
pub(super) async fn list_models(State(app): State<App>, _: Operator) -> Result<Json<Value>, Error> {
    let mut db = app.db.acquire().await?;
    let deployed = components::deployments(&mut db).await?;
    let mut kinds: BTreeMap<&str, Vec<Value>> = ModelKind::ALL.iter().map(|kind| (kind.as_str(), vec![])).collect();
    for component in components::list(&mut db).await? {
        let of_kind = deployed.iter().find(|it| it.kind == component.kind);
        let role = role_of(component.digest, component.kind, of_kind);
        kinds.entry(component.kind.as_str()).or_default().push(shown(&component, role));
    }
    let epoch = |kind: &str| deployed.iter().find(|it| it.kind.as_str() == kind).map_or(0, |it| it.epoch);
    let models =
        kinds.into_iter().map(|(kind, versions)| json!({"kind": kind, "epoch": epoch(kind), "versions": versions}));
    Ok(Json(json!({ "models": models.collect::<Vec<_>>() })))
}

/// Takes a component through the gate, and registers it.
pub(super) async fn push_version(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if media.split(';').next().unwrap_or_default().trim() != "application/wasm" {
        return Err(Error::NotWasm);
    }
    let bytes = body.map_err(|_| Error::ComponentTooLarge)?;
    let report = app.gate.examine(&bytes).await.map_err(|error| Error::Internal(error.into()))?;
    let mut refused: Vec<_> = report.checks.iter().filter(|it| it.outcome == Outcome::Refused).map(fault).collect();
    if report.is_accepted() && report.kind.as_deref() != Some(kind.as_str()) {
        let found = report.kind.as_deref().unwrap_or("unknown");
        refused.push(FieldError {
            field: "kind".into(),
            code: "refused".into(),
            detail: format!("it is a {found} component"),
        });
    }
    if !refused.is_empty() {
        return Err(Error::ComponentRefused(refused));
    }
    let mut db = app.db.acquire().await?;
    let registered = catalog::register(&mut db, &bytes, &report, &operator.name, app.clock.now()).await?;
    let Some((version, registered)) = registered else {
        return Err(Error::Internal(anyhow::anyhow!("an accepted report names no version")));
    };
    let status = match registered {
        Registered::New => StatusCode::CREATED,
        Registered::Known => StatusCode::OK,
        Registered::VersionTaken => return Err(Error::VersionTaken),
    };
    let path = format!("/admin/models/{kind}/versions/{}", version.as_str().replace('+', "%2B"));
    let location = HeaderValue::from_str(&path).map_err(|error| Error::Internal(error.into()))?;
    let body = json!({"model_version": version.as_str(), "report": report});
    Ok((status, [(header::LOCATION, location)], Json(body)).into_response())
}

fn fault(check: &Check) -> FieldError {
    FieldError { field: check.name.clone(), code: "refused".into(), detail: check.detail.clone() }
}

/// One version, with what the gate found.
pub(super) async fn get_version(
    State(app): State<App>,
    _: Operator,
    Path((kind, version)): Path<(String, String)>,
) -> Result<Json<Value>, Error> {
    let kind = kind_of(&kind)?;
    let mut db = app.db.acquire().await?;
    let (component, report) = find(&mut db, kind, &version).await?.ok_or(Error::NotFound)?;
    let deployed = components::deployment_of(&mut db, kind).await?;
    let mut body = shown(&component, role_of(component.digest, kind, deployed.as_ref()));
    body["report"] = report.unwrap_or_default();
    Ok(Json(body))
}

async fn find(
    db: &mut PgConnection,
    kind: ModelKind,
    version: &str,
) -> Result<Option<(Component, Option<Value>)>, Error> {
    let all = components::list(&mut *db).await?;
    let Some(component) = all.into_iter().find(|it| it.kind == kind && it.model_version == version) else {
        return Ok(None);
    };
    let report = components::report_of(db, component.digest).await?;
    Ok(Some((component, report)))
}

/// What serves of a kind; its `ETag` is the epoch.
pub(super) async fn get_deployment(
    State(app): State<App>,
    _: Operator,
    Path(kind): Path<String>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    let mut db = app.db.acquire().await?;
    answer(&mut db, kind).await
}

async fn answer(db: &mut PgConnection, kind: ModelKind) -> Result<Response, Error> {
    let deployed = components::deployment_of(db, kind).await?;
    let all = components::list(db).await?;
    let name =
        |digest: Option<Digest>| all.iter().find(|it| Some(it.digest) == digest).map(|it| it.model_version.clone());
    let epoch = deployed.map_or(0, |it| it.epoch);
    let body = json!({
        "kind": kind.as_str(),
        "epoch": epoch,
        "champion": name(deployed.map_or_else(|| catalog::built_in(kind), |it| Some(it.champion))),
        "previous": name(deployed.map(|it| it.previous)),
    });
    let etag = HeaderValue::from_str(&format!("\"{epoch}\"")).map_err(|error| Error::Internal(error.into()))?;
    Ok(([(header::ETAG, etag)], Json(body)).into_response())
}

/// Lets a registered version serve, if what serves is still what `If-Match` says.
pub(super) async fn put_deployment(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    headers: HeaderMap,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let seen = seen_epoch(&headers)?;
    let (champion, reason) = (fields.text("champion", VERSION_CHARS_MAX), fields.text("reason", REASON_CHARS_MAX));
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let Some((component, _)) = find(&mut db, kind, &champion).await? else {
        let detail = format!("names no registered {kind} component");
        return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "champion", "unknown-value", &detail));
    };
    change(&app, &mut db, (kind, component.digest), seen, (&reason, &operator.name)).await
}

/// Lets what served before serve again.
pub(super) async fn roll_back(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let reason = fields.text("reason", REASON_CHARS_MAX);
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let deployed = components::deployment_of(&mut db, kind).await?.ok_or(Error::NothingDeployed)?;
    change(&app, &mut db, (kind, deployed.previous), deployed.epoch, (&reason, &operator.name)).await
}

async fn change(
    app: &App,
    db: &mut PgConnection,
    champion: (ModelKind, Digest),
    seen: i64,
    why: (&str, &str),
) -> Result<Response, Error> {
    let epoch = catalog::deploy(db, champion, seen, why, app.clock.now()).await?;
    epoch.ok_or(Error::Stale)?;
    answer(db, champion.0).await
}

/// The epoch in `If-Match`.
fn seen_epoch(headers: &HeaderMap) -> Result<i64, Error> {
    let value = headers.get(header::IF_MATCH).ok_or(Error::IfMatchMissing)?;
    // Anything that this service never gave matches nothing.
    let epoch = value.to_str().ok().and_then(|it| it.trim().strip_prefix('"')?.strip_suffix('"')?.parse().ok());
    epoch.filter(|epoch| *epoch >= 0).ok_or(Error::Stale)
}
