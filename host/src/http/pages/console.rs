//! `/console`: the page of operators, as it stands in `host/web/console`. It holds no data; what it shows it
//! asks of `/admin/models` with the operator's token.

use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::http::error::Error;
use crate::http::pages::files::{CONSOLE, embedded};

/// Everything comes from this host, nothing stands in the page itself, and no other page may frame it.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page.
pub(crate) async fn page(asked: HeaderMap) -> Result<Response, Error> {
    embedded(CONSOLE, "index.html", &asked, POLICY)
}

/// One of its files.
pub(crate) async fn file(Path(name): Path<String>, asked: HeaderMap) -> Result<Response, Error> {
    embedded(CONSOLE, &name, &asked, POLICY)
}

#[cfg(test)]
mod tests {
    use super::super::files::{BANK, Embedded, SHARED};
    use super::*;

    /// The names that `folder`'s files refer to below this path are among the served files.
    fn asks_only_for_what_is_there(folder: &[Embedded], below: &str, served: &[Embedded]) {
        for (name, bytes) in folder {
            for part in String::from_utf8_lossy(bytes).split(below).skip(1) {
                let asked: String =
                    part.chars().take_while(|it| it.is_ascii_alphanumeric() || ".-".contains(*it)).collect();
                let is_there = served.iter().any(|(it, _)| *it == asked);
                assert!(is_there || !asked.contains('.'), "{name} asks for {asked}");
            }
        }
    }

    #[test]
    fn pages_ask_only_for_files_that_are_served() {
        asks_only_for_what_is_there(CONSOLE, "/console/", CONSOLE);
        asks_only_for_what_is_there(BANK, "/bank/", BANK);
        for page in [CONSOLE, BANK, SHARED] {
            asks_only_for_what_is_there(page, "/shared/", SHARED);
        }
    }
}
