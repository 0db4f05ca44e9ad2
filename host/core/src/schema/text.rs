//! Characters that people do not see, and those that make them see something else.

use std::ops::RangeInclusive;

/// Unicode's `Default_Ignorable_Code_Point`, which is drawn as nothing, and three more: the blank pattern of Braille
/// and the marks of annotations. Whitespace is not among them.
const INVISIBLE: [RangeInclusive<char>; 18] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{202a}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Whether a character takes no ink, though it is not whitespace. Some, such as joiners, have a use within words.
pub fn is_invisible(character: char) -> bool {
    INVISIBLE.iter().any(|range| range.contains(&character))
}

/// Whether nothing of a text can be seen.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|character| character.is_whitespace() || is_invisible(character))
}

/// The first character that no text may contain: a control character other than a tab or the end of a line, or one that
/// makes the text around it run in another direction, so that it reads as something else.
pub fn first_forbidden(text: &str) -> Option<char> {
    let is_forbidden = |character: char| match character {
        '\t' | '\n' | '\r' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        character => character.is_control(),
    };
    text.chars().find(|character| is_forbidden(*character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_blank() {
        for text in ["", " ", "\u{200b}", "\u{feff} \u{2800}", "\u{3164}", "\u{ad}\u{a0}", "\u{e0041}", "\u{2063}\t"] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", "\u{200b}a", "日本", "👩\u{200d}💻", "\u{301}", "·"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn controls_and_overrides_are_forbidden_and_joiners_are_not() {
        for character in ['\0', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{202e}', '\u{2066}'] {
            assert_eq!(first_forbidden(&format!("a{character}b")), Some(character));
        }
        for text in ["Luisa Gómez", "a\tb\r\nc", "👩\u{200d}💻", "می\u{200c}خواهم", "\u{200f}שלום", "O’Neil & Söhne"]
        {
            assert_eq!(first_forbidden(text), None, "{text:?}");
        }
    }
}
