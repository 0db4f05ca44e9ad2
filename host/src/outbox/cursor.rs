//! Positions in the outbox.

use std::fmt;
use std::str::FromStr;

use crate::db::outbox::{Event, Offsets};

/// Enough for a few hundred chains.
pub(crate) const CURSOR_CHARS_MAX: usize = 4096;

/// A position in every chain: `0.15-1.7` follows batch 14 of stripe 0's chain and batch 6 of stripe 1's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor(pub(crate) Offsets);

impl Cursor {
    /// Advances past the event's batch.
    pub(crate) fn advance_past(&mut self, event: &Event) {
        let next = self.0.entry(event.stripe).or_insert(0);
        *next = (*next).max(event.seq + 1);
    }

    pub(super) fn has_passed(&self, event: &Event) -> bool {
        self.0.get(&event.stripe).is_some_and(|next| event.seq < *next)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (stripe, next)) in self.0.iter().enumerate() {
            write!(f, "{}{stripe}.{next}", if index == 0 { "" } else { "-" })?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of this service")]
pub struct InvalidCursor;

impl FromStr for Cursor {
    type Err = InvalidCursor;

    /// An empty string is the beginning.
    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let mut offsets = Offsets::new();
        if text.len() > CURSOR_CHARS_MAX {
            return Err(InvalidCursor);
        }
        for part in text.split('-').filter(|_| !text.is_empty()) {
            let (stripe, next) = part.split_once('.').ok_or(InvalidCursor)?;
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let stripe = is_number(stripe).then(|| stripe.parse().ok()).flatten();
            let next = is_number(next).then(|| next.parse().ok()).flatten().filter(|next: &i64| *next < i64::MAX);
            let (stripe, next) = stripe.zip(next).ok_or(InvalidCursor)?;
            if offsets.insert(stripe, next).is_some() {
                return Err(InvalidCursor);
            }
        }
        Ok(Self(offsets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_survive_a_round_trip() {
        for text in ["", "0.0", "0.15-1.7", "3.9223372036854775806"] {
            assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
        }
        for text in
            ["-", "0", "0.", ".1", "0.1-", "0.1-0.2", "a.1", "+1.2", "1.-2", "1.9223372036854775807", "99999.1", " 0.1"]
        {
            assert_eq!(text.parse::<Cursor>(), Err(InvalidCursor), "{text}");
        }
        assert_eq!("1".repeat(CURSOR_CHARS_MAX + 1).parse::<Cursor>(), Err(InvalidCursor));
    }
}
