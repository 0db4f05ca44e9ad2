//! HTTP to STP: one request, one answer, both kept small, and a clear word on which of them went missing.
//!
//! Knows nothing of orders. Nothing is sent twice, no redirect is followed, and no proxy is asked.

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

use super::super::RailError;
use super::SettingsError;

pub(super) use hyper::Method;

/// How long TCP and TLS may take to connect. Far more than either needs; what cannot be reached in it is
/// better tried again later.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// How long an answer may take as a whole, connecting included. SPEI itself is to deliver within 30
/// seconds, so an order that STP has not even taken in half of that is one to ask after.
const ANSWER_PATIENCE: Duration = Duration::from_secs(15);

/// Largest answer that is read: those of STP have one or two thousand bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1_024;

/// Connections without work are closed after this time, before most servers lose patience: a request
/// sent while the other side closes is one whose fate is not known.
const IDLE_MAX: Duration = Duration::from_secs(20);

/// Whom STP sees.
const AGENT: &str = concat!("caudal/", env!("CARGO_PKG_VERSION"));

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Sends requests to one place.
pub(super) struct Client {
    http: hyper_util::client::legacy::Client<Patient, Full<Bytes>>,
    /// Without a slash at its end.
    base: String,
    pub(super) patience: Duration,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Client {
    /// For the API at a URL.
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
            .build(Patient(connector.wrap_connector(tcp)));
        Ok(Self { http, base: url.trim_end_matches('/').to_owned(), patience: ANSWER_PATIENCE })
    }

    /// Sends JSON to a path and waits for the answer.
    pub(super) async fn exchange(&self, method: Method, path: &str, json: String) -> Result<Reply, RailError> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT)
            .body(Full::new(Bytes::from(json)))
            .map_err(|error| RailError::Unreached(error.into()))?;
        match timeout(self.patience, self.answer(request)).await {
            Ok(reply) => reply,
            Err(_) => Err(RailError::Unknown(anyhow!("no answer within {:?}", self.patience))),
        }
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Result<Reply, RailError> {
        // Only a failure to connect says for sure that nothing was sent.
        let response = self.http.request(request).await.map_err(|error| match error.is_connect() {
            true => RailError::Unreached(error.into()),
            false => RailError::Unknown(error.into()),
        })?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| RailError::Unknown(anyhow!(error)))?.to_bytes();
        Ok(Reply { status, body })
    }
}

/// Whether a URL asks for TLS; none if orders should not go there.
fn is_secure(url: &str) -> Option<bool> {
    let uri: Uri = url.parse().ok()?;
    let authority = uri.authority()?;
    // A fragment is dropped when a URI is read, so it is looked for in the text.
    if authority.as_str().contains('@') || uri.query().is_some() || url.contains('#') {
        return None;
    }
    let host = authority.host().trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    match uri.scheme()? {
        scheme if *scheme == Scheme::HTTPS => Some(true),
        scheme if *scheme == Scheme::HTTP && is_here => Some(false),
        _ => None,
    }
}

/// TLS that trusts the machine's authorities; without TLS there is no need to look for them.
fn tls(is_secure: bool) -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = match is_secure {
        true => config.with_native_roots()?,
        false => config.with_root_certificates(RootCertStore::empty()),
    };
    Ok(config.with_no_client_auth())
}

/// A connector that gives up after [`CONNECT_PATIENCE`], also in the middle of TLS.
#[derive(Clone)]
struct Patient(HttpsConnector<HttpConnector>);

impl Service<Uri> for Patient {
    type Response = <HttpsConnector<HttpConnector> as Service<Uri>>::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move { timeout(CONNECT_PATIENCE, connecting).await? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_go_over_tls_or_stay_on_this_machine() {
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
