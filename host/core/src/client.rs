//! HTTP requests to payment rails, the OpenID provider, the OpenTelemetry collector and webhooks, and from operators'
//! commands to a host.
//!
//! No retries, no redirects, no proxies. An error tells whether the request may have arrived.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{HeaderValue, USER_AGENT};
use hyper::http::uri::Scheme;
use hyper::{Request, StatusCode, Uri};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;
use tower::Service;

/// For TCP and TLS together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Shorter than most servers' idle timeout: if the server closes the connection during a request, whether it
/// arrived is unknown.
const IDLE_MAX: Duration = Duration::from_secs(20);

/// Largest reply, usually. Those of a rail have one or two kilobytes, a set of keys ten.
const REPLY_BYTES_MAX: usize = 64 << 10;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("caudal/", env!("CARGO_PKG_VERSION")));

type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub struct Client {
    http: hyper_util::client::legacy::Client<TimedConnector, Full<Bytes>>,
    /// For the whole exchange, including connecting.
    pub(crate) reply_timeout: Duration,
    reply_bytes_max: usize,
}

#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub body: Bytes,
}

#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The request was not sent.
    #[error("the service is unreachable")]
    Unreachable(#[source] anyhow::Error),
    /// The request may have arrived.
    #[error("there is no usable reply")]
    Unknown(#[source] anyhow::Error),
}

impl Client {
    /// Reads the machine's root certificates, or the file that `SSL_CERT_FILE` names, if TLS is used.
    pub(crate) fn new(transport: Transport, reply_timeout: Duration) -> Result<Self> {
        Self::identified(transport, reply_timeout, None)
    }

    /// With a certificate for servers that ask for one.
    pub fn identified(transport: Transport, reply_timeout: Duration, identity: Option<&Identity>) -> Result<Self> {
        let tls = tls(transport, identity)?;
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let http = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_MAX)
            .build(TimedConnector(connector.wrap_connector(tcp)));
        Ok(Self { http, reply_timeout, reply_bytes_max: REPLY_BYTES_MAX })
    }

    pub fn with_replies_up_to(self, reply_bytes_max: usize) -> Self {
        Self { reply_bytes_max, ..self }
    }

    pub async fn exchange(&self, mut request: Request<Full<Bytes>>) -> Result<Reply, ExchangeError> {
        request.headers_mut().insert(USER_AGENT, AGENT);
        match timeout(self.reply_timeout, self.send(request)).await {
            Ok(reply) => reply,
            Err(_) => Err(ExchangeError::Unknown(anyhow!("no reply within {:?}", self.reply_timeout))),
        }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Reply, ExchangeError> {
        // Only a failure to connect proves that nothing was sent.
        let response = self.http.request(request).await.map_err(|error| match error.is_connect() {
            true => ExchangeError::Unreachable(error.into()),
            false => ExchangeError::Unknown(error.into()),
        })?;
        let status = response.status();
        let body = Limited::new(response.into_body(), self.reply_bytes_max).collect().await;
        let body = body.map_err(|error| ExchangeError::Unknown(anyhow!(error)))?.to_bytes();
        Ok(Reply { status, body })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Tls,
    /// Without TLS, to this machine only.
    Loopback,
}

impl Transport {
    /// How to reach a URL; `None` if nothing must be sent there.
    pub fn of(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let authority = uri.authority()?;
        // Parsing a URI drops its fragment.
        if authority.as_str().contains('@') || url.contains('#') {
            return None;
        }
        let host = authority.host().trim_matches(['[', ']']);
        let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        match uri.scheme()? {
            scheme if *scheme == Scheme::HTTPS => Some(Self::Tls),
            scheme if *scheme == Scheme::HTTP && is_loopback => Some(Self::Loopback),
            _ => None,
        }
    }
}

/// A certificate and its private key, as PEM.
pub struct Identity {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
}

fn tls(transport: Transport, identity: Option<&Identity>) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = match transport {
        Transport::Tls => config.with_native_roots()?,
        Transport::Loopback => config.with_root_certificates(RootCertStore::empty()),
    };
    let Some(Identity { certificate, key }) = identity else { return Ok(config.with_no_client_auth()) };
    let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>().context("malformed PEM")?;
    let key = PrivateKeyDer::from_pem_slice(key).context("the key is not an unencrypted PEM file")?;
    Ok(config.with_client_auth_cert(chain, key)?)
}

/// Applies [`CONNECT_TIMEOUT`] to TCP and TLS.
#[derive(Clone)]
struct TimedConnector(HttpsConnector<HttpConnector>);

impl Service<Uri> for TimedConnector {
    type Response = <HttpsConnector<HttpConnector> as Service<Uri>>::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Task<'_>) -> Poll<Result<(), BoxError>> {
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
            ("https://prod.stpmex.com", Some(Transport::Tls)),
            ("https://efws-dev.stpmex.com:7024/gateway/", Some(Transport::Tls)),
            ("https://login.example.com/keys?policy=a", Some(Transport::Tls)),
            ("http://127.0.0.1:8080", Some(Transport::Loopback)),
            ("http://[::1]:8080/", Some(Transport::Loopback)),
            ("http://localhost", Some(Transport::Loopback)),
            ("http://prod.stpmex.com", None),
            ("http://127.0.0.1.example.com", None),
            ("https://user@prod.stpmex.com", None),
            ("https://prod.stpmex.com/#a", None),
            ("ftp://localhost", None),
            ("prod.stpmex.com", None),
            ("/speiws", None),
            ("", None),
        ] {
            assert_eq!(Transport::of(url), want, "{url}");
        }
    }
}
