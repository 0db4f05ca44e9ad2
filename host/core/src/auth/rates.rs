//! How often one user, or one address, may ask, and be refused.
//!
//! Token buckets: a user who was quiet may ask in a burst. The limits are per host.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::DefaultClock;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use time::OffsetDateTime;

use super::error::AuthError;
use super::network::client;

/// Seconds' worth of requests that may come at once: a page that opens asks a few times, an app that was offline sends
/// what it kept.
const BURST_SECONDS: u32 = 10;

/// A refused transfer is kept with its idempotency key for good, so that a retry gets the same answer. A user may cause
/// as many at once as a bulk has transfers, and then one in this time: some 9,000 rows a day at most.
pub const REFUSAL_EVERY: Duration = Duration::from_secs(10);
pub const REFUSALS_AT_ONCE: u32 = 1_000;

/// Payee checks for each user: a burst as large as somebody needs on their first day, then this many an hour, so that
/// guessing a holder's name takes days.
pub const CHECKS_AT_ONCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(19);
pub const CHECKS_PER_HOUR: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);

/// Requests of one user that are answered at the same time: a browser sends six over a connection of its own each, and
/// an app that was offline a few dozen. A third of those that may wait for a connection to the database, so that one
/// user leaves places to others.
pub const AT_ONCE_MAX: u32 = 64;

/// Changes that are recorded for good, of payees and schedules: as many at once as an import may have, then one a second.
/// Each waits for the head of the records, which all customers share.
pub const RECORDS_AT_ONCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(149);
const RECORD_EVERY: Duration = Duration::from_secs(1);

/// Changes of mind about consent, each of which is kept for good: a hundred, then as many a day.
pub const CONSENTS_AT_ONCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);
const CONSENT_EVERY: Duration = Duration::from_secs(864);

/// Analytics events: ten thousand, then as many a day, which is ten megabytes.
pub const EVENTS_AT_ONCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(9_999);
const EVENT_EVERY: Duration = Duration::from_millis(8_640);

/// How often those who were quiet are forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(60);

type Limiter<K> = RateLimiter<K, DefaultKeyedStateStore<K>, DefaultClock>;

/// Requests a second, and of one user at the same time; `None` for no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct RateLimits {
    pub user: Option<NonZeroU32>,
    pub address: Option<NonZeroU32>,
    pub at_once: Option<u32>,
}

pub struct Rates {
    /// By a hash of the user's name, with a key that nobody knows.
    users: Option<Limiter<u64>>,
    addresses: Option<Limiter<IpAddr>>,
    /// By the same hash.
    checks: Limiter<u64>,
    records: Limiter<u64>,
    consents: Limiter<u64>,
    events: Limiter<u64>,
    hasher: RandomState,
    at_once: u32,
    /// Requests of each user that are being answered.
    places: Arc<Mutex<HashMap<u64, u32>>>,
    /// When each user will have made up for their refusals.
    refusals: Mutex<HashMap<u64, OffsetDateTime>>,
}

/// A place of a user's request, until it is dropped.
pub struct Taken {
    user: u64,
    places: Arc<Mutex<HashMap<u64, u32>>>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut requests) = places.entry(self.user) {
            *requests.get_mut() -= 1;
            if *requests.get() == 0 {
                requests.remove();
            }
        }
    }
}

fn limiter<K: std::hash::Hash + Eq + Clone>(per_second: NonZeroU32) -> Limiter<K> {
    let burst = per_second.saturating_mul(NonZeroU32::MIN.saturating_add(BURST_SECONDS - 1));
    RateLimiter::keyed(Quota::per_second(per_second).allow_burst(burst))
}

/// One in this time, after a burst.
fn allowance(every: Duration, at_once: NonZeroU32) -> Limiter<u64> {
    // Only a time of zero has no quota.
    let quota = Quota::with_period(every).unwrap_or(Quota::per_second(NonZeroU32::MIN));
    RateLimiter::keyed(quota.allow_burst(at_once))
}

impl Rates {
    pub fn new(limits: RateLimits) -> Self {
        Self {
            users: limits.user.map(limiter),
            addresses: limits.address.map(limiter),
            checks: RateLimiter::keyed(Quota::per_hour(CHECKS_PER_HOUR).allow_burst(CHECKS_AT_ONCE)),
            records: allowance(RECORD_EVERY, RECORDS_AT_ONCE),
            consents: allowance(CONSENT_EVERY, CONSENTS_AT_ONCE),
            events: allowance(EVENT_EVERY, EVENTS_AT_ONCE),
            hasher: RandomState::new(),
            at_once: limits.at_once.unwrap_or(u32::MAX),
            places: Arc::default(),
            refusals: Mutex::default(),
        }
    }

    /// Counts a user's request.
    ///
    /// # Errors
    /// When there are too many.
    pub fn count_user(&self, user: &str) -> Result<(), AuthError> {
        let is_allowed = self.users.as_ref().is_none_or(|users| users.check_key(&self.hasher.hash_one(user)).is_ok());
        is_allowed.then_some(()).ok_or(AuthError::TooManyRequests("user"))
    }

    /// Takes a place for a user's request.
    ///
    /// # Errors
    /// When too many are being answered.
    pub fn take_place(&self, user: &str) -> Result<Taken, AuthError> {
        let user = self.hasher.hash_one(user);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let requests = places.entry(user).or_default();
        if *requests >= self.at_once {
            return Err(AuthError::TooManyRequests("at-once"));
        }
        *requests += 1;
        Ok(Taken { user, places: Arc::clone(&self.places) })
    }

    /// Counts what a user asks for besides, in the same request. More than a burst is never allowed.
    ///
    /// # Errors
    /// When there is too much.
    pub fn count_more(&self, user: &str, more: usize) -> Result<(), AuthError> {
        let Some(more) = u32::try_from(more).ok().and_then(NonZeroU32::new) else { return Ok(()) };
        let is_allowed = self.users.as_ref().is_none_or(|users| {
            users.check_key_n(&self.hasher.hash_one(user), more).is_ok_and(|counted| counted.is_ok())
        });
        is_allowed.then_some(()).ok_or(AuthError::TooManyRequests("user"))
    }

    /// Counts a check of a payee's name; false when there are too many.
    pub fn count_check(&self, user: &str) -> bool {
        self.checks.check_key(&self.hasher.hash_one(user)).is_ok()
    }

    /// Counts a change that is recorded.
    ///
    /// # Errors
    /// When there are too many.
    pub fn count_record(&self, user: &str) -> Result<(), AuthError> {
        self.count_act(&self.records, user, "records")
    }

    /// Counts an answer about consent.
    ///
    /// # Errors
    /// When there are too many.
    pub fn count_consent(&self, user: &str) -> Result<(), AuthError> {
        self.count_act(&self.consents, user, "consent")
    }

    /// Counts an analytics event.
    ///
    /// # Errors
    /// When there are too many.
    pub fn count_event(&self, user: &str) -> Result<(), AuthError> {
        self.count_act(&self.events, user, "events")
    }

    fn count_act(&self, acts: &Limiter<u64>, user: &str, limit: &'static str) -> Result<(), AuthError> {
        let is_allowed = acts.check_key(&self.hasher.hash_one(user)).is_ok();
        is_allowed.then_some(()).ok_or(AuthError::TooManyRequests(limit))
    }

    /// Counts a request from an address.
    ///
    /// # Errors
    /// When there are too many.
    pub fn count_address(&self, address: IpAddr) -> Result<(), AuthError> {
        let is_allowed = self.addresses.as_ref().is_none_or(|addresses| addresses.check_key(&client(address)).is_ok());
        is_allowed.then_some(()).ok_or(AuthError::TooManyRequests("address"))
    }

    /// Whether another refused transfer of the user may be kept.
    pub fn may_be_refused(&self, user: &str, now: OffsetDateTime) -> bool {
        let made_up = self.refusals().get(&self.hasher.hash_one(user)).copied();
        made_up.is_none_or(|made_up| made_up - now <= REFUSAL_EVERY * (REFUSALS_AT_ONCE - 1))
    }

    /// Counts a refused transfer that was kept.
    pub fn count_refusal(&self, user: &str, now: OffsetDateTime) {
        let mut refusals = self.refusals();
        let made_up = refusals.entry(self.hasher.hash_one(user)).or_insert(now);
        *made_up = (*made_up).max(now) + REFUSAL_EVERY;
    }

    fn refusals(&self) -> MutexGuard<'_, HashMap<u64, OffsetDateTime>> {
        // A panic cannot leave an entry half written.
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets who was quiet, until it is aborted.
    pub async fn forget(&self, clock: impl Fn() -> OffsetDateTime) {
        loop {
            tokio::time::sleep(FORGET_EVERY).await;
            let now = clock();
            self.refusals().retain(|_, made_up| *made_up > now);
            [&self.checks, &self.records, &self.consents, &self.events].iter().for_each(|it| it.retain_recent());
            if let Some(users) = &self.users {
                users.retain_recent();
            }
            if let Some(addresses) = &self.addresses {
                addresses.retain_recent();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_no_more() {
        let rates = Rates::new(RateLimits { user: NonZeroU32::new(2), address: NonZeroU32::new(1), at_once: None });
        let allowed = |user: &str| (0..100).filter(|_| rates.count_user(user).is_ok()).count();
        assert_eq!((allowed("ana"), allowed("ana"), allowed("luis")), (20, 0, 20));
        let address = |text: &str| rates.count_address(text.parse().unwrap());
        assert_eq!((0..100).filter(|last| address(&format!("2001:db8::{last}")).is_ok()).count(), 10);
        assert!(address("2001:db8:0:1::").is_ok());
    }

    #[test]
    fn names_of_payees_are_checked_in_a_burst_and_then_now_and_then() {
        let rates = Rates::new(RateLimits::default());
        let allowed = |user: &str| (0..1_000).filter(|_| rates.count_check(user)).count();
        assert_eq!((allowed("ana"), allowed("ana"), allowed("luis")), (20, 0, 20));
    }

    #[test]
    fn refusals_are_kept_in_a_burst_and_then_now_and_then() {
        let rates = Rates::new(RateLimits::default());
        let now = OffsetDateTime::UNIX_EPOCH;
        let kept = |user: &str, now: OffsetDateTime| {
            (0..10_000)
                .take_while(|_| rates.may_be_refused(user, now))
                .inspect(|_| rates.count_refusal(user, now))
                .count()
        };
        assert_eq!((kept("ana", now), kept("ana", now), kept("luis", now)), (1_000, 0, 1_000));
        assert_eq!(kept("ana", now + REFUSAL_EVERY * 3), 3);
        assert_eq!(kept("ana", now + REFUSAL_EVERY * 5_000), 1_000);
    }

    #[test]
    fn without_limits_everything_is_allowed() {
        let rates = Rates::new(RateLimits::default());
        assert!((0..100_000).all(|_| rates.count_user("ana").is_ok()));
    }
}
