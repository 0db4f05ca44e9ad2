//! `/console`: the page of operators, as it stands in `host/web/console`. It holds no data; what it shows it
//! asks of `/admin/models` with the operator's token.

use axum::extract::Path;
use axum::http::HeaderName;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};

use super::error::Error;

/// Everything comes from this host, nothing stands in the page itself, and no other page may frame it.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const INDEX: &str = include_str!("../../web/console/index.html");

macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../web/console/", $name)))
    };
}

/// Beside the page.
const FILES: [(&str, &str); 17] = [
    file!("api.js"),
    file!("card.js"),
    file!("changes.js"),
    file!("console.css"),
    file!("console.js"),
    file!("dialog.js"),
    file!("dom.js"),
    file!("history.js"),
    file!("kinds.js"),
    file!("plot.js"),
    file!("problems.js"),
    file!("push.js"),
    file!("report.js"),
    file!("service.js"),
    file!("state.js"),
    file!("versions.js"),
    file!("words.js"),
];

/// The page.
pub(super) async fn page() -> Response {
    answer("text/html; charset=utf-8", INDEX)
}

/// One of its files.
pub(super) async fn file(Path(name): Path<String>) -> Result<Response, Error> {
    let (name, text) = FILES.iter().find(|(it, _)| *it == name).ok_or(Error::NotFound)?;
    let content_type =
        if name.ends_with(".css") { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
    Ok(answer(content_type, text))
}

fn answer(content_type: &'static str, text: &'static str) -> Response {
    let headers: [(HeaderName, &'static str); 5] = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        // Another build brings other files under the same names.
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("web/console");
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "index.html")
            .collect();
        names.sort();
        let mut served = FILES.map(|(name, _)| name.to_owned()).to_vec();
        served.sort();
        assert_eq!(names, served);
        // What the files ask for is there too.
        for (name, text) in FILES.iter().chain(&[("index.html", INDEX)]) {
            for part in text.split("/console/").skip(1) {
                let asked: String =
                    part.chars().take_while(|it| it.is_ascii_alphanumeric() || ".-".contains(*it)).collect();
                assert!(asked.is_empty() || FILES.iter().any(|(it, _)| *it == asked), "{name} asks for {asked}");
            }
        }
    }
}
