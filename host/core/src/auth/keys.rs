//! The public keys that a provider signs access tokens with: a JWK set (RFC 7517). Pure.

use anyhow::{Context as _, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

use super::error::Refusal;

/// Most keys in a set. Providers publish two to five: the present one, the next and the last ones.
const KEYS_MAX: usize = 32;

/// Sizes of an RSA modulus, in bytes: shorter ones are weak, longer ones take long to verify with.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=512;

/// Longest exponent of an RSA key, in bytes. The usual one, 65537, has three; a long one takes long to verify with.
const EXPONENT_BYTES_MAX: usize = 4;

/// Length of a coordinate on the curves P-256 and Ed25519, in bytes.
const COORDINATE_BYTES: usize = 32;

/// The algorithms of access tokens. None is symmetric: those who can verify with one can also sign.
pub(super) const ALGORITHMS: [(&str, Algorithm); 4] = [
    ("RS256", Algorithm::RS256),
    ("PS256", Algorithm::PS256),
    ("ES256", Algorithm::ES256),
    ("EdDSA", Algorithm::EdDSA),
];

/// The keys of a provider that can sign access tokens.
pub(super) struct KeySet(Vec<Key>);

struct Key {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    decoding: DecodingKey,
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    /// The private part, which a provider must never publish.
    d: Option<Value>,
}

impl KeySet {
    /// Ignores keys for other purposes and of other types.
    ///
    /// # Errors
    /// When the text is not a set, two keys cannot be distinguished, or no key is usable.
    pub(super) fn parse(json: &[u8]) -> anyhow::Result<Self> {
        let Set { keys } = serde_json::from_slice(json).context("not a JWK set")?;
        ensure!(keys.len() <= KEYS_MAX, "the JWK set has {} keys, which is more than {KEYS_MAX}", keys.len());
        let keys: Vec<Key> = keys.into_iter().filter_map(read).collect();
        for (index, key) in keys.iter().enumerate() {
            let same =
                |other: &Key| other.id == key.id && other.algorithms.iter().any(|it| key.algorithms.contains(it));
            if keys[..index].iter().any(same) {
                bail!("two keys of the JWK set have the key id {:?}", key.id.as_deref().unwrap_or_default());
            }
        }
        ensure!(!keys.is_empty(), "the JWK set has no key that verifies RS256, PS256, ES256 or EdDSA");
        Ok(Self(keys))
    }

    /// The key for a token's header; without a key id, the only one for its algorithm.
    pub(super) fn find(&self, algorithm: Algorithm, id: Option<&str>) -> Result<&DecodingKey, Refusal> {
        let has_id = |key: &&Key| id.is_none() || key.id.as_deref() == id;
        let mut keys = self.0.iter().filter(has_id).filter(|key| key.algorithms.contains(&algorithm));
        match (keys.next(), keys.next()) {
            (Some(key), None) => Ok(&key.decoding),
            // A key that is known is for other algorithms.
            (None, None) if id.is_some() && self.0.iter().any(|key| has_id(&key)) => Err(Refusal::Algorithm),
            _ => Err(Refusal::UnknownKey),
        }
    }
}

/// The key in a JWK, if it verifies signatures of this algorithm.
pub(super) fn for_algorithm(jwk: Value, algorithm: Algorithm) -> Option<DecodingKey> {
    read(jwk).filter(|key| key.algorithms.contains(&algorithm)).map(|key| key.decoding)
}

/// `None` for a key that cannot verify access tokens.
fn read(json: Value) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(json).ok()?;
    let signs = jwk.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
        && jwk.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|it| it == "verify"));
    if !signs || jwk.d.is_some() {
        return None;
    }
    let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
    let coordinate = |text: &Option<String>| bytes(text).filter(|it| it.len() == COORDINATE_BYTES);
    let (possible, decoding) = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", _) => {
            let (modulus, exponent) = (bytes(&jwk.n)?, bytes(&jwk.e)?);
            let is_odd = exponent.last().is_some_and(|byte| byte % 2 == 1);
            let is_one = exponent.iter().rev().skip(1).all(|byte| *byte == 0) && exponent.last() == Some(&1);
            let is_sound = modulus.first().is_some_and(|byte| *byte >= 0x80) && is_odd && !is_one;
            if !is_sound || !MODULUS_BYTES.contains(&modulus.len()) || exponent.len() > EXPONENT_BYTES_MAX {
                return None;
            }
            let decoding = DecodingKey::from_rsa_raw_components(&modulus, &exponent);
            (vec![Algorithm::RS256, Algorithm::PS256], decoding)
        }
        ("EC", Some("P-256")) => {
            let point = [vec![4], coordinate(&jwk.x)?, coordinate(&jwk.y)?].concat();
            (vec![Algorithm::ES256], DecodingKey::from_ec_der(&point))
        }
        ("OKP", Some("Ed25519")) => (vec![Algorithm::EdDSA], DecodingKey::from_ed_der(&coordinate(&jwk.x)?)),
        _ => return None,
    };
    let algorithms: Vec<_> = match &jwk.alg {
        Some(name) => possible.into_iter().filter(|it| ALGORITHMS.contains(&(name.as_str(), *it))).collect(),
        None => possible,
    };
    (!algorithms.is_empty()).then_some(Key { id: jwk.kid, algorithms, decoding })
}
