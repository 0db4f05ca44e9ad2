//! Tokens with which a sender acknowledges the risk of a transfer.
//!
//! The risk context issues one with its assessment, and the transfer presents it. A token is valid for five minutes,
//! for one owner, account, beneficiary and amount, and for the level that was shown or a lower one. It names the id of
//! the transfer to be made, so the ledger, where ids are unique, makes one transfer with it at most.
//!
//! It records consent. It is not a second factor: anybody with the user's bearer token can fetch one.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::domain::money::Money;
use crate::domain::risk::Level;

/// Long enough to read an explanation and decide.
pub const LIFETIME: Duration = Duration::minutes(5);

/// Longest token, in characters: a level, a time, an id of 32 digits and a MAC of 64.
pub const TOKEN_CHARS_MAX: usize = 140;

/// The transfer that a token is for.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub owner: &'a str,
    /// Account.
    pub from: Uuid,
    /// Beneficiary.
    pub to: Uuid,
    pub amount: Money,
}

/// Issues and verifies tokens.
#[derive(Clone)]
pub struct Acknowledgments(Hmac<Sha256>);

impl Acknowledgments {
    /// Derives a key of its own from a secret.
    pub fn new(secret: &[u8]) -> Self {
        // HMAC accepts keys of any length.
        let keyed = |key: &[u8]| Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()));
        let mut own = keyed(secret);
        own.update(b"caudal acknowledgment 2");
        Self(keyed(&own.finalize().into_bytes()))
    }

    /// A token for the level that was shown and the transfer that it may make, and its expiry.
    pub fn issue(
        &self,
        subject: &Subject<'_>,
        level: Level,
        transfer_id: Uuid,
        now: OffsetDateTime,
    ) -> (String, OffsetDateTime) {
        let until = now + LIFETIME;
        let seconds = until.unix_timestamp();
        let mac = self.mac(subject, level, transfer_id, seconds).finalize().into_bytes();
        (format!("{level}.{seconds}.{}.{}", transfer_id.simple(), hex::encode(mac)), until)
    }

    /// The id of the transfer that a token may make, if it acknowledges this level, or a higher one, for this transfer.
    pub fn verify(&self, token: &str, subject: &Subject<'_>, level: Level, now: OffsetDateTime) -> Option<Uuid> {
        let mut parts = token.split('.');
        let (seen, seconds, id, mac) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let (seen, seconds) = (Level::parse(seen)?, seconds.parse::<i64>().ok()?);
        let (id, mac) = (Uuid::from_slice(&hex::decode(id).ok()?).ok()?, hex::decode(mac).ok()?);
        let is_valid = seen >= level
            && now.unix_timestamp() < seconds
            && self.mac(subject, seen, id, seconds).verify_slice(&mac).is_ok();
        is_valid.then_some(id)
    }

    fn mac(&self, subject: &Subject<'_>, level: Level, transfer_id: Uuid, seconds: i64) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(&(subject.owner.len() as u64).to_be_bytes());
        mac.update(subject.owner.as_bytes());
        mac.update(subject.from.as_bytes());
        mac.update(subject.to.as_bytes());
        mac.update(&subject.amount.minor().to_be_bytes());
        mac.update(&seconds.to_be_bytes());
        mac.update(transfer_id.as_bytes());
        mac.update(level.as_str().as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn a_token_is_valid_for_its_transfer_level_and_lifetime() {
        let (id, other_id) = (Uuid::from_u128(7), Uuid::from_u128(8));
        let (now, tokens) = (datetime!(2026-11-21 18:00 UTC), Acknowledgments::new(b"a secret"));
        let subject = Subject { owner: "ana", from: Uuid::from_u128(1), to: Uuid::from_u128(2), amount: Money::MAX };
        let (token, until) = tokens.issue(&subject, Level::Medium, id, now);
        assert_eq!(until, now + LIFETIME);
        assert!(token.len() <= TOKEN_CHARS_MAX);
        assert_eq!(tokens.verify(&token, &subject, Level::Medium, now), Some(id));
        assert_eq!(tokens.verify(&token, &subject, Level::Low, until - Duration::SECOND), Some(id));
        assert_eq!(tokens.verify(&token, &subject, Level::High, now), None);
        assert_eq!(tokens.verify(&token, &subject, Level::Medium, until), None);
        assert_eq!(Acknowledgments::new(b"another").verify(&token, &subject, Level::Medium, now), None);
        for other in [
            Subject { owner: "luis", ..subject },
            Subject { from: Uuid::from_u128(3), ..subject },
            Subject { to: Uuid::from_u128(3), ..subject },
            Subject { amount: Money::from_minor(1), ..subject },
        ] {
            assert_eq!(tokens.verify(&token, &other, Level::Medium, now), None);
        }
        let renamed = token.replace(&id.simple().to_string(), &other_id.simple().to_string());
        for forged in
            [token.replace("medium", "high"), token.to_uppercase(), renamed, format!("{token}00"), format!("{token}.")]
        {
            assert_eq!(tokens.verify(&forged, &subject, Level::Low, now), None, "{forged}");
        }
        for text in ["", "high", "high.9..", "high.9.0.0", "high.9.é.é", "...", "high.99999999999999999999.00.00"] {
            assert_eq!(tokens.verify(text, &subject, Level::Low, now), None, "{text}");
        }
    }
}
