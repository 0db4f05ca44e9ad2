//! `/reference`: documentation of this listener's API, and the OpenAPI document behind it.

use std::sync::OnceLock;

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use crate::http::error::Error;
use crate::http::openapi::{self, Listener};
use crate::http::pages::files::{NAMED, REFERENCE, embedded};

/// Everything comes from this host. The viewer styles its own elements, and nothing else is in the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn page(headers: HeaderMap) -> Result<Response, Error> {
    embedded(REFERENCE, "index.html", &headers, POLICY)
}

pub(crate) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Error> {
    embedded(REFERENCE, &name, &headers, POLICY)
}

pub(crate) fn document(listener: Listener) -> Response {
    static DOCUMENTS: [OnceLock<Bytes>; 2] = [OnceLock::new(), OnceLock::new()];
    let document = DOCUMENTS[listener as usize].get_or_init(|| openapi::document(listener).to_string().into());
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, NAMED)];
    (headers, document.clone()).into_response()
}
