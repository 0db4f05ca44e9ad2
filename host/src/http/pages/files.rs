//! Static files for browsers: pages, their modules and models, with headers for security and caching. Not for
//! responses that depend on the user.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::domain::model::Digest;
use crate::http::error::Error;
use crate::wasm::digest_of;

/// For names whose bytes change with the build: revalidate every time.
pub(crate) const NAMED: &str = "no-cache";

/// For names that contain the digest of the bytes: cache for a year.
pub(crate) const BY_DIGEST: &str = "public, max-age=31536000, immutable";

/// What no page here uses, and no script that gets into one should.
const PERMISSIONS: &str = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()";

/// A file compiled into this program.
pub(crate) struct Embedded {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
    /// The same, compressed, if that is smaller.
    pub(crate) gzip: Option<&'static [u8]>,
}

// One constant for each folder the build script lists.
include!(concat!(env!("OUT_DIR"), "/served.rs"));

pub(crate) fn embedded(folder: &[Embedded], name: &str, headers: &HeaderMap, policy: &str) -> Result<Response, Error> {
    let file = folder.iter().find(|it| it.name == name).ok_or(Error::NotFound)?;
    Ok(encoded(headers, file, (policy, NAMED)))
}

/// Responds with a file in an encoding that the client takes. Each encoding has its own ETag, being other bytes.
pub(crate) fn encoded(headers: &HeaderMap, file: &Embedded, (policy, caching): (&str, &'static str)) -> Response {
    let Some(gzip) = file.gzip else {
        return answer(headers, file.name, with_digest(file.bytes), (policy, caching));
    };
    let is_gzip = takes_gzip(headers);
    let bytes = if is_gzip { gzip } else { file.bytes };
    let mut response = answer(headers, file.name, with_digest(bytes), (policy, caching));
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_gzip {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Whether `Accept-Encoding` allows gzip, which every browser does.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut others = false;
    for coding in lists.flat_map(|list| list.split(',')) {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let is_allowed = weight.trim().strip_prefix("q=").is_none_or(|it| it.parse().is_ok_and(|it: f32| it > 0.0));
        match name.trim().to_ascii_lowercase().as_str() {
            "gzip" => return is_allowed,
            "*" => others = is_allowed,
            _ => {}
        }
    }
    others
}

/// Responds with a file that lasts as long as the process.
pub(crate) fn lasting(headers: &HeaderMap, name: &str, bytes: &'static [u8], policy: &str) -> Response {
    answer(headers, name, with_digest(bytes), (policy, NAMED))
}

/// Bytes are hashed once: large ones take milliseconds, and keep a processor from other clients.
fn with_digest(bytes: &'static [u8]) -> (Bytes, Digest) {
    static DIGESTS: LazyLock<Mutex<HashMap<(usize, usize), Digest>>> = LazyLock::new(Mutex::default);
    // A panic leaves no half of an entry.
    let mut digests = DIGESTS.lock().unwrap_or_else(PoisonError::into_inner);
    let digest = *digests.entry((bytes.as_ptr().addr(), bytes.len())).or_insert_with(|| digest_of(bytes));
    drop(digests);
    (Bytes::from_static(bytes), digest)
}

pub(crate) fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("webmanifest") => "application/manifest+json",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

/// Responds with a file that has this digest, or with 304 when the client has it.
pub(crate) fn answer(
    request: &HeaderMap,
    name: &str,
    (bytes, digest): (Bytes, Digest),
    (policy, caching): (&str, &'static str),
) -> Response {
    // Policies are written here, or contain an origin that was parsed from a URI.
    let policy = HeaderValue::from_str(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    let etag = etag(digest);
    let headers: [(HeaderName, HeaderValue); 6] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type(name))),
        (header::CONTENT_SECURITY_POLICY, policy),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("permissions-policy"), HeaderValue::from_static(PERMISSIONS)),
        (header::CACHE_CONTROL, HeaderValue::from_static(caching)),
        (header::ETAG, etag.clone()),
    ];
    if is_known(request, &etag) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, bytes).into_response()
}

pub(crate) fn etag(digest: Digest) -> HeaderValue {
    // Quoted hex digits are always a valid header value.
    HeaderValue::from_str(&format!("\"{digest}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// Whether `If-None-Match` lists this ETag, by the weak comparison of RFC 9110.
pub(crate) fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let Ok(etag) = etag.to_str() else { return false };
    let lists = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).any(|it| it == "*" || it.trim_start_matches("W/") == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand readers of a large file share its bytes.
    #[tokio::test]
    async fn a_file_is_not_copied() {
        let Embedded { name, bytes, gzip } = &VENDORED[0];
        for (encodings, bytes) in [("identity", *bytes), ("gzip, br", gzip.unwrap())].repeat(2) {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(encodings))]);
            let response = embedded(VENDORED, name, &headers, "default-src 'none'").unwrap();
            assert_eq!(response.headers()[header::ETAG], etag(digest_of(bytes)));
            assert_eq!(response.headers()[header::VARY], "accept-encoding");
            assert_eq!(response.headers().contains_key(header::CONTENT_ENCODING), encodings != "identity");
            let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            assert_eq!(body.as_ptr(), bytes.as_ptr());
        }
    }

    #[test]
    fn gzip_is_for_those_who_take_it() {
        for (sent, takes) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("*", true),
            ("gzip;q=0", false),
            ("gzip; q=0, *", false),
            ("*;q=0", false),
            ("identity", false),
            ("gzip;q=x", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, sent.parse().unwrap())]);
            assert_eq!(takes_gzip(&headers), takes, "{sent}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn if_none_match_is_a_list_and_may_be_weak() {
        let etag = HeaderValue::from_static("\"abc\"");
        for (sent, known) in [
            ("\"abc\"", true),
            ("W/\"abc\"", true),
            ("\"x\", \"abc\"", true),
            ("*", true),
            ("\"x\"", false),
            ("abc", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_NONE_MATCH, sent.parse().unwrap());
            assert_eq!(is_known(&headers, &etag), known, "{sent}");
        }
        assert!(!is_known(&HeaderMap::new(), &etag));
    }
}
