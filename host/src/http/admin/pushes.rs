//! Pushing a component: `POST /admin/models/{kind}/versions`, and `/admin/models/{kind}/pushes`.

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::Operator;
use crate::auth::reader::Reader;
use crate::db::components::Registered;
use crate::domain::model::ModelKind;
use crate::gate::limits::COMPONENT_BYTES_MAX;
use crate::gate::pushes::PushOutcome;
use crate::gate::report::{Check, CheckOutcome};
use crate::http::admin::signatures::signature_of;
use crate::http::admin::versions::{VERSION_EXAMPLE, kind_of};
use crate::http::error::Error;
use crate::http::extract::read_bytes;
use crate::http::limits::stage::PUSHES;
use crate::schema::{FieldError, answer};

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

/// Examines and registers a component. Responds with 202 and a location if that takes long.
pub(crate) async fn push_version(
    State(app): State<App>,
    operator: Operator,
    Path(kind): Path<String>,
    request: Request,
) -> Result<Response, Error> {
    let kind = kind_of(&kind)?;
    operator.may_change(kind)?;
    let headers = request.headers().clone();
    let arriving = app.pushes.arrive().ok_or(Error::Shed(PUSHES))?;
    let bytes = read_bytes(request, (is_wasm, Error::NotWasm), COMPONENT_BYTES_MAX).await?;
    drop(arriving);
    let signature = signature_of(&headers, &app.settings.model_keys, &bytes)?.map(str::to_owned);
    let pushed = app.pushes.push(kind, bytes.to_vec(), signature, operator.person.name.clone()).await;
    let (digest, outcome) = pushed.map_err(|_| Error::Shed(PUSHES))?;
    // While it lasts, nobody knows, and nobody may come back.
    if outcome.as_ref().is_none_or(|it| it.is_registered()) {
        audit::done(Event::VersionPushed, &operator.person.name, &format_args!("{kind} {digest}"));
    }
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
            let refused = report.checks.iter().filter(|it| it.outcome == CheckOutcome::Refused);
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
