//! Exact money: whole centavos of MXN in an `i64`, never a float.

use std::fmt;

use crate::schema::{Fault, Literal, Read, Serializer, Shape, Value, Write, write_number};

/// Centavos in a peso.
const MINOR_PER_MAJOR: i64 = 100;

/// Decimal places of MXN.
const SCALE: i64 = 2;

/// Longest JSON number read as an amount. The largest valid one has 17 characters; the rest leaves room for
/// redundant zeros.
const TEXT_LENGTH_MAX: usize = 64;

/// An amount or balance in centavos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountError {
    NotANumber,
    /// Below 0.01.
    TooSmall,
    /// Above [`Money::MAX`].
    TooLarge,
    /// More than two decimals by value.
    TooPrecise,
    /// Written with more than 64 characters.
    TooLong,
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber => f.write_str("must be a JSON number"),
            Self::TooSmall => f.write_str("must be at least 0.01"),
            Self::TooLarge => write!(f, "must be at most {}", Money::MAX),
            Self::TooPrecise => f.write_str("must have at most two decimals"),
            Self::TooLong => write!(f, "must be written with at most {TEXT_LENGTH_MAX} characters"),
        }
    }
}

impl std::error::Error for AmountError {}

impl Money {
    pub const ZERO: Self = Self(0);

    /// Largest amount of one transfer: 2^53 - 1 centavos. Clients that read JSON numbers as doubles represent every
    /// amount up to it exactly in centavos.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// Converts from centavos. Balances of the bank's own accounts may be negative.
    pub const fn from_minor(minor: i64) -> Self {
        Self(minor)
    }

    /// In centavos.
    pub const fn minor(self) -> i64 {
        self.0
    }

    /// In pesos, rounded to the nearest double: for scorers, never for accounting.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / MINOR_PER_MAJOR as f64
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Parses the amount of a transfer from the text of a JSON number, exactly and by value: `1e2` and `1.500` are
    /// fine, `0.30000000000000004` is not.
    ///
    /// # Errors
    /// See [`AmountError`].
    pub fn parse_amount(text: &str) -> Result<Self, AmountError> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (text, None),
        };
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return Err(AmountError::NotANumber),
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let is_padded = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || is_padded || !is_digits(whole) || !is_digits(fraction) {
            return Err(AmountError::NotANumber);
        }
        if text.len() > TEXT_LENGTH_MAX {
            return Err(AmountError::TooLong);
        }
        let digits: String = [whole, fraction].concat();
        let significant = digits.trim_start_matches('0').trim_end_matches('0');
        if negative || significant.is_empty() {
            return Err(AmountError::TooSmall);
        }
        let exponent = match exponent {
            None => 0,
            Some(text) => parse_exponent(text)?,
        };
        // value = significant * 10^power centavos
        let trailing_zeros = digits.len() - digits.trim_end_matches('0').len();
        let power = exponent - fraction.len() as i64 + trailing_zeros as i64 + SCALE;
        let magnitude = significant.len() as i64 + power;
        if magnitude <= 0 {
            return Err(AmountError::TooSmall);
        }
        if power < 0 {
            return Err(AmountError::TooPrecise);
        }
        // 2^53 has 16 digits: anything longer is too large, and 10^power below fits.
        if magnitude > 16 {
            return Err(AmountError::TooLarge);
        }
        let minor = significant
            .parse::<i64>()
            .ok()
            .and_then(|value| value.checked_mul(10_i64.checked_pow(u32::try_from(power).ok()?)?))
            .ok_or(AmountError::TooLarge)?;
        if minor > Self::MAX.0 {
            return Err(AmountError::TooLarge);
        }
        Ok(Self(minor))
    }
}

/// Clamped: beyond a thousand, only the sign matters.
fn parse_exponent(text: &str) -> Result<i64, AmountError> {
    const CLAMP: i64 = 1_000;
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(AmountError::NotANumber);
    }
    let size = digits.parse::<i64>().unwrap_or(CLAMP).min(CLAMP);
    Ok(if negative { -size } else { size })
}

/// Always two decimals: `8499.50`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let minor = self.0.unsigned_abs();
        let major = MINOR_PER_MAJOR.unsigned_abs();
        write!(f, "{sign}{}.{:02}", minor / major, minor % major)
    }
}

/// Problem code for every invalid amount.
pub const INVALID_AMOUNT: &str = "invalid-amount";

/// Exact: never converted to a float when read or written.
impl Value for Money {
    const SHAPE: Shape = Shape::Money { positive: false };
}

impl Read for Money {
    fn read(literal: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        Self::parse_amount(literal.text()).map_err(|error| Fault::new(INVALID_AMOUNT, error.to_string()))
    }

    fn placeholder() -> Self {
        Self::ZERO
    }
}

/// A number with two decimals.
impl Write for Money {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_number(self.to_string(), serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, want: Result<i64, AmountError>) {
        assert_eq!(Money::parse_amount(text).map(Money::minor), want, "{text}");
    }

    #[test]
    fn amounts_are_parsed_by_value() {
        for (text, minor) in [
            ("0.01", 1),
            ("0.1", 10),
            ("0.2", 20),
            ("1.500", 150),
            ("1234567890123.45", 123_456_789_012_345),
            ("1e2", 10_000),
            ("1E+2", 10_000),
            ("1500e-1", 15_000),
            ("0.0000001e7", 100),
            ("90071992547409.91", (1 << 53) - 1),
            ("1500.50", 150_050),
        ] {
            check(text, Ok(minor));
        }
    }

    #[test]
    fn invalid_amounts_are_refused_with_a_reason() {
        use AmountError::*;
        for (text, error) in [
            ("0.30000000000000004", TooPrecise),
            ("0.005", TooSmall),
            ("1.005", TooPrecise),
            ("1e-3", TooSmall),
            ("0", TooSmall),
            ("0.00", TooSmall),
            ("-1", TooSmall),
            ("-0.0", TooSmall),
            ("1e400", TooLarge),
            ("1e99999999999999999999", TooLarge),
            ("1e-99999999999999999999", TooSmall),
            ("90071992547409.92", TooLarge),
            ("\"5\"", NotANumber),
            ("NaN", NotANumber),
            ("null", NotANumber),
            ("", NotANumber),
            ("1e", NotANumber),
            ("1e+", NotANumber),
            (".5", NotANumber),
            ("5.", NotANumber),
            ("0100", NotANumber),
            ("00", NotANumber),
        ] {
            check(text, Err(error));
        }
        // The bound is on the text, wherever its characters are.
        let zeros = |count| "0".repeat(count);
        check(&format!("1.{}", zeros(62)), Ok(100));
        for text in [format!("1.{}", zeros(63)), format!("1.{}", zeros(100_000)), format!("0.{}1e63", zeros(62))] {
            check(&text, Err(TooLong));
        }
        check(&format!("1{}", zeros(64)), Err(TooLong));
    }

    proptest! {
        #[test]
        fn amounts_survive_a_round_trip(minor in 1..=Money::MAX.minor()) {
            let money = Money::from_minor(minor);
            prop_assert_eq!(Money::parse_amount(&money.to_string()), Ok(money));
        }

        #[test]
        fn no_text_panics(text in ".{0,80}") {
            let _ = Money::parse_amount(&text);
        }

        #[test]
        fn decimals_agree_with_integer_arithmetic(value in 0_u64..1_000_000_000_000, decimals in 0_usize..6) {
            let digits = format!("{value:0>width$}", width = decimals + 1);
            let (whole, fraction) = digits.split_at(digits.len() - decimals);
            let text = if decimals == 0 { whole.to_owned() } else { format!("{whole}.{fraction}") };
            let scaled = u128::from(value) * 100;
            let divisor = 10_u128.pow(u32::try_from(decimals).unwrap());
            let exact = (scaled % divisor == 0 && scaled > 0).then(|| i64::try_from(scaled / divisor).unwrap());
            prop_assert_eq!(Money::parse_amount(&text).ok().map(Money::minor), exact, "{}", text);
        }
    }
}
