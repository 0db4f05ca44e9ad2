//! SPEI's operating date: the business day that a payment counts for.
//!
//! Computed for any year, without lists that run out. A payment outside business hours counts for the next business
//! day.
//!
//! Bank holidays are those of the CNBV's yearly calendar. A decree may add one; a rail that disagrees with a date
//! rejects the order.

use time::{Date, Duration, Month, OffsetDateTime, Weekday};

use crate::clock;

/// Hour in Mexico City at which the next operating date begins.
const ROLL_HOUR: u8 = 18;

/// For what is still under way when a day ends.
const REVIEW_DELAY: Duration = Duration::hours(1);

/// More than the longest run of days off, Holy Thursday to Easter Sunday.
const DAYS_AHEAD_MAX: i64 = 10;

/// The first year in which the President took office on 1 October rather than 1 December.
const INAUGURATION_YEAR: i32 = 2024;

/// In years.
const TERM_YEARS: i32 = 6;

pub fn operating_date(at: OffsetDateTime) -> Date {
    let local = clock::mexico_city(at);
    let today = local.date();
    let has_rolled = is_business_day(today) && local.hour() >= ROLL_HOUR;
    (i64::from(has_rolled)..=DAYS_AHEAD_MAX)
        .map(|days| today.saturating_add(Duration::days(days)))
        .find(|&day| is_business_day(day))
        .unwrap_or(today)
}

/// The operating dates of the time between two instants, `most` at most.
pub(super) fn operating_dates(from: OffsetDateTime, to: OffsetDateTime, most: usize) -> Vec<Date> {
    let last = operating_date(to);
    let days = std::iter::successors(Some(operating_date(from)), |day| day.next_day()).take_while(|day| *day <= last);
    days.filter(|day| is_business_day(*day)).take(most).collect()
}

/// The last operating date that is over.
pub fn finished_date(now: OffsetDateTime) -> Date {
    let today = clock::mexico_city(now - REVIEW_DELAY - Duration::hours(ROLL_HOUR.into())).date();
    let mut days = (0..=DAYS_AHEAD_MAX).map(|days| today.saturating_sub(Duration::days(days)));
    days.find(|&day| is_business_day(day)).unwrap_or(today)
}

/// When a payment of an operating date is asked about next, after the end of that day or of the second business day
/// after it: what a bank sends back, it sends back by then.
pub(super) fn review_after(date: Date, now: OffsetDateTime) -> Option<OffsetDateTime> {
    let next = |day: Date| {
        let mut later = (1..=DAYS_AHEAD_MAX).map(|days| day.saturating_add(Duration::days(days)));
        later.find(|&day| is_business_day(day)).unwrap_or(day)
    };
    let end = |day| clock::mexico_city_at(day, ROLL_HOUR) + REVIEW_DELAY;
    [end(date), end(next(next(date)))].into_iter().find(|&at| at > now)
}

fn is_business_day(day: Date) -> bool {
    !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) && !is_bank_holiday(day)
}

/// A holiday may fall on a weekend.
fn is_bank_holiday(day: Date) -> bool {
    let nth_monday = |nth: u8| day.weekday() == Weekday::Monday && day.day().div_ceil(7) == nth;
    match (day.month(), day.day()) {
        (Month::January | Month::May, 1)
        | (Month::September, 16)
        | (Month::November, 2)
        | (Month::December, 12 | 25) => true,
        // Constitution Day, Juárez's birthday and Revolution Day are observed on Mondays.
        (Month::February, _) if nth_monday(1) => true,
        (Month::March | Month::November, _) if nth_monday(3) => true,
        (Month::October, 1) => is_inauguration(day.year()),
        // Holy Thursday and Good Friday.
        (Month::March | Month::April, _) => {
            easter(day.year()).is_some_and(|easter| matches!((easter - day).whole_days(), 2 | 3))
        }
        _ => false,
    }
}

fn is_inauguration(year: i32) -> bool {
    year >= INAUGURATION_YEAR && (year - INAUGURATION_YEAR) % TERM_YEARS == 0
}

/// Easter Sunday of the Gregorian calendar by the Meeus/Jones/Butcher algorithm; `None` before the year 1.
fn easter(year: i32) -> Option<Date> {
    if year < 1 {
        return None;
    }
    let (century, year_of_century) = (year / 100, year % 100);
    let golden = year % 19;
    // Correction of the lunar cycle over the centuries.
    let drift = (century - (century + 8) / 25 + 1) / 3;
    let epact = (19 * golden + century - century / 4 - drift + 15) % 30;
    // Days from the full moon to the Sunday after it.
    let to_sunday = (32 + 2 * (century % 4) + 2 * (year_of_century / 4) - epact - year_of_century % 4) % 7;
    let late = (golden + 11 * epact + 22 * to_sunday) / 451;
    let place = epact + to_sunday - 7 * late + 114;
    let month = Month::try_from(u8::try_from(place / 31).ok()?).ok()?;
    Date::from_calendar_date(year, month, u8::try_from(place % 31 + 1).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use time::macros::{date, datetime};

    #[test]
    fn easter_falls_on_known_dates() {
        for day in [
            date!(1818 - 03 - 22),
            date!(1943 - 04 - 25),
            date!(2000 - 04 - 23),
            date!(2021 - 04 - 04),
            date!(2024 - 03 - 31),
            date!(2025 - 04 - 20),
            date!(2026 - 04 - 05),
            date!(2027 - 03 - 28),
            date!(2038 - 04 - 25),
        ] {
            assert_eq!(easter(day.year()), Some(day));
        }
        assert_eq!(easter(0), None);
    }

    /// The weekdays of a year on which banks are closed.
    fn holidays(year: i32) -> Vec<String> {
        let first = Date::from_calendar_date(year, Month::January, 1).unwrap();
        let weekdays = (0..365)
            .map(|days| first + Duration::days(days))
            .filter(|day| day.year() == year && !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday));
        let closed = weekdays.filter(|&day| !is_business_day(day));
        closed.map(|day| format!("{:02}-{:02}", u8::from(day.month()), day.day())).collect()
    }

    #[test]
    fn bank_holidays_match_published_calendars() {
        let of_2024 = "01-01 02-05 03-18 03-28 03-29 05-01 09-16 10-01 11-18 12-12 12-25";
        let of_2026 = "01-01 02-02 03-16 04-02 04-03 05-01 09-16 11-02 11-16 12-25";
        let of_2027 = "01-01 02-01 03-15 03-25 03-26 09-16 11-02 11-15";
        for (year, days) in [(2024, of_2024), (2026, of_2026), (2027, of_2027)] {
            assert_eq!(holidays(year).join(" "), days, "{year}");
        }
        assert!(holidays(2030).contains(&"10-01".to_owned()) && !holidays(2029).contains(&"10-01".to_owned()));
    }

    #[test]
    fn the_date_rolls_at_six_in_the_evening_and_skips_days_off() {
        for (at, want) in [
            (datetime!(2026-11-19 17:59:59.999 -6), date!(2026 - 11 - 19)),
            (datetime!(2026-11-19 18:00 -6), date!(2026 - 11 - 20)),
            (datetime!(2026-11-20 00:00 UTC), date!(2026 - 11 - 20)),
            // A Friday evening, a Saturday, a Sunday night.
            (datetime!(2026-11-20 18:00 -6), date!(2026 - 11 - 23)),
            (datetime!(2026-11-21 09:00 -6), date!(2026 - 11 - 23)),
            (datetime!(2026-11-22 23:59 -6), date!(2026 - 11 - 23)),
            // Before the long weekend of the Revolution, and after Holy Wednesday.
            (datetime!(2026-11-13 18:00 -6), date!(2026 - 11 - 17)),
            (datetime!(2026-04-01 18:00 -6), date!(2026 - 04 - 06)),
            (datetime!(2026-12-31 20:00 -6), date!(2027 - 01 - 04)),
        ] {
            assert_eq!(operating_date(at), want, "{at}");
        }
    }

    #[test]
    fn the_dates_between_two_instants_are_business_days() {
        let friday = datetime!(2026-11-20 12:00 -6);
        assert_eq!(operating_dates(friday, friday, 6), [date!(2026 - 11 - 20)]);
        let monday = datetime!(2026-11-23 18:00 -6);
        assert_eq!(
            operating_dates(friday, monday, 6),
            [date!(2026 - 11 - 20), date!(2026 - 11 - 23), date!(2026 - 11 - 24)]
        );
        assert_eq!(operating_dates(friday, friday + Duration::days(60), 6).len(), 6);
    }

    #[test]
    fn a_day_is_finished_an_hour_after_it_ends() {
        for (at, want) in [
            (datetime!(2026-11-19 18:59:59 -6), date!(2026 - 11 - 18)),
            (datetime!(2026-11-19 19:00 -6), date!(2026 - 11 - 19)),
            (datetime!(2026-11-20 03:00 -6), date!(2026 - 11 - 19)),
            // Before and after a weekend.
            (datetime!(2026-11-22 12:00 -6), date!(2026 - 11 - 20)),
            (datetime!(2026-11-23 18:59 -6), date!(2026 - 11 - 20)),
        ] {
            assert_eq!(finished_date(at), want, "{at}");
        }
    }

    proptest! {
        #[test]
        fn an_operating_date_is_a_business_day_at_most_six_days_ahead(seconds in 0_i64..8_000_000_000) {
            let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap();
            let day = operating_date(at);
            let ahead = (day - clock::mexico_city(at).date()).whole_days();
            prop_assert!(is_business_day(day) && (0..=6).contains(&ahead), "{at}: {day}");
            prop_assert!(operating_date(at + Duration::HOUR) >= day);
        }
    }
}
