//! What became of an order, as it became known.

use time::OffsetDateTime;
use uuid::Uuid;

/// Longest code of a source, in characters; the database has the same limit.
pub const SOURCE_CHARS_MAX: usize = 32;

/// The source of what operators decide.
pub const OPERATOR: &str = "operator";

/// The source of what customers say on the page.
pub const CUSTOMER: &str = "customer";

super::text_enum! {
    OutcomeKind {
        /// Somebody says that the order was not the customer's, or a scam; nobody has confirmed it.
        Reported = "reported",
        /// Somebody else made the order.
        ConfirmedFraud = "confirmed_fraud",
        /// The customer made it, deceived.
        AuthorisedScam = "authorised_scam",
        /// There was nothing wrong with it.
        FalseAlarm = "false_alarm",
        /// The customer took the help that a warning offered. It does not say that there was a fraud.
        HelpAccepted = "help_accepted",
        /// Nothing is known: what was stated before does not hold.
        Withdrawn = "withdrawn",
    }
}

impl OutcomeKind {
    pub fn is_fraud(self) -> bool {
        matches!(self, Self::ConfirmedFraud | Self::AuthorisedScam)
    }
}

/// What somebody stated about an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The transfer or hold; of a refused order, what its decision is about.
    pub subject_id: Uuid,
    pub kind: OutcomeKind,
    /// A short code of who says so.
    pub source: String,
    /// When they knew.
    pub known_at: OffsetDateTime,
}

/// Which of the statements about one subject counted at a moment: of those known by then the one known last, and of
/// several at once the one that was recorded last. They are in the order in which they were recorded.
pub fn counting(statements: &[Statement], at: OffsetDateTime) -> Option<&Statement> {
    statements.iter().filter(|it| it.known_at <= at).max_by_key(|it| it.known_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;

    fn stated(kind: OutcomeKind, day: i64) -> Statement {
        let known_at = OffsetDateTime::UNIX_EPOCH + Duration::days(day);
        Statement { subject_id: Uuid::nil(), kind, source: "operator".to_owned(), known_at }
    }

    #[test]
    fn what_was_known_last_counts_and_then_what_was_recorded_last() {
        use OutcomeKind::{ConfirmedFraud, FalseAlarm, Reported, Withdrawn};
        // The third is late: recorded after what corrects it.
        let all = [stated(Reported, 1), stated(Withdrawn, 9), stated(ConfirmedFraud, 5), stated(FalseAlarm, 5)];
        let at = |day| counting(&all, OffsetDateTime::UNIX_EPOCH + Duration::days(day)).map(|it| it.kind);
        assert_eq!(
            [0, 1, 4, 5, 8, 9, 99].map(at),
            [
                None,
                Some(Reported),
                Some(Reported),
                Some(FalseAlarm),
                Some(FalseAlarm),
                Some(Withdrawn),
                Some(Withdrawn),
            ]
        );
        assert_eq!(counting(&[], OffsetDateTime::UNIX_EPOCH), None);
    }
}
