//! `/reference`: documentation of this listener's API, and the OpenAPI document behind it. The viewer is for those who
//! write programs: it is on the public listener only in the sandbox.

use std::sync::OnceLock;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::http::error::Error;
use crate::http::openapi;
use crate::http::operation::Api;
use crate::http::pages::files::{NAMED, REFERENCE, VENDORED, embedded};
use crate::http::pages::sandbox::minter;

/// Everything comes from this host. The viewer styles its own elements, and nothing else is in the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn page(headers: HeaderMap) -> Result<Response, Error> {
    embedded(REFERENCE, "index.html", &headers, POLICY)
}

/// A library of a page.
pub(crate) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Error> {
    embedded(VENDORED, &name, &headers, POLICY)
}

pub(crate) async fn sandbox_page(State(app): State<App>, headers: HeaderMap) -> Result<Response, Error> {
    minter(&app, &headers)?;
    page(headers).await
}

pub(crate) async fn sandbox_file(
    State(app): State<App>,
    name: Path<String>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    minter(&app, &headers)?;
    file(name, headers).await
}

pub(crate) fn document(api: &Api) -> Response {
    static DOCUMENTS: [OnceLock<Bytes>; 2] = [OnceLock::new(), OnceLock::new()];
    let document = DOCUMENTS[api.callers as usize].get_or_init(|| openapi::document(api).to_string().into());
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, NAMED)];
    (headers, document.clone()).into_response()
}
