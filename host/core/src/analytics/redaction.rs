//! Removes personal and financial data from free text.
//!
//! Events describe behaviour only. Anything that looks like an account, card or phone number, an email address, a CURP
//! or RFC, or an amount of money is replaced by a placeholder that names its kind. When in doubt, it is removed.

use std::sync::LazyLock;

use regex::Regex;

use crate::domain::account_number::{is_clabe, is_luhn_valid};
use crate::domain::text::is_invisible;

/// Shortest run of digits, ignoring spaces and punctuation, that counts as personal.
const PERSONAL_DIGITS_MIN: usize = 10;

const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

/// Fewest digits of an account or a card, so of what is grouped with commas or colons. Amounts have fewer.
const GROUPED_DIGITS: std::ops::RangeInclusive<usize> = CARD_DIGITS;

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
        Rule { underscore_separates: false, ..rule(EMAIL, |_| Some("[email]")) },
        rule(r"(?i)\b[A-ZÑ&]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d?\b", |_| Some("[curp]")),
        rule(r"(?i)\b[A-ZÑ&]{3,4}\d{6}[A-Z\d]{3}\b", |_| Some("[rfc]")),
        // Precedes long numbers, so that an amount with a currency is not taken for a phone number.
        rule(r"(?i)(?:[$€]|\b(?:mxn|usd|eur)\b)\s*\$?\s*\d[\d,.]*", |_| Some("[amount]")),
        rule(
            r"(?i)\b\d[\d,. ]*\s*(?:(?:mil|millon(?:es)?|millón)\s*)?(?:mxn|usd|eur|pesos?|dolares|dólares|dollars?|centavos)\b",
            |_| Some("[amount]"),
        ),
        // Precedes long numbers, which would end at the first comma.
        rule(r"\d{3,}(?:[ ().\-/,:;]{1,4}\d{3,}){2,}(?:[ ().\-/,:;]{1,4}\d{1,2}\b)?", grouped_number),
        rule(r"\+?\d(?:[ ().\-/]{0,4}\d){9,}", long_number),
        rule(r"(?i)\b(?:amount|monto|importe|total|saldo|balance)\W{0,3}\d[\d,.]*", |_| Some("[amount]")),
        rule(r"\bv?\d+(?:[.,]\d+)+\b", decimal_number),
    ]
});

/// The sign may be escaped, as in a link, or spelt out in brackets, where a domain with a dot must follow.
const EMAIL: &str = concat!(
    r"(?i)[\w.+%-]+(?:(?:@|%40)[\w-]+(?:\.[\w-]+)*",
    r"|\s?[\[({]\s?(?:at|arroba)\s?[\])}]\s?[\w-]+(?:(?:\.|\s?[\[({]\s?(?:dot|punto)\s?[\])}]\s?)[\w-]+)+)",
);

#[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

fn long_number(found: &str) -> Option<&'static str> {
    let digits: String = found.chars().filter(char::is_ascii_digit).collect();
    Some(match digits.len() {
        18 => "[clabe]",
        length if CARD_DIGITS.contains(&length) && is_luhn_valid(&digits) => "[card]",
        PERSONAL_DIGITS_MIN..=13 => "[phone]",
        _ => "[number]",
    })
}

/// An account or a card in groups of at least three digits. With a space after a comma it may be a list of numbers, so
/// there the check digit decides.
fn grouped_number(found: &str) -> Option<&'static str> {
    let digits: String = found.chars().filter(char::is_ascii_digit).collect();
    let is_list = [", ", ": ", "; "].iter().any(|separator| found.contains(separator));
    let is_number = GROUPED_DIGITS.contains(&digits.len());
    let is_checked = is_clabe(&digits) || is_luhn_valid(&digits);
    if is_number && (is_checked || !is_list) { long_number(found) } else { None }
}

/// `1500.5`, `1,500.50` and `12,500` may be money; `v1.2` and `1.2.3` are versions.
fn decimal_number(found: &str) -> Option<&'static str> {
    let groups: Vec<&str> = found.split(['.', ',']).collect();
    let (last, middle) = (groups.last()?, groups.get(1..groups.len() - 1)?);
    let is_money = !found.starts_with('v') && last.len() <= 3 && middle.iter().all(|group| group.len() == 3);
    is_money.then_some("[amount]")
}

pub fn redact(text: &str) -> String {
    RULES.iter().fold(text.to_owned(), |text, rule| rule.apply(&text))
}

impl Rule {
    fn apply(&self, text: &str) -> String {
        let searched = Searched::new(text, self.underscore_separates);
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for found in self.pattern.find_iter(&searched.text) {
            let Some(placeholder) = (self.placeholder)(found.as_str()) else { continue };
            redacted.push_str(&text[end..searched.origins[found.start()]]);
            redacted.push_str(placeholder);
            end = searched.origins[found.end()];
        }
        redacted.push_str(&text[end..]);
        redacted
    }
}

/// A text as a person reads it: without what cannot be seen, and with ordinary letters and digits for wide ones.
struct Searched {
    text: String,
    /// Where each byte comes from; one more for the end.
    origins: Vec<usize>,
}

impl Searched {
    fn new(text: &str, underscore_separates: bool) -> Self {
        let mut searched =
            Self { text: String::with_capacity(text.len()), origins: Vec::with_capacity(text.len() + 1) };
        for (at, character) in text.char_indices().filter(|(_, character)| !is_invisible(*character)) {
            searched.text.push(if underscore_separates && character == '_' { ' ' } else { plain(character) });
            searched.origins.resize(searched.text.len(), at);
        }
        searched.origins.push(text.len());
        searched
    }
}

/// Distance of a full-width character from the ASCII one that it looks like.
const FULL_WIDTH: u32 = 0xfee0;

/// The ASCII character that a full-width form, or a digit of another script in use beside the Latin one, stands for.
fn plain(character: char) -> char {
    let ascii = match character {
        '\u{ff01}'..='\u{ff5e}' => u32::from(character) - FULL_WIDTH,
        '\u{660}'..='\u{669}' => u32::from(character) - 0x660 + u32::from('0'),
        '\u{6f0}'..='\u{6f9}' => u32::from(character) - 0x6f0 + u32::from('0'),
        // A no-break space and its kin group digits, too.
        '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => u32::from(' '),
        '\u{2010}'..='\u{2015}' => u32::from('-'),
        _ => return character,
    };
    char::from_u32(ascii).unwrap_or(character)
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
            ("ana%40example.com", "[email]"),
            ("to=ana%40example.com&x=1", "to=[email]&x=1"),
            ("write to ana [at] example.com now", "write to [email] now"),
            ("ana (arroba) example (punto) com", "[email]"),
            ("ana＠example．com", "[email]"),
            ("０１２１８０００４６４３０５１２４９", "[clabe]"),
            ("card ４１１１ １１１１ １１１１ １１１１", "card [card]"),
            ("monto：１５００．５０", "[amount]"),
            ("4111\u{200b}1111\u{200b}1111\u{200b}1111", "[card]"),
            ("a\u{feff}na@example.com", "[email]"),
            ("0\u{200d}12180004643051249!", "[clabe]!"),
            ("0121,8000,4643,0512,49", "[clabe]"),
            ("0121:8000:4643:0512:49", "[clabe]"),
            ("012:180:00464305124:9", "[clabe]"),
            ("4111,1111,1111,1111 paid", "[card] paid"),
            ("4111, 1111, 1111, 1111", "[card]"),
            ("4111–1111–1111–1111", "[card]"),
            ("4111\u{a0}1111\u{a0}1111\u{a0}1111", "[card]"),
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
            "👩\u{200d}💻 tapped, می\u{200c}خواهم",
            "１ of ３ steps",
            "widths 100, 200, 300, 400, 501",
            "at 12:30:45, then 12:31:02",
            "steps 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
            "80% at home [at] last",
            "look (at this)",
            "a at b",
            "ratio 16:9",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
