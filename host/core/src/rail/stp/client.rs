//! HTTP requests to STP.

use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::CONTENT_TYPE;
use tracing::Instrument as _;

use super::settings::SettingsError;
use crate::client::{self, ExchangeError, Transport};
use crate::rail::RailError;
use crate::telemetry::SPANS;

pub(super) use crate::client::Reply;
pub(super) use hyper::Method;

/// SPEI guarantees delivery within 30 seconds; an order that STP has not acknowledged in half that time needs an
/// inquiry.
const REPLY_TIMEOUT: Duration = Duration::from_secs(15);

/// Path of lists of orders.
pub(super) const LIST: &str = "/efws/API/V2/conciliacion";

/// Longest list of a day's orders that is read: a page of some thousand orders.
const LIST_BYTES_MAX: usize = 8 << 20;

pub(super) struct Client {
    http: client::Client,
    lists: client::Client,
    /// Without a trailing slash.
    base: String,
}

impl Client {
    pub(super) fn new(url: &str) -> Result<Self, SettingsError> {
        let transport = Transport::of(url).filter(|_| !url.contains('?')).ok_or(SettingsError::Url)?;
        let client = || client::Client::new(transport, REPLY_TIMEOUT).map_err(SettingsError::Tls);
        let (http, lists) = (client()?, client()?.with_replies_up_to(LIST_BYTES_MAX));
        Ok(Self { http, lists, base: url.trim_end_matches('/').to_owned() })
    }

    pub(super) fn set_reply_timeout(&mut self, timeout: Duration) {
        self.http.reply_timeout = timeout;
        self.lists.reply_timeout = timeout;
    }

    pub(super) async fn exchange(&self, method: Method, path: &str, json: String) -> Result<Reply, RailError> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(json)))
            .map_err(|error| RailError::Unreachable(error.into()))?;
        let span = tracing::debug_span!(target: SPANS, "rail request", otel.kind = "client", rail = "stp");
        let http = if path == LIST { &self.lists } else { &self.http };
        http.exchange(request).instrument(span).await.map_err(|error| match error {
            ExchangeError::Unreachable(error) => RailError::Unreachable(error),
            ExchangeError::Unknown(error) => RailError::Unknown(error),
        })
    }
}
