//! Account numbers as people type them: CLABE, card, phone or anything else.
//!
//! No number is refused for its form: documentation and real payments are full of numbers that fail a check
//! digit or whose bank is missing from a stale list. Such numbers only cause a warning.

use super::banks;
use crate::schema::text::is_invisible;

super::text_enum! {
    /// Recognised by its form.
    Kind {
        /// 18 digits.
        Clabe = "clabe",
        /// 15 or 16 digits with a valid Luhn digit.
        Card = "card",
        /// 10 digits.
        Phone = "phone",
        Other = "other",
    }
}

/// What can be derived from an account number alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub kind: Kind,
    /// The bank named by a CLABE's first three digits, if the code is known.
    pub bank: Option<&'static str>,
    /// Whether a CLABE's check digit is right; true for every other kind.
    pub check_digit_valid: bool,
}

/// Removes spaces and hyphens, so that numbers can be compared.
pub fn normalise(number: &str) -> String {
    number.chars().filter(|character| !character.is_whitespace() && *character != '-').collect()
}

/// Whether both name one account. Numbers saved before invisible characters were refused may have some.
pub fn is_same(one: &str, other: &str) -> bool {
    let visible = |number: &str| normalise(number).replace(is_invisible, "");
    visible(one) == visible(other)
}

pub fn read(number: &str) -> Reading {
    let number = normalise(number);
    let all_digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let kind = match number.len() {
        18 if all_digits => Kind::Clabe,
        15 | 16 if all_digits && is_luhn_valid(&number) => Kind::Card,
        10 if all_digits => Kind::Phone,
        _ => Kind::Other,
    };
    let is_clabe = kind == Kind::Clabe;
    Reading {
        kind,
        bank: if is_clabe { banks::name(&number[..3]) } else { None },
        check_digit_valid: !is_clabe || clabe_check_digit(&number) == number.as_bytes()[17] - b'0',
    }
}

/// Whether this is 18 digits with the right check digit.
pub fn is_clabe(number: &str) -> bool {
    let reading = read(number);
    reading.kind == Kind::Clabe && reading.check_digit_valid
}

/// Over the first 17 digits: weights 3, 7, 1 repeating, each product modulo 10.
pub(super) fn clabe_check_digit(digits: &str) -> u8 {
    let sum: u8 = digits
        .bytes()
        .take(17)
        .zip([3, 7, 1].into_iter().cycle())
        .map(|(byte, weight)| (byte - b'0') * weight % 10)
        .fold(0, |sum, product| (sum + product) % 10);
    // The outer remainder matters: a sum of 0 gives 0, not 10.
    (10 - sum) % 10
}

/// The Luhn check of payment cards.
pub(crate) fn is_luhn_valid(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, byte)| {
            let digit = u32::from(byte - b'0');
            match index % 2 {
                0 => digit,
                _ if digit > 4 => digit * 2 - 9,
                _ => digit * 2,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_clabes_pass_and_name_their_bank() {
        for (number, bank) in [
            ("002010077777777771", Some("Banamex")),
            ("723010123456789019", Some("Cuenca")),
            ("646180110400000007", Some("STP")),
            ("072691004495711499", Some("Banorte")),
            ("012180004643051249", Some("BBVA")),
            ("738180793822290063", Some("Fintoc")),
            ("032180000118359719", None),
            ("000000000000000000", None),
            ("646-180 1104 0000 0007", Some("STP")),
        ] {
            assert_eq!(read(number), Reading { kind: Kind::Clabe, bank, check_digit_valid: true }, "{number}");
        }
    }

    #[test]
    fn a_wrong_check_digit_is_reported_and_nothing_else_changes() {
        for number in [
            "002000000000000007",
            "111180157042875763",
            "012345678901234567",
            "012180001234567890",
            "123456789012345678",
        ] {
            let reading = read(number);
            assert_eq!((reading.kind, reading.check_digit_valid), (Kind::Clabe, false), "{number}");
        }
    }

    #[test]
    fn invisible_characters_do_not_make_another_number() {
        for other in ["646-180 1104 0000 0007", "64618\u{200b}0110400000007", "\u{feff}646180110400000007\u{2060}"] {
            assert!(is_same("646180110400000007", other), "{other:?}");
        }
        assert!(!is_same("646180110400000007", "646180110400000008"));
    }

    #[test]
    fn other_kinds_are_distinguished() {
        for (number, kind) in [
            ("4111 1111 1111 1111", Kind::Card),
            ("378282246310005", Kind::Card),
            ("4111111111111112", Kind::Other),
            ("5512345678", Kind::Phone),
            ("ABC-1", Kind::Other),
            ("", Kind::Other),
            ("01218000464305124９", Kind::Other),
        ] {
            assert_eq!(read(number), Reading { kind, bank: None, check_digit_valid: true }, "{number}");
        }
    }
}
