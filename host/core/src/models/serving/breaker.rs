//! A circuit breaker: a model that fails for many users is not called for a while.
//!
//! The request of one user falls back by itself if the model fails on it. A breaker saves the time of failing calls
//! once a model is at fault, so it goes by users: nobody can take a model out for others.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::models::observing::users::Users;

/// What counts is what was seen in this window and the one before.
const WINDOW: Duration = Duration::from_secs(5);

/// Users for whom it has to fail. A bad input may make a model fail, but not for three users within seconds.
const FAILED_USERS_MIN: f64 = 2.5;

/// Their share of those who asked: below it, falling back request by request costs little.
const FAILED_SHARE_MIN: f64 = 0.1;

/// How long it stays open.
const OPEN_FOR: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Breaker {
    start: Instant,
    /// Windows since the start.
    number: AtomicU64,
    windows: [Window; 2],
    turning: Mutex<()>,
    /// Milliseconds since the start.
    open_until: AtomicU64,
}

#[derive(Debug, Default)]
struct Window {
    asked: Users,
    failed: Users,
}

impl Window {
    fn clear(&self) {
        self.asked.clear();
        self.failed.clear();
    }
}

impl Default for Breaker {
    fn default() -> Self {
        let (number, open_until) = Default::default();
        Self { start: Instant::now(), number, windows: Default::default(), turning: Mutex::default(), open_until }
    }
}

impl Breaker {
    /// Notes an answer.
    pub(crate) fn answer(&self, user: u64, now: Instant) {
        self.window(now).asked.add(user);
    }

    /// Notes a failure; returns whether it opened the breaker.
    pub(crate) fn fail(&self, user: u64, now: Instant) -> bool {
        let window = self.window(now);
        window.asked.add(user);
        window.failed.add(user);
        let [one, two] = &self.windows;
        let failed = one.failed.count_with(&two.failed);
        let is_at_fault = failed >= FAILED_USERS_MIN && failed >= one.asked.count_with(&two.asked) * FAILED_SHARE_MIN;
        if !is_at_fault || self.is_open(now) {
            return false;
        }
        self.open_until.store(self.millis(now + OPEN_FOR), Relaxed);
        self.windows.iter().for_each(Window::clear);
        true
    }

    pub(crate) fn is_open(&self, now: Instant) -> bool {
        self.millis(now) < self.open_until.load(Relaxed)
    }

    /// The present window; empties those that are over.
    fn window(&self, now: Instant) -> &Window {
        let number = self.millis(now) / WINDOW.as_millis() as u64;
        if self.number.load(Relaxed) != number {
            let _turn = self.turning.lock().unwrap_or_else(PoisonError::into_inner);
            let last = self.number.load(Relaxed);
            if last < number {
                (last + 1..=number).take(2).for_each(|it| self.windows[(it % 2) as usize].clear());
                self.number.store(number, Relaxed);
            }
        }
        &self.windows[(number % 2) as usize]
    }

    fn millis(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.start).as_millis() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::observing::users::hash_of;

    fn user(number: u64) -> u64 {
        // One bit each.
        number
    }

    #[test]
    fn failures_for_three_users_within_seconds_open_it_for_ten() {
        let breaker = Breaker::default();
        let at = |seconds| breaker.start + Duration::from_secs(seconds);
        assert!(!breaker.fail(user(1), at(0)) && !breaker.fail(user(2), at(4)));
        assert!(!breaker.is_open(at(5)));
        assert!(breaker.fail(user(3), at(9)));
        assert!(breaker.is_open(at(18)));
        assert!(!breaker.is_open(at(19)));
        // Once closed, it counts from zero.
        assert!(!breaker.fail(user(1), at(20)) && !breaker.fail(user(2), at(20)));
        assert!(breaker.fail(user(3), at(20)));
    }

    #[test]
    fn failures_far_apart_do_not_open_it() {
        let breaker = Breaker::default();
        for number in 0..20 {
            let now = breaker.start + Duration::from_secs(number * 6);
            assert!(!breaker.fail(user(number), now), "{number}");
        }
    }

    #[test]
    fn one_user_never_opens_it_nor_few_among_many() {
        let breaker = Breaker::default();
        let now = breaker.start;
        assert!((0..10_000).all(|_| !breaker.fail(hash_of("ana"), now)));
        (0..100).for_each(|number| breaker.answer(user(number), now));
        assert!((0..9).all(|number| !breaker.fail(user(number), now)));
        assert!((9..13).any(|number| breaker.fail(user(number), now)));
    }
}
