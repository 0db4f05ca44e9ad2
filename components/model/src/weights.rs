//! The weights file: the numbers of one model version, written by training and read by a component
//! while it is compiled.
//!
//! | Bytes | What |
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
//! Integers and doubles are little-endian. Parameters rise strictly, values are finite, and the
//! lengths cover the file to its last byte. What a parameter means belongs to the kind:
//! [`crate::risk::Weights`], [`crate::nudge::Weights`], [`crate::accessibility::Weights`].
//!
//! Reading is `const`, so that a component's weights are parsed once, when it is built, and a bad file
//! does not compile. Not for choosing a model: that is the build script of the components.

use alloc::vec::Vec;

/// The first bytes of every weights file.
pub const MAGIC: [u8; 8] = *b"CDLMODEL";
/// The format that this code reads and writes.
pub const FORMAT: u16 = 1;
/// Longest version: three numbers and two dots need far less.
pub const VERSION_BYTES_MAX: usize = 32;
/// Longest summary: one sentence, as `describe` promises.
pub const SUMMARY_BYTES_MAX: usize = 200;
/// Most entries; the largest kind has 18.
pub const ENTRIES_MAX: usize = 64;

/// Largest size of a weight, in logits: e^100 to one is certainty, and sums of such weights keep the
/// digits that the promises of a model are about.
pub const WEIGHT_MAX: f64 = 100.0;

/// Magic, format, kind and the three lengths.
const HEADER_BYTES: usize = 18;
/// A parameter and its value.
const ENTRY_BYTES: usize = 10;
/// Shortest version, `0.0.0`.
const VERSION_BYTES_MIN: usize = 5;

/// Which scorer a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// [`crate::risk`].
    Risk = 1,
    /// [`crate::nudge`].
    Nudge = 2,
    /// [`crate::accessibility`].
    Accessibility = 3,
}

/// Why a file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than the header.
    Truncated,
    /// Does not start with [`MAGIC`].
    Magic,
    /// Another format than [`FORMAT`].
    Format,
    /// Weights of another kind.
    Kind,
    /// A length outside its bounds, or lengths that do not cover the file exactly.
    Length,
    /// The version is not three plain decimal numbers with dots, or the summary is no line of UTF-8.
    Text,
    /// Parameters do not rise strictly.
    Order,
    /// A value is infinite or not a number.
    Value,
    /// A parameter that the kind does not have.
    Unknown,
    /// The kind lacks one of its parameters.
    Missing,
    /// The values together break a promise of the model, such as the sign of a coefficient.
    Unsound,
}

/// A file whose frame is sound: header, lengths, texts, rising parameters, finite values.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Semantic version of the model.
    pub version: &'a str,
    /// One sentence for people.
    pub summary: &'a str,
    /// Entries, one after another.
    entries: &'a [u8],
}

impl<'a> File<'a> {
    /// Reads the frame of a file of a kind.
    ///
    /// # Errors
    /// [`Malformed`], by the first thing found wrong from the start of the file.
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

    /// How many entries there are.
    #[expect(clippy::len_without_is_empty, reason = "a file without entries is refused")]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len() / ENTRY_BYTES
    }

    /// A parameter and its value; `index` is below [`File::len`].
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

/// Writes a file that [`File::parse`] reads, given texts and entries within their bounds.
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

/// Finite and of a size that a model can have.
pub(crate) const fn is_weight(value: f64) -> bool {
    -WEIGHT_MAX <= value && value <= WEIGHT_MAX
}

const fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Three numbers without leading zeros, with a dot between them.
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
            // The digit before is the first of its number.
            b'0'..=b'9' if at != start + 1 || text[start] != b'0' => {}
            _ => return false,
        }
        at += 1;
    }
    dots == 2 && at > start
}

/// No control character, so that a summary stays on one line wherever it is shown.
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
