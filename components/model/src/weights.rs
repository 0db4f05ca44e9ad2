//! The weights file: the coefficients of one model version, written by training and parsed while a
//! component is compiled.
//!
//! | Bytes | Content |
//! | --- | --- |
//! | 8 | magic, `CDLMODEL` |
//! | 2 | format, 1 |
//! | 2 | kind: 1 risk, 2 nudge, 3 accessibility |
//! | 2 | length of the version, 5 to 32 |
//! | 2 | length of the summary, 1 to 200 |
//! | 2 | number of entries, 1 to 64 |
//! | | version, `major.minor.patch` in ASCII; summary, UTF-8 |
//! | 10 each | entry: parameter, value as an IEEE 754 double |
//!
//! Integers and doubles are little-endian. Parameters are strictly increasing, values are finite, and
//! the lengths account for every byte. The kind defines its parameters: [`crate::risk::Weights`],
//! [`crate::nudge::Weights`], [`crate::accessibility::Weights`].
//!
//! Parsing is `const`, so a component's weights are parsed when it is built, and a component with a bad
//! file does not compile. `components/build.sh` chooses the file.

use alloc::vec::Vec;

pub const MAGIC: [u8; 8] = *b"CDLMODEL";
/// Format number that this code reads and writes.
pub const FORMAT: u16 = 1;
/// Maximum length of a version: three numbers and two dots need far less.
pub const VERSION_BYTES_MAX: usize = 32;
/// Maximum length of a summary: one sentence, as WIT specifies for `describe`.
pub const SUMMARY_BYTES_MAX: usize = 200;
/// Maximum number of entries; the largest kind has 18.
pub const ENTRIES_MAX: usize = 64;

/// Maximum magnitude of a weight, in logits: odds of e^100 are certainty, and sums of such weights
/// retain the digits on which a model's guarantees depend.
pub const WEIGHT_MAX: f64 = 100.0;

/// Magic, format, kind and the three lengths.
const HEADER_BYTES: usize = 18;
/// A parameter and its value.
const ENTRY_BYTES: usize = 10;
/// Length of `0.0.0`.
const VERSION_BYTES_MIN: usize = 5;

/// The scorer that a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    Risk = 1,
    Nudge = 2,
    Accessibility = 3,
}

/// The first defect found in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than the header.
    Truncated,
    Magic,
    /// A format other than [`FORMAT`].
    Format,
    /// Weights for another kind of scorer.
    Kind,
    /// A length is out of bounds, or the lengths do not add up to the size of the file.
    Length,
    /// The version is not `major.minor.patch`, or the summary is not one line of UTF-8.
    Text,
    /// Parameters are not strictly increasing.
    Order,
    /// A value is infinite or not a number.
    Value,
    /// A parameter that the kind does not define.
    Unknown,
    /// The kind lacks one of its parameters.
    Missing,
    /// The values violate a guarantee of the model, such as the sign of a coefficient.
    Unsound,
}

/// A file with a valid header, lengths, texts and entries, whatever its parameters mean.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Semantic version of the model.
    pub version: &'a str,
    /// One sentence for people.
    pub summary: &'a str,
    entries: &'a [u8],
}

impl<'a> File<'a> {
    /// Parses the frame of a file.
    ///
    /// # Errors
    /// [`Malformed`]: the first defect from the start of the file.
    pub const fn parse(bytes: &'a [u8], kind: Kind) -> Result<Self, Malformed> {
        if bytes.len() < HEADER_BYTES {
            return Err(Malformed::Truncated);
        }
        let mut at = 0;
        while at < MAGIC.len() {
            if bytes[at] != MAGIC[at] {
                return Err(Malformed::Magic);
            }
            at += 1;
        }
        if u16_at(bytes, 8) != FORMAT {
            return Err(Malformed::Format);
        }
        if u16_at(bytes, 10) != kind as u16 {
            return Err(Malformed::Kind);
        }
        let (version, summary, count) =
            (u16_at(bytes, 12) as usize, u16_at(bytes, 14) as usize, u16_at(bytes, 16) as usize);
        let bounded = VERSION_BYTES_MIN <= version
            && version <= VERSION_BYTES_MAX
            && 1 <= summary
            && summary <= SUMMARY_BYTES_MAX
            && 1 <= count
            && count <= ENTRIES_MAX;
        // The bounds above keep this sum far from overflow.
        if !bounded || HEADER_BYTES + version + summary + count * ENTRY_BYTES != bytes.len() {
            return Err(Malformed::Length);
        }
        let (_, rest) = bytes.split_at(HEADER_BYTES);
        let (version, rest) = rest.split_at(version);
        let (summary, entries) = rest.split_at(summary);
        let (Ok(version), Ok(summary)) = (core::str::from_utf8(version), core::str::from_utf8(summary)) else {
            return Err(Malformed::Text);
        };
        if !is_version(version.as_bytes()) || !is_line(summary.as_bytes()) {
            return Err(Malformed::Text);
        }
        let file = Self { version, summary, entries };
        let mut index = 0;
        while index < file.len() {
            let (parameter, value) = file.entry(index);
            if index > 0 && parameter <= file.entry(index - 1).0 {
                return Err(Malformed::Order);
            }
            if !value.is_finite() {
                return Err(Malformed::Value);
            }
            index += 1;
        }
        Ok(file)
    }

    /// Number of entries.
    #[expect(clippy::len_without_is_empty, reason = "a file without entries is malformed")]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len() / ENTRY_BYTES
    }

    /// A parameter and its value; `index` must be below [`File::len`].
    #[must_use]
    pub const fn entry(&self, index: usize) -> (u16, f64) {
        let start = index * ENTRY_BYTES;
        let mut value = [0; 8];
        let mut at = 0;
        while at < value.len() {
            value[at] = self.entries[start + 2 + at];
            at += 1;
        }
        (u16_at(self.entries, start), f64::from_le_bytes(value))
    }
}

/// Panics on a malformed file, so that a component with one does not compile.
pub(crate) const fn built_in<W: Copy>(parsed: Result<W, Malformed>) -> W {
    match parsed {
        Ok(weights) => weights,
        Err(Malformed::Kind) => panic!("these weights are for another kind of scorer"),
        Err(_) => panic!("this weights file is malformed"),
    }
}

/// Writes a file that [`File::parse`] accepts, provided that texts and entries are within bounds.
#[must_use]
pub fn encode(kind: Kind, version: &str, summary: &str, entries: &[(u16, f64)]) -> Vec<u8> {
    let mut bytes = Vec::from(MAGIC);
    let lengths = [version.len(), summary.len(), entries.len()];
    let header =
        [FORMAT, kind as u16].into_iter().chain(lengths.map(|length| u16::try_from(length).unwrap_or(u16::MAX)));
    bytes.extend(header.flat_map(u16::to_le_bytes));
    bytes.extend(version.bytes().chain(summary.bytes()));
    for (parameter, value) in entries {
        bytes.extend(parameter.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

/// Whether a value is finite and at most [`WEIGHT_MAX`] in magnitude.
pub(crate) const fn is_weight(value: f64) -> bool {
    -WEIGHT_MAX <= value && value <= WEIGHT_MAX
}

const fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Whether a text is three numbers without leading zeros, separated by dots.
const fn is_version(text: &[u8]) -> bool {
    let mut dots = 0;
    let mut start = 0;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'.' if at > start => {
                dots += 1;
                start = at + 1;
            }
            // A second digit is allowed unless the first is zero.
            b'0'..=b'9' if at != start + 1 || text[start] != b'0' => {}
            _ => return false,
        }
        at += 1;
    }
    dots == 2 && at > start
}

/// Whether a text has no control characters, so that a summary stays on one line.
const fn is_line(text: &[u8]) -> bool {
    let mut at = 0;
    while at < text.len() {
        if text[at] < b' ' || text[at] == 0x7f {
            return false;
        }
        at += 1;
    }
    true
}
