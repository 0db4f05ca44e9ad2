//! Health, readiness and metrics.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;

use crate::app::App;
use crate::clock::timestamp;
use crate::db::hosts::HostState;
use crate::domain::model::ModelKind;

#[derive(Serialize)]
struct HealthJson {
    status: &'static str,
    model_loaded: bool,
    model_version: Option<String>,
    models: BTreeMap<&'static str, ModelJson>,
    uptime_seconds: i64,
}

#[derive(Serialize)]
struct ModelJson {
    loaded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Why the deployed version is not active here; another version is.
    #[serde(skip_serializing_if = "Option::is_none")]
    deployment_error: Option<String>,
    /// The deployment that is being loaded; another version answers meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<PendingJson>,
}

#[derive(Serialize)]
struct PendingJson {
    epoch: i64,
    since: String,
}

/// `/ai/health`: the active models. Fails when there is no nudge model.
pub(crate) async fn health(State(app): State<App>) -> Response {
    let registry = app.models.snapshot();
    let models = ModelKind::ALL.iter().map(|kind| {
        let identity = registry.identity(*kind);
        let status = app.models.status(*kind);
        let model = ModelJson {
            loaded: identity.is_some(),
            version: identity.map(|identity| identity.version.to_string()),
            sha256: identity.map(|identity| identity.digest.to_string()),
            deployment_error: status.as_ref().and_then(|it| it.state.detail()).map(str::to_owned),
            pending: status
                .filter(|it| it.state == HostState::Loading)
                .map(|it| PendingJson { epoch: it.epoch, since: timestamp(it.since) }),
        };
        (kind.as_str(), model)
    });
    let nudge = registry.identity(ModelKind::Nudge);
    let body = HealthJson {
        status: if nudge.is_some() { "ok" } else { "fail" },
        model_loaded: nudge.is_some(),
        model_version: nudge.map(|identity| identity.version.to_string()),
        models: models.collect(),
        uptime_seconds: (app.clock.now() - app.started_at).whole_seconds(),
    };
    let status = if nudge.is_some() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

/// `/livez`: the process responds.
pub(crate) async fn livez() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// `/readyz`: the database responds, the ledger accepts commands and every kind has a component.
pub(crate) async fn readyz(State(app): State<App>) -> Response {
    let registry = app.models.snapshot();
    let models = ModelKind::ALL.iter().all(|kind| registry.identity(*kind).is_some());
    let database = match app.db.acquire().await {
        Ok(mut db) => sqlx::Connection::ping(&mut *db).await.is_ok(),
        Err(_) => false,
    };
    let ledger = app.ledger.is_open();
    let ready = models && database && ledger;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let status_text = if ready { "ok" } else { "fail" };
    let checks = json!({"status": status_text, "database": database, "ledger": ledger, "models": models});
    (status, Json(checks)).into_response()
}

/// `/metrics`, in the OpenMetrics text format.
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, content_type)], app.models.metrics().text()).into_response()
}
