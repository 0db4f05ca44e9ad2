//! By which names a listener is called, which stops DNS rebinding: a web page that points its own name at this machine.

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::app::Settings;

/// Whether an internal service without tokens answers to the name in this request.
pub(super) fn is_allowed(head: &Parts, settings: &Settings) -> bool {
    let mut hosts = head.headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|value| value.to_str().ok()).or(head.uri.host());
    let is_known = host.is_some_and(|host| {
        let name = without_port(host);
        settings.assist_hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    });
    // With two names it would be ambiguous which one counts.
    is_known && hosts.next().is_none()
}

/// Whether the request names the loopback address rather than a name rebound to it.
pub(crate) fn is_local_name(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter().filter_map(|value| value.to_str().ok());
    let is_local = |host: &str| ["localhost", "127.0.0.1", "[::1]"].contains(&without_port(host));
    hosts.next().is_some_and(is_local) && hosts.next().is_none()
}

/// `localhost:8081` and `[::1]:8081` without the port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_removed_from_names_and_addresses() {
        for (host, name) in
            [("localhost:8081", "localhost"), ("localhost", "localhost"), ("[::1]:8081", "[::1]"), ("[::1]", "[::1]")]
        {
            assert_eq!(without_port(host), name);
        }
    }
}
