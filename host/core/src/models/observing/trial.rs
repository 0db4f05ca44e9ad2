//! Decides when a challenger has failed. Each host judges by its own observations.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::models::observing::users::Users;
use crate::wasm::ScoreError;

/// A challenger has failed once it failed for three users, however long that took: it passed the gate, so it may fail
/// for one by chance. Less than three, because users are counted approximately.
const FAILED_USERS_MIN: f64 = 2.5;

/// And they must be at least this share of the users who asked: for fewer, the champion's answers suffice.
const FAILED_SHARE_MIN: f64 = 0.01;

/// Compared answers before the share of flips is judged.
const COMPARED_MIN: u32 = 200;

/// Standard deviations by which a share may exceed its limit.
const DEVIATIONS: f64 = 4.0;

#[derive(Debug, Default)]
pub struct Trial {
    /// `None` if flips are not limited.
    max_flip_percent: Option<u8>,
    asked: Users,
    failed: Users,
    compared: AtomicU32,
    flipped: AtomicU32,
    verdict: OnceLock<String>,
}

impl Trial {
    /// For a challenger that may flip at most this percentage of answers.
    pub fn with_limit(max_flip_percent: u8) -> Self {
        Self { max_flip_percent: Some(max_flip_percent), ..Self::default() }
    }

    /// It failed for a user.
    pub(crate) fn fail(&self, user: u64, error: &ScoreError) {
        if !error.is_model_fault() {
            return;
        }
        self.asked.add(user);
        self.failed.add(user);
        let (failed, asked) = (self.failed.count(), self.asked.count());
        if failed >= FAILED_USERS_MIN && failed >= asked * FAILED_SHARE_MIN {
            self.conclude(|| {
                format!("it failed for about {failed:.0} of {asked:.0} users, most recently because {error}")
            });
        }
    }

    /// A user's answer was compared with the champion's.
    pub(crate) fn compare(&self, user: u64, flipped: bool) {
        self.asked.add(user);
        let flipped = self.flipped.fetch_add(u32::from(flipped), Relaxed) + u32::from(flipped);
        let compared = self.compared.fetch_add(1, Relaxed) + 1;
        let Some(limit) = self.max_flip_percent.filter(|_| compared >= COMPARED_MIN) else { return };
        let (share, allowed) = (f64::from(flipped) / f64::from(compared), f64::from(limit) / 100.0);
        // By how much a canary exactly at its limit may exceed it by chance. The share is checked after every
        // answer, so a false alarm must be rare.
        let chance = DEVIATIONS * (allowed * (1.0 - allowed) / f64::from(compared)).sqrt();
        if share > allowed + chance {
            // The report adds up what all hosts compare, so say whose figures these are.
            let these = format!("{flipped} of the {compared} answers that one host had compared");
            self.conclude(|| format!("{these} were in another class, more than {limit}%"));
        }
    }

    fn conclude(&self, reason: impl FnOnce() -> String) {
        self.verdict.get_or_init(reason);
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

    #[test]
    fn failing_for_a_third_user_is_final() {
        let trial = Trial::with_limit(10);
        (0..10_000).for_each(|_| trial.fail(1, &ScoreError::TimedOut));
        // Not the model's fault.
        (0..10).for_each(|user| trial.fail(user, &ScoreError::Busy));
        trial.fail(2, &ScoreError::TimedOut);
        assert!(!trial.has_failed());
        trial.fail(3, &ScoreError::TimedOut);
        let reason = "it failed for about 3 of 3 users, most recently because the model ran out of time";
        assert_eq!(trial.reason(), Some(reason));

        let trial = Trial::with_limit(10);
        (0..600).for_each(|user| trial.compare(user, false));
        (0..5).for_each(|user| trial.fail(user, &ScoreError::TimedOut));
        assert!(!trial.has_failed(), "the champion answers these few");
    }

    #[test]
    fn too_many_flips_fail_it_once_there_are_enough_answers() {
        let trial = Trial::with_limit(10);
        (0..COMPARED_MIN - 1).for_each(|user| trial.compare(user.into(), true));
        assert!(!trial.has_failed(), "too few answers");
        trial.compare(0, true);
        assert_eq!(
            trial.reason(),
            Some("200 of the 200 answers that one host had compared were in another class, more than 10%")
        );

        let trial = Trial::with_limit(10);
        (0..10_000).for_each(|index| trial.compare(index, index % 10 == 9));
        assert!(!trial.has_failed(), "ten percent are within the limit");
        (0..1000).for_each(|user| trial.compare(user, true));
        assert!(trial.has_failed());
        // Fifteen percent exceed the limit significantly after a few hundred answers.
        let trial = Trial::with_limit(10);
        (0..2000).for_each(|index| trial.compare(index, index % 20 < 3));
        assert!(trial.has_failed());
        let unlimited = Trial::default();
        (0..1000).for_each(|_| unlimited.compare(0, true));
        assert!(!unlimited.has_failed());
    }
}
