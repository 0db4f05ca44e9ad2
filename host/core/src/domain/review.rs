//! A person decides on a transfer before it goes on, because the rules require it.

use time::Duration;

use super::outcome::OutcomeKind;
use super::transfer::{Report, Status};

/// After which another operator may take a review over: longer than a call to the customer takes, and short enough that
/// nothing is left until the next shift.
pub const CLAIM: Duration = Duration::hours(1);

super::text_enum! {
    ReviewDecision {
        /// The transfer goes on.
        Release = "release",
        /// Its money returns to the sender.
        Refuse = "refuse",
    }
}

impl ReviewDecision {
    pub fn report(self) -> Report {
        match self {
            Self::Release => Report::Released,
            Self::Refuse => Report::Refused,
        }
    }

    /// Of a transfer whose status after the first one is known.
    pub fn of(second: Status) -> Self {
        if second == Status::Failed { Self::Refuse } else { Self::Release }
    }

    /// What it says about the order.
    pub fn outcome(self, is_scam: bool) -> OutcomeKind {
        match self {
            Self::Release => OutcomeKind::FalseAlarm,
            Self::Refuse if is_scam => OutcomeKind::AuthorisedScam,
            Self::Refuse => OutcomeKind::ConfirmedFraud,
        }
    }
}
