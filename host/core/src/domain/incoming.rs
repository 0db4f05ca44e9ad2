//! Payment orders of other banks to accounts at this one.

use time::Date;

use super::account_number::normalise;
use super::banks;
use super::money::Money;
use super::remittance::{CONCEPT_CHARS_MAX, REFERENCE_MAX, Remittance};

/// Longest name that is kept, in characters: SPEI's fields have 40, and some participants send more.
pub const NAME_CHARS_MAX: usize = 120;

/// Longest account number that is kept, in characters: SPEI's fields have 20.
pub const NUMBER_CHARS_MAX: usize = 20;

/// SPEI's maximum.
const TRACKING_KEY_LENGTH_MAX: usize = 30;

/// SPEI's codes of institutions have five digits; Banco de México's has four.
const INSTITUTION_MAX: u32 = 99_999;

/// What identifies an order to all banks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    /// Clave de rastreo: 1 to 30 letters and digits, chosen by the sending bank.
    pub tracking_key: String,
    /// SPEI's business day.
    pub operating_date: Date,
    /// SPEI's code of the sending institution.
    pub institution: u32,
}

/// An order as its rail has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingOrder {
    pub tracking_key: String,
    pub operating_date: Date,
    pub institution: u32,
    /// Above zero.
    pub amount: Money,
    /// As the sending bank says, as is everything about payer and payee.
    pub payer_name: Option<String>,
    pub payer_number: Option<String>,
    pub payee_name: Option<String>,
    /// Without spaces and hyphens. It may be anything: nothing is credited unless this bank issued it.
    pub payee_number: String,
    pub remittance: Remittance,
}

/// Who sent an order, as its bank says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payer {
    pub name: Option<String>,
    pub number: Option<String>,
    /// SPEI's code of the institution; `None` for this bank.
    pub institution: Option<u32>,
}

impl Payer {
    /// The institution's name, or its code if it is unknown.
    pub fn bank(&self) -> Option<String> {
        let name = |code: u32| banks::institution_name(code).map_or_else(|| code.to_string(), str::to_owned);
        self.institution.map(name)
    }
}

impl OrderKey {
    pub fn is_valid(&self) -> bool {
        let key = self.tracking_key.as_bytes();
        (1..=TRACKING_KEY_LENGTH_MAX).contains(&key.len())
            && key.iter().all(u8::is_ascii_alphanumeric)
            && (1..=INSTITUTION_MAX).contains(&self.institution)
    }
}

impl IncomingOrder {
    /// In the form in which it is entered: what other banks may send in any length is cut. `None` without a valid key,
    /// an amount or a payee's number.
    #[must_use]
    pub fn checked(self) -> Option<Self> {
        let line = |text: &str, chars_max: usize| {
            let text: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
            let text: String = text.trim().chars().take(chars_max).collect();
            Some(text.trim_end().to_owned()).filter(|text| !text.is_empty())
        };
        let number = |number: &str| line(&normalise(number), NUMBER_CHARS_MAX);
        let name = |name: Option<String>| line(&name?, NAME_CHARS_MAX);
        let is_valid = self.key().is_valid() && (Money::from_minor(1)..=Money::MAX).contains(&self.amount);
        is_valid.then_some(())?;
        Some(Self {
            payer_name: name(self.payer_name),
            payer_number: self.payer_number.as_deref().and_then(number),
            payee_name: name(self.payee_name),
            payee_number: number(&self.payee_number)?,
            remittance: Remittance {
                concept: self.remittance.concept.as_deref().and_then(|concept| line(concept, CONCEPT_CHARS_MAX)),
                reference: self.remittance.reference.filter(|reference| (1..=REFERENCE_MAX).contains(reference)),
            },
            ..self
        })
    }

    pub fn key(&self) -> OrderKey {
        let Self { tracking_key, operating_date, institution, .. } = self;
        OrderKey { tracking_key: tracking_key.clone(), operating_date: *operating_date, institution: *institution }
    }

    /// Whether both move the same money to the same account. Names may be spelled differently in different answers of a
    /// rail.
    pub fn moves_the_same_as(&self, other: &Self) -> bool {
        (self.key(), self.amount, &self.payee_number) == (other.key(), other.amount, &other.payee_number)
    }
}
