//! Positions in the outbox.

use std::fmt;
use std::str::FromStr;

use crate::db::outbox::recorded::CHAINS;
use crate::db::outbox::{Event, Position};

/// Enough for 250 chains with a hundred million batches each: as many as batchers wrote at the same time since the key
/// was replaced.
pub const CURSOR_CHARS_MAX: usize = 4096;

/// Digits of a history's name.
const HISTORY_CHARS: usize = 8;

/// A position in every chain of a history: `5f3a9c01.2-2.15-3.7` follows batch 14 of stripe 2's chain and batch 6 of
/// stripe 3's. The chains before stripe 2 are closed and were read to the end. `r0.9` follows audit record 8 of chain 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor(pub Position);

impl Cursor {
    /// Advances past the event's batch.
    pub fn advance_past(&mut self, event: &Event) {
        let next = self.0.next.entry(event.stripe).or_insert(0);
        *next = (*next).max(event.seq + 1);
    }

    pub(super) fn has_passed(&self, event: &Event) -> bool {
        self.0.next.get(&event.stripe).is_some_and(|next| event.seq < *next)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { history: Some(history), floor, next } = &self.0 else { return Ok(()) };
        write!(f, "{history:08x}.{floor}")?;
        next.range(..0).rev().try_for_each(|(stripe, next)| write!(f, "-r{}.{next}", -1 - stripe))?;
        next.range(*floor..).try_for_each(|(stripe, next)| write!(f, "-{stripe}.{next}"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of this service")]
pub struct InvalidCursor;

impl FromStr for Cursor {
    type Err = InvalidCursor;

    /// An empty string is the beginning.
    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        if text.len() > CURSOR_CHARS_MAX {
            return Err(InvalidCursor);
        }
        let mut parts = text.split('-').map(|part| part.split_once('.'));
        let (history, floor) = parts.next().flatten().ok_or(InvalidCursor)?;
        let is_history = history.len() == HISTORY_CHARS && history.bytes().all(|byte| byte.is_ascii_hexdigit());
        let history = is_history.then(|| u32::from_str_radix(history, 16).ok()).flatten().ok_or(InvalidCursor)?;
        let floor = number(floor)?;
        let mut position = Position { history: Some(history), floor, ..Position::default() };
        for part in parts {
            let (stripe, next) = part.ok_or(InvalidCursor)?;
            let (stripe, next) = (chain(stripe, floor)?, number(next)?);
            if next == i64::MAX || position.next.insert(stripe, next).is_some() {
                return Err(InvalidCursor);
            }
        }
        Ok(Self(position))
    }
}

/// Of batches that are not closed, or of audit records.
fn chain(text: &str, floor: i16) -> Result<i16, InvalidCursor> {
    let Some(records) = text.strip_prefix('r') else {
        return number(text).and_then(|stripe| if stripe < floor { Err(InvalidCursor) } else { Ok(stripe) });
    };
    let chain = -1 - number::<i16>(records)?;
    if CHAINS.contains(&chain) { Ok(chain) } else { Err(InvalidCursor) }
}

/// Without a sign.
fn number<T: FromStr>(text: &str) -> Result<T, InvalidCursor> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten().ok_or(InvalidCursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_survive_a_round_trip() {
        for text in [
            "",
            "00000000.0",
            "5f3a9c01.2-r0.3-r32.1-2.7",
            "00c0ffee.0-0.15-1.7",
            "5f3a9c01.3-3.9223372036854775806-7.0",
        ] {
            assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
        }
        for text in ["-", "0", "0.1", "0.15-1.7", ".0", "5f3a9c0.0", "+f3a9c01.0", "5f3a9c01.-1", "5f3a9c01.99999"] {
            assert_eq!(text.parse::<Cursor>(), Err(InvalidCursor), "{text}");
        }
        for rest in [
            "",
            "0.",
            ".1",
            "0.1-",
            "0.1-0.2",
            "a.1",
            "+1.2",
            "1.-2",
            "1.9223372036854775807",
            "99999.1",
            " 0.1",
            "r33.1",
        ] {
            assert_eq!(format!("5f3a9c01.0-{rest}").parse::<Cursor>(), Err(InvalidCursor), "{rest}");
        }
        assert_eq!("5f3a9c01.2-1.5".parse::<Cursor>(), Err(InvalidCursor));
        assert_eq!("1".repeat(CURSOR_CHARS_MAX + 1).parse::<Cursor>(), Err(InvalidCursor));
    }

    #[test]
    fn chains_that_were_closed_and_read_are_not_named() {
        let next = (0..300).map(|stripe| (stripe, 9)).collect();
        let ends = Position { history: Some(7), floor: 298, next };
        let mut cursor = Cursor("00000007.0-0.5".parse::<Cursor>().unwrap().0);
        assert_eq!((ends.follows(&cursor.0), ends.batches_since(&cursor.0)), (true, 4 + 299 * 9));
        cursor.0.advance_to(&ends);
        assert_eq!(cursor.to_string(), "00000007.298-298.9-299.9");
        let again = cursor.to_string().parse::<Cursor>().unwrap();
        assert_eq!((ends.follows(&again.0), ends.batches_since(&again.0)), (true, 0));
        for foreign in ["00000008.0", "00000007.0-0.10", "00000007.0-300.1", "00000007.299"] {
            assert!(!ends.follows(&foreign.parse::<Cursor>().unwrap().0), "{foreign}");
        }
    }
}
