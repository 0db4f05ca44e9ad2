//! A circuit breaker: a model that keeps failing is not called for a while.

use std::time::{Duration, Instant};

/// Failures within [`WITHIN`] that open a breaker, regardless of successes in between. A bad input may make
/// a model fail once; three failures within seconds mean that the model is at fault.
const FAILURES: usize = 3;
const WITHIN: Duration = Duration::from_secs(10);
/// How long it stays open.
const OPEN_FOR: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: [Option<Instant>; FAILURES],
    next: usize,
    open_until: Option<Instant>,
}

impl Breaker {
    /// Records a failure; returns whether it opened the breaker.
    pub(crate) fn fail(&mut self, now: Instant) -> bool {
        self.failures[self.next] = Some(now);
        self.next = (self.next + 1) % FAILURES;
        let recent = |failure: &Option<Instant>| failure.is_some_and(|at| now.duration_since(at) <= WITHIN);
        if !self.failures.iter().all(recent) || self.is_open(now) {
            return false;
        }
        self.open_until = Some(now + OPEN_FOR);
        self.failures = Default::default();
        true
    }

    pub(crate) fn is_open(&self, now: Instant) -> bool {
        self.open_until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_in_ten_seconds_open_it_for_ten() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut breaker = Breaker::default();
        assert!(!breaker.fail(at(0)) && !breaker.fail(at(5)));
        assert!(!breaker.is_open(at(5)));
        assert!(breaker.fail(at(10)));
        assert!(breaker.is_open(at(19)));
        assert!(!breaker.is_open(at(20)));
        // Once closed, it counts from zero.
        assert!(!breaker.fail(at(20)) && !breaker.fail(at(21)));
        assert!(breaker.fail(at(22)));
    }

    #[test]
    fn failures_far_apart_do_not_open_it() {
        let start = Instant::now();
        let mut breaker = Breaker::default();
        for index in 0..20 {
            assert!(!breaker.fail(start + Duration::from_secs(index * 6)), "{index}");
        }
    }
}
