//! `/models`: the active models of the published kinds, for pages and workers that score locally. Public,
//! for any origin, and the same for all users: canaries are not published.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::db::components;
use crate::domain::model::ModelKind;
use crate::domain::reason::Words;
use crate::domain::risk::CutOffs;
use crate::http::error::Error;
use crate::http::pages::files::{BY_DIGEST, NAMED, answer, etag, is_known};
use crate::models::publishing::published::File;
use crate::models::publishing::terms::Terms;
use crate::schema::answer;
use crate::wasm::{RISK_2, WIT, digest_of};

const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// Requests carry no token, so another origin cannot misuse them.
const ANY_ORIGIN: [(HeaderName, HeaderValue); 2] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin")),
];

answer! {
    /// The active model of a kind, as files that a page can run.
    pub(crate) struct ActiveJson as "ActiveModel" {
        kind: ModelKind { example: "\"risk\"" },
        model_version: String { example: "\"risk-2.0.0+8efe6cf7\"" },
        /// Digest of the component.
        sha256: String { example: "\"8efe6cf7...\"" },
        /// The contract between a host and the component.
        wit: &'static str { one_of: &[WIT, RISK_2], example: "\"caudal:scoring@1.0.0\"" },
        /// What glue depends on: pages with the same fingerprint can run it.
        abi: String { example: "\"3f2a91c0...\"" },
        core: FileJson,
        glue: FileJson,
        /// By which the host judges scores now. Only of `risk`, like what follows.
        cut_offs: Option<CutOffs>,
        /// SHA-256 of the catalogue of facts from which the host serves models.
        facts: Option<String> { example: "\"5d0c7e2a...\"" },
        /// What the codes of factors and reasons say.
        words: Option<BTreeMap<&'static str, Words>>,
    }
}

answer! {
    /// A file to fetch.
    pub(crate) struct FileJson as "ModelFile" {
        sha256: String { example: "\"0a1b2c3d...\"" },
        bytes: usize { example: "10240" },
        url: String { example: "\"/models/core/0a1b2c3d....wasm\"" },
    }
}

impl FileJson {
    fn new(file: &File, folder: &str, extension: &str) -> Self {
        let sha256 = file.digest.to_string();
        let url = format!("/models/{folder}/{sha256}.{extension}");
        Self { sha256, bytes: file.bytes.len(), url }
    }
}

pub(crate) async fn active(
    State(app): State<App>,
    Path(kind): Path<String>,
    request: HeaderMap,
) -> Result<Response, Error> {
    let kind = ModelKind::parse(&kind).filter(|kind| app.settings.published.contains(kind)).ok_or(Error::NotFound)?;
    let snapshot = app.models.snapshot();
    let (identity, published) = snapshot.published(kind).await.ok_or(Error::NotFound)?;
    let published = published.map_err(Error::NotPublishable)?;
    let (cut_offs, facts, words) = match Terms::of(kind, snapshot.cut_offs(kind)) {
        Some(Terms { cut_offs, facts, words }) => (Some(cut_offs), Some(facts), Some(words)),
        None => Default::default(),
    };
    let body = ActiveJson {
        kind,
        model_version: identity.version.to_string(),
        sha256: identity.digest.to_string(),
        wit: published.wit,
        abi: published.abi.to_string(),
        core: FileJson::new(&published.core, "core", "wasm"),
        glue: FileJson::new(&published.glue, "glue", "js"),
        cut_offs,
        facts,
        words,
    };
    let body = serde_json::to_vec(&body).map_err(|error| Error::Internal(error.into()))?;
    // Pages that follow see every change, of cut-offs too.
    let etag = etag(digest_of(&body));
    let is_known = is_known(&request, &etag);
    let headers = [(header::CACHE_CONTROL, HeaderValue::from_static(NAMED)), (header::ETAG, etag)];
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, ANY_ORIGIN, headers).into_response());
    }
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok((ANY_ORIGIN, headers, json, body).into_response())
}

pub(crate) async fn core(
    State(app): State<App>,
    Path(name): Path<String>,
    request: HeaderMap,
) -> Result<Response, Error> {
    by_digest(&app, &name, ".wasm", &request).await
}

/// The component that a core is taken from, which is what is signed.
pub(crate) async fn component(
    State(app): State<App>,
    Path(name): Path<String>,
    request: HeaderMap,
) -> Result<Response, Error> {
    by_digest(&app, &name, ".wasm", &request).await
}

/// The signature of a published component. One may be added later, so it is not cached.
pub(crate) async fn signature(State(app): State<App>, Path(name): Path<String>) -> Result<Response, Error> {
    let digest = name.strip_suffix(".sig").ok_or(Error::NotFound)?;
    let component = find(&app, digest).await?;
    let found = components::signature_of(&mut *app.db.acquire().await?, component.digest).await?;
    let signature = found.ok_or(Error::NotFound)?.signature;
    let headers = [(header::CACHE_CONTROL, HeaderValue::from_static(NAMED))];
    Ok((ANY_ORIGIN, headers, signature).into_response())
}

pub(crate) async fn glue(
    State(app): State<App>,
    Path(name): Path<String>,
    request: HeaderMap,
) -> Result<Response, Error> {
    by_digest(&app, &name, ".js", &request).await
}

async fn find(app: &App, digest: &str) -> Result<File, Error> {
    if let Some(file) = app.models.shelf().find(digest) {
        return Ok(file);
    }
    // Another host may have announced it: hosts have the same active models.
    let snapshot = app.models.snapshot();
    for kind in &app.settings.published {
        let _ = snapshot.published(*kind).await;
    }
    app.models.shelf().find(digest).ok_or(Error::NotFound)
}

async fn by_digest(app: &App, name: &str, extension: &str, request: &HeaderMap) -> Result<Response, Error> {
    let digest = name.strip_suffix(extension).ok_or(Error::NotFound)?;
    let file = find(app, digest).await?;
    // All types of file are found by digest; the extension must match.
    if file.is_wasm() != (extension == ".wasm") {
        return Err(Error::NotFound);
    }
    let bytes = Bytes::from_owner(Arc::clone(&file.bytes));
    Ok((ANY_ORIGIN, answer(request, name, (bytes, file.digest), (POLICY, BY_DIGEST))).into_response())
}
