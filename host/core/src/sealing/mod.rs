//! Keyed hashes of rows, and signatures of files: somebody who can write to the database but lacks the key cannot make one.

pub(crate) mod digest;
pub(crate) mod merkle;

use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sha2::Sha256;
use uuid::Uuid;

use self::digest::{Digest, Hash};

/// Shortest key, in bytes: the length of the hash.
const KEY_BYTES_MIN: usize = 32;

/// HKDF-Expand of the ledger's key with this text is the seed of its key pair. The last byte counts the blocks.
const SEED: &[u8] = b"caudal Ed25519 seed 1\x01";

/// An Ed25519 key, with which anybody can check what the ledger's key signed.
pub type PublicKey = [u8; 32];

/// The ledger's key. It makes the hashes of its batches and of its audit records, and signs what is kept elsewhere.
#[derive(Clone)]
pub struct ChainKey {
    mac: Hmac<Sha256>,
    pair: Arc<Ed25519KeyPair>,
    public: PublicKey,
}

impl std::fmt::Debug for ChainKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChainKey")
    }
}

impl ChainKey {
    /// # Errors
    /// When the key is too short.
    pub fn new(key: &[u8]) -> Result<Self, KeyTooShort> {
        if key.len() < KEY_BYTES_MIN {
            return Err(KeyTooShort);
        }
        // HMAC accepts keys of any length, and every seed of 32 bytes makes a pair.
        let mac = Hmac::new_from_slice(key).map_err(|_| KeyTooShort)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&keyed(&mac, SEED)).map_err(|_| KeyTooShort)?;
        let public = pair.public_key().as_ref().try_into().map_err(|_| KeyTooShort)?;
        Ok(Self { mac, pair: Arc::new(pair), public })
    }

    /// Its public key, which identifies it without revealing it.
    pub fn fingerprint(&self) -> PublicKey {
        self.public
    }

    /// A signature that [`is_signed`] accepts with the public key.
    pub(crate) fn sign(&self, text: &[u8]) -> Vec<u8> {
        self.pair.sign(text).as_ref().to_vec()
    }

    /// The secret that signs the sandbox's tokens.
    pub fn sandbox_secret(&self) -> Hash {
        self.keyed(b"caudal sandbox token 1")
    }

    /// What a sink and this bank share: a webhook's secret, or a password.
    pub fn sink_secret(&self, sink_id: Uuid) -> Hash {
        self.keyed(&[b"caudal sink secret 1", &sink_id.as_bytes()[..]].concat())
    }

    pub(crate) fn seal_digest(&self, digest: Digest) -> Hash {
        self.keyed(&digest.finish())
    }

    fn keyed(&self, bytes: &[u8]) -> Hash {
        keyed(&self.mac, bytes)
    }
}

fn keyed(mac: &Hmac<Sha256>, bytes: &[u8]) -> Hash {
    let mut mac = mac.clone();
    mac.update(bytes);
    mac.finalize().into_bytes().into()
}

pub(crate) fn is_signed(text: &[u8], signature: &[u8], by: &PublicKey) -> bool {
    UnparsedPublicKey::new(&ED25519, by).verify(text, signature).is_ok()
}

/// The present key, and those of its predecessors that were given.
#[derive(Debug, Clone)]
pub struct Keyring {
    present: ChainKey,
    retired: Vec<ChainKey>,
}

impl From<ChainKey> for Keyring {
    fn from(present: ChainKey) -> Self {
        Self { present, retired: Vec::new() }
    }
}

impl Keyring {
    pub fn new(present: ChainKey, retired: Vec<ChainKey>) -> Self {
        Self { present, retired }
    }

    pub fn present(&self) -> &ChainKey {
        &self.present
    }

    /// The known retired keys.
    pub fn retired(&self) -> &[ChainKey] {
        &self.retired
    }

    /// The retired key of this pair, if it was given.
    pub(crate) fn find(&self, public: &[u8]) -> Option<&ChainKey> {
        self.retired.iter().find(|key| key.public[..] == *public)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a ledger key must have at least {KEY_BYTES_MIN} bytes")]
pub struct KeyTooShort;
