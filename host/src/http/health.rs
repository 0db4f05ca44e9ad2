//! Health, readiness and metrics.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use time::OffsetDateTime;

use crate::db::hosts::HostState;
use crate::db::pulse::Weakness;
use crate::domain::model::ModelKind;
use crate::schema::answer;

answer! {
    /// Which models are loaded.
    pub(crate) struct HealthJson as "Health" {
        status: &'static str { one_of: &["ok", "fail"], example: "\"ok\"" },
        /// Whether a nudge model is loaded.
        model_loaded: bool { example: "true" },
        /// Version of the nudge model.
        model_version: Option<String> { nullable: true, example: "\"nudge-1.0.0+0a1b2c3d\"" },
        /// By kind.
        models: BTreeMap<&'static str, ModelJson>,
        uptime_seconds: i64 { unit: "s", example: "3600" },
    }
}

answer! {
    /// The model of a kind.
    pub(crate) struct ModelJson as "LoadedModel" {
        loaded: bool { example: "true" },
        version: Option<String> { example: "\"risk-2.0.0+8efe6cf7\"" },
        sha256: Option<String> { example: "\"8efe6cf7...\"" },
        /// Why another version than the deployed one is active on this host.
        deployment_error: Option<String> { example: "\"the component does not load\"" },
        /// The deployment being loaded; another version answers in the meantime.
        pending: Option<PendingJson>,
    }
}

answer! {
    /// A deployment being loaded.
    pub(crate) struct PendingJson as "PendingDeployment" {
        epoch: i64 { example: "4" },
        since: OffsetDateTime,
    }
}

answer! {
    /// The process is alive.
    pub(crate) struct LivenessJson as "Liveness" {
        status: &'static str { one_of: &["ok"], example: "\"ok\"" },
    }
}

answer! {
    /// Whether the host can serve.
    pub(crate) struct ReadinessJson as "Readiness" {
        status: &'static str { one_of: &["ok", "fail"], example: "\"ok\"" },
        /// Whether the database responds, and confirms what is written.
        database: bool { example: "true" },
        /// What an operator has to do about the database, or this host's clock.
        detail: Option<String> { example: "\"set synchronous_standby_names in Postgres\"" },
        /// Whether the ledger accepts commands: not while this host's clock differs from the database's.
        ledger: bool { example: "true" },
        /// Whether every kind has a model.
        models: bool { example: "true" },
        /// Whether tokens can be verified.
        tokens: bool { example: "true" },
    }
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
                .map(|it| PendingJson { epoch: it.epoch, since: it.since }),
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
    Json(LivenessJson { status: "ok" }).into_response()
}

/// `/readyz`: the database responds and confirms what is written, the ledger accepts commands, every kind has a
/// component and tokens can be verified.
pub(crate) async fn readyz(State(app): State<App>) -> Response {
    let registry = app.models.snapshot();
    let models = ModelKind::ALL.iter().all(|kind| registry.identity(*kind).is_some());
    // Without a turn: that requests wait does not make the host unready.
    let database = app.pulse.check(&app.db, &app.barrier, &app.clock).await;
    let detail = database.as_ref().err().and_then(Weakness::detail);
    let wrong_clock = matches!(database, Err(Weakness::Clock(_)));
    let database = database.is_ok() || wrong_clock;
    let ledger = app.ledger.is_open() && !wrong_clock;
    let tokens = app.tokens.is_ready();
    let ready = models && database && ledger && tokens;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let status_text = if ready { "ok" } else { "fail" };
    let checks = ReadinessJson { status: status_text, database, detail, ledger, models, tokens };
    (status, Json(checks)).into_response()
}

/// `/metrics`, in the OpenMetrics text format. Asks nobody, so any number of requests is harmless.
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, content_type)], app.metrics_text()).into_response()
}
