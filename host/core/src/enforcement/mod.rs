//! How the risk of a transfer affects it.

pub mod acknowledgment;
pub mod assessment;

use crate::decision::Decision;
use crate::domain::risk::{Enforcement, Level, Risk};
use crate::models::ScoreError;
use acknowledgment::{Acknowledgments, Subject};
use assessment::{AssessmentError, Assessor, Circumstances};

/// Scores a transfer if `enforcement` requires it, for the transfer rules, and returns the decisions to keep with it. `token`
/// is the sender's acknowledgment.
///
/// # Errors
/// When the database fails, unless the score is only logged.
pub async fn enforce(
    enforcement: Enforcement,
    assessor: &Assessor<'_>,
    subject: &Subject<'_>,
    circumstances: Circumstances,
    (acknowledgments, token): (&Acknowledgments, Option<&str>),
) -> Result<(Risk, Vec<Decision>), AssessmentError> {
    if enforcement == Enforcement::Off {
        return Ok((Risk::NotEnforced, Vec::new()));
    }
    let (level, decision) = match assessor.assess(subject, circumstances).await {
        Ok(assessed) => (assessed.scored.assessment.level, assessed.decision()),
        // The ledger refuses the transfer, unless its idempotency key already has an outcome.
        Err(AssessmentError::AccountNotFound | AssessmentError::BeneficiaryNotFound) => {
            return Ok((Risk::NotEnforced, Vec::new()));
        }
        // A model that does not know is no reason to let the transfer pass.
        Err(AssessmentError::Abstained(_, decision)) => (Level::High, *decision),
        Err(AssessmentError::Score(error)) if !matches!(error, ScoreError::Busy) => {
            let risk = if enforcement == Enforcement::Enforce { Risk::Unavailable } else { Risk::NotEnforced };
            return Ok((risk, Vec::new()));
        }
        // What only watches must not stop anybody.
        Err(error) if enforcement == Enforcement::Shadow => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the risk of a transfer was not assessed (not enforced)"
            );
            return Ok((Risk::NotEnforced, Vec::new()));
        }
        Err(error) => return Err(error),
    };
    let now = assessor.clock.now();
    let acknowledged = token.and_then(|token| acknowledgments.verify(token, subject, level, now));
    let (acknowledged, shown) = acknowledged.unzip();
    let decisions = shown.into_iter().chain([decision]).collect();
    if enforcement == Enforcement::Enforce {
        return Ok((Risk::Assessed { level, acknowledged }, decisions));
    }
    tracing::info!(%level, acknowledged = acknowledged.is_some(), "risk of a transfer (not enforced)");
    Ok((Risk::NotEnforced, decisions))
}
