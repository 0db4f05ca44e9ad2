//! Removes personal and financial data from free text.
//!
//! Events describe behaviour only. Anything that looks like an account, card or phone number, an email address, a CURP
//! or RFC, or an amount of money is replaced by a placeholder that names its kind. When in doubt, it is removed.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::domain::account_number::is_luhn_valid;

/// Shortest run of digits, ignoring spaces and punctuation, that counts as personal.
const PERSONAL_DIGITS_MIN: usize = 10;

const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

struct Rule {
    pattern: Regex,
    /// Whether `_` separates words, as in `confirm_1500.50`; in an email address it does not.
    underscore_separates: bool,
    /// The placeholder for a match; `None` to keep it.
    placeholder: fn(&str) -> Option<&'static str>,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |pattern: &str, placeholder| Rule { pattern: compile(pattern), underscore_separates: true, placeholder };
    vec![
        Rule { underscore_separates: false, ..rule(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)*", |_| Some("[email]")) },
        rule(r"(?i)\b[A-ZÑ&]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d?\b", |_| Some("[curp]")),
        rule(r"(?i)\b[A-ZÑ&]{3,4}\d{6}[A-Z\d]{3}\b", |_| Some("[rfc]")),
        // Precedes long numbers, so that an amount with a currency is not taken for a phone number.
        rule(r"(?i)(?:[$€]|\b(?:mxn|usd|eur)\b)\s*\$?\s*\d[\d,.]*", |_| Some("[amount]")),
        rule(
            r"(?i)\b\d[\d,. ]*\s*(?:(?:mil|millon(?:es)?|millón)\s*)?(?:mxn|usd|eur|pesos?|dolares|dólares|dollars?|centavos)\b",
            |_| Some("[amount]"),
        ),
        rule(r"\+?\d(?:[ ().\-/]{0,4}\d){9,}", long_number),
        rule(r"(?i)\b(?:amount|monto|importe|total|saldo|balance)\W{0,3}\d[\d,.]*", |_| Some("[amount]")),
        rule(r"\bv?\d+(?:[.,]\d+)+\b", decimal_number),
    ]
});

#[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

fn long_number(found: &str) -> Option<&'static str> {
    let digits: String = found.chars().filter_map(|c| c.to_digit(10)).filter_map(|d| char::from_digit(d, 10)).collect();
    Some(match digits.len() {
        18 => "[clabe]",
        length if CARD_DIGITS.contains(&length) && is_luhn_valid(&digits) => "[card]",
        PERSONAL_DIGITS_MIN..=13 => "[phone]",
        _ => "[number]",
    })
}

/// `1500.5`, `1,500.50` and `12,500` may be money; `v1.2` and `1.2.3` are versions.
fn decimal_number(found: &str) -> Option<&'static str> {
    let groups: Vec<&str> = found.split(['.', ',']).collect();
    let (last, middle) = (groups.last()?, groups.get(1..groups.len() - 1)?);
    let is_money = !found.starts_with('v') && last.len() <= 3 && middle.iter().all(|group| group.len() == 3);
    is_money.then_some("[amount]")
}

pub(crate) fn redact(text: &str) -> String {
    RULES.iter().fold(text.to_owned(), |text, rule| rule.apply(&text))
}

impl Rule {
    fn apply(&self, text: &str) -> String {
        // Replacing a byte with a byte keeps the offsets of matches valid in `text`.
        let searched = if self.underscore_separates { Cow::from(text.replace('_', " ")) } else { Cow::from(text) };
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for found in self.pattern.find_iter(&searched) {
            let Some(placeholder) = (self.placeholder)(found.as_str()) else { continue };
            redacted.push_str(&text[end..found.start()]);
            redacted.push_str(placeholder);
            end = found.end();
        }
        redacted.push_str(&text[end..]);
        redacted
    }
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn personal_and_financial_data_is_removed() {
        for (text, want) in [
            ("to 012180004643051249 now", "to [clabe] now"),
            ("0121-8000 4643.0512 49", "[clabe]"),
            ("card 4111 1111 1111 1111", "card [card]"),
            ("call 55 1234 5678", "call [phone]"),
            ("call +52 (55) 1234-5678", "call [phone]"),
            ("ana.lopez+bank@example.com.mx wrote", "[email] wrote"),
            ("CURP LOOA531113HTCPBN07", "CURP [curp]"),
            ("rfc looa5311135k1", "rfc [rfc]"),
            ("sent $1,500.50 today", "sent [amount] today"),
            ("1 500.00 MXN", "[amount]"),
            ("confirm_1500.50", "confirm_[amount]"),
            ("rfc_LOOA5311135K1", "rfc_[rfc]"),
            ("to_012180004643051249_now", "to_[clabe]_now"),
            ("ana_lopez@example.com", "[email]"),
            ("MXN 1500", "[amount]"),
            ("1500 pesos", "[amount]"),
            ("amount=1500.50", "[amount]"),
            ("amount=1500", "[amount]"),
            ("sent 1500.5 and 1500,50 and 1.500,50", "sent [amount] and [amount] and [amount]"),
            ("15 mil pesos", "[amount]"),
            ("0121   8000   4643   0512 49", "[clabe]"),
            ("ana@localhost", "[email]"),
            ("12,500", "[amount]"),
            ("99999999999999999999999", "[number]"),
        ] {
            assert_eq!(redact(text), want, "{text}");
        }
    }

    #[test]
    fn behaviour_is_kept() {
        for text in [
            "transfer_amount",
            "step 2 of 4",
            "took 12 s, 3 errors",
            "v1.2.3",
            "1.10.3",
            "nudge_accepted",
            "",
            "ñandú 日本",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
