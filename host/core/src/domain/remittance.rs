//! What a sender tells the payee with a payment, within SPEI's limits.

use crate::schema::{TextForm, record};

/// Longest payment concept, in characters: SPEI's `conceptoPago`.
pub const CONCEPT_CHARS_MAX: usize = 40;

/// Largest numeric reference: SPEI's `referenciaNumerica` has seven digits.
pub const REFERENCE_MAX: u32 = 9_999_999;

record! {
    /// What the sender tells the payee. Either or both may be missing.
    pub struct Remittance in camelCase {
        /// Concepto de pago: one line. Surrounding white space is trimmed, and an empty concept counts as none. A rail may
        /// drop accents and replace characters other than letters and digits with spaces.
        pub concept: Option<String> {
            chars_max: CONCEPT_CHARS_MAX, form: TextForm::Line, example: "\"Renta de noviembre\""
        },
        /// Referencia numérica: up to seven digits.
        pub reference: Option<u32> {
            named: "numericReference", at_least: 1.0, at_most: REFERENCE_MAX as f64, example: "202611"
        },
    }
}

impl Eq for Remittance {}

impl Remittance {
    pub const NONE: Self = Self { concept: None, reference: None };

    /// Without an empty concept.
    #[must_use]
    pub fn normalized(self) -> Self {
        Self { concept: self.concept.filter(|concept| !concept.is_empty()), ..self }
    }

    /// As the database stores it.
    pub(crate) fn stored_reference(&self) -> Option<i32> {
        self.reference.and_then(|reference| i32::try_from(reference).ok())
    }

    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}
