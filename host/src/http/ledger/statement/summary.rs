//! A statement without its entries: what both forms of it begin and end with.

use time::{Date, Duration, OffsetDateTime};
use uuid::Uuid;

use crate::clock::mexico_city_at;
use crate::db::accounts::Account;
use crate::db::entries::Span;
use crate::domain::accessibility::Language;
use crate::domain::money::Money;

/// What a statement says besides its entries.
pub(super) struct Statement {
    /// Of this message.
    pub(super) id: Uuid,
    pub(super) account: Account,
    /// Verified by the bank.
    pub(super) holder: Option<String>,
    pub(super) day: Date,
    pub(super) made_at: OffsetDateTime,
    /// Whether no further entries can appear.
    pub(super) is_final: bool,
    pub(super) span: Span,
    pub(super) opening: Money,
    pub(super) closing: Money,
    pub(super) language: Language,
}

impl Statement {
    /// When the day begins, and when the next one does.
    pub(super) fn bounds(day: Date) -> (OffsetDateTime, OffsetDateTime) {
        let begin = mexico_city_at(day, 0);
        (begin, begin + Duration::DAY)
    }
}
