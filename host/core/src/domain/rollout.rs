//! A canary whose share of the users grows step by step, until it is the champion.

use time::OffsetDateTime;
use uuid::Uuid;

use super::approval::Person;
use super::model::{Digest, ModelKind};

/// The share at which a canary is the champion.
pub const WHOLE: u8 = 100;

/// Enough to double a share from 1 % to 100 %, with room.
pub const STEPS_MAX: usize = 10;

/// The steps of a rollout if the operator names none. The first shows on all requests, at nobody's risk, what a share
/// would show on a few.
pub const DEFAULT_STEPS: [u8; 4] = [0, 5, 25, WHOLE];

/// The part of the allowed flips that may lower the class: a missed fraud costs more than a needless warning.
pub const LOWERED_SHARE: f64 = 0.5;

/// The part that may go from the highest class to the lowest.
pub const HIGH_TO_LOW_SHARE: f64 = 0.25;

super::text_enum! {
    /// What a violated bound does.
    OnViolation {
        /// The canary answers nobody any more.
        Withdraw = "withdraw",
        /// It stays at its share, until a person has looked.
        Pause = "pause",
    }
}

super::text_enum! {
    RolloutState {
        /// It advances when its evidence allows it.
        Running = "running",
        /// It stays at its step, and is still withdrawn when a bound is violated, unless that only pauses it.
        Paused = "paused",
        /// Its promotion waits for a second operator.
        Waiting = "waiting",
        /// The canary is the champion.
        Completed = "completed",
        /// A bound was violated or the canary failed: it answers nobody.
        Stopped = "stopped",
        /// An operator ended it: the canary answers nobody.
        Aborted = "aborted",
        /// An operator deployed something else.
        Replaced = "replaced",
    }
}

impl RolloutState {
    /// Whether hosts still look after it.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Running | Self::Paused | Self::Waiting)
    }
}

/// What every step takes, and what stops the rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Decisions of the canary, one of each user.
    pub decisions: u32,
    pub seconds: u32,
    /// Of the canary's decisions.
    pub max_failure_percent: u8,
    /// Of the compared answers; where classes have an order, fewer of some: see [`LOWERED_SHARE`].
    pub max_flip_percent: u8,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            // About as many as exclude a failure rate of 1 %, if none of them failed.
            decisions: 500,
            seconds: 600,
            max_failure_percent: 1,
            max_flip_percent: 10,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollout {
    pub rollout_id: Uuid,
    pub kind: ModelKind,
    pub canary: Digest,
    /// Percentages of users, ascending to 100. With 0, the canary is compared on all requests and answers nobody.
    pub steps: Vec<u8>,
    pub bounds: Bounds,
    pub on_violation: OnViolation,
    /// Whether the operator promotes the version although it was withdrawn or rolled back before.
    pub despite_setback: bool,
    /// SHA-256 of a fork's report, for the approver of the promotion.
    pub fork_report: Option<String>,
    pub reason: String,
    pub started_by: Person,
    pub started_at: OffsetDateTime,
    pub state: RolloutState,
    /// Index of the present step.
    pub step: usize,
    /// The deployment of the present step.
    pub epoch: i64,
    pub step_at: OffsetDateTime,
    /// Why it is in this state.
    pub detail: String,
    /// The promotion that waits for a second operator.
    pub approval_id: Option<Uuid>,
    pub changed_by: String,
    pub changed_at: OffsetDateTime,
}

impl Rollout {
    /// Percentage of users at the present step.
    pub fn percent(&self) -> u8 {
        self.steps.get(self.step).copied().unwrap_or_default()
    }

    /// Percentage of users at the next step.
    pub fn next_percent(&self) -> u8 {
        self.steps.get(self.step + 1).copied().unwrap_or(WHOLE)
    }

    /// In another state. A promotion waits only while it is in that state.
    pub fn with_state(&self, state: RolloutState, detail: String, by: &str, now: OffsetDateTime) -> Self {
        let changed_by = by.to_owned();
        Self { state, detail, approval_id: None, changed_by, changed_at: now, ..self.clone() }
    }
}

/// # Errors
/// Why these are no steps of a rollout.
pub fn check_steps(steps: &[u8]) -> Result<(), &'static str> {
    if !(2..=STEPS_MAX).contains(&steps.len()) {
        return Err("must have 2 to 10 percentages");
    }
    if !steps.is_sorted_by(|one, next| one < next) {
        return Err("must be percentages, each larger than the one before");
    }
    if steps.last() != Some(&WHOLE) {
        return Err("must end with 100, which makes the canary the champion");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_ascend_to_everybody() {
        assert_eq!(check_steps(&DEFAULT_STEPS), Ok(()));
        assert_eq!(check_steps(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 100]), Ok(()));
        assert_eq!(check_steps(&[0, 100]), Ok(()));
        for steps in [
            &[][..],
            &[100],
            &[0, 0, 100],
            &[5, 5, 100],
            &[25, 5, 100],
            &[5, 25],
            &[5, 101],
            &[5, 100, 100],
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100],
        ] {
            assert!(check_steps(steps).is_err(), "{steps:?}");
        }
    }
}
