//! Mints and verifies bearer tokens: JWT signed with HS256.
//!
//! Expiry is checked against a time that the caller passes, not by the library, so that tests can choose it.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde_json::{Map, Value, json};
use time::{Duration, OffsetDateTime};

/// Tolerated clock skew.
const LEEWAY_SECONDS: f64 = 60.0;

/// Longest user identifier.
pub(crate) const USER_CHARS_MAX: usize = 255;

/// Shortest secret, in bytes: the length of the digest.
pub const SECRET_BYTES_MIN: usize = 32;

/// What tokens must contain besides an expiry.
#[derive(Debug, Clone, Default)]
pub struct TokenConfig {
    /// Claim that names the user.
    pub user_claim: String,
    pub audience: Option<String>,
    pub issuer: Option<String>,
}

/// The claims of a valid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    pub user: String,
    pub scopes: Vec<String>,
}

pub struct Verifier {
    key: DecodingKey,
    validation: Validation,
    user_claim: String,
}

impl Verifier {
    pub fn new(secret: &[u8], config: TokenConfig) -> Self {
        // The only allowed algorithm: the token's header is compared with it, never trusted.
        let mut validation = Validation::new(Algorithm::HS256);
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let mut required = Vec::new();
        validation.validate_aud = config.audience.is_some();
        if let Some(audience) = config.audience {
            validation.set_audience(&[audience]);
            required.push("aud");
        }
        if let Some(issuer) = config.issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        validation.set_required_spec_claims(&required);
        Self { key: DecodingKey::from_secret(secret), validation, user_claim: config.user_claim }
    }

    /// The claims of a token that is valid at `now`.
    pub fn verify(&self, token: &str, now: OffsetDateTime) -> Option<Claims> {
        let claims = decode::<Map<String, Value>>(token, &self.key, &self.validation).ok()?.claims;
        let now = now.unix_timestamp() as f64;
        let expires = claims.get("exp")?.as_f64()?;
        let begins = match claims.get("nbf") {
            Some(begins) => begins.as_f64()?,
            None => f64::NEG_INFINITY,
        };
        if now >= expires + LEEWAY_SECONDS || now < begins - LEEWAY_SECONDS {
            return None;
        }
        let user = claims.get(&self.user_claim)?.as_str()?;
        let fits = !user.trim().is_empty() && user.chars().count() <= USER_CHARS_MAX && !user.contains('\0');
        // One string, separated by spaces (RFC 8693).
        let scopes = claims.get("scope").and_then(Value::as_str).unwrap_or_default();
        let scopes = scopes.split_whitespace().map(str::to_owned).collect();
        fits.then(|| Claims { user: user.to_owned(), scopes })
    }
}

/// Mints tokens for the sandbox and for operators. In production, users get theirs from the bank's login.
pub struct Minter {
    key: EncodingKey,
    config: TokenConfig,
}

impl Minter {
    /// The secret and configuration must be those of the [`Verifier`] that will read the tokens.
    pub fn new(secret: &[u8], config: TokenConfig) -> Self {
        Self { key: EncodingKey::from_secret(secret), config }
    }

    /// # Errors
    /// When signing fails.
    pub fn mint(
        &self,
        user: &str,
        scope: Option<&str>,
        now: OffsetDateTime,
        lifetime: Duration,
    ) -> Result<String, jsonwebtoken::errors::Error> {
        let mut claims = Map::new();
        claims.insert(self.config.user_claim.clone(), json!(user));
        claims.insert("iat".to_owned(), json!(now.unix_timestamp()));
        claims.insert("exp".to_owned(), json!((now + lifetime).unix_timestamp()));
        let optional =
            [("scope", scope), ("aud", self.config.audience.as_deref()), ("iss", self.config.issuer.as_deref())];
        claims.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))));
        encode(&Header::new(Algorithm::HS256), &claims, &self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
    const NOW: OffsetDateTime = datetime!(2026-11-21 12:00 UTC);

    fn config() -> TokenConfig {
        TokenConfig { user_claim: "sub".into(), ..TokenConfig::default() }
    }

    fn token(config: TokenConfig, user: &str) -> String {
        Minter::new(SECRET, config).mint(user, Some("models:admin"), NOW, Duration::HOUR).unwrap()
    }

    #[test]
    fn expiry_has_a_minute_of_leeway() {
        let verifier = Verifier::new(SECRET, config());
        let token = token(config(), "ana");
        let verify_after = |seconds| verifier.verify(&token, NOW + Duration::seconds(seconds));
        let claims = Claims { user: "ana".to_owned(), scopes: vec!["models:admin".to_owned()] };
        assert_eq!(verify_after(0), Some(claims.clone()));
        assert_eq!(verify_after(3_659), Some(claims));
        assert_eq!(verify_after(3_660), None);
    }

    #[test]
    fn audience_and_issuer_count_only_when_configured() {
        let strict = TokenConfig { audience: Some("bank".into()), issuer: Some("idp".into()), ..config() };
        let (plain, full) = (token(config(), "ana"), token(strict.clone(), "ana"));
        let lenient = Verifier::new(SECRET, config());
        assert!(lenient.verify(&plain, NOW).is_some() && lenient.verify(&full, NOW).is_some());
        let strict = Verifier::new(SECRET, strict);
        assert!(strict.verify(&plain, NOW).is_none() && strict.verify(&full, NOW).is_some());
    }

    #[test]
    fn user_identifiers_must_be_storable() {
        let verifier = Verifier::new(SECRET, config());
        for (user, valid) in [("ana", true), ("", false), (" ", false), ("a\0b", false), (&"u".repeat(256), false)] {
            assert_eq!(verifier.verify(&token(config(), user), NOW).is_some(), valid, "{user:?}");
        }
    }
}
