//! Nonces of proofs (RFC 9449, section 9): nobody can make a proof long before its use. They are derived from a key and the
//! time, so hosts that share the key need to share nothing else, and a restart changes nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use time::OffsetDateTime;

/// How long a nonce is handed out, in seconds. It counts for as long again, so a client that has just asked has time.
const PERIOD: i64 = 30;

/// How far ahead the clock of the host that handed it out may be, in seconds.
const LEEWAY: i64 = 5;

/// How long a nonce counts at most, in seconds.
pub(super) const LIFETIME: i64 = 2 * PERIOD + LEEWAY;

pub(super) struct Nonces(Hmac<Sha256>);

impl Nonces {
    /// Derives a key of its own from a secret.
    pub(super) fn new(secret: &[u8]) -> Self {
        // HMAC accepts keys of any length.
        let keyed = |key: &[u8]| Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()));
        Self(keyed(&keyed(secret).chain_update(b"caudal proof nonce 1").finalize().into_bytes()))
    }

    /// The one to hand out.
    pub(super) fn at(&self, now: OffsetDateTime) -> String {
        self.of(now.unix_timestamp())
    }

    pub(super) fn counts(&self, nonce: &str, now: OffsetDateTime) -> bool {
        let now = now.unix_timestamp();
        [now - PERIOD, now, now + LEEWAY].into_iter().any(|at| self.of(at) == nonce)
    }

    fn of(&self, seconds: i64) -> String {
        let period = seconds.div_euclid(PERIOD).to_be_bytes();
        URL_SAFE_NO_PAD.encode(self.0.clone().chain_update(period).finalize().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_counts_for_a_minute_wherever_the_key_is_known() {
        let at = |seconds| OffsetDateTime::from_unix_timestamp(seconds).unwrap();
        let (nonces, same, other) = (Nonces::new(b"a secret"), Nonces::new(b"a secret"), Nonces::new(b"another"));
        let nonce = nonces.at(at(3_000));
        assert_eq!(nonce, nonces.at(at(3_029)));
        for (seconds, counts) in [(2_994, false), (2_995, true), (3_000, true), (3_059, true), (3_060, false)] {
            assert_eq!(same.counts(&nonce, at(seconds)), counts, "{seconds}");
        }
        assert_eq!(LIFETIME, 3_060 - 2_995, "proofs are remembered for as long");
        assert!(!other.counts(&nonce, at(3_000)));
    }
}
