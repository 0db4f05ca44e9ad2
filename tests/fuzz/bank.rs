//! Amounts and account numbers.

use caudal::domain::account_number;
use caudal::domain::clabe::{Clabe, ClabeRange};
use caudal::domain::money::Money;

use crate::{ACCEPTED, Outcome, Target, none, refused};

pub(crate) const AMOUNTS: Target = Target {
    name: "amounts",
    run: amount,
    words: &[b"0.01", b"90071992547409.91", b"e", b"E+", b"e-", b"000", b".", b"-"],
    bytes_max: 200,
    seeds: none,
};

pub(crate) const CLABES: Target = Target {
    name: "clabes",
    run: clabe,
    words: &[b" ", b"-", "\u{a0}".as_bytes(), "\u{200b}".as_bytes(), "\u{661}".as_bytes(), b"646180110400000007"],
    bytes_max: 200,
    seeds: none,
};

/// An amount that is accepted is a JSON number of that value, and is read again as it is written.
fn amount(bytes: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(bytes) else { return "not UTF-8".into() };
    let amount = match Money::parse_amount(text) {
        Ok(amount) => amount,
        Err(error) => return refused(&error),
    };
    assert!((1..=Money::MAX.minor()).contains(&amount.minor()), "{text} is {amount}");
    serde_json::from_str::<serde_json::Number>(text).unwrap();
    let value: f64 = text.parse().unwrap();
    assert!((value - amount.to_f64()).abs() <= value * 1e-12, "{text} is {amount}");
    let written = amount.to_string();
    assert_eq!(Money::parse_amount(&written), Ok(amount), "{text}");
    assert_eq!(Money::parse_amount(&written).unwrap().to_string(), written);
    ACCEPTED
}

/// Computed as the standard says, digit by digit.
fn is_check_digit_right(digits: &str) -> bool {
    let digits: Vec<_> = digits.chars().map(|digit| digit.to_digit(10).unwrap()).collect();
    let sum: u32 = digits[..17].iter().zip([3, 7, 1].iter().cycle()).map(|(digit, weight)| digit * weight % 10).sum();
    digits.len() == 18 && (10 - sum % 10) % 10 == digits[17]
}

fn clabe(bytes: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(bytes) else { return "not UTF-8".into() };
    let reading = account_number::read(text);
    assert!(account_number::is_same(text, text), "{text:?}");
    if let Ok(range) = text.parse::<ClabeRange>() {
        assert_eq!(range.to_string().parse(), Ok(range), "{text}");
        assert!((range.first()..=range.last()).contains(&range.pick(u128::MAX)), "{text}");
        return "accepted as a range".into();
    }
    let Some(clabe) = Clabe::read(text) else { return refused(&reading.kind) };
    let written = clabe.to_string();
    assert_eq!(written, account_number::normalise(text));
    assert!(is_check_digit_right(&written), "{text:?} is {written}");
    assert!(reading.check_digit_valid && Clabe::from_body(clabe.body()) == Some(clabe), "{text:?}");
    ACCEPTED
}
