//! A canonical encoding of fields as SHA-256 input.
//!
//! Every field is fixed-width or preceded by its length, so that no two different rows have the same encoding.

use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use uuid::Uuid;

pub(crate) type Hash = [u8; 32];

#[derive(Debug, Clone)]
pub(crate) struct Digest(Sha256);

impl Digest {
    /// `domain` keeps the encodings of different tables apart.
    pub(crate) fn new(domain: &[u8]) -> Self {
        let mut digest = Self(Sha256::new());
        digest.bytes(domain);
        digest
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn int(&mut self, value: i64) {
        self.0.update(value.to_be_bytes());
    }

    pub(crate) fn optional_int(&mut self, value: Option<i64>) {
        self.optional_bytes(value.map(i64::to_be_bytes).as_ref().map(|bytes| &bytes[..]));
    }

    pub(crate) fn uuid(&mut self, id: Uuid) {
        self.0.update(id.as_bytes());
    }

    /// In microseconds, Postgres's resolution.
    pub(crate) fn time(&mut self, at: OffsetDateTime) {
        self.0.update((at.unix_timestamp_nanos() / 1_000).to_be_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn optional_text(&mut self, text: Option<&str>) {
        self.optional_bytes(text.map(str::as_bytes));
    }

    pub(crate) fn optional_uuid(&mut self, id: Option<Uuid>) {
        self.optional_bytes(id.as_ref().map(|id| &id.as_bytes()[..]));
    }

    pub(crate) fn optional_bytes(&mut self, bytes: Option<&[u8]>) {
        self.0.update([u8::from(bytes.is_some())]);
        if let Some(bytes) = bytes {
            self.bytes(bytes);
        }
    }

    pub(crate) fn finish(self) -> Hash {
        self.0.finalize().into()
    }
}
