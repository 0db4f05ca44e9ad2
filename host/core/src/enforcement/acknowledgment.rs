//! Tokens with which a sender acknowledges the risk of a transfer.
//!
//! The risk context issues one with its assessment, and the transfer presents it. A token is valid for five minutes,
//! for one owner, account, beneficiary and amount, and for the level that was shown or a lower one. It names the id of
//! the transfer to be made, so the ledger, where ids are unique, makes one transfer with it at most. It carries the
//! decision that was shown, encrypted because it rests on facts about the payee, to be kept with the transfer.
//!
//! It records consent. It is not a second factor: anybody with the user's bearer token can fetch one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::Sha256;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::decision::kept::{self, Salt};
use crate::decision::{Decision, Deployed, Role};
use crate::domain::money::Money;
use crate::domain::risk::Level;

/// Long enough to read an explanation and decide.
pub const LIFETIME: Duration = Duration::minutes(5);

/// Longest token, in characters: those of a decision on all facts of the catalogue, each of them a fraction, are fewer.
pub const TOKEN_CHARS_MAX: usize = 800;

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
        own.update(b"caudal acknowledgment 3");
        Self(keyed(&own.finalize().into_bytes()))
    }

    /// A token for the decision that was shown and the transfer that it may make, and its expiry. An id is for one token.
    pub fn issue(
        &self,
        subject: &Subject<'_>,
        shown: Decision,
        transfer_id: Uuid,
        now: OffsetDateTime,
    ) -> Option<(String, OffsetDateTime)> {
        let until = now + LIFETIME;
        let shown = Decision { by: Deployed { role: Role::Shown, ..shown.by }, ..shown };
        let mut sealed = until.unix_timestamp().to_be_bytes().to_vec();
        sealed.extend(kept::encode(&[shown], Salt::default()));
        self.key(transfer_id)?.seal_in_place_append_tag(nonce(), context(subject), &mut sealed).ok()?;
        Some((URL_SAFE_NO_PAD.encode([transfer_id.as_bytes(), &sealed[..]].concat()), until))
    }

    /// The id of the transfer that a token may make and the decision that was shown, if it acknowledges this level, or a
    /// higher one, for this transfer.
    pub fn verify(
        &self,
        token: &str,
        subject: &Subject<'_>,
        level: Level,
        now: OffsetDateTime,
    ) -> Option<(Uuid, Decision)> {
        let mut token = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (id, sealed) = token.split_first_chunk_mut()?;
        let id = Uuid::from_bytes(*id);
        let opened = self.key(id)?.open_in_place(nonce(), context(subject), sealed).ok()?;
        let (until, shown) = opened.split_first_chunk()?;
        let shown = kept::decode(shown)?.0.pop()?;
        let is_valid =
            shown.risk()?.level(shown.by.cut_offs) >= level && now.unix_timestamp() < i64::from_be_bytes(*until);
        is_valid.then_some((id, shown))
    }

    /// Of one token.
    fn key(&self, transfer_id: Uuid) -> Option<LessSafeKey> {
        let mut mac = self.0.clone();
        mac.update(transfer_id.as_bytes());
        UnboundKey::new(&CHACHA20_POLY1305, &mac.finalize().into_bytes()).ok().map(LessSafeKey::new)
    }
}

/// The same each time: a key seals one token.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

/// What a token is for, which it does not repeat.
fn context(Subject { owner, from, to, amount }: &Subject<'_>) -> Aad<Vec<u8>> {
    let fixed = [from.as_bytes(), to.as_bytes(), &amount.minor().to_be_bytes()[..]];
    Aad::from([&fixed.concat(), owner.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::RiskOutcome;
    use crate::domain::fact::FACTS;
    use crate::domain::model::{Digest, ModelKind};
    use crate::domain::risk::{Assessment, CutOffs, Request};
    use time::macros::datetime;

    /// On as many facts as there are, of which none takes few bytes.
    fn decision(score: f64, level: Level) -> Decision {
        let mut request = Request::default();
        FACTS.iter().for_each(|fact| fact.give(&mut request, Some(1_234_567.89)));
        let by = Deployed {
            kind: ModelKind::Risk,
            digest: Digest([7; 32]),
            epoch: i64::MAX,
            role: Role::Canary,
            cut_offs: CutOffs { medium_from: 0.2, high_from: 0.6 },
        };
        let factors = crate::domain::reason::reason_codes().map(str::to_owned).collect();
        let outcome =
            RiskOutcome::of(&Assessment { level, score, predictor: Some(score), factors, reasons: Vec::new() });
        Decision::on_risk(by, &request, &[], &outcome)
    }

    #[test]
    fn a_token_is_valid_for_its_transfer_level_and_lifetime() {
        let id = Uuid::from_u128(7);
        let (now, tokens) = (datetime!(2026-11-21 18:00 UTC), Acknowledgments::new(b"a secret"));
        let subject = Subject { owner: "ana", from: Uuid::from_u128(1), to: Uuid::from_u128(2), amount: Money::MAX };
        let seen = decision(0.3, Level::Medium);
        let (token, until) = tokens.issue(&subject, seen.clone(), id, now).unwrap();
        assert_eq!(until, now + LIFETIME);
        assert!(token.len() <= TOKEN_CHARS_MAX, "{}", token.len());
        let shown = Decision { by: Deployed { role: Role::Shown, ..seen.by }, ..seen };
        assert_eq!(tokens.verify(&token, &subject, Level::Medium, now), Some((id, shown.clone())));
        assert_eq!(tokens.verify(&token, &subject, Level::Low, until - Duration::SECOND), Some((id, shown)));
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
        let bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 1;
            assert_eq!(tokens.verify(&URL_SAFE_NO_PAD.encode(&altered), &subject, Level::Low, now), None, "{at}");
            assert_eq!(tokens.verify(&URL_SAFE_NO_PAD.encode(&bytes[..at]), &subject, Level::Low, now), None, "{at}");
        }
        for text in ["", ".", "é", "AAAA", &format!("{token}="), &format!("{token}AAAA")] {
            assert_eq!(tokens.verify(text, &subject, Level::Low, now), None, "{text}");
        }
    }
}
