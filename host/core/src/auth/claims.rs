//! What the claims of a token have to be, and what they say about its bearer. Pure.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use time::OffsetDateTime;

use super::error::{AuthError, Refusal};

/// Longest user identifier.
pub const USER_CHARS_MAX: usize = 255;

/// What tokens must contain besides an expiry.
#[derive(Debug, Clone, Default)]
pub struct TokenConfig {
    /// Claim that names the user.
    pub user_claim: String,
    pub audience: Option<String>,
    pub issuer: Option<String>,
}

/// The rules for claims.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    pub(super) config: TokenConfig,
    /// Longest time between a token's issue and its expiry, in seconds; `None` if tokens need not say when they were
    /// issued.
    pub(super) lifetime_max: Option<f64>,
    /// Tolerated difference of clocks, in seconds.
    pub(super) leeway: f64,
}

/// The claims of a valid token.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims {
    pub user: String,
    pub scopes: Vec<String>,
    /// Who issued the token, if it says so.
    pub issuer: Option<String>,
    /// The client that the token was issued to, if it says so.
    pub client: Option<String>,
    /// Whether that client is its own user, as with client credentials (RFC 9068, section 2.2).
    pub is_machine: bool,
    /// Thumbprint of the key that the token is bound to, if it is.
    pub key: Option<String>,
    /// In seconds since 1970, leeway included.
    pub(super) begins: f64,
    pub(super) expires: f64,
}

impl Claims {
    /// # Errors
    /// When the token lacks a scope.
    pub fn require(&self, scope: &'static str) -> Result<(), AuthError> {
        if self.scopes.iter().any(|it| it == scope) { Ok(()) } else { Err(AuthError::ScopeMissing(scope)) }
    }

    /// How long the token is still valid.
    pub fn remaining(&self, now: OffsetDateTime) -> Duration {
        Duration::try_from_secs_f64((self.expires - now.unix_timestamp() as f64).max(0.0)).unwrap_or(Duration::MAX)
    }

    /// Whether the token is valid at a time.
    pub(super) fn check_time(&self, now: OffsetDateTime) -> Result<(), Refusal> {
        let now = now.unix_timestamp() as f64;
        match now {
            now if now >= self.expires => Err(Refusal::Expired),
            now if now < self.begins => Err(Refusal::NotYetValid),
            _ => Ok(()),
        }
    }
}

impl Policy {
    pub(super) fn check(&self, claims: &Map<String, Value>, now: OffsetDateTime) -> Result<Claims, Refusal> {
        let TokenConfig { user_claim, audience, issuer } = &self.config;
        let number = |name: &str| match claims.get(name) {
            Some(value) => value.as_f64().map(Some).ok_or(Refusal::Malformed),
            None => Ok(None),
        };
        let (issued, begins) = (number("iat")?, number("nbf")?);
        let expires = number("exp")?.ok_or(Refusal::Expired)?;
        if let Some(lifetime_max) = self.lifetime_max {
            let issued = issued.ok_or(Refusal::Lifetime)?;
            if expires - issued > lifetime_max {
                return Err(Refusal::Lifetime);
            }
            if issued > now.unix_timestamp() as f64 + self.leeway {
                return Err(Refusal::NotYetValid);
            }
        }
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let named_issuer = text("iss");
        if issuer.as_deref().is_some_and(|issuer| named_issuer != Some(issuer)) {
            return Err(Refusal::Issuer);
        }
        if audience.as_deref().is_some_and(|audience| !claims.get("aud").is_some_and(|it| names(it, audience))) {
            return Err(Refusal::Audience);
        }
        let user = text(user_claim).ok_or(Refusal::User)?;
        if user.trim().is_empty() || user.chars().count() > USER_CHARS_MAX || user.contains('\0') {
            return Err(Refusal::User);
        }
        // One string, separated by spaces (RFC 8693).
        let scopes = text("scope").unwrap_or_default();
        // Many providers say `azp`, as in ID tokens.
        let client = text("client_id").or_else(|| text("azp"));
        let key = match claims.get("cnf") {
            None => None,
            // Other confirmations, such as a certificate's, are not supported: the token must not count without them.
            Some(confirmation) => {
                Some(confirmation.get("jkt").and_then(Value::as_str).ok_or(Refusal::Proof)?.to_owned())
            }
        };
        let claims = Claims {
            user: user.to_owned(),
            scopes: scopes.split_whitespace().map(str::to_owned).collect(),
            issuer: named_issuer.map(str::to_owned),
            client: client.map(str::to_owned),
            is_machine: client.is_some() && client == text("sub"),
            key,
            begins: begins.map_or(f64::NEG_INFINITY, |begins| begins - self.leeway),
            expires: expires + self.leeway,
        };
        claims.check_time(now)?;
        Ok(claims)
    }
}

/// Whether an `aud` claim, one name or a list, contains a name.
fn names(claim: &Value, audience: &str) -> bool {
    match claim {
        Value::String(name) => name == audience,
        Value::Array(names) => names.iter().any(|name| name == audience),
        _ => false,
    }
}

/// A part of a token: a JSON object in base64url.
pub(super) fn object(base64: &str) -> Result<Map<String, Value>, Refusal> {
    let json = URL_SAFE_NO_PAD.decode(base64).map_err(|_| Refusal::Malformed)?;
    serde_json::from_slice(&json).map_err(|_| Refusal::Malformed)
}
