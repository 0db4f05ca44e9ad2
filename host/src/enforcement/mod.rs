//! How the risk of a transfer affects it.

pub mod acknowledgment;
pub(crate) mod assessment;

use uuid::Uuid;

use crate::domain::risk::{Enforcement, Level};
use crate::models::{ResponseError, ScoreError};
use acknowledgment::{Acknowledgments, Subject};
use assessment::{AssessmentError, Assessor, Circumstances};

/// What the transfer rules are given about the risk of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Risk is not enforced, or the transfer names no account or beneficiary of its sender.
    NotEnforced,
    Assessed {
        level: Level,
        /// The id of the transfer for which the sender acknowledged this level of risk.
        acknowledged: Option<Uuid>,
    },
    /// There is no usable score.
    Unavailable,
}

/// Scores a transfer if `enforcement` requires it. `token` is the sender's acknowledgment.
///
/// # Errors
/// When the database or the decision log fails, unless the score is only logged.
pub(crate) async fn enforce(
    enforcement: Enforcement,
    assessor: &Assessor<'_>,
    subject: &Subject<'_>,
    circumstances: Circumstances,
    (acknowledgments, token): (&Acknowledgments, Option<&str>),
) -> Result<Outcome, AssessmentError> {
    if enforcement == Enforcement::Off {
        return Ok(Outcome::NotEnforced);
    }
    let level = match assessor.assess(subject, circumstances).await {
        Ok((_, response)) => response.level(),
        // The ledger refuses the transfer, unless its idempotency key already has an outcome.
        Err(AssessmentError::AccountNotFound | AssessmentError::BeneficiaryNotFound) => {
            return Ok(Outcome::NotEnforced);
        }
        Err(AssessmentError::Response(ResponseError::Score(error))) if !matches!(error, ScoreError::Busy) => {
            return Ok(match enforcement {
                Enforcement::Enforce => Outcome::Unavailable,
                _ => Outcome::NotEnforced,
            });
        }
        // What only watches must not stop anybody.
        Err(error) if enforcement == Enforcement::Shadow => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the risk of a transfer was not assessed (not enforced)"
            );
            return Ok(Outcome::NotEnforced);
        }
        Err(error) => return Err(error),
    };
    let now = assessor.clock.now();
    let acknowledged = token.and_then(|token| acknowledgments.verify(token, subject, level, now));
    if enforcement == Enforcement::Enforce {
        return Ok(Outcome::Assessed { level, acknowledged });
    }
    tracing::info!(%level, acknowledged = acknowledged.is_some(), "risk of a transfer (not enforced)");
    Ok(Outcome::NotEnforced)
}
