//! By whose decisions a rollout goes.
//!
//! Requests of one user resemble each other: twenty of them may tell no more than one, and nobody may steer a rollout by
//! asking often. So the first decision of each user at a step counts, whatever comes after it.

use std::collections::{HashMap, HashSet};

use crate::domain::model::Digest;
use crate::models::observing::measure::Measure;

/// Users by whom a rollout may go, at a step and on one host. They decide on a canary that flips 0.8 times as often as it
/// may, and take a megabyte.
pub(super) const USERS_MAX: usize = 50_000;

/// What one host saw of a canary at one step.
pub(super) struct Witnesses {
    pub(super) epoch: i64,
    pub(super) canary: Digest,
    users: HashSet<u64>,
    counts: HashMap<(Measure, i32), i64>,
    /// Requests of all users that could be compared, and those that were not.
    observed: i64,
    dropped: i64,
}

impl Witnesses {
    pub(super) fn at(epoch: i64, canary: Digest) -> Self {
        Self { epoch, canary, users: HashSet::new(), counts: HashMap::new(), observed: 0, dropped: 0 }
    }

    /// Counts what the canary did on a request of a user.
    pub(super) fn count(&mut self, user: u64, measure: Measure, bucket: i32) {
        self.observed += 1;
        if self.users.len() < USERS_MAX && self.users.insert(user) {
            *self.counts.entry((measure, bucket)).or_default() += 1;
        }
    }

    /// Counts a request that nobody compared.
    pub(super) fn drop_one(&mut self) {
        self.dropped += 1;
    }

    /// Measure, bucket and count, sorted.
    pub(super) fn counts(&self) -> Vec<(String, i32, i64)> {
        let count = |(&(measure, bucket), &count): (&(Measure, i32), &i64)| (measure.to_string(), bucket, count);
        let all = [(Measure::Observed, self.observed), (Measure::Dropped, self.dropped)];
        let all = all.map(|(measure, count)| (measure.to_string(), 0, count));
        let mut counts: Vec<_> = self.counts.iter().map(count).chain(all).collect();
        counts.sort();
        counts
    }
}
