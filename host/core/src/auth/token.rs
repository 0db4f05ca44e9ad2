//! Verifies bearer tokens: JWT, signed by an OpenID provider or with a secret that is shared with this service.
//!
//! Expiry is checked against a time that the caller passes, so that tests can choose it.

use std::sync::Arc;

use jsonwebtoken::{Algorithm, DecodingKey, crypto};
use quick_cache::sync::Cache;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use time::{Duration, OffsetDateTime};
use tokio::time::Instant;

use super::claims::{Claims, Policy, TokenConfig, object};
use super::error::{AuthError, Refusal};
use super::keys::ALGORITHMS;
use super::proof::{Proofs, Request};
use super::provider::{Endpoints, Provider, Published};

/// Tolerated clock skew of those who share the secret, in seconds.
const SECRET_LEEWAY: f64 = 60.0;

/// The same of a provider, whose clock is kept in time like this host's.
const PROVIDER_LEEWAY: f64 = 5.0;

/// Shortest secret, in bytes: the length of the digest.
pub const SECRET_BYTES_MIN: usize = 32;

/// Longest token. Those of providers have one or two kilobytes.
pub const TOKEN_BYTES_MAX: usize = 8 << 10;

/// Verified tokens that are remembered, so that each costs one signature: about 500 bytes each.
const REMEMBERED_MAX: usize = 10_000;

/// How long tokens with a key id that the provider does not know are refused at once, and how many such ids are
/// remembered, at some 100 bytes each. Anyone can make such tokens, and each would wait for the next set of keys.
const UNKNOWN_FOR: std::time::Duration = std::time::Duration::from_secs(5);
const UNKNOWN_MAX: usize = 10_000;

/// Verifies tokens, and remembers a provider's that it verified.
pub struct Verifier {
    keys: Keys,
    policy: Policy,
    /// `None` if tokens that are bound to a key do not count.
    proofs: Option<Proofs>,
    /// By the token's hash.
    remembered: Cache<[u8; 32], Remembered>,
    /// When the provider did not know a key, by the hash of the tokens' header, which names it.
    unknown: Cache<[u8; 32], Instant>,
}

enum Keys {
    Secret(DecodingKey),
    Provider {
        provider: Arc<Provider>,
        /// The `typ` that the header of an access token must have.
        kind: String,
    },
}

#[derive(Clone)]
struct Remembered {
    claims: Arc<Claims>,
    /// The set of keys that it was verified with.
    keys: [u8; 32],
}

/// The fields of a token's header that matter.
struct Header {
    algorithm: Algorithm,
    key_id: Option<String>,
    kind: Option<String>,
}

impl Verifier {
    /// For tokens that are signed with HS256.
    pub fn with_secret(secret: &[u8], config: TokenConfig) -> Self {
        let policy = Policy { config, lifetime_max: None, leeway: SECRET_LEEWAY };
        Self::new(Keys::Secret(DecodingKey::from_secret(secret)), policy, 0)
    }

    /// For access tokens of a provider. The configuration must name issuer and audience.
    pub fn with_provider(provider: Arc<Provider>, config: TokenConfig, kind: String, lifetime_max: Duration) -> Self {
        let policy = Policy { config, lifetime_max: Some(lifetime_max.as_seconds_f64()), leeway: PROVIDER_LEEWAY };
        Self::new(Keys::Provider { provider, kind }, policy, REMEMBERED_MAX)
    }

    fn new(keys: Keys, policy: Policy, remembered: usize) -> Self {
        Self { keys, policy, proofs: None, remembered: Cache::new(remembered), unknown: Cache::new(UNKNOWN_MAX) }
    }

    /// Accepts tokens that are bound to a key, with proofs for these origins.
    #[must_use]
    pub fn with_proofs(self, proofs: Proofs) -> Self {
        Self { proofs: Some(proofs), ..self }
    }

    /// What proofs have to contain now, if they count here.
    pub fn nonce(&self, now: OffsetDateTime) -> Option<String> {
        self.proofs.as_ref().map(|proofs| proofs.nonce(now))
    }

    /// Whether tokens can be verified at all.
    pub fn is_ready(&self) -> bool {
        match &self.keys {
            Keys::Secret(_) => true,
            Keys::Provider { provider, .. } => provider.published().is_some(),
        }
    }

    /// Where people sign in, if the provider is known and says so.
    pub fn endpoints(&self) -> Option<Endpoints> {
        match &self.keys {
            Keys::Secret(_) => None,
            Keys::Provider { provider, .. } => provider.endpoints(),
        }
    }

    /// The claims of a token that is valid at `now`. Waits a moment for the key of a token that names an unknown one.
    ///
    /// # Errors
    /// When the token is not valid, or the keys to tell are not known.
    pub async fn verify(&self, token: &str, now: OffsetDateTime) -> Result<Arc<Claims>, AuthError> {
        let refused = |refusal: Refusal| {
            tracing::debug!(%refusal, "a bearer token was refused");
            AuthError::TokenInvalid(refusal)
        };
        if token.len() > TOKEN_BYTES_MAX {
            return Err(refused(Refusal::Malformed));
        }
        let provider = match &self.keys {
            Keys::Secret(key) => return self.check(token, now, |_| Ok(key)).map(Arc::new).map_err(refused),
            Keys::Provider { provider, .. } => provider,
        };
        if let Some(published) = provider.published() {
            match self.verify_with(&published, token, now) {
                Err(Refusal::UnknownKey) => {}
                verified => return verified.map_err(refused),
            }
        }
        let header = Sha256::digest(token.split('.').next().unwrap_or_default()).into();
        if self.unknown.get(&header).is_some_and(|asked| asked.elapsed() < UNKNOWN_FOR) {
            // It may be published any moment.
            provider.ask();
            return Err(refused(Refusal::UnknownKey));
        }
        provider.read_again().await.map_err(|_| AuthError::KeysUnknown)?;
        let published = provider.published().ok_or(AuthError::KeysUnknown)?;
        let verified = self.verify_with(&published, token, now);
        if let Err(Refusal::UnknownKey) = verified {
            self.unknown.insert(header, Instant::now());
        }
        verified.map_err(refused)
    }

    pub(super) fn check_proof(
        &self,
        request: Request<'_>,
        token: &str,
        user_and_key: (&str, &str),
        now: OffsetDateTime,
    ) -> Result<(), AuthError> {
        let proofs = self.proofs.as_ref().ok_or(AuthError::TokenInvalid(Refusal::Proof))?;
        proofs.check(request, token, user_and_key, now).inspect_err(|refusal| {
            tracing::debug!(?refusal, "a proof was refused");
        })
    }

    fn verify_with(&self, published: &Published, token: &str, now: OffsetDateTime) -> Result<Arc<Claims>, Refusal> {
        let hash = Sha256::digest(token).into();
        if let Some(Remembered { claims, keys }) = self.remembered.get(&hash)
            && keys == published.digest
        {
            claims.check_time(now)?;
            return Ok(claims);
        }
        let key = |header: &Header| published.keys.find(header.algorithm, header.key_id.as_deref());
        let claims = Arc::new(self.check(token, now, key)?);
        self.remembered.insert(hash, Remembered { claims: Arc::clone(&claims), keys: published.digest });
        Ok(claims)
    }

    fn check<'a>(
        &self,
        token: &str,
        now: OffsetDateTime,
        key: impl FnOnce(&Header) -> Result<&'a DecodingKey, Refusal>,
    ) -> Result<Claims, Refusal> {
        let (signed, signature) = token.rsplit_once('.').ok_or(Refusal::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(Refusal::Malformed)?;
        let header = self.header(&object(header)?)?;
        let claims = self.policy.check(&object(claims)?, now)?;
        let key = key(&header)?;
        // The key is bound to the algorithm: it was chosen by it.
        match crypto::verify(signature, signed.as_bytes(), key, header.algorithm) {
            Ok(true) => Ok(claims),
            _ => Err(Refusal::Signature),
        }
    }

    fn header(&self, header: &Map<String, Value>) -> Result<Header, Refusal> {
        // None of the extensions that a header may declare critical is known here (RFC 7515).
        if header.contains_key("crit") {
            return Err(Refusal::Critical);
        }
        let text = |name: &str| match header.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(Refusal::Malformed),
        };
        let name = text("alg")?.ok_or(Refusal::Algorithm)?;
        let header = |algorithm| Ok(Header { algorithm, key_id: text("kid")?, kind: text("typ")? });
        match &self.keys {
            Keys::Secret(_) if name == "HS256" => header(Algorithm::HS256),
            Keys::Secret(_) => Err(Refusal::Algorithm),
            Keys::Provider { kind, .. } => {
                let (_, algorithm) = ALGORITHMS.iter().find(|(it, _)| *it == name).ok_or(Refusal::Algorithm)?;
                let header = header(*algorithm)?;
                // A media type, of which the prefix may be left out.
                let given = header.kind.as_deref().unwrap_or_default();
                let given = given.strip_prefix("application/").unwrap_or(given);
                if given.eq_ignore_ascii_case(kind) { Ok(header) } else { Err(Refusal::Kind) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::minter::Minter;
    use time::macros::datetime;

    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
    const NOW: OffsetDateTime = datetime!(2026-11-21 12:00 UTC);

    fn config() -> TokenConfig {
        TokenConfig { user_claim: "sub".into(), ..TokenConfig::default() }
    }

    fn token(config: TokenConfig, user: &str) -> String {
        Minter::new(SECRET, config).mint(user, Some("models:admin"), NOW, Duration::HOUR).unwrap()
    }

    #[tokio::test]
    async fn expiry_has_a_minute_of_leeway() {
        let verifier = Verifier::with_secret(SECRET, config());
        let token = token(config(), "ana");
        for (seconds, valid) in [(0, true), (3_659, true), (3_660, false)] {
            let claims = verifier.verify(&token, NOW + Duration::seconds(seconds)).await;
            assert_eq!(claims.is_ok_and(|it| it.user == "ana" && it.scopes == ["models:admin"]), valid, "{seconds}");
        }
    }

    #[tokio::test]
    async fn audience_and_issuer_count_only_when_configured() {
        let strict = TokenConfig { audience: Some("bank".into()), issuer: Some("idp".into()), ..config() };
        let (plain, full) = (token(config(), "ana"), token(strict.clone(), "ana"));
        let lenient = Verifier::with_secret(SECRET, config());
        assert!(lenient.verify(&plain, NOW).await.is_ok() && lenient.verify(&full, NOW).await.is_ok());
        let strict = Verifier::with_secret(SECRET, strict);
        assert!(strict.verify(&plain, NOW).await.is_err() && strict.verify(&full, NOW).await.is_ok());
    }

    #[tokio::test]
    async fn user_identifiers_must_be_storable() {
        let verifier = Verifier::with_secret(SECRET, config());
        for (user, valid) in [("ana", true), ("", false), (" ", false), ("a\0b", false), (&"u".repeat(256), false)] {
            assert_eq!(verifier.verify(&token(config(), user), NOW).await.is_ok(), valid, "{user:?}");
        }
    }
}
