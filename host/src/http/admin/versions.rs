//! `/admin/models`: the registry of components and what serves. For operators, on the internal
//! listener, with a bearer token of the scope `models:admin` (`rules:admin` to change transfer rules).

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::app::App;
use crate::db::components::{self, Component, Registered};
use crate::db::deployments::{self, Deployment};
use crate::domain::model::{Digest, ModelKind, PolicyClass};
use crate::gate::pushes::Pushed;
use crate::gate::report::{COMPONENT_BYTES_MAX, Check, Outcome};
use crate::http::admin::deployment::VERSION_EXAMPLE;
use crate::http::auth::Operator;
use crate::http::error::Error;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::models::Embedded;
use crate::models::deploying::catalog;
use crate::schema::{FieldError, Flat, answer};

pub(crate) fn kind_of(text: &str) -> Result<ModelKind, Error> {
    ModelKind::parse(text).ok_or(Error::NotFound)
}

answer! {
    /// A registered version.
    pub(crate) struct VersionJson as "Version" {
        model_version: String { example: VERSION_EXAMPLE },
        kind: ModelKind { example: "\"risk\"" },
        sha256: String { example: "\"8efe6cf7...\"" },
        class: PolicyClass { example: "\"pure\"" },
        bytes: i64 { example: "10240" },
        /// It came with the program.
        built_in: bool { example: "true" },
        registered_by: String { example: "\"ops\"" },
        registered_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        role: &'static str { one_of: &ROLES, example: "\"champion\"" },
    }
}

/// What a version can be to what serves.
const ROLES: [&str; 5] = ["champion", "canary", "shadow", "previous", "registered"];

answer! {
    /// A version with what the gate found.
    pub(crate) struct ExaminedJson as "ExaminedVersion" {
        version: Flat<VersionJson>,
        /// What the gate found; null for what came with the program.
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
    }
}

answer! {
    /// Every kind.
    pub(crate) struct ModelsJson as "Models" {
        models: Vec<KindJson>,
    }
}

answer! {
    /// A version that passed the gate.
    pub(crate) struct PushedJson as "PushedVersion" {
        model_version: String { example: VERSION_EXAMPLE },
        /// What the gate found.
        report: Value,
    }
}

answer! {
    /// An examination that goes on.
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

/// What a component is to what serves.
fn role_of(digest: Digest, kind: ModelKind, deployed: Option<&Deployment>) -> &'static str {
    match deployed {
        Some(it) if it.champion == digest => "champion",
        Some(it) if it.canary.is_some_and(|it| it.digest == digest) => "canary",
        Some(it) if it.shadows.contains(&digest) => "shadow",
        Some(it) if it.previous == digest => "previous",
        None if catalog::built_in(kind) == Some(digest) => "champion",
        _ => "registered",
    }
}

/// Every kind with its versions and what serves.
pub(crate) async fn list_models(State(app): State<App>, _: Operator) -> Result<Json<ModelsJson>, Error> {
    let mut db = app.db.acquire().await?;
    let deployed = deployments::deployments(&mut db).await?;
    let mut kinds: BTreeMap<&str, Vec<VersionJson>> =
        ModelKind::ALL.iter().map(|kind| (kind.as_str(), vec![])).collect();
    for component in components::list(&mut db).await? {
        let of_kind = deployed.iter().find(|it| it.kind == component.kind);
        let role = role_of(component.digest, component.kind, of_kind);
        kinds.entry(component.kind.as_str()).or_default().push(shown(&component, role));
    }
    let epoch = |kind: &str| deployed.iter().find(|it| it.kind.as_str() == kind).map_or(0, |it| it.epoch);
    let models = kinds.into_iter().map(|(kind, versions)| KindJson { kind, epoch: epoch(kind), versions });
    Ok(Json(ModelsJson { models: models.collect() }))
}

/// Takes a component through the gate, and registers it. What takes long goes on by itself: 202, and where
/// to look.
pub(crate) async fn push_version(
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
    let bytes = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Error::PayloadTooLarge(COMPONENT_BYTES_MAX),
        _ => Error::invalid(StatusCode::BAD_REQUEST, "", "broken-off", "The body broke off before its end"),
    })?;
    let pushed = app.pushes.push(kind, bytes.to_vec(), operator.name).await;
    let (digest, pushed) = pushed.map_err(|_| Error::Overloaded)?;
    match pushed {
        Some(pushed) => ended(kind, &pushed),
        None => under_way(kind, &digest.to_string()),
    }
}

/// How the examination of the bytes with this sha256 stands: as the answer to the push would be.
pub(crate) async fn get_push(
    State(app): State<App>,
    _: Operator,
    Path((kind, sha256)): Path<(String, String)>,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    match app.pushes.look(kind, &sha256).ok_or(Error::NotFound)? {
        Some(pushed) => ended(kind, &pushed),
        None => under_way(kind, &sha256),
    }
}

fn under_way(kind: ModelKind, sha256: &str) -> Result<Response, Error> {
    let place = located(format!("/admin/models/{kind}/pushes/{sha256}"))?;
    Ok((StatusCode::ACCEPTED, [place], Json(UnderWayJson { state: "under way" })).into_response())
}

fn ended(kind: ModelKind, pushed: &Pushed) -> Result<Response, Error> {
    match pushed {
        Pushed::Refused(report) => {
            let refused = report.checks.iter().filter(|it| it.outcome == Outcome::Refused);
            Err(Error::ComponentRefused(refused.map(fault).collect()))
        }
        Pushed::Accepted { registered: Registered::VersionTaken, .. } => Err(Error::VersionTaken),
        Pushed::Accepted { version, registered, report } => {
            let status = if *registered == Registered::New { StatusCode::CREATED } else { StatusCode::OK };
            let version = version.as_str();
            let place = located(format!("/admin/models/{kind}/versions/{}", version.replace('+', "%2B")))?;
            let report = serde_json::to_value(report).map_err(|error| Error::Internal(error.into()))?;
            let body = PushedJson { model_version: version.to_owned(), report };
            Ok((status, [place], Json(body)).into_response())
        }
        Pushed::Failed(why) => Err(Error::Internal(anyhow::anyhow!("{why}"))),
    }
}

fn located(path: String) -> Result<(HeaderName, HeaderValue), Error> {
    let value = HeaderValue::try_from(path).map_err(|error| Error::Internal(error.into()))?;
    Ok((header::LOCATION, value))
}

fn fault(check: &Check) -> FieldError {
    FieldError { field: check.name.clone(), code: "refused".into(), detail: check.detail.clone() }
}

/// One version, with what the gate found and, where training wrote one, the model's card.
pub(crate) async fn get_version(
    State(app): State<App>,
    _: Operator,
    Path((kind, version)): Path<(String, String)>,
) -> Result<Json<ExaminedJson>, Error> {
    let kind = kind_of(&kind)?;
    let mut db = app.db.acquire().await?;
    let (component, report) = find(&mut db, kind, &version).await?.ok_or(Error::NotFound)?;
    let deployed = deployments::deployment_of(&mut db, kind).await?;
    let version = shown(&component, role_of(component.digest, kind, deployed.as_ref()));
    let embedded = Embedded::ALL.into_iter().find(|it| catalog::digest_of(it.bytes) == component.digest);
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
