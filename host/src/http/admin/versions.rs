//! `/admin/models`: the registry of components, what is deployed and what each host serves. For operators,
//! on the internal listener, with a bearer token of scope `models:admin` (`rules:admin` for transfer rules); `audit:read`
//! is enough to read.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, RequestExt as _};
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::Operator;
use crate::auth::reader::Reader;
use crate::db::components::{self, Component, Registered};
use crate::db::deployments::{self, Deployment};
use crate::db::hosts::{self, HostStatus};
use crate::domain::model::{Digest, ModelKind, PolicyClass};
use crate::gate::limits::COMPONENT_BYTES_MAX;
use crate::gate::pushes::PushOutcome;
use crate::gate::report::{Check, Outcome};
use crate::http::error::Error;
use crate::http::extract::{Unpaged, check_head};
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::http::limits::stage::PUSHES;
use crate::models::Embedded;
use crate::models::deploying::built_in::built_in;
use crate::models::deploying::progress::short;
use crate::schema::{FieldError, Flat, answer};
use crate::wasm::digest_of;

pub(crate) fn kind_of(text: &str) -> Result<ModelKind, Error> {
    ModelKind::parse(text).ok_or(Error::NotFound)
}

/// A `model_version` in examples.
pub(crate) const VERSION_EXAMPLE: &str = "\"risk-2.0.0+8efe6cf7\"";

answer! {
    /// A registered version.
    pub(crate) struct VersionJson as "Version" {
        model_version: String { example: VERSION_EXAMPLE },
        kind: ModelKind { example: "\"risk\"" },
        sha256: String { example: "\"8efe6cf7...\"" },
        class: PolicyClass { example: "\"pure\"" },
        bytes: i64 { example: "10240" },
        /// Whether it is part of the host.
        built_in: bool { example: "true" },
        registered_by: String { example: "\"ops\"" },
        registered_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        role: &'static str { one_of: &ROLES, example: "\"champion\"" },
    }
}

/// What a version can be in a deployment.
const ROLES: [&str; 5] = ["champion", "canary", "shadow", "previous", "registered"];

answer! {
    /// A version and the gate's report.
    pub(crate) struct ExaminedJson as "ExaminedVersion" {
        version: Flat<VersionJson>,
        /// The gate's report; null for a built-in version.
        report: Option<Value> { nullable: true },
        /// The model's card, as Markdown.
        card: Option<&'static str> { nullable: true, example: "\"# risk-2\"" },
    }
}

answer! {
    /// A kind and its versions.
    pub(crate) struct KindJson as "ModelKind" {
        kind: &'static str { one_of: ModelKind::TEXTS, example: "\"risk\"" },
        epoch: i64 { example: "3" },
        versions: Vec<VersionJson>,
        hosts: Vec<HostJson>,
    }
}

answer! {
    /// All kinds and their versions.
    pub(crate) struct ModelsJson as "Models" {
        models: Vec<KindJson>,
    }
}

answer! {
    /// A version that passed the gate.
    pub(crate) struct PushedJson as "PushedVersion" {
        model_version: String { example: VERSION_EXAMPLE },
        /// The gate's report.
        report: Value,
    }
}

answer! {
    /// An examination in progress.
    pub(crate) struct UnderWayJson as "Examination" {
        state: &'static str { one_of: &["under way"], example: "\"under way\"" },
    }
}

fn shown(component: &Component, role: &'static str) -> VersionJson {
    VersionJson {
        model_version: component.model_version.clone(),
        kind: component.kind,
        sha256: component.digest.to_string(),
        class: component.class,
        bytes: component.size.into(),
        built_in: component.is_embedded,
        registered_by: component.registered_by.clone(),
        registered_at: component.registered_at,
        role,
    }
}

/// The role of a component in the deployment of its kind.
fn role_of(digest: Digest, kind: ModelKind, deployed: Option<&Deployment>) -> &'static str {
    match deployed {
        Some(it) if it.champion == digest => "champion",
        Some(it) if it.canary.is_some_and(|it| it.digest == digest) => "canary",
        Some(it) if it.shadows.contains(&digest) => "shadow",
        Some(it) if it.previous == digest => "previous",
        None if built_in(kind) == Some(digest) => "champion",
        _ => "registered",
    }
}

answer! {
    /// What a running host serves for a kind.
    pub(crate) struct HostJson as "Host" {
        /// Start of the host's id.
        host: String { example: "\"0198f1c2\"" },
        epoch: i64 { example: "3" },
        state: &'static str { example: "\"serving\"" },
        champion: Option<String> { nullable: true, example: VERSION_EXAMPLE },
        /// Why it does not serve the deployed version.
        detail: Option<String> { nullable: true },
        since: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

fn shown_host(host: Uuid, status: &HostStatus, registered: &[Component]) -> HostJson {
    let champion = registered.iter().find(|it| Some(it.digest) == status.champion);
    HostJson {
        host: short(host),
        epoch: status.epoch,
        state: status.state.as_str(),
        champion: champion.map(|it| it.model_version.clone()),
        detail: status.state.detail().map(Into::into),
        since: status.since,
    }
}

/// Every kind that the token may read, with its versions, their roles and the hosts that serve them.
pub(crate) async fn list_models(State(app): State<App>, reader: Reader, _: Unpaged) -> Result<Json<ModelsJson>, Error> {
    let mut db = app.db.acquire().await?;
    let deployed = deployments::deployments(&mut db).await?;
    let registered = components::list(&mut db).await?;
    let live = hosts::live(&mut db).await?;
    // Sorted by name, an order that clients may rely on.
    let readable = ModelKind::ALL.iter().filter(|kind| reader.may_read(**kind).is_ok());
    let kinds: BTreeMap<&str, ModelKind> = readable.map(|kind| (kind.as_str(), *kind)).collect();
    let models = kinds.into_iter().map(|(name, kind)| {
        let deployment = deployed.iter().find(|it| it.kind == kind);
        let of_kind = registered.iter().filter(|it| it.kind == kind);
        let versions = of_kind.map(|it| shown(it, role_of(it.digest, kind, deployment))).collect();
        let hosts = live.iter().filter(|(_, status)| status.kind == kind);
        let hosts = hosts.map(|(host, status)| shown_host(*host, status, &registered)).collect();
        KindJson { kind: name, epoch: deployment.map_or(0, |it| it.epoch), versions, hosts }
    });
    Ok(Json(ModelsJson { models: models.collect() }))
}

/// Examines and registers a component. Responds with 202 and a location if that takes long.
pub(crate) async fn push_version(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    request: Request,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    check_head(request.headers(), is_wasm, Error::NotWasm, COMPONENT_BYTES_MAX)?;
    let arriving = app.pushes.arrive().ok_or(Error::Shed(PUSHES))?;
    let bytes = request.with_limited_body().extract::<Bytes, _>().await;
    drop(arriving);
    let bytes = bytes.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Error::PayloadTooLarge(COMPONENT_BYTES_MAX),
        _ => Error::invalid(StatusCode::BAD_REQUEST, "", "broken-off", "The body ended early"),
    })?;
    let pushed = app.pushes.push(kind, bytes.to_vec(), operator.person.name.clone()).await;
    let (digest, outcome) = pushed.map_err(|_| Error::Shed(PUSHES))?;
    audit::done(Event::VersionPushed, &operator.person.name, &format_args!("{kind} {digest}"));
    match outcome {
        Some(outcome) => finished(kind, &outcome),
        None => in_progress(kind, &digest.to_string()),
    }
}

fn is_wasm(headers: &HeaderMap) -> bool {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim() == "application/wasm"
}

/// The result of an examination, with the response that the push would have had.
pub(crate) async fn get_push(
    State(app): State<App>,
    reader: Reader,
    Path((kind, sha256)): Path<(String, String)>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    match app.pushes.progress(kind, &sha256).ok_or(Error::NotFound)? {
        Some(outcome) => finished(kind, &outcome),
        None => in_progress(kind, &sha256),
    }
}

fn in_progress(kind: ModelKind, sha256: &str) -> Result<Response, Error> {
    let location = location(format!("/admin/models/{kind}/pushes/{sha256}"))?;
    Ok((StatusCode::ACCEPTED, [location], Json(UnderWayJson { state: "under way" })).into_response())
}

fn finished(kind: ModelKind, outcome: &PushOutcome) -> Result<Response, Error> {
    match outcome {
        PushOutcome::Refused(report) => {
            let refused = report.checks.iter().filter(|it| it.outcome == Outcome::Refused);
            Err(Error::ComponentRefused(refused.map(fault).collect()))
        }
        PushOutcome::Accepted { registered: Registered::VersionTaken, .. } => Err(Error::VersionTaken),
        PushOutcome::Accepted { version, registered, report } => {
            let status = if *registered == Registered::New { StatusCode::CREATED } else { StatusCode::OK };
            let version = version.as_str();
            let location = location(format!("/admin/models/{kind}/versions/{}", version.replace('+', "%2B")))?;
            let report = serde_json::to_value(report).map_err(|error| Error::Internal(error.into()))?;
            let body = PushedJson { model_version: version.to_owned(), report };
            Ok((status, [location], Json(body)).into_response())
        }
        PushOutcome::Failed(why) => Err(Error::Internal(anyhow::anyhow!("{why}"))),
    }
}

fn location(path: String) -> Result<(HeaderName, HeaderValue), Error> {
    let value = HeaderValue::try_from(path).map_err(|error| Error::Internal(error.into()))?;
    Ok((header::LOCATION, value))
}

fn fault(check: &Check) -> FieldError {
    FieldError { field: check.name.clone(), code: "refused".into(), detail: check.detail.clone() }
}

/// One version with the gate's report and, if it has one, the model's card.
pub(crate) async fn get_version(
    State(app): State<App>,
    reader: Reader,
    Path((kind, version)): Path<(String, String)>,
) -> Result<Json<ExaminedJson>, Error> {
    let kind = kind_of(&kind)?;
    reader.may_read(kind)?;
    let mut db = app.db.acquire().await?;
    let (component, report) = find(&mut db, kind, &version).await?.ok_or(Error::NotFound)?;
    let deployed = deployments::deployment_of(&mut db, kind).await?;
    let version = shown(&component, role_of(component.digest, kind, deployed.as_ref()));
    let embedded = Embedded::ALL.into_iter().find(|it| digest_of(it.bytes) == component.digest);
    let card = embedded.and_then(|it| it.card).map(|card| card.markdown);
    Ok(Json(ExaminedJson { version: Flat(version), report, card }))
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
