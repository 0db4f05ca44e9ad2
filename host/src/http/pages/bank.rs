//! `/`: the bank's page from `host/web/bank`, and under `/scorers` the package of `components/js`, with which it
//! scores in the browser. The files contain no data: the page gets it from the API with the user's token.

use std::sync::OnceLock;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::http::error::Error;
use crate::http::pages::files::{
    ASSETS, BANK, BY_DIGEST, Embedded, NAMED, SCORERS, SHARED, embedded, encoded, lasting,
};
use crate::http::pages::sign_in;
use crate::models::publishing::package::{self, PackageFile};

#[path = "../../../build/modules.rs"]
mod modules;

/// Nothing inline, nothing from other hosts, no framing, and no text becomes markup: the only trusted type is the
/// address of the offline worker. The package compiles WebAssembly.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types offline-worker";

pub(crate) async fn page(State(app): State<App>, headers: HeaderMap) -> Result<Response, Error> {
    let policy = sign_in::policy(&app, app.settings.sign_in.as_ref(), POLICY);
    embedded(BANK, "index.html", &headers, &policy)
}

pub(crate) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Error> {
    embedded(BANK, &name, &headers, POLICY)
}

/// A script or sheet that the page is made of. During an upgrade, a page may ask a host of another release for it: that
/// release's file is better than none, but must be revalidated.
pub(crate) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Error> {
    if let Some(file) = ASSETS.iter().find(|it| it.name == name) {
        return Ok(encoded(&headers, file, (POLICY, BY_DIGEST)));
    }
    let is_of_kind =
        |it: &&Embedded| name.starts_with("bank-") && it.name.rsplit('.').next() == name.rsplit('.').next();
    let file = ASSETS.iter().find(is_of_kind).ok_or(Error::NotFound)?;
    Ok(encoded(&headers, file, (POLICY, NAMED)))
}

/// The worker that serves the page offline. Its folder is what it may serve.
pub(crate) async fn offline_worker(headers: HeaderMap) -> Result<Response, Error> {
    embedded(BANK, "offline-worker.js", &headers, POLICY)
}

/// A module that this page and the console share.
pub(crate) async fn shared(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Error> {
    embedded(SHARED, &name, &headers, POLICY)
}

/// A generated file of the package. All of them are generated on the first request for one.
pub(crate) async fn generated(
    State(app): State<App>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    static GENERATED: OnceLock<Vec<PackageFile>> = OnceLock::new();
    let files = match GENERATED.get() {
        Some(files) => files,
        None => {
            let runtime = app.runtime.clone();
            let generated = spawn_blocking(move || anyhow::Ok(with_page(package::files(&runtime)?)?)).await;
            let generated = generated.map_err(|error| Error::Internal(error.into()))?;
            let generated = generated.map_err(Error::Internal)?;
            GENERATED.get_or_init(|| generated)
        }
    };
    let (_, bytes) = files.iter().find(|(it, _)| *it == path).ok_or(Error::NotFound)?;
    Ok(lasting(&headers, &path, bytes, POLICY))
}

/// With everything but the cores as one module, for this page: a request for each of its files would take longer.
fn with_page(mut files: Vec<PackageFile>) -> anyhow::Result<Vec<PackageFile>> {
    let read = |path: &std::path::Path| {
        let name = path.to_string_lossy();
        let generated = name.strip_prefix("dist/").and_then(|name| files.iter().find(|(it, _)| it == name));
        let own = || SCORERS.iter().find(|it| name.strip_prefix("src/") == Some(it.name)).map(|it| it.bytes);
        let bytes = generated.map(|(_, bytes)| &**bytes).or_else(own);
        bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).ok_or_else(|| format!("there is no {name}"))
    };
    let page = modules::script("src/browser.js".as_ref(), &read).map_err(anyhow::Error::msg)?;
    files.push(("entry/page.js".to_owned(), page.into_bytes()));
    Ok(files)
}
