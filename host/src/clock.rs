//! The only place that reads the time, and the source of time-ordered ids.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Duration, OffsetDateTime, UtcOffset};
use uuid::{Timestamp, Uuid};

/// Mexico City is at UTC-6 all year: daylight saving time ended in October 2022.
const MEXICO_CITY: UtcOffset = time::macros::offset!(-6);

/// ISO 8601 in UTC with milliseconds.
const TIMESTAMP: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// As the API shows it: ISO 8601 in UTC with milliseconds.
pub fn timestamp(at: OffsetDateTime) -> String {
    // Formatting these components cannot fail.
    at.to_offset(UtcOffset::UTC).format(TIMESTAMP).unwrap_or_default()
}

/// Whole milliseconds, so that stored, shown and compared times agree.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    /// The system's clock, off by this much.
    System(Duration),
    Fixed(Arc<AtomicI64>),
}

impl Clock {
    pub fn system() -> Self {
        Self::system_off_by(Duration::ZERO)
    }

    /// For tests: a system clock that is wrong.
    pub fn system_off_by(skew: Duration) -> Self {
        Self(Source::System(skew))
    }

    /// For tests: a clock that stands still except for [`advance`](Self::advance).
    pub fn fixed(at: OffsetDateTime) -> Self {
        Self(Source::Fixed(Arc::new(AtomicI64::new(millis(at)))))
    }

    /// Whether it runs by itself.
    pub fn is_system(&self) -> bool {
        matches!(self.0, Source::System(_))
    }

    /// In UTC.
    pub fn now(&self) -> OffsetDateTime {
        match &self.0 {
            Source::System(skew) => at_millis(millis(read_system_clock() + *skew)),
            Source::Fixed(at) => at_millis(at.load(Ordering::SeqCst)),
        }
    }

    /// A UUID of version 7: the present time, then random bits.
    pub fn new_id(&self) -> Uuid {
        let now = self.now();
        let seconds = now.unix_timestamp().max(0).unsigned_abs();
        Uuid::new_v7(Timestamp::from_unix_time(seconds, now.nanosecond(), 0, 0))
    }

    /// Moves a fixed clock; no effect on the system clock.
    pub fn advance(&self, by: Duration) {
        if let Source::Fixed(at) = &self.0 {
            at.fetch_add(i64::try_from(by.whole_milliseconds()).unwrap_or(0), Ordering::SeqCst);
        }
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
pub(crate) fn mexico_city_at(day: time::Date, hour: u8) -> OffsetDateTime {
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

    #[test]
    fn milliseconds_survive_a_round_trip() {
        let at = datetime!(2026-11-21 05:59:59.123_456 UTC);
        assert_eq!(at_millis(millis(at)), datetime!(2026-11-21 05:59:59.123 UTC));
        let clock = Clock::fixed(at);
        clock.advance(Duration::SECOND);
        assert_eq!(clock.now(), datetime!(2026-11-21 06:00:00.123 UTC));
    }
}
