//! Signatures of components, in the forms that cosign writes, and the public keys that verify them.

use std::fmt;

use anyhow::{Context as _, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;

use crate::db::components;
use crate::domain::model::Digest;
use crate::models::serving::embedded::Embedded;
use crate::wasm::digest_of;

/// Most keys: those in use, and the ones before them.
const KEYS_MAX: usize = 16;

/// What precedes the point in a public key on P-256 (RFC 5480), as DER.
const P256: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// Length of an uncompressed point on P-256.
const POINT_BYTES: usize = 65;

/// Longest signature in base64: 72 bytes of DER have 96 characters.
pub const SIGNATURE_CHARS_MAX: usize = 128;

/// Names a public key: the SHA-256 of its DER.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyId(Digest);

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sha256:{}", self.0)
    }
}

/// The keys of those who may sign components.
#[derive(Debug, Default)]
pub struct ModelKeys {
    keys: Vec<(KeyId, Vec<u8>)>,
    is_required: bool,
}

impl ModelKeys {
    /// Reads public keys on P-256 in PEM, as `cosign generate-key-pair` and `openssl ec -pubout` write them.
    ///
    /// # Errors
    /// When there is no key, or one of another type.
    pub fn parse(pem: &[u8], is_required: bool) -> anyhow::Result<Self> {
        let mut keys = Vec::new();
        for key in SubjectPublicKeyInfoDer::pem_slice_iter(pem) {
            let key = key.context("a public key in PEM was expected")?;
            let id = KeyId(Digest(Sha256::digest(&key).into()));
            match key.strip_prefix(&P256[..]) {
                Some(point) if point.len() == POINT_BYTES => keys.push((id, point.to_vec())),
                _ => bail!("the key {id} is not an ECDSA key on P-256, the kind that `cosign generate-key-pair` makes"),
            }
        }
        ensure!(!keys.is_empty(), "there is no public key in it");
        ensure!(keys.len() <= KEYS_MAX, "it has {} keys, which is more than {KEYS_MAX}", keys.len());
        Ok(Self { keys, is_required })
    }

    /// Whether hosts serve signed components only.
    pub fn is_required(&self) -> bool {
        self.is_required
    }

    /// The key that made this signature of the message: ECDSA with SHA-256, as DER in base64.
    pub fn signer_of(&self, message: &[u8], signature: &str) -> Option<KeyId> {
        if signature.len() > SIGNATURE_CHARS_MAX {
            return None;
        }
        let signature = STANDARD.decode(signature.trim()).ok()?;
        let made_it = |(_, point): &&(KeyId, Vec<u8>)| {
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, &signature).is_ok()
        };
        self.keys.iter().find(made_it).map(|(id, _)| *id)
    }
}

/// Whether hosts with these keys may serve a registered component. What this program contains is part of its release.
///
/// # Errors
/// When the database fails.
pub async fn may_serve(
    db: &mut PgConnection,
    keys: &ModelKeys,
    digest: Digest,
    bytes: &[u8],
) -> Result<bool, sqlx::Error> {
    let is_embedded = || Embedded::ALL.into_iter().any(|it| digest_of(it.bytes) == digest);
    if !keys.is_required() || is_embedded() {
        return Ok(true);
    }
    let found = components::signature_of(db, digest).await?;
    Ok(found.is_some_and(|found| keys.signer_of(bytes, &found.signature).is_some()))
}
