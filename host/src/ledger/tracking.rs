//! Tracking keys, which identify transfers to other banks.

use time::OffsetDateTime;
use uuid::Uuid;

/// Prefix of this bank's tracking keys.
const PREFIX: &str = "CAUD";

/// Characters after the date, 5 bits each: 90 bits of the transfer's id.
const SUFFIX_LENGTH: u32 = 18;

/// Crockford's base 32, which omits I, L, O and U because people misread them.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The clave de rastreo of a transfer: 30 uppercase alphanumerics, SPEI's maximum. It contains every random bit of the
/// transfer's id; the date is UTC.
pub(super) fn tracking_key(transfer_id: Uuid, created_at: OffsetDateTime) -> String {
    let id = transfer_id.as_u128();
    let date = created_at.date();
    let mut key = format!("{PREFIX}{:04}{:02}{:02}", date.year(), u8::from(date.month()), date.day());
    key.extend((0..SUFFIX_LENGTH).rev().map(|position| {
        let digit = (id >> (5 * position)) & 31;
        char::from(ALPHABET[digit as usize])
    }));
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn a_tracking_key_has_thirty_characters_and_differs_by_id() {
        let at = datetime!(2026-11-21 12:00 UTC);
        let key = tracking_key(Uuid::from_u128(u128::MAX), at);
        assert_eq!(key, "CAUD20261121ZZZZZZZZZZZZZZZZZZ");
        assert_eq!(tracking_key(Uuid::from_u128(33), at), "CAUD20261121000000000000000011");
    }
}
