//! Tracking keys, which identify transfers to other banks, and the ids of transfers that other banks' tracking keys name.

use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use uuid::{Builder, Uuid};

use super::command::Order;
use super::fingerprint;
use crate::domain::incoming::{IncomingOrder, OrderKey};
use crate::sealing::digest::Digest;

/// Prefix of this bank's tracking keys.
const PREFIX: &str = "CAUD";

/// Digits of the date.
const DATE_LENGTH: usize = 8;

/// Begins the idempotency key of a recovered payment: clients' keys have no spaces.
const RECOVERED: &str = "recovered ";

/// Characters after the date, 5 bits each.
const SUFFIX_LENGTH: usize = 18;

/// Crockford's base 32, which omits I, L, O and U because people misread them.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The clave de rastreo of a transfer: 30 uppercase alphanumerics, SPEI's maximum. The date is UTC.
///
/// With an idempotency key, the rest follows from the request. If a restore loses a transfer, a retry on the same day
/// has the same tracking key, so the rail knows it again and pays it once. Otherwise it follows from the random id.
pub(super) fn tracking_key(order: &Order, fingerprint: &[u8; 32], created_at: OffsetDateTime) -> String {
    let mut digest = Digest::new(b"caudal tracking key 1");
    match &order.key {
        Some(key) => {
            digest.text(&order.owner);
            digest.text(key);
            digest.bytes(fingerprint);
        }
        None => digest.uuid(order.transfer_id),
    }
    let date = created_at.date();
    let mut text = format!("{PREFIX}{:04}{:02}{:02}", date.year(), u8::from(date.month()), date.day());
    text.extend(digest.finish().iter().take(SUFFIX_LENGTH).map(|byte| char::from(ALPHABET[usize::from(byte % 32)])));
    text
}

/// Whether a tracking key is one that this bank derives.
pub fn is_own_tracking_key(tracking_key: &str) -> bool {
    let date_end = PREFIX.len() + DATE_LENGTH;
    tracking_key.len() == date_end + SUFFIX_LENGTH
        && tracking_key.starts_with(PREFIX)
        && tracking_key.bytes().skip(PREFIX.len()).take(DATE_LENGTH).all(|byte| byte.is_ascii_digit())
        && tracking_key.bytes().skip(date_end).all(|byte| ALPHABET.contains(&byte))
}

/// The idempotency key under which the answer to a lost request waits for its retry: what its tracking key has on any day.
pub(super) fn recovered_key(tracking_key: &str) -> Option<String> {
    is_own_tracking_key(tracking_key).then(|| format!("{RECOVERED}{}", &tracking_key[PREFIX.len() + DATE_LENGTH..]))
}

pub(super) fn is_recovered(key: &str) -> bool {
    key.starts_with(RECOVERED)
}

/// The same for a retry; `None` without an idempotency key.
pub(super) fn recovered_key_of(order: &Order) -> Option<String> {
    order.key.as_ref()?;
    recovered_key(&tracking_key(order, &fingerprint::of_transfer(order), OffsetDateTime::UNIX_EPOCH))
}

impl OrderKey {
    /// The id of the transfer that an incoming order is entered as: its hash, so that the primary key lets it be entered
    /// once. A rule in `db/audit/slice.rs` computes the same.
    pub fn transfer_id(&self) -> Uuid {
        let Self { tracking_key, operating_date, institution } = self;
        let hash = Sha256::digest(format!("caudal incoming 1|{tracking_key}|{operating_date}|{institution}"));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        Builder::from_custom_bytes(bytes).into_uuid()
    }
}

impl IncomingOrder {
    /// See [`OrderKey::transfer_id`].
    pub fn transfer_id(&self) -> Uuid {
        self.key().transfer_id()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Money;
    use crate::domain::remittance::Remittance;
    use crate::domain::risk::Risk;
    use time::macros::datetime;
    use uuid::Uuid;

    fn key_of(transfer_id: u128, owner: &str, key: Option<&str>, fingerprint: u8) -> String {
        let order = Order {
            transfer_id: Uuid::from_u128(transfer_id),
            owner: owner.to_owned(),
            key: key.map(str::to_owned),
            from_account_id: Uuid::nil(),
            to_beneficiary_id: Uuid::nil(),
            amount: Money::from_minor(1),
            remittance: Remittance::NONE,
            risk: Risk::NotEnforced,
            risk_decisions: None,
            hold_id: None,
            device: None,
            may_record_refusal: true,
        };
        tracking_key(&order, &[fingerprint; 32], datetime!(2026-11-21 12:00 UTC))
    }

    #[test]
    fn a_retry_has_the_same_tracking_key_and_another_request_another_one() {
        let first = key_of(1, "ana", Some("rent"), 0);
        assert_eq!(first, key_of(2, "ana", Some("rent"), 0));
        assert!(first.starts_with("CAUD20261121") && first.len() == 30, "{first}");
        let others = [
            key_of(1, "ana", Some("rent"), 1),
            key_of(1, "luis", Some("rent"), 0),
            key_of(1, "ana", Some("tent"), 0),
            key_of(1, "ana", None, 0),
            key_of(2, "ana", None, 0),
        ];
        assert_eq!(others.into_iter().chain([first]).collect::<std::collections::BTreeSet<_>>().len(), 6);
    }
}
