//! The only place that reads the time, and the source of time-ordered ids.

use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Duration, OffsetDateTime, UtcOffset};
use tokio::time::Instant;
use uuid::{Timestamp, Uuid};

/// Mexico City is at UTC-6 all year: daylight saving time ended in October 2022.
const MEXICO_CITY: UtcOffset = time::macros::offset!(-6);

/// How far a host's clock may be from the database's, apart from the time of the reply. NTP keeps clocks within
/// milliseconds.
pub const CLOCK_SKEW_MAX: Duration = Duration::seconds(5);

/// How long a clock is believed after it agreed with the database's, unless it jumps: a third of a writer's lease.
const CHECK_EVERY: std::time::Duration = std::time::Duration::from_secs(10);

/// ISO 8601 in UTC with milliseconds.
const TIMESTAMP: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// As the API shows it: ISO 8601 in UTC with milliseconds.
pub fn timestamp(at: OffsetDateTime) -> String {
    // Formatting these components cannot fail.
    at.to_offset(UtcOffset::UTC).format(TIMESTAMP).unwrap_or_default()
}

/// Whole milliseconds, so that stored, shown and compared times agree. Clones share the clock.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    runs: bool,
    /// How far off it is if it runs, otherwise what it shows.
    millis: AtomicI64,
    /// When it last agreed with the database's, and what it showed.
    agreed: Mutex<Option<(Instant, OffsetDateTime)>>,
}

#[derive(Debug, thiserror::Error)]
#[error("this host's clock is {by} {direction} the database's: synchronise both with NTP")]
pub(crate) struct WrongClock {
    by: Duration,
    direction: &'static str,
}

impl Clock {
    pub fn system() -> Self {
        Self::system_off_by(Duration::ZERO)
    }

    /// For tests: a system clock that is wrong.
    pub fn system_off_by(skew: Duration) -> Self {
        let clock = Self::new(true, 0);
        clock.advance(skew);
        clock
    }

    /// For tests: a clock that stands still except for [`advance`](Self::advance).
    pub fn fixed(at: OffsetDateTime) -> Self {
        Self::new(false, millis(at))
    }

    fn new(runs: bool, millis: i64) -> Self {
        Self(Arc::new(Inner { runs, millis: AtomicI64::new(millis), agreed: Mutex::default() }))
    }

    /// In UTC, unchecked: for what is shown, measured or good for a while on this host only.
    pub fn now(&self) -> OffsetDateTime {
        let millis_shown = if self.0.runs { millis(read_system_clock()) } else { 0 };
        at_millis(millis_shown + self.0.millis.load(Ordering::SeqCst))
    }

    /// The time, for what is decided by it. `theirs` reads the database's clock, now and then and after a jump.
    ///
    /// # Errors
    /// If this clock is wrong: what it closed, expired or dated would stay so.
    pub async fn checked<E: From<io::Error>>(
        &self,
        theirs: impl Future<Output = Result<OffsetDateTime, E>>,
    ) -> Result<OffsetDateTime, E> {
        let before = self.now();
        let agreed = *self.0.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_right = agreed.is_some_and(|(at, shown)| {
            at.elapsed() < CHECK_EVERY && (before - shown - at.elapsed()).abs() <= CLOCK_SKEW_MAX
        });
        if is_right || !self.0.runs {
            return Ok(before);
        }
        let theirs = theirs.await?;
        let after = self.now();
        let (behind, ahead) = (theirs - after, before - theirs);
        if behind.max(ahead) > CLOCK_SKEW_MAX {
            let direction = if ahead > behind { "ahead of" } else { "behind" };
            return Err(E::from(io::Error::other(WrongClock { by: behind.max(ahead), direction })));
        }
        *self.0.agreed.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), after));
        Ok(after)
    }

    /// What it shows if it stands still: statements use that in place of the database's clock.
    pub fn fixed_at(&self) -> Option<OffsetDateTime> {
        (!self.0.runs).then(|| self.now())
    }

    /// A UUID of version 7: the present time, then random bits.
    pub fn new_id(&self) -> Uuid {
        let now = self.now();
        let seconds = now.unix_timestamp().max(0).unsigned_abs();
        Uuid::new_v7(Timestamp::from_unix_time(seconds, now.nanosecond(), 0, 0))
    }

    /// For tests: moves it.
    pub fn advance(&self, by: Duration) {
        self.0.millis.fetch_add(i64::try_from(by.whole_milliseconds()).unwrap_or(0), Ordering::SeqCst);
    }
}

#[expect(clippy::disallowed_methods, reason = "the only place that may")]
fn read_system_clock() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// Milliseconds since the epoch.
pub fn millis(at: OffsetDateTime) -> i64 {
    at.unix_timestamp() * 1_000 + i64::from(at.millisecond())
}

/// The inverse of [`millis`]; an instant out of range becomes the epoch.
pub fn at_millis(millis: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

pub(crate) fn mexico_city(at: OffsetDateTime) -> OffsetDateTime {
    at.to_offset(MEXICO_CITY)
}

/// 0 to 23.
pub(crate) fn mexico_city_hour(at: OffsetDateTime) -> u8 {
    mexico_city(at).hour()
}

pub fn mexico_city_date(at: OffsetDateTime) -> time::Date {
    mexico_city(at).date()
}

/// When an hour of a day begins in Mexico City.
pub fn mexico_city_at(day: time::Date, hour: u8) -> OffsetDateTime {
    day.midnight().assume_offset(MEXICO_CITY) + Duration::hours(hour.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::{date, datetime};

    #[test]
    fn the_day_begins_at_six_utc() {
        let before = datetime!(2026-11-21 05:59:59 UTC);
        let after = datetime!(2026-11-21 06:00 UTC);
        assert_eq!((mexico_city_hour(before), mexico_city_hour(after)), (23, 0));
        assert_eq!((mexico_city_date(before), mexico_city_date(after)), (date!(2026 - 11 - 20), date!(2026 - 11 - 21)));
        assert_eq!(mexico_city_at(date!(2026 - 11 - 21), 0), after);
        assert_eq!(mexico_city_at(date!(2026 - 12 - 31), 23), datetime!(2027-01-01 05:00 UTC));
    }

    #[tokio::test]
    async fn a_clock_is_believed_until_it_jumps() {
        let (clock, theirs) = (Clock::system(), Clock::system());
        let check = async || clock.checked(async { Ok::<_, io::Error>(theirs.now()) }).await;
        let unasked = async || clock.checked(std::future::pending::<Result<_, io::Error>>()).await;
        check().await.unwrap();
        unasked().await.unwrap();
        for days in [20, -40] {
            clock.advance(Duration::days(days));
            let error = check().await.unwrap_err().to_string();
            assert!(error.contains(if days > 0 { "20d ahead of" } else { "20d behind" }), "{error}");
        }
        clock.advance(Duration::days(20));
        unasked().await.unwrap();
        // Nor is it once both are wrong in the same way.
        clock.advance(Duration::HOUR);
        theirs.advance(Duration::HOUR);
        check().await.unwrap();
    }

    #[test]
    fn milliseconds_survive_a_round_trip() {
        let at = datetime!(2026-11-21 05:59:59.123_456 UTC);
        assert_eq!(at_millis(millis(at)), datetime!(2026-11-21 05:59:59.123 UTC));
        let clock = Clock::fixed(at);
        clock.advance(Duration::SECOND);
        assert_eq!(clock.now(), datetime!(2026-11-21 06:00:00.123 UTC));
    }
}
