//! What a sender tells the payee with a payment, within SPEI's limits.

/// Longest payment concept, in characters: SPEI's `conceptoPago`.
pub const CONCEPT_CHARS_MAX: usize = 40;

/// Largest numeric reference: SPEI's `referenciaNumerica` has seven digits.
pub const REFERENCE_MAX: u32 = 9_999_999;

/// Either or both may be missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remittance {
    /// One line of 1 to [`CONCEPT_CHARS_MAX`] characters.
    pub concept: Option<String>,
    /// 1 to [`REFERENCE_MAX`].
    pub reference: Option<u32>,
}

impl Remittance {
    pub const NONE: Self = Self { concept: None, reference: None };

    /// A concept of nothing but white space is none.
    pub fn new(concept: Option<String>, reference: Option<u32>) -> Self {
        let concept = concept.map(|concept| concept.trim().to_owned()).filter(|concept| !concept.is_empty());
        Self { concept, reference }
    }

    /// As the database stores it.
    pub(crate) fn stored_reference(&self) -> Option<i32> {
        self.reference.and_then(|reference| i32::try_from(reference).ok())
    }

    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}
