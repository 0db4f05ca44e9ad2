//! Keyed hashes of rows: whoever can write to the database but lacks the key cannot make one.

pub(crate) mod digest;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use self::digest::{Digest, Hash};

/// Shortest key, in bytes: the length of the hash.
const KEY_BYTES_MIN: usize = 32;

/// The ledger's key. It makes the hashes of its batches and of its audit records.
#[derive(Clone)]
pub struct ChainKey(Hmac<Sha256>);

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
        // HMAC accepts keys of any length.
        Hmac::new_from_slice(key).map(Self).map_err(|_| KeyTooShort)
    }

    /// Identifies the key without revealing it.
    pub(crate) fn fingerprint(&self) -> Hash {
        self.keyed(b"caudal ledger key 1")
    }

    /// The secret that signs the sandbox's tokens.
    pub fn sandbox_secret(&self) -> Hash {
        self.keyed(b"caudal sandbox token 1")
    }

    pub(crate) fn seal_digest(&self, digest: Digest) -> Hash {
        self.keyed(&digest.finish())
    }

    fn keyed(&self, bytes: &[u8]) -> Hash {
        let mut mac = self.0.clone();
        mac.update(bytes);
        mac.finalize().into_bytes().into()
    }
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

    /// The retired key with this fingerprint, if it was given.
    pub(crate) fn find(&self, fingerprint: &[u8]) -> Option<&ChainKey> {
        self.retired.iter().find(|key| key.fingerprint()[..] == *fingerprint)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a ledger key must have at least {KEY_BYTES_MIN} bytes")]
pub struct KeyTooShort;
