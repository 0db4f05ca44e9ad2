//! The payee of an order: account type, number and institution, derived from what the user typed. Whether the account
//! exists is not checked.

use super::text;
use crate::domain::account_number::{self, Kind};
use crate::domain::banks;

/// A CLABE in SPEI's list of account types (`tipoCuenta`).
pub(super) const CLABE: &str = "40";

/// A card number in the same list.
const CARD: &str = "3";

/// A phone number in the same list.
const PHONE: &str = "10";

/// SPEI return reasons for payments that are rejected without being sent.
const NO_SUCH_ACCOUNT: &str = "01";
const NOT_OF_THAT_INSTITUTION: &str = "06";
const WRONG_ACCOUNT_TYPE: &str = "17";

/// A payment that can never become an order, with the matching SPEI return reason, if any.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unsendable(pub(super) Option<&'static str>);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Payee {
    /// SPEI's account type.
    pub(super) kind: &'static str,
    /// Digits only.
    pub(super) number: String,
    /// SPEI's code.
    pub(super) institution: u32,
}

impl Payee {
    /// The bank's name is ignored if the number is a CLABE, which contains the bank's code.
    pub(super) fn read(number: &str, bank: &str) -> Result<Self, Unsendable> {
        let number = account_number::normalise(number);
        let reading = account_number::read(&number);
        let kind = match reading.kind {
            Kind::Clabe if reading.check_digit_valid => CLABE,
            Kind::Clabe => return Err(Unsendable(Some(NO_SUCH_ACCOUNT))),
            Kind::Card => CARD,
            Kind::Phone => PHONE,
            Kind::Other => return Err(Unsendable(Some(WRONG_ACCOUNT_TYPE))),
        };
        let code = if kind == CLABE { Some(&number[..3]) } else { banks::code(&text::plain(bank)) };
        let institution = code.and_then(banks::institution).ok_or(Unsendable(Some(NOT_OF_THAT_INSTITUTION)))?;
        Ok(Self { kind, number, institution })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clabe_contains_its_bank_and_other_numbers_need_a_name() {
        for (number, bank, kind, digits, institution) in [
            ("012-660 0154 9072 5198", "Banorte", "40", "012660015490725198", 40_012),
            ("032180000118359719", "", "40", "032180000118359719", 40_032),
            ("4111 1111 1111 1111", "Banco Azteca", "3", "4111111111111111", 40_127),
            ("55 1234 5678", "Mercado Pago", "10", "5512345678", 90_722),
        ] {
            let want = Payee { kind, number: digits.to_owned(), institution };
            assert_eq!(Payee::read(number, bank), Ok(want), "{number}");
        }
    }

    #[test]
    fn unsendable_payments_have_a_reason() {
        for (number, bank, reason) in [
            ("012660015490725197", "BBVA", "01"),
            ("4111111111111111", "My bank", "06"),
            ("5512345678", "", "06"),
            ("4111111111111112", "BBVA", "17"),
            ("ABC-1", "BBVA", "17"),
            ("", "", "17"),
            ("０１２６６００１５４９０７２５１９８", "BBVA", "17"),
        ] {
            assert_eq!(Payee::read(number, bank), Err(Unsendable(Some(reason))), "{number}");
        }
    }
}
