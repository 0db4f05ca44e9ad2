//! Account numbers that this bank issues: CLABEs from a configured range.

use std::fmt;
use std::str::FromStr;

use super::account_number::{self, clabe_check_digit, normalise};

/// The digits of a CLABE before its check digit: bank, branch and account.
const BODY_DIGITS: usize = 17;

/// A valid CLABE, as the number that its first 17 digits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clabe(i64);

impl Clabe {
    /// `None` if `number` is not a CLABE or its check digit is wrong. Spaces and hyphens do not matter.
    pub fn read(number: &str) -> Option<Self> {
        let number = normalise(number);
        account_number::is_clabe(&number).then(|| number[..BODY_DIGITS].parse().ok().map(Self))?
    }

    /// The CLABE with this body: the stored form of an issued number.
    pub fn from_body(body: i64) -> Option<Self> {
        (0..10_i64.pow(17)).contains(&body).then_some(Self(body))
    }

    /// The first 17 digits, as a number.
    pub fn body(self) -> i64 {
        self.0
    }

    /// The first three digits.
    fn bank(self) -> i64 {
        self.0 / 10_i64.pow(14)
    }
}

impl fmt::Display for Clabe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = format!("{:017}", self.0);
        write!(f, "{body}{}", clabe_check_digit(&body))
    }
}

/// The CLABEs that this bank may issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClabeRange {
    first: Clabe,
    last: Clabe,
}

/// Numbers of a bank that does not exist: no participant of SPEI has the code 999.
pub const SANDBOX_RANGE: ClabeRange =
    ClabeRange { first: Clabe(99_918_000_000_000_000), last: Clabe(99_918_099_999_999_999) };

impl ClabeRange {
    pub fn first(self) -> Clabe {
        self.first
    }

    pub fn last(self) -> Clabe {
        self.last
    }

    /// The number at a random position. Consecutive numbers would tell everybody how many accounts there are, and whose
    /// number comes next.
    pub fn pick(self, random: u128) -> Clabe {
        let length = (self.last.0 - self.first.0).unsigned_abs() + 1;
        let offset = random % u128::from(length);
        Clabe(self.first.0 + i64::try_from(offset).unwrap_or_default())
    }

    /// Whether a number with this bank code may be one that this bank issued.
    pub fn is_same_bank(self, clabe: Clabe) -> bool {
        self.first.bank() == clabe.bank()
    }
}

/// Why a text is not a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotARange;

impl fmt::Display for NotARange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a range is two numbers of 17 digits, FIRST-LAST: CLABEs of one bank without their check digits")
    }
}

impl std::error::Error for NotARange {}

impl FromStr for ClabeRange {
    type Err = NotARange;

    fn from_str(text: &str) -> Result<Self, NotARange> {
        let body = |text: &str| {
            let is_body = text.len() == BODY_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
            is_body.then(|| text.parse().ok().and_then(Clabe::from_body)).flatten().ok_or(NotARange)
        };
        let (first, last) = text.split_once('-').ok_or(NotARange)?;
        let range = Self { first: body(first)?, last: body(last)? };
        let is_range = range.first <= range.last && range.is_same_bank(range.last);
        if is_range { Ok(range) } else { Err(NotARange) }
    }
}

impl fmt::Display for ClabeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:017}-{:017}", self.first.0, self.last.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::banks;

    #[test]
    fn an_issued_number_is_a_valid_clabe_that_reads_back() {
        for random in [0, 1, 12_345, u128::MAX] {
            let clabe = SANDBOX_RANGE.pick(random);
            assert_eq!(Clabe::read(&clabe.to_string()), Some(clabe));
            assert!(
                SANDBOX_RANGE.first() <= clabe && clabe <= SANDBOX_RANGE.last() && SANDBOX_RANGE.is_same_bank(clabe)
            );
        }
        assert_eq!(Clabe::read("646-180 1104 0000 0007").map(Clabe::body), Some(64_618_011_040_000_000));
        assert_eq!(Clabe::read("646180110400000008"), None);
        assert_eq!(Clabe::from_body(1).map(|clabe| clabe.to_string().len()), Some(18));
    }

    #[test]
    fn every_number_of_a_range_can_be_picked_and_no_other() {
        let range: ClabeRange = "64618011040000000-64618011040000002".parse().unwrap();
        let picked: Vec<_> = (0..4).map(|random| range.pick(random).body() - range.first().body()).collect();
        assert_eq!(picked, [0, 1, 2, 0]);
    }

    #[test]
    fn a_range_has_one_bank_and_goes_up() {
        for text in ["", "1-2", "64618011040000002-64618011040000001", "64618011040000000-64718011040000000", "x-y"] {
            assert_eq!(text.parse::<ClabeRange>(), Err(NotARange), "{text}");
        }
        assert_eq!(SANDBOX_RANGE.to_string().parse(), Ok(SANDBOX_RANGE));
    }

    #[test]
    fn the_sandbox_is_no_real_bank() {
        assert_eq!(banks::name("999"), None);
    }
}
