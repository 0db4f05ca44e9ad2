//! Proofs of possession (DPoP, RFC 9449). The holder of a key-bound token signs each request with the key, so a stolen
//! token alone is worthless.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::Uri;
use jsonwebtoken::{Algorithm, DecodingKey, crypto};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::claims::object;
use super::error::{AuthError, Refusal};
use super::keys::{self, ALGORITHMS};
use super::nonce::{LIFETIME, Nonces};

/// Longest proof, in bytes. One with an RSA key of 4,096 bits has less than two kilobytes.
const PROOF_BYTES_MAX: usize = 4 << 10;

/// Longest `jti`, in bytes: a UUID has 36.
const ID_BYTES_MAX: usize = 256;

/// Proofs that are remembered for as long as their nonce counts, so that none counts twice: at 32 bytes each, what
/// several thousand requests a second need.
const REMEMBERED_MAX: usize = 400_000;

/// Those of one user, some three hundred requests a second: a user who makes more is refused, rather than everybody.
const REMEMBERED_EACH_MAX: usize = 20_000;

/// Hosts that need no TLS.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// A request, as its proof has to describe it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub method: &'a str,
    pub path: &'a str,
    /// The value of the `DPoP` header; `None` unless there is exactly one.
    pub proof: Option<&'a str>,
}

/// Checks proofs, and remembers those that it has seen. Another host does not know them.
pub struct Proofs {
    /// Scheme and authority under which clients reach this service.
    origins: Vec<String>,
    nonces: Nonces,
    seen: Mutex<Seen>,
}

/// Two generations: a proof is in one of them until it is too old to be used.
#[derive(Default)]
struct Seen {
    since: i64,
    present: HashSet<[u8; 32]>,
    previous: HashSet<[u8; 32]>,
    /// How many of the present ones each user made.
    users: HashMap<String, usize>,
}

impl Seen {
    /// An error if it was there before, or there is no room to remember it.
    fn insert(&mut self, proof: [u8; 32], user: &str, now: i64) -> Result<(), AuthError> {
        if now - self.since > LIFETIME {
            self.previous = mem::take(&mut self.present);
            self.users.clear();
            self.since = now;
        }
        if self.previous.contains(&proof) || self.present.contains(&proof) {
            return Err(AuthError::TokenInvalid(Refusal::Replayed));
        }
        let count = self.users.entry(user.to_owned()).or_default();
        if *count >= REMEMBERED_EACH_MAX || self.present.len() >= REMEMBERED_MAX {
            return Err(AuthError::TooManyRequests("proofs"));
        }
        *count += 1;
        self.present.insert(proof);
        Ok(())
    }
}

impl Proofs {
    /// # Errors
    /// When an origin is not `https`, or `http` on this machine.
    pub fn new(origins: &[String], secret: &[u8]) -> anyhow::Result<Self> {
        let origins = origins.iter().map(|text| {
            let uri: Uri = text.parse().with_context(|| format!("{text} is not a URL"))?;
            let (scheme, host) = (uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default());
            let is_local = LOOPBACK.contains(&host);
            ensure!(scheme == "https" || (scheme == "http" && is_local), "{text} must begin with https://");
            ensure!(uri.path() == "/" && uri.query().is_none(), "{text} must be like https://bank.example");
            origin_of(&uri).with_context(|| format!("{text} names no host"))
        });
        let origins = origins.collect::<anyhow::Result<_>>()?;
        Ok(Self { origins, nonces: Nonces::new(secret), seen: Mutex::default() })
    }

    /// What proofs have to contain.
    pub fn nonce(&self, now: OffsetDateTime) -> String {
        self.nonces.at(now)
    }

    /// On this machine the port does not matter unless it was named.
    fn serves(&self, uri: &Uri) -> bool {
        let without_port = uri.host().filter(|host| LOOPBACK.contains(host)).map(|host| format!("http://{host}"));
        [origin_of(uri), without_port].iter().flatten().any(|origin| self.origins.contains(origin))
    }

    /// Checks that the user, who holds the key with this thumbprint, made this request, and that the proof is new.
    ///
    /// # Errors
    /// With what is wrong, or when the user has made too many.
    pub(super) fn check(
        &self,
        request: Request<'_>,
        token: &str,
        (user, thumbprint): (&str, &str),
        now: OffsetDateTime,
    ) -> Result<(), AuthError> {
        let (seen, nonce) = self.check_signed(request, token, thumbprint).map_err(AuthError::TokenInvalid)?;
        if !nonce.is_some_and(|nonce| self.nonces.counts(&nonce, now)) {
            return Err(AuthError::NonceRequired);
        }
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(seen, user, now.unix_timestamp())
    }

    /// What identifies a proof that fits this request, and its nonce. That tells the time, so the client's clock, `iat`,
    /// does not matter.
    fn check_signed(
        &self,
        Request { method, path, proof }: Request<'_>,
        token: &str,
        thumbprint: &str,
    ) -> Result<([u8; 32], Option<String>), Refusal> {
        let proof = proof.filter(|proof| proof.len() <= PROOF_BYTES_MAX).ok_or(Refusal::Proof)?;
        let (signed, signature) = proof.rsplit_once('.').ok_or(Refusal::Proof)?;
        let (header, claims) = signed.split_once('.').ok_or(Refusal::Proof)?;
        let object = |part| object(part).map_err(|_| Refusal::Proof);
        let (header, claims) = (object(header)?, object(claims)?);
        let text = |name: &str| claims.get(name).and_then(Value::as_str).ok_or(Refusal::Proof);
        let (key, algorithm) = key_of(&header, thumbprint)?;
        let is_signed = crypto::verify(signature, signed.as_bytes(), &key, algorithm);
        let uri: Uri = text("htu")?.parse().map_err(|_| Refusal::Proof)?;
        let is_here = self.serves(&uri) && uri.path() == path;
        let is_of_token = text("ath")? == URL_SAFE_NO_PAD.encode(Sha256::digest(token));
        let id = text("jti")?;
        let is_whole = !id.is_empty() && id.len() <= ID_BYTES_MAX && claims.get("iat").is_some_and(Value::is_number);
        if !(is_signed.unwrap_or(false) && text("htm")? == method && is_here && is_of_token && is_whole) {
            return Err(Refusal::Proof);
        }
        // Ids are unique for each key.
        let identity = Sha256::new().chain_update(thumbprint).chain_update([0]).chain_update(id).finalize().into();
        Ok((identity, text("nonce").ok().map(str::to_owned)))
    }
}

/// The key in a proof's header, if it is the one with this thumbprint.
fn key_of(header: &Map<String, Value>, thumbprint: &str) -> Result<(DecodingKey, Algorithm), Refusal> {
    let text = |name: &str| header.get(name).and_then(Value::as_str);
    let jwk = header.get("jwk").filter(|_| text("typ") == Some("dpop+jwt") && !header.contains_key("crit"));
    let jwk = jwk.filter(|jwk| thumbprint_of(jwk).is_some_and(|it| it == thumbprint)).ok_or(Refusal::Proof)?;
    let (_, algorithm) = ALGORITHMS.iter().find(|(name, _)| Some(*name) == text("alg")).ok_or(Refusal::Proof)?;
    keys::for_algorithm(jwk.clone(), *algorithm).map(|key| (key, *algorithm)).ok_or(Refusal::Proof)
}

/// SHA-256 of the parts that make a public key (RFC 7638).
fn thumbprint_of(jwk: &Value) -> Option<String> {
    let part = |name: &str| jwk.get(name).filter(|value| value.is_string());
    // In the order of their names, without blanks.
    let canonical = match jwk.get("kty")?.as_str()? {
        "EC" => json!({"crv": part("crv")?, "kty": "EC", "x": part("x")?, "y": part("y")?}),
        "OKP" => json!({"crv": part("crv")?, "kty": "OKP", "x": part("x")?}),
        "RSA" => json!({"e": part("e")?, "kty": "RSA", "n": part("n")?}),
        _ => return None,
    };
    Some(URL_SAFE_NO_PAD.encode(Sha256::digest(canonical.to_string())))
}

/// Scheme and authority in lower case, without the scheme's own port.
fn origin_of(uri: &Uri) -> Option<String> {
    let (scheme, host) = (uri.scheme_str()?, uri.host()?.to_ascii_lowercase());
    let port = uri.port_u16().filter(|port| !matches!((scheme, port), ("https", 443) | ("http", 80)));
    Some(port.map_or_else(|| format!("{scheme}://{host}"), |port| format!("{scheme}://{host}:{port}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_compared_as_browsers_do() {
        let origin = |text: &str| origin_of(&text.parse().unwrap());
        assert_eq!(origin("https://Bank.Example:443/a?b"), Some("https://bank.example".to_owned()));
        assert_eq!(origin("http://127.0.0.1:8080/"), Some("http://127.0.0.1:8080".to_owned()));
        assert_eq!(origin("/a"), None);
        for (text, is_valid) in [
            ("https://bank.example", true),
            ("https://bank.example:8443", true),
            ("http://localhost:8080", true),
            ("http://bank.example", false),
            ("https://bank.example/api", false),
            ("bank.example", false),
        ] {
            assert_eq!(Proofs::new(&[text.to_owned()], b"").is_ok(), is_valid, "{text}");
        }
    }

    #[test]
    fn thumbprints_are_those_of_the_standard() {
        let jwk = json!({
            "kty": "RSA", "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
            "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3okn\
                  jhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6q\
                  MQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awap\
                  JzKnqDKgw",
        });
        assert_eq!(thumbprint_of(&jwk).as_deref(), Some("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"));
    }

    #[test]
    fn a_proof_is_remembered_until_it_is_too_old() {
        let mut seen = Seen::default();
        let mut insert = |proof, now| seen.insert([proof; 32], "ana", now).is_ok();
        assert!(insert(1, 1_000));
        assert!(!insert(1, 1_000));
        assert!(insert(2, 1_064));
        assert!(!insert(1, 1_066), "its nonce may be of the next host, five seconds ahead");
        assert!(!insert(2, 1_129));
        assert!(insert(3, 1_132) && insert(1, 1_132), "too old for its nonce to count");
    }

    #[test]
    fn a_user_who_makes_too_many_is_refused_and_no_other() {
        let mut seen = Seen::default();
        let mut insert = |number: usize, user| {
            let mut proof = [0; 32];
            proof[..8].copy_from_slice(&number.to_be_bytes());
            seen.insert(proof, user, 1_000)
        };
        assert!((0..REMEMBERED_EACH_MAX).all(|number| insert(number, "ana").is_ok()));
        assert_eq!(insert(REMEMBERED_EACH_MAX, "ana"), Err(AuthError::TooManyRequests("proofs")));
        assert_eq!(insert(REMEMBERED_EACH_MAX, "luis"), Ok(()));
        assert_eq!(insert(0, "luis"), Err(AuthError::TokenInvalid(Refusal::Replayed)));
    }
}
