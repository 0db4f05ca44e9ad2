//! The last step of every response: the problem body, headers and the request's id.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use uuid::Uuid;

use crate::http::error::Error;
use crate::http::limits::BODY_BYTES_MAX;
use crate::http::problem::Problem;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// For every response that has no other policy: most are about one user, and none but pages is to be shown.
const DEFAULTS: [(HeaderName, HeaderValue); 4] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
];

pub(super) fn finish(response: &mut Response, path: &str, id: Uuid) {
    describe_problem(response, path, id);
    let is_unauthorized = response.status() == StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    if is_unauthorized {
        // The router adds it to existing paths only; without a token, that would reveal which exist.
        headers.remove(header::ALLOW);
    }
    for (name, value) in DEFAULTS {
        headers.entry(name).or_insert(value);
    }
    let mut text = Uuid::encode_buffer();
    if let Ok(value) = HeaderValue::from_str(id.as_hyphenated().encode_lower(&mut text)) {
        headers.insert(REQUEST_ID, value);
    }
}

/// Writes the body of a failure. A failure with a JSON body is a health report; any other without a
/// [`Problem`] comes from the framework.
fn describe_problem(response: &mut Response, path: &str, id: Uuid) {
    let status = response.status();
    let is_report = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_report || !(status.is_client_error() || status.is_server_error()) {
        return;
    }
    if response.extensions().get::<Problem>().is_none() {
        let described = framework_error(status).into_response();
        response.extensions_mut().extend(described.extensions().clone());
    }
    let problem = response.extensions().get::<Problem>().cloned();
    let Some(problem) = problem else { return };
    *response.body_mut() = problem.to_json(status, path, id).into();
    response.headers_mut().insert(header::CONTENT_TYPE, PROBLEM_JSON);
    response.headers_mut().remove(header::CONTENT_LENGTH);
}

fn framework_error(status: StatusCode) -> Error {
    match status {
        StatusCode::NOT_FOUND => Error::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => Error::MethodNotAllowed,
        StatusCode::PAYLOAD_TOO_LARGE => Error::PayloadTooLarge(BODY_BYTES_MAX),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Error::NotJson,
        status if status.is_client_error() => Error::MalformedJson("The request cannot be parsed.".to_owned()),
        status => Error::Internal(anyhow::anyhow!("a response with status {status} has no problem")),
    }
}
