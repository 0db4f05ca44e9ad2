//! `/console`: the operators' page from `host/web/console`. The files contain no data: the page gets it from
//! `/admin/models` with the operator's token.

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;

use crate::app::App;
use crate::http::error::Error;
use crate::http::pages::files::{CONSOLE, embedded};
use crate::http::pages::sign_in;

/// Nothing inline, nothing from other hosts, no framing.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn page(State(app): State<App>, headers: HeaderMap) -> Result<Response, Error> {
    let policy = sign_in::policy(&app, app.settings.console_sign_in.as_ref(), POLICY);
    embedded(CONSOLE, "index.html", &headers, &policy)
}

pub(crate) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Error> {
    embedded(CONSOLE, &name, &headers, POLICY)
}

#[cfg(test)]
mod tests {
    use super::super::files::{BANK, Embedded, REFERENCE, SHARED, VENDORED};
    use super::*;

    /// Asserts that the files below `path` which `folder` refers to are served.
    fn assert_references_exist(folder: &[Embedded], path: &str, served: &[Embedded]) {
        for Embedded { name, bytes, .. } in folder {
            for part in String::from_utf8_lossy(bytes).split(path).skip(1) {
                let reference: String =
                    part.chars().take_while(|it| it.is_ascii_alphanumeric() || ".-".contains(*it)).collect();
                let is_there = served.iter().any(|it| it.name == reference);
                assert!(is_there || !reference.contains('.'), "{name} refers to {reference}");
            }
        }
    }

    #[test]
    fn pages_refer_only_to_files_that_exist() {
        assert_references_exist(CONSOLE, "/console/", CONSOLE);
        assert_references_exist(BANK, "/bank/", BANK);
        for page in [CONSOLE, REFERENCE] {
            assert_references_exist(page, "/vendored/", VENDORED);
        }
        for page in [CONSOLE, BANK, SHARED] {
            assert_references_exist(page, "/shared/", SHARED);
        }
    }
}
