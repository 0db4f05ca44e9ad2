//! Reduces texts to what STP accepts: ASCII letters, digits and single spaces, without the bar that separates
//! fields. Numbers and keys are validated instead, never changed.

use serde_json::Value;
use time::{Date, Month};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::domain::banks;

/// Longest name or concept. SPEI allows 40; STP's own client libraries truncate at 39.
const LENGTH_MAX: usize = 39;

/// For an unknown name or taxpayer number ("no disponible").
pub(super) const UNKNOWN: &str = "ND";

/// As [`fold`], or [`UNKNOWN`].
pub(super) fn plain(text: &str) -> String {
    fold(text).unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Drops accents and replaces other characters than letters and digits with spaces; at most [`LENGTH_MAX`] remain.
/// `None` if nothing does.
pub(super) fn fold(text: &str) -> Option<String> {
    let mut plain = String::new();
    for letter in text.nfkd().filter(|&letter| !is_combining_mark(letter)) {
        match letter {
            letter if letter.is_ascii_alphanumeric() => plain.push(letter),
            // Letters without a Unicode decomposition.
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'Æ' => plain.push_str("AE"),
            'ø' => plain.push('o'),
            'Ø' => plain.push('O'),
            'ł' => plain.push('l'),
            'Ł' => plain.push('L'),
            _ if plain.is_empty() || plain.ends_with(' ') => {}
            _ => plain.push(' '),
        }
        if plain.len() >= LENGTH_MAX {
            break;
        }
    }
    plain.truncate(LENGTH_MAX);
    let plain = plain.trim_end();
    (!plain.is_empty()).then(|| plain.to_owned())
}

/// Formats a date as in `20261121`.
pub(super) fn date(date: Date) -> String {
    format!("{:04}{:02}{:02}", date.year(), u8::from(date.month()), date.day())
}

/// Reads a date as [`date()`] formats it, from a number or a text.
pub(super) fn read_date(value: &Value) -> Option<Date> {
    let text = scalar(value)?;
    let digits = Some(&text).filter(|text| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()))?;
    let month = Month::try_from(digits[4..6].parse::<u8>().ok()?).ok()?;
    Date::from_calendar_date(digits[..4].parse().ok()?, month, digits[6..].parse().ok()?).ok()
}

/// SPEI's code of an institution, from a number or a text: its five digits, or the last three of them.
pub(super) fn read_institution(value: &Value) -> Option<u32> {
    let text = scalar(value).filter(|text| text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit()))?;
    let code: u32 = text.parse().ok().filter(|code| *code > 0)?;
    if code < 1_000 { banks::institution(&format!("{code:03}")) } else { Some(code) }
}

/// A number without a fraction, or a text that is not blank.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => number.as_u64().map(|number| number.to_string()),
        _ => None,
    }
}

/// The text to sign: fields separated and enclosed by bars.
pub(super) fn canonical<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let fields: Vec<_> = fields.into_iter().collect();
    format!("||{}||", fields.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn accents_are_dropped_and_punctuation_becomes_one_space() {
        for (text, want) in [
            ("José Ángel Núñez Güémez", "Jose Angel Nunez Guemez"),
            ("  Comercial  A&B, S.A. de C.V. ", "Comercial A B S A de C V"),
            ("O|Brien\n||", "O Brien"),
            ("Søren Groß Łukasz Æ", "Soren Gross Lukasz AE"),
            ("ﬁn ½ ①", "fin 1 2 1"),
            ("😀 Ana 👩\u{200d}👧", "Ana"),
            ("李明", "ND"),
            ("\u{0}\u{301}", "ND"),
            ("", "ND"),
        ] {
            assert_eq!(plain(text), want, "{text:?}");
        }
        assert_eq!(plain(&"é".repeat(300)), "e".repeat(39));
        assert_eq!(plain(&format!("{} b", "a".repeat(38))), "a".repeat(38));
        assert_eq!(plain(&format!("{}ß", "a".repeat(38))), format!("{}s", "a".repeat(38)));
    }

    #[test]
    fn dates_and_institutions_are_numbers_or_texts() {
        use serde_json::json;
        let day = time::macros::date!(2026 - 11 - 20);
        for (value, want) in
            [(json!(20_261_120), Some(day)), (json!(" 20261120 "), Some(day)), (json!("20261131"), None)]
        {
            assert_eq!(read_date(&value), want, "{value}");
        }
        for value in [json!(null), json!("2026-1-1"), json!(2026.5), json!("２０２６１１２０"), json!([20_261_120])]
        {
            assert_eq!((read_date(&value), read_institution(&value)), (None, None), "{value}");
        }
        for (value, want) in
            [(json!(40_012), 40_012), (json!("90646"), 90_646), (json!(846), 90_846), (json!("2001"), 2_001)]
        {
            assert_eq!(read_institution(&value), Some(want), "{value}");
        }
        assert_eq!((read_institution(&json!(0)), read_institution(&json!(100_000))), (None, None));
    }

    proptest! {
        #[test]
        fn folded_texts_are_short_ascii_and_folding_is_idempotent(text in any::<String>()) {
            let folded = plain(&text);
            prop_assert!((1..=LENGTH_MAX).contains(&folded.len()));
            prop_assert!(folded.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' '));
            prop_assert!(!folded.contains("  ") && folded.trim() == folded);
            prop_assert_eq!(plain(&folded), folded);
        }
    }
}
