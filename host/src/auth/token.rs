//! Makes and verifies bearer tokens: JWT signed with HS256.
//!
//! Times are checked here against the [`Clock`](crate::clock::Clock) of the caller, not by the
//! library against the machine's, so that a test can move them.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde_json::{Map, Value, json};
use time::{Duration, OffsetDateTime};

/// Clocks of two machines may differ by this much.
const LEEWAY_SECONDS: f64 = 60.0;

/// Longest user identifier, in characters.
pub(crate) const USER_LENGTH_MAX: usize = 255;

/// Shortest secret, in bytes: as long as the digest that it keys.
pub const SECRET_BYTES_MIN: usize = 32;

/// What a token has to look like.
#[derive(Debug, Clone, Default)]
pub struct TokenConfig {
    /// Claim that names the user.
    pub user_claim: String,
    /// Required audience.
    pub audience: Option<String>,
    /// Required issuer.
    pub issuer: Option<String>,
}

/// What a valid token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// Who.
    pub user: String,
    /// What they may do besides their own business.
    pub scopes: Vec<String>,
}

/// Verifies tokens.
pub struct Verifier {
    key: DecodingKey,
    validation: Validation,
    user_claim: String,
}

impl Verifier {
    /// For tokens signed with `secret`.
    pub fn new(secret: &[u8], config: TokenConfig) -> Self {
        // The allow-list of algorithms: what the header says is compared with it, never trusted.
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

    /// The user of a token that is valid at `now`; otherwise none.
    pub fn user(&self, token: &str, now: OffsetDateTime) -> Option<String> {
        self.claims(token, now).map(|claims| claims.user)
    }

    /// What a token that is valid at `now` says; otherwise none.
    pub fn claims(&self, token: &str, now: OffsetDateTime) -> Option<Claims> {
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
        let fits = !user.trim().is_empty() && user.chars().count() <= USER_LENGTH_MAX && !user.contains('\0');
        // One string with spaces between, as OAuth has it.
        let scopes = claims.get("scope").and_then(Value::as_str).unwrap_or_default();
        let scopes = scopes.split_whitespace().map(str::to_owned).collect();
        fits.then(|| Claims { user: user.to_owned(), scopes })
    }
}

/// Makes tokens for whoever asks: the sandbox's.
pub struct Minter {
    secret: Vec<u8>,
    config: TokenConfig,
}

impl Minter {
    /// With the secret of the [`Verifier`] that will read them.
    pub fn new(secret: &[u8], config: TokenConfig) -> Self {
        Self { secret: secret.to_vec(), config }
    }

    /// A token without scopes.
    ///
    /// # Errors
    /// When signing fails.
    pub fn mint(
        &self,
        user: &str,
        now: OffsetDateTime,
        lifetime: Duration,
    ) -> Result<String, jsonwebtoken::errors::Error> {
        mint(&self.secret, &self.config, user, None, now, lifetime)
    }
}

/// Makes a token; for the sandbox and for operators, as login is another system's work.
///
/// # Errors
/// When signing fails.
pub fn mint(
    secret: &[u8],
    config: &TokenConfig,
    user: &str,
    scope: Option<&str>,
    now: OffsetDateTime,
    lifetime: Duration,
) -> Result<String, jsonwebtoken::errors::Error> {
    let mut claims = Map::new();
    claims.insert(config.user_claim.clone(), json!(user));
    claims.insert("iat".to_owned(), json!(now.unix_timestamp()));
    claims.insert("exp".to_owned(), json!((now + lifetime).unix_timestamp()));
    claims.extend(scope.map(|scope| ("scope".to_owned(), json!(scope))));
    claims.extend(config.audience.as_ref().map(|audience| ("aud".to_owned(), json!(audience))));
    claims.extend(config.issuer.as_ref().map(|issuer| ("iss".to_owned(), json!(issuer))));
    encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(secret))
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

    #[test]
    fn times_count_with_a_minute_of_leeway() {
        let verifier = Verifier::new(SECRET, config());
        let token = mint(SECRET, &config(), "ana", None, NOW, Duration::HOUR).unwrap();
        let user_at = |at| verifier.user(&token, at);
        assert_eq!(user_at(NOW).as_deref(), Some("ana"));
        assert_eq!(user_at(NOW + Duration::seconds(3_659)).as_deref(), Some("ana"));
        assert_eq!(user_at(NOW + Duration::seconds(3_660)), None);
    }

    #[test]
    fn audience_and_issuer_count_only_when_configured() {
        let strict = TokenConfig { audience: Some("bank".into()), issuer: Some("idp".into()), ..config() };
        let plain = mint(SECRET, &config(), "ana", None, NOW, Duration::HOUR).unwrap();
        let full = mint(SECRET, &strict, "ana", Some("models:admin"), NOW, Duration::HOUR).unwrap();
        let lenient = Verifier::new(SECRET, config());
        assert!(lenient.user(&plain, NOW).is_some() && lenient.user(&full, NOW).is_some());
        let strict = Verifier::new(SECRET, strict);
        assert!(strict.user(&plain, NOW).is_none() && strict.user(&full, NOW).is_some());
    }

    #[test]
    fn users_need_a_name_that_can_be_stored() {
        let verifier = Verifier::new(SECRET, config());
        for (user, good) in [("ana", true), ("", false), (" ", false), ("a\0b", false), (&"u".repeat(256), false)] {
            let token = mint(SECRET, &config(), user, None, NOW, Duration::HOUR).unwrap();
            assert_eq!(verifier.user(&token, NOW).is_some(), good, "{user:?}");
        }
    }
}
