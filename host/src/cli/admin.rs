//! The admin API of a running host, as operators' commands use it: with a token, like everybody else.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, IF_MATCH};
use hyper::{Method, Request, StatusCode};
use serde_json::Value;

use crate::auth::minter::Minter;
use crate::auth::scope::{
    AUDIT_READ, EVENTS_ADMIN, EVENTS_READ, LEDGER_OPERATE, LEDGER_READ, MODELS_ADMIN, OUTCOMES_WRITE, RULES_ADMIN,
};
use crate::cli::secret::{self, Missing};
use crate::client::{Client, ExchangeError, Identity, Reply, Transport};
use crate::clock::Clock;
use crate::config::{Admin, Common};

/// Longer than a host waits for a new primary.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// Largest reply: a thousand pending payments have half a megabyte.
const REPLY_BYTES_MAX: usize = 16 << 20;

const OWN_TOKEN: &str = "the token in CAUDAL_OPERATOR_TOKEN_FILE";
const SANDBOX_TOKEN: &str = "a token of the sandbox, signed with the ledger key: outside the sandbox, set \
    CAUDAL_OPERATOR_TOKEN_FILE to a file with one from your OpenID provider; in the sandbox, CAUDAL_DATA_DIR to its folder";

/// Of the token that this makes in the sandbox.
const TOKEN_LIFETIME: time::Duration = time::Duration::MINUTE;

pub(super) struct AdminApi {
    client: Client,
    url: String,
    token: String,
    /// Whose token that is, for an operator whom it does not let in.
    origin: &'static str,
}

/// What a host answered.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl AdminApi {
    pub(super) fn new(common: &Common, admin: &Admin) -> Result<Self> {
        let url = admin.url.trim_end_matches('/').to_owned();
        let transport = Transport::of(&url);
        let transport = transport.with_context(|| {
            format!("--admin-url {url} is neither https:// nor on this machine: a token must not cross a network in the clear")
        })?;
        let read = |file: &Path| fs::read(file).with_context(|| format!("cannot read {}", file.display()));
        let identity = match (&admin.admin_cert, &admin.admin_key) {
            (Some(certificate), Some(key)) => {
                Some(Identity { certificate: read(certificate)?, key: secret::read_private(key)? })
            }
            _ => None,
        };
        let client = Client::identified(transport, REPLY_TIMEOUT, identity.as_ref());
        let client = client.context("cannot use --admin-cert and --admin-key")?.with_replies_up_to(REPLY_BYTES_MAX);
        let (token, origin) = token(common, admin)?;
        Ok(Self { client, url, token, origin })
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value> {
        self.call(Method::GET, path, &[], None).await.map(|answer| answer.body)
    }

    /// An answer that is not JSON.
    pub(super) async fn get_text(&self, path: &str) -> Result<String> {
        let reply = self.exchange(Method::GET, path, &[], Bytes::new()).await?;
        String::from_utf8(reply.body.to_vec()).context("the host answered with something that is not text")
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.call(Method::POST, path, &[], Some(body)).await
    }

    pub(super) async fn put(&self, path: &str, body: &Value) -> Result<Answer> {
        self.call(Method::PUT, path, &[], Some(body)).await
    }

    /// Sends JSON; a problem is an error with its text.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, String)],
        body: Option<&Value>,
    ) -> Result<Answer> {
        let bytes = body.map(ToString::to_string).unwrap_or_default();
        let mut headers = headers.to_vec();
        headers.extend(body.map(|_| (CONTENT_TYPE, "application/json".to_owned())));
        self.send(method, path, &headers, bytes.into()).await
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, String)],
        body: Bytes,
    ) -> Result<Answer> {
        let reply = self.exchange(method, path, headers, body).await?;
        Ok(Answer { status: reply.status, body: serde_json::from_slice(&reply.body).unwrap_or(Value::Null) })
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, String)],
        body: Bytes,
    ) -> Result<Reply> {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        let request = request.header(AUTHORIZATION, format!("Bearer {}", self.token));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let request = request.body(Full::new(body)).context("a path or header is not valid")?;
        let reply = self.client.exchange(request).await.map_err(|error| match error {
            ExchangeError::Unreachable(error) if format!("{error:#}").contains("invalid peer certificate") => error.context(format!(
                "{} answers with a certificate that this machine does not trust: name its authority with SSL_CERT_FILE",
                self.url
            )),
            ExchangeError::Unreachable(error) => error.context(format!(
                "no host answers at {}: start one with `caudal serve`, or name its assistance API with --admin-url \
                 (CAUDAL_ADMIN_URL)",
                self.url
            )),
            error => anyhow!(error).context("the command may have taken effect: check before you repeat it"),
        })?;
        if reply.status.is_success() {
            return Ok(reply);
        }
        Err(self.problem(reply.status, &serde_json::from_slice(&reply.body).unwrap_or(Value::Null)))
    }

    fn problem(&self, status: StatusCode, body: &Value) -> anyhow::Error {
        let field = |name: &str| body[name].as_str();
        let title = field("title").map_or_else(|| format!("the host answered {status}"), str::to_owned);
        let mut text = field("detail").map_or_else(|| title.clone(), |detail| format!("{title}: {detail}"));
        // The detail of one says it all.
        let errors = body["errors"].as_array().filter(|it| it.len() > 1);
        for error in errors.into_iter().flatten() {
            let part = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
            text += &format!("\n  {}: {}", part("field"), part("detail"));
        }
        if status == StatusCode::UNAUTHORIZED {
            text += &format!(" (says {} of {})", self.url, self.origin);
        }
        anyhow!(Problem { status, text })
    }
}

/// The header of a change to what was seen.
pub(super) fn if_match(epoch: i64) -> [(HeaderName, String); 1] {
    [(IF_MATCH, format!("\"{epoch}\""))]
}

/// A refusal, with its code for those that word it better.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    text: String,
}

/// The answer about something that was named, with words of its own for an operator who named nothing that exists.
pub(super) fn found<T>(answer: Result<T>, unknown: impl FnOnce() -> String) -> Result<T> {
    answer.map_err(|error| match error.downcast_ref::<Problem>() {
        Some(problem) if problem.status == StatusCode::NOT_FOUND => anyhow!(unknown()),
        _ => error,
    })
}

impl Answer {
    /// What was done, or `None` and a line about whom it waits for.
    pub(super) fn done(self) -> Result<Option<Value>> {
        if self.status != StatusCode::ACCEPTED {
            return Ok(Some(self.body));
        }
        let text = |field: &str| self.body[field].as_str().unwrap_or_default().to_owned();
        super::output::print(&format!(
            "a second operator has to approve it by {}: caudal approvals approve {}",
            text("expiresAt"),
            text("id")
        ))?;
        Ok(None)
    }
}

/// An amount as people write it. Every amount up to the largest is exact as a double.
pub(super) fn pesos(amount: &Value) -> String {
    format!("{:.2}", amount.as_f64().unwrap_or_default())
}

/// The operator's own token, or a new one of the sandbox.
fn token(common: &Common, admin: &Admin) -> Result<(String, &'static str)> {
    let Admin { token, token_file, by, jwt, .. } = admin;
    if let Some(file) = token_file {
        let text = String::from_utf8(secret::read_private(file)?);
        let text = text.with_context(|| format!("{} is not text", file.display()))?;
        return Ok((text.trim().to_owned(), OWN_TOKEN));
    }
    if let Some(token) = token {
        return Ok((token.clone(), OWN_TOKEN));
    }
    let (key, _) = secret::ledger_key(common, Missing::Refuse).context(
        "no token: set CAUDAL_OPERATOR_TOKEN_FILE to a file with one from your OpenID provider, or CAUDAL_DATA_DIR to the \
         data folder of the sandbox",
    )?;
    let scopes =
        [MODELS_ADMIN, RULES_ADMIN, LEDGER_OPERATE, LEDGER_READ, AUDIT_READ, EVENTS_READ, EVENTS_ADMIN, OUTCOMES_WRITE]
            .join(" ");
    let minter = Minter::new(&key.sandbox_secret(), secret::token_config(jwt));
    let token = minter.mint(by, Some(&scopes), Clock::system().now(), TOKEN_LIFETIME).context("cannot sign a token")?;
    Ok((token, SANDBOX_TOKEN))
}
