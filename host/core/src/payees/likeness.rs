//! How much a typed name is like a holder's.
//!
//! People leave out a second surname, accents and forms of companies, and mistype. A holder is matched by two names of
//! theirs, such as a given name and a surname; a single one is at most close.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::payee_check::Finding;

/// Words that tell no names apart.
const FILLERS: [&str; 12] = ["de", "del", "la", "las", "los", "y", "sa", "cv", "s", "c", "v", "rl"];

/// Words of a name that are compared; no real name has more.
const WORDS_MAX: usize = 12;

/// Letters of a word that are compared.
const LETTERS_MAX: usize = 24;

/// Shorter words that differ in a letter are other names: Ana and Eva.
const MISTYPED_LETTERS_MIN: usize = 4;

/// Enough of a name to be shown the initials of the rest.
const NAMES_KNOWN_MIN: usize = 2;

/// Compares what a user typed with the holder's name.
pub fn compare(typed: &str, holder: &str) -> Finding {
    let (typed, holder) = (words(typed), words(holder));
    if typed.is_empty() || holder.is_empty() {
        return Finding::NoMatch;
    }
    let (mut exact, mut near, mut left) = (0, 0, holder.clone());
    for word in &typed {
        // Each name of the holder counts once.
        if let Some(at) = left.iter().position(|other| other == word) {
            left.remove(at);
            exact += 1;
        } else if let Some(at) = left.iter().position(|other| is_near(word, other)) {
            left.remove(at);
            near += 1;
        }
    }
    let known = exact + near;
    if exact == typed.len() && (exact >= NAMES_KNOWN_MIN || holder.len() == 1) {
        Finding::Match
    } else if exact > 0 && (known == typed.len() || (known + 1 == typed.len() && known >= NAMES_KNOWN_MIN)) {
        Finding::CloseMatch((known >= NAMES_KNOWN_MIN).then(|| initials(&holder)))
    } else {
        Finding::NoMatch
    }
}

/// In lower case, without accents, punctuation and fillers.
fn words(name: &str) -> Vec<String> {
    let plain: String = name.nfkd().filter(|&letter| !is_combining_mark(letter)).collect::<String>().to_lowercase();
    plain
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty() && !FILLERS.contains(word))
        .map(|word| word.chars().take(LETTERS_MAX).collect())
        .take(WORDS_MAX)
        .collect()
}

/// An initial, or a word with one letter wrong.
fn is_near(typed: &str, name: &str) -> bool {
    let (typed, name): (Vec<char>, Vec<char>) = (typed.chars().collect(), name.chars().collect());
    match typed.as_slice() {
        [initial] => name.first() == Some(initial),
        _ => typed.len().min(name.len()) >= MISTYPED_LETTERS_MIN && is_one_edit(&typed, &name),
    }
}

/// Whether one insertion, deletion, replacement or exchange of neighbours makes one of the other.
fn is_one_edit(one: &[char], other: &[char]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let from = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    match long.len() - short.len() {
        0 => {
            let (a, b) = (&short[from..], &long[from..]);
            a.is_empty() || a[1..] == b[1..] || (a.len() > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..])
        }
        1 => short[from..] == long[from + 1..],
        _ => false,
    }
}

fn initials(holder: &[String]) -> String {
    let letters = holder.iter().filter_map(|word| word.chars().next());
    letters.map(|letter| format!("{}.", letter.to_uppercase())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(initials: &str) -> Finding {
        Finding::CloseMatch(Some(initials.to_owned()))
    }

    #[test]
    fn names_are_compared_as_people_write_them() {
        let holder = "José Ángel Núñez Güémez";
        for (typed, want) in [
            ("José Ángel Núñez Güémez", Finding::Match),
            ("NUÑEZ GUEMEZ, jose angel", Finding::Match),
            ("Jose Nuñez", Finding::Match),
            ("Ángel Güémez", Finding::Match),
            ("J. Núñez", close("J. A. N. G.")),
            ("José Ángel Núñes", close("J. A. N. G.")),
            ("José Nuñze", close("J. A. N. G.")),
            ("José Núñez Pérez", close("J. A. N. G.")),
            ("José", Finding::CloseMatch(None)),
            ("José José", Finding::NoMatch),
            ("José Pérez", Finding::NoMatch),
            ("J. N.", Finding::NoMatch),
            ("J A N G", Finding::NoMatch),
            ("Cuenta Segura", Finding::NoMatch),
            ("de la", Finding::NoMatch),
            ("", Finding::NoMatch),
        ] {
            assert_eq!(compare(typed, holder), want, "{typed:?}");
        }
        for (typed, holder, want) in [
            ("Comercial del Norte", "Comercial del Norte, S.A. de C.V.", Finding::Match),
            ("Madonna", "Madonna", Finding::Match),
            ("Ana Ruiz", "Eva Ruiz", Finding::NoMatch),
            ("Luis Pérez", "李明", Finding::NoMatch),
            ("李明", "李明", Finding::Match),
        ] {
            assert_eq!(compare(typed, holder), want, "{typed:?} {holder:?}");
        }
    }

    proptest! {
        #[test]
        fn a_name_matches_itself_and_a_finding_never_holds_a_name(typed in any::<String>(), holder in "\\PC{0,200}") {
            if let Finding::CloseMatch(Some(initials)) = compare(&typed, &holder) {
                prop_assert!(initials.split(' ').all(|initial| initial.chars().count() <= 4), "{}", initials);
            }
            if !words(&holder).is_empty() && words(&holder).len() < WORDS_MAX {
                prop_assert_eq!(compare(&holder, &holder), Finding::Match);
            }
        }
    }
}
