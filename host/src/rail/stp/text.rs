//! Texts as STP takes them: letters, digits and single spaces of ASCII, so that none can hold the bar
//! that separates fields. Not for numbers and keys, which are checked and never changed.

use time::Date;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longest name or concept. SPEI has room for 40; STP's users cut at one less.
pub(super) const LENGTH_MAX: usize = 39;

/// Stands where a name or a taxpayer's number is not known ("no disponible").
pub(super) const UNKNOWN: &str = "ND";

/// What of `text` can be sent: accents go, anything else but letters and digits becomes a space. Never
/// empty, at most [`LENGTH_MAX`] long.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.nfkd().filter(|&letter| !is_combining_mark(letter)) {
        match letter {
            letter if letter.is_ascii_alphanumeric() => plain.push(letter),
            // Letters that Unicode does not take apart.
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
    if plain.is_empty() { UNKNOWN.to_owned() } else { plain.to_owned() }
}

/// A date as STP writes it: `20261121`.
pub(super) fn date(date: Date) -> String {
    format!("{:04}{:02}{:02}", date.year(), u8::from(date.month()), date.day())
}

/// Fields joined and enclosed by bars: what is signed.
pub(super) fn canonical<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let fields: Vec<_> = fields.into_iter().collect();
    format!("||{}||", fields.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn accents_go_and_signs_become_one_space() {
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

    proptest! {
        #[test]
        fn plain_texts_are_ascii_within_the_limit_and_stay_as_they_are(text in any::<String>()) {
            let folded = plain(&text);
            prop_assert!((1..=LENGTH_MAX).contains(&folded.len()));
            prop_assert!(folded.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' '));
            prop_assert!(!folded.contains("  ") && folded.trim() == folded);
            prop_assert_eq!(plain(&folded), folded);
        }
    }
}
