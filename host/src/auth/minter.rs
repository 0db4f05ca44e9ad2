//! Mints tokens signed with HS256, for the sandbox and where the bank configured a shared secret.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Map, json};
use time::{Duration, OffsetDateTime};

use super::claims::TokenConfig;

/// Signs with a secret that the service verifies tokens by. In production, users get theirs from the bank's login.
pub struct Minter {
    key: EncodingKey,
    config: TokenConfig,
}

impl Minter {
    /// The secret and configuration must be those of the [`Verifier`](super::token::Verifier) that will read the
    /// tokens.
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
