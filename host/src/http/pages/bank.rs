//! `/`: the bank's page, as it stands in `host/web/bank`, and under `/scorers` the package of `components/js`
//! with which it scores by itself. No data is in it: what it shows it asks of the API with the person's token.

use std::sync::OnceLock;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::http::error::Error;
use crate::http::pages::files::{BANK, NAMED, SCORERS, SHARED, answer, embedded};
use crate::models::publishing::package::{self, PackageFile};

/// Everything comes from this host, nothing stands in the page itself, no other page may frame it, and no text
/// becomes markup. The modules in it compile WebAssembly.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// The page.
pub(crate) async fn page(asked: HeaderMap) -> Result<Response, Error> {
    embedded(BANK, "index.html", &asked, POLICY)
}

/// One of its files.
pub(crate) async fn file(Path(name): Path<String>, asked: HeaderMap) -> Result<Response, Error> {
    embedded(BANK, &name, &asked, POLICY)
}

/// A module that this page and the console share.
pub(crate) async fn shared(Path(name): Path<String>, asked: HeaderMap) -> Result<Response, Error> {
    embedded(SHARED, &name, &asked, POLICY)
}

/// A module of the package.
pub(crate) async fn module(Path(name): Path<String>, asked: HeaderMap) -> Result<Response, Error> {
    embedded(SCORERS, &name, &asked, POLICY)
}

/// A generated file of the package: it is made once, when somebody first asks for one.
pub(crate) async fn generated(
    State(app): State<App>,
    Path(path): Path<String>,
    asked: HeaderMap,
) -> Result<Response, Error> {
    static GENERATED: OnceLock<Vec<PackageFile>> = OnceLock::new();
    let files = match GENERATED.get() {
        Some(files) => files,
        None => {
            let made = spawn_blocking(move || package::files(&app.runtime)).await;
            let made = made.map_err(|error| Error::Internal(error.into()))?;
            let made = made.map_err(|error| Error::Internal(error.into()))?;
            GENERATED.get_or_init(|| made)
        }
    };
    let (_, bytes) = files.iter().find(|(it, _)| *it == path).ok_or(Error::NotFound)?;
    Ok(answer(&asked, &path, bytes.as_slice(), (POLICY, NAMED)))
}
