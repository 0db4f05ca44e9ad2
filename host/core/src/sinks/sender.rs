//! Sends events: as signed HTTP requests, several in one, or singly to NATS JetStream.

use std::time::Duration;

use async_nats::ConnectOptions;
use async_nats::connection::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::CONTENT_TYPE;
use ring::digest::{SHA256, digest};
use ring::hmac;
use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::client::{Client, Transport};
use crate::domain::sink::{Kind, Sink};
use crate::outbox::Envelope;
use crate::sealing::ChainKey;

/// Longest wait for an answer to an event. Standard Webhooks recommends 15 to 30 s; while a sink takes longer than this,
/// a host delivers to it less than it could to others.
pub const TIME_MAX: Duration = Duration::from_secs(10);

/// Longest wait for the first connection to a server.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

const CONNECT_POLL_EVERY: Duration = Duration::from_millis(20);

/// Largest answer: nothing in it is read.
pub const REPLY_BYTES_MAX: usize = 4 << 10;

/// Longest error that is kept of a delivery, in characters.
const ERROR_CHARS_MAX: usize = 300;

/// The header by which a stream recognises an event that it has.
const MESSAGE_ID: &str = "Nats-Msg-Id";

/// Subjects are this and the type.
const SUBJECT: &str = "caudal";

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

/// How a sink of a kind is reached; `None` if nothing must be sent there.
fn transport(kind: Kind, url: &str) -> Option<Transport> {
    match kind {
        Kind::Webhook => Transport::of(url),
        Kind::Nats => {
            let (scheme, rest) = url.split_once("://")?;
            let like = match scheme {
                "tls" => "https",
                "nats" => "http",
                _ => return None,
            };
            Transport::of(&format!("{like}://{rest}"))
        }
    }
}

/// # Errors
/// With what is wrong with the URL.
pub fn check_url(kind: Kind, url: &str) -> Result<(), &'static str> {
    transport(kind, url).map(drop).ok_or(match kind {
        Kind::Webhook => "must be https://, or http:// on this machine, without credentials or fragment",
        Kind::Nats => "must be tls://, or nats:// on this machine, without credentials",
    })
}

/// What a sink and this bank share, as it is given to the sink's operator.
pub fn secret_of(key: &ChainKey, sink_id: Uuid) -> String {
    format!("whsec_{}", STANDARD.encode(key.sink_secret(sink_id)))
}

/// Sends to one sink.
#[expect(clippy::large_enum_variant, reason = "there is one per sink")]
pub enum Sender {
    Webhook { client: Client, url: String, secret: hmac::Key },
    Nats(async_nats::Client),
}

/// The answer of JetStream.
#[derive(Deserialize)]
struct Ack {
    stream: Option<String>,
    error: Option<Value>,
}

impl Sender {
    pub(super) async fn open(sink: &Sink, key: &ChainKey) -> Result<Self, Unusable> {
        let unusable = |error: String| Unusable(brief(error));
        let reached = Kind::parse(&sink.kind).and_then(|kind| Some((kind, transport(kind, &sink.url)?)));
        let (kind, transport) =
            reached.ok_or_else(|| unusable("its URL is not one that events may be sent to".to_owned()))?;
        match kind {
            Kind::Webhook => {
                let client = Client::new(transport, TIME_MAX).map_err(|error| unusable(format!("{error:#}")))?;
                let (client, url) = (client.with_replies_up_to(REPLY_BYTES_MAX), sink.url.clone());
                let secret = hmac::Key::new(hmac::HMAC_SHA256, &key.sink_secret(sink.id));
                Ok(Self::Webhook { client, url, secret })
            }
            Kind::Nats => {
                let (user, password) = (sink.id.to_string(), secret_of(key, sink.id));
                let options = ConnectOptions::with_user_and_password(user, password)
                    .name("caudal")
                    .require_tls(transport == Transport::Tls)
                    .request_timeout(Some(TIME_MAX))
                    .retry_on_initial_connect();
                let client = options.connect(&sink.url).await.map_err(|error| unusable(chain(&error)))?;
                let connected = async {
                    while client.connection_state() != State::Connected {
                        sleep(CONNECT_POLL_EVERY).await;
                    }
                };
                // Without a connection, events are undelivered until there is one.
                let _ = timeout(CONNECT_TIME_MAX, connected).await;
                Ok(Self::Nats(client))
            }
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        let kind = if matches!(self, Self::Nats(_)) { Kind::Nats } else { Kind::Webhook };
        kind.as_str()
    }

    pub(super) fn takes_batches(&self) -> bool {
        matches!(self, Self::Webhook { .. })
    }

    /// Sends an event, or a batch if the sink takes them. The error says why it is not certain that the sink has them.
    pub(super) async fn send(&self, events: &[&Envelope], now: OffsetDateTime) -> Result<(), String> {
        let Some(first) = events.first() else { return Ok(()) };
        // Records have texts as names.
        let sent = match self {
            Self::Webhook { client, url, secret } => {
                let body: Bytes = serde_json::to_vec(events).unwrap_or_default().into();
                // Batches can begin with the same event and end differently.
                let id = if let [event] = events { event.id.clone() } else { hex::encode(digest(&SHA256, &body)) };
                post(client, url, secret, (&id, body), now).await
            }
            Self::Nats(client) => publish(client, first, serde_json::to_vec(first).unwrap_or_default().into()).await,
        };
        sent.map_err(brief)
    }
}

/// As Standard Webhooks prescribes, with a batch of CloudEvents.
async fn post(
    client: &Client,
    url: &str,
    secret: &hmac::Key,
    (id, body): (&str, Bytes),
    now: OffsetDateTime,
) -> Result<(), String> {
    let at = now.unix_timestamp().to_string();
    let signed = hmac::sign(secret, &[id.as_bytes(), b".", at.as_bytes(), b".", &body].concat());
    let request = Request::post(url)
        .header(CONTENT_TYPE, "application/cloudevents-batch+json")
        .header("webhook-id", id)
        .header("webhook-timestamp", at)
        .header("webhook-signature", format!("v1,{}", STANDARD.encode(signed)))
        .body(Full::new(body));
    let reply = client.exchange(request.map_err(|error| chain(&error))?).await.map_err(|error| chain(&error))?;
    if reply.status.is_success() { Ok(()) } else { Err(format!("answered {}", reply.status)) }
}

async fn publish(client: &async_nats::Client, event: &Envelope, body: Bytes) -> Result<(), String> {
    // What is sent now would wait for the connection, and be late.
    if client.connection_state() != State::Connected {
        return Err("there is no connection to the server".to_owned());
    }
    let mut headers = async_nats::HeaderMap::new();
    headers.insert(MESSAGE_ID, event.id.as_str());
    let request = async_nats::Request::new().headers(headers).payload(body);
    let reply = client.send_request(format!("{SUBJECT}.{}", event.kind), request).await;
    let reply = reply.map_err(|error| chain(&error))?;
    match serde_json::from_slice(&reply.payload) {
        Ok(Ack { stream: Some(_), error: None }) => Ok(()),
        Ok(Ack { error: Some(error), .. }) => Err(format!("the stream refused it: {error}")),
        _ => Err("the answer is not that of a stream".to_owned()),
    }
}

/// An error and its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn brief(text: String) -> String {
    text.chars().take(ERROR_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_cross_a_network_only_encrypted() {
        for (kind, url, is_usable) in [
            (Kind::Webhook, "https://events.example.com/caudal", true),
            (Kind::Webhook, "http://127.0.0.1:9000/", true),
            (Kind::Webhook, "http://events.example.com/", false),
            (Kind::Webhook, "https://user:password@events.example.com/", false),
            (Kind::Webhook, "tls://events.example.com", false),
            (Kind::Nats, "tls://nats.example.com:4222", true),
            (Kind::Nats, "nats://127.0.0.1:4222", true),
            (Kind::Nats, "nats://nats.example.com", false),
            (Kind::Nats, "tls://user:password@nats.example.com", false),
            (Kind::Nats, "https://nats.example.com", false),
            (Kind::Nats, "nats", false),
        ] {
            assert_eq!(check_url(kind, url).is_ok(), is_usable, "{url}");
        }
    }
}
