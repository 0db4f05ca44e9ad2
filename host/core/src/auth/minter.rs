//! Mints tokens: HS256 for the sandbox, ES256 for tests of hosts outside it without a provider.

use anyhow::Result;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Map, json};
use time::{Duration, OffsetDateTime};

use super::claims::TokenConfig;

/// The type of access tokens (RFC 9068), which hosts outside the sandbox require by default.
const ACCESS_TOKEN: &str = "at+jwt";

pub struct Minter {
    key: EncodingKey,
    header: Header,
    config: TokenConfig,
}

impl Minter {
    /// The secret and configuration must be those of the [`Verifier`](super::token::Verifier) that will read the
    /// tokens.
    pub fn new(secret: &[u8], config: TokenConfig) -> Self {
        Self { key: EncodingKey::from_secret(secret), header: Header::new(Algorithm::HS256), config }
    }

    /// With a private key on P-256, as PEM (PKCS#8).
    ///
    /// # Errors
    /// When it is not such a key.
    pub fn with_signing_key(pem: &[u8], config: TokenConfig) -> Result<Self> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem)?;
        let key = EncodingKey::from_ec_der(der.secret_pkcs8_der());
        Jwk::from_encoding_key(&key, Algorithm::ES256)?;
        let header = Header { typ: Some(ACCESS_TOKEN.to_owned()), ..Header::new(Algorithm::ES256) };
        Ok(Self { key, header, config })
    }

    /// The JWK set of a signing key's public half.
    ///
    /// # Errors
    /// When the key is a secret.
    pub fn public_keys(&self) -> Result<String> {
        let keys = vec![Jwk::from_encoding_key(&self.key, self.header.alg)?];
        Ok(serde_json::to_string(&JwkSet { keys })?)
    }

    /// # Errors
    /// When signing fails.
    pub fn mint(&self, user: &str, scope: Option<&str>, now: OffsetDateTime, lifetime: Duration) -> Result<String> {
        let mut claims = Map::new();
        claims.insert(self.config.user_claim.clone(), json!(user));
        claims.insert("iat".to_owned(), json!(now.unix_timestamp()));
        claims.insert("exp".to_owned(), json!((now + lifetime).unix_timestamp()));
        let optional =
            [("scope", scope), ("aud", self.config.audience.as_deref()), ("iss", self.config.issuer.as_deref())];
        claims.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))));
        Ok(encode(&self.header, &claims, &self.key)?)
    }
}
