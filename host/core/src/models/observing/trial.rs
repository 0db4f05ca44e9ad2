//! A brake on each host: a challenger that fails for many users at once is not asked again. Whether it keeps its bounds,
//! [`evidence`](crate::models::observing::evidence) judges by what all hosts saw.

use std::sync::OnceLock;

use crate::models::observing::interval::evidence_above;
use crate::models::observing::users::Users;
use crate::wasm::ScoreError;

/// The share of the users who ask for whom it may fail without being stopped at once: for these, the champion answers.
const FAILED_SHARE_MAX: f64 = 0.1;

/// At most one in so many challengers that keep to that share is stopped: the first three users are enough if it fails for
/// all, before its breaker opens.
const FALSE_ALARMS: f64 = 200.0;

/// Users after whom counting starts over, since more cannot be told apart.
const USERS_MAX: f64 = 4_000.0;

#[derive(Debug, Default)]
pub struct Trial {
    asked: Users,
    failed: Users,
    verdict: OnceLock<String>,
}

impl Trial {
    /// It answered a user.
    pub(crate) fn answer(&self, user: u64) {
        self.asked.add(user);
    }

    /// It failed for a user.
    pub(crate) fn fail(&self, user: u64, error: &ScoreError) {
        if !error.is_model_fault() {
            return;
        }
        if self.asked.count() > USERS_MAX {
            self.asked.clear();
            self.failed.clear();
        }
        self.asked.add(user);
        self.failed.add(user);
        let (failed, asked) = (self.failed.count(), self.asked.count());
        if evidence_above(failed, asked, FAILED_SHARE_MAX) > FALSE_ALARMS {
            let reason =
                || format!("it failed for about {failed:.0} of {asked:.0} users, most recently because {error}");
            self.verdict.get_or_init(reason);
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.verdict.get().is_some()
    }

    pub fn reason(&self) -> Option<&str> {
        self.verdict.get().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::observing::users::hash_of_somebody;

    #[test]
    fn failing_for_many_users_at_once_is_final() {
        let trial = Trial::default();
        (0..10_000).for_each(|_| trial.fail(1, &ScoreError::TimedOut));
        // Not the model's fault.
        (0..10).for_each(|user| trial.fail(user, &ScoreError::Busy));
        trial.fail(2, &ScoreError::TimedOut);
        assert!(!trial.has_failed());
        trial.fail(3, &ScoreError::TimedOut);
        let reason = "it failed for about 3 of 3 users, most recently because the model ran out of time";
        assert_eq!(trial.reason(), Some(reason));
    }

    #[test]
    fn failing_for_a_few_of_very_many_is_not() {
        let trial = Trial::default();
        for _ in 0..5_000 {
            (0..19).for_each(|_| trial.answer(hash_of_somebody()));
            trial.fail(hash_of_somebody(), &ScoreError::TimedOut);
        }
        assert!(!trial.has_failed(), "{:?}", trial.reason());
        // And is noticed once they are more.
        (0..2_000).for_each(|_| trial.fail(hash_of_somebody(), &ScoreError::TimedOut));
        assert!(trial.has_failed());
    }
}
