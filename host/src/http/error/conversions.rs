//! What the errors of inner layers, which know no HTTP statuses, are to a client.

use std::sync::Arc;

use axum::http::StatusCode;

use super::Error;
use crate::db::barrier::Unconfirmed;
use crate::db::session::is_outage;
use crate::domain::hold::Status;
use crate::domain::money::INVALID_AMOUNT;
use crate::enforcement::assessment::AssessmentError;
use crate::http::limits::stage;
use crate::ledger::{LedgerError, Outcome, Refusal};
use crate::models::ScoreError;
use crate::orders::NotMade;
use crate::outbox::ListenError;
use crate::schema::{FieldError, Invalid};

impl Error {
    /// `errors` must not be empty. Ledger requests get 400, others 422.
    pub fn validation(status: StatusCode, errors: Vec<FieldError>) -> Self {
        if status == StatusCode::UNPROCESSABLE_ENTITY {
            Self::Unprocessable(errors)
        } else if errors.iter().all(|error| error.code == INVALID_AMOUNT) {
            Self::InvalidAmount(errors)
        } else {
            Self::Invalid(errors)
        }
    }

    /// One field is wrong.
    pub fn invalid(status: StatusCode, field: &str, code: &'static str, detail: &str) -> Self {
        Self::validation(status, vec![FieldError::new(field, code, detail)])
    }

    /// One field of a ledger request is wrong.
    pub fn invalid_field(field: &str, code: &'static str, detail: &str) -> Self {
        Self::invalid(StatusCode::BAD_REQUEST, field, code, detail)
    }
}

impl From<ListenError> for Error {
    fn from(error: ListenError) -> Self {
        match error {
            ListenError::Overloaded => Self::Shed(stage::EVENT_STREAMS),
            ListenError::TooManyOfUser => Self::TooManyRequests(stage::EVENT_STREAMS),
            ListenError::Expired => Self::CursorExpired,
            ListenError::TooFarBack => {
                let detail = "is too old: listen from now on, then read the lists";
                Self::invalid_field("from", "out-of-range", detail)
            }
            ListenError::Database(error) => error.into(),
        }
    }
}

impl From<Invalid> for Error {
    fn from(Invalid { status, errors }: Invalid) -> Self {
        Self::validation(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), errors)
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Arc::new(error).into()
    }
}

impl From<Arc<sqlx::Error>> for Error {
    fn from(error: Arc<sqlx::Error>) -> Self {
        match &*error {
            sqlx::Error::PoolClosed => Self::DatabaseUnavailable(error),
            _ if is_outage(&error) => Self::DatabaseUnavailable(error),
            // The statement, or its wait for a lock, exceeded the session's limit. An earlier one may have changed
            // something.
            sqlx::Error::Database(inner) if matches!(inner.code().as_deref(), Some("57014" | "55P03")) => {
                Self::DatabaseUnavailable(error)
            }
            _ => Self::Internal(error.into()),
        }
    }
}

/// The handler has run.
impl From<Unconfirmed> for Error {
    fn from(error: Unconfirmed) -> Self {
        tracing::warn!(error = &error as &dyn std::error::Error, "cannot confirm what was done");
        Self::OutcomeUnknown
    }
}

impl From<ScoreError> for Error {
    fn from(error: ScoreError) -> Self {
        match error {
            ScoreError::Busy => Self::Shed(stage::COMPONENTS),
            error => Self::ModelUnavailable(error),
        }
    }
}

/// Of a command whose success is another outcome.
impl From<Outcome> for Error {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Refused(refusal) => refusal.into(),
            Outcome::Rejected { violations, .. } => Self::Rejected(violations),
            other => Self::Internal(anyhow::anyhow!("a command ended as {other:?}")),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::AccountExists => Self::AccountExists,
            Refusal::AccountNotFound => Self::AccountNotFound,
            Refusal::AccountFrozen => Self::AccountFrozen,
            Refusal::BeneficiaryNotFound => Self::BeneficiaryNotFound,
            Refusal::HoldNotFound => Self::NotFound,
            // It has expired and is about to be released.
            Refusal::HoldEnded(hold) if hold.status == Status::Placed => Self::HoldEnded(Status::Expired),
            Refusal::HoldEnded(hold) => Self::HoldEnded(hold.status),
            Refusal::HoldExceeded(hold) => Self::HoldExceeded(hold.amount),
            Refusal::KeyReused => Self::KeyReused,
            Refusal::RulesUnavailable | Refusal::RiskUnavailable => Self::RulesUnavailable,
            Refusal::TooManyRefusals => Self::TooManyRefusals,
            Refusal::TooManyPending => Self::TooManyPending,
            Refusal::NotCovered => Self::NotCovered,
            Refusal::BalanceTooLarge => Self::Internal(anyhow::anyhow!("a balance would be too large")),
        }
    }
}

impl From<LedgerError> for Error {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Database(error) if matches!(*error, sqlx::Error::PoolTimedOut) => Self::Overloaded,
            LedgerError::Database(error) | LedgerError::Refused(error) => error.into(),
            LedgerError::Full => Self::Shed(stage::LEDGER),
            LedgerError::Overloaded | LedgerError::Closed => Self::Overloaded,
            LedgerError::Unknown => Self::OutcomeUnknown,
            LedgerError::Panicked => Self::Internal(error.into()),
        }
    }
}

impl From<AssessmentError> for Error {
    fn from(error: AssessmentError) -> Self {
        match error {
            AssessmentError::AccountNotFound => Self::AccountNotFound,
            AssessmentError::BeneficiaryNotFound => Self::BeneficiaryNotFound,
            AssessmentError::Database(error) => error.into(),
            AssessmentError::Score(error) => error.into(),
            AssessmentError::Abstained(reason, _) => ScoreError::Abstained(reason).into(),
        }
    }
}

impl From<NotMade> for Error {
    fn from(reason: NotMade) -> Self {
        match reason {
            NotMade::Unassessed(error) => error.into(),
            NotMade::Unanswered(error) => error.into(),
            NotMade::Refused(refusal) => refusal.into(),
            NotMade::Rejected(violations) => Self::Rejected(violations),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::connections::AcquireError;

    #[test]
    fn a_refused_order_has_the_same_code_at_once_and_on_its_date() {
        use Refusal::{AccountFrozen, AccountNotFound, BeneficiaryNotFound, KeyReused, NotCovered};
        for refusal in [AccountFrozen, AccountNotFound, BeneficiaryNotFound, KeyReused, NotCovered] {
            assert_eq!(refusal.code(), Error::from(refusal).row().0.code);
        }
    }

    #[test]
    fn what_may_have_changed_something_does_not_claim_the_opposite() {
        let pool = || sqlx::Error::PoolTimedOut;
        assert_eq!(Error::from(AcquireError::from(pool())).row().0.code, "overloaded");
        assert_eq!(Error::from(LedgerError::from(pool())).row().0.code, "overloaded");
        assert_eq!(Error::from(pool()).row().0.code, "database-unavailable");
        assert_eq!(Error::from(Unconfirmed::from(pool())).row().0.code, "outcome-unknown");
    }
}
