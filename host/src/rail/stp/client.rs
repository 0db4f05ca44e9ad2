//! HTTP requests to STP, with errors that distinguish requests that may have arrived.
//!
//! No retries, no redirects, no proxies.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::anyhow;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::http::uri::Scheme;
use hyper::{Request, StatusCode, Uri};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;
use tower::Service;

use super::settings::SettingsError;
use crate::rail::RailError;

pub(super) use hyper::Method;

/// For TCP and TLS together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// For the whole exchange, including connecting. SPEI guarantees delivery within 30 seconds; an order that
/// STP has not acknowledged in half that time needs an inquiry.
const REPLY_TIMEOUT: Duration = Duration::from_secs(15);

/// STP's replies are one or two kilobytes.
const REPLY_BYTES_MAX: usize = 64 * 1_024;

/// Shorter than most servers' idle timeout: if the server closes the connection during a request, whether it
/// arrived is unknown.
const IDLE_MAX: Duration = Duration::from_secs(20);

const AGENT: &str = concat!("caudal/", env!("CARGO_PKG_VERSION"));

type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub(super) struct Client {
    http: hyper_util::client::legacy::Client<TimedConnector, Full<Bytes>>,
    /// Without a trailing slash.
    base: String,
    pub(super) reply_timeout: Duration,
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Client {
    pub(super) fn new(url: &str) -> Result<Self, SettingsError> {
        let is_secure = is_secure(url).ok_or(SettingsError::Url)?;
        let tls = tls(is_secure).map_err(SettingsError::Tls)?;
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let http = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_MAX)
            .build(TimedConnector(connector.wrap_connector(tcp)));
        Ok(Self { http, base: url.trim_end_matches('/').to_owned(), reply_timeout: REPLY_TIMEOUT })
    }

    pub(super) async fn exchange(&self, method: Method, path: &str, json: String) -> Result<Reply, RailError> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT)
            .body(Full::new(Bytes::from(json)))
            .map_err(|error| RailError::Unreachable(error.into()))?;
        match timeout(self.reply_timeout, self.send(request)).await {
            Ok(reply) => reply,
            Err(_) => Err(RailError::Unknown(anyhow!("no reply within {:?}", self.reply_timeout))),
        }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Reply, RailError> {
        // Only a failure to connect proves that nothing was sent.
        let response = self.http.request(request).await.map_err(|error| match error.is_connect() {
            true => RailError::Unreachable(error.into()),
            false => RailError::Unknown(error.into()),
        })?;
        let status = response.status();
        let body = Limited::new(response.into_body(), REPLY_BYTES_MAX).collect().await;
        let body = body.map_err(|error| RailError::Unknown(anyhow!(error)))?.to_bytes();
        Ok(Reply { status, body })
    }
}

/// Whether a URL uses TLS; `None` if orders must not be sent there.
fn is_secure(url: &str) -> Option<bool> {
    let uri: Uri = url.parse().ok()?;
    let authority = uri.authority()?;
    // Parsing a URI drops its fragment.
    if authority.as_str().contains('@') || uri.query().is_some() || url.contains('#') {
        return None;
    }
    let host = authority.host().trim_matches(['[', ']']);
    let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    match uri.scheme()? {
        scheme if *scheme == Scheme::HTTPS => Some(true),
        scheme if *scheme == Scheme::HTTP && is_loopback => Some(false),
        _ => None,
    }
}

/// Trusts the machine's root certificates, which are read only if TLS is used.
fn tls(is_secure: bool) -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = match is_secure {
        true => config.with_native_roots()?,
        false => config.with_root_certificates(RootCertStore::empty()),
    };
    Ok(config.with_no_client_auth())
}

/// Applies [`CONNECT_TIMEOUT`] to TCP and TLS.
#[derive(Clone)]
struct TimedConnector(HttpsConnector<HttpConnector>);

impl Service<Uri> for TimedConnector {
    type Response = <HttpsConnector<HttpConnector> as Service<Uri>>::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move { timeout(CONNECT_TIMEOUT, connecting).await? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_loopback_only() {
        for (url, want) in [
            ("https://prod.stpmex.com", Some(true)),
            ("https://efws-dev.stpmex.com:7024/gateway/", Some(true)),
            ("http://127.0.0.1:8080", Some(false)),
            ("http://[::1]:8080/", Some(false)),
            ("http://localhost", Some(false)),
            ("http://prod.stpmex.com", None),
            ("http://127.0.0.1.example.com", None),
            ("https://user@prod.stpmex.com", None),
            ("https://prod.stpmex.com/?a", None),
            ("https://prod.stpmex.com/#a", None),
            ("ftp://localhost", None),
            ("prod.stpmex.com", None),
            ("/speiws", None),
            ("", None),
        ] {
            assert_eq!(is_secure(url), want, "{url}");
        }
    }
}
