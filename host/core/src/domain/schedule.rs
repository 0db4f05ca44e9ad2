//! Scheduled transfers: when they are due, and what becomes of each occurrence. Dates are Mexico City's.

use time::{Date, Duration, Month, OffsetDateTime};
use uuid::Uuid;

use super::order::{ID_EXAMPLE, INSTANT_EXAMPLE, TransferRequest};
use crate::schema::{answer, record};

/// The hour of the day in Mexico City from which occurrences are sent: salaries that were paid overnight are there, and
/// people are awake to answer if an occurrence waits for them.
pub const HOUR: u8 = 9;

/// How much later than that an occurrence is still sent, because no host ran or the database failed: as long as a long
/// weekend. After that, people have paid in another way.
pub const LATE_MAX: Duration = Duration::days(3);

/// How long an occurrence waits for its owner. With [`LATE_MAX`] it is less than a week, so that it is over before the
/// next one is due.
pub const WAITING_MAX: Duration = Duration::days(3);

/// Schedules of one user that have not ended, but for a few that are made at the same time: far more than anybody's
/// bills, and few enough to end at once when their payee is deleted.
pub const SCHEDULES_MAX: i64 = 100;

/// How far ahead the first occurrence may be: what is planned for later is made later.
pub const AHEAD_MAX: Duration = Duration::days(366);

/// Most occurrences that a schedule may count: almost twenty years of weeks.
pub const TIMES_MAX: u32 = 1_000;

/// JSON.
pub const DATE_EXAMPLE: &str = "\"2026-12-01\"";

super::text_enum! {
    Recurrence {
        Once = "once",
        /// On the weekday of the first date.
        Weekly = "weekly",
        /// On the day of the first date, or on the last one of a month that is too short.
        Monthly = "monthly",
    }
}

super::text_enum! {
    /// All but `Active` are final.
    Status {
        Active = "active",
        /// There are no more occurrences.
        Finished = "finished",
        /// By its owner.
        Cancelled = "cancelled",
        /// By the bank, because the payee was deleted.
        Ended = "ended",
    }
}

super::text_enum! {
    /// What became of an occurrence.
    Outcome {
        Sent = "sent",
        /// Refused by the rules, for lack of funds or for another reason that does not pass by itself.
        Refused = "refused",
        /// By its owner.
        Skipped = "skipped",
        /// Its owner did not answer in time.
        Lapsed = "lapsed",
        /// No host could send it in time.
        Missed = "missed",
    }
}

record! {
    /// When occurrences are due.
    pub struct Plan in camelCase {
        /// `monthly` is on the day of the first date, or on the last day of a month that is too short.
        pub recurrence: Recurrence { example: "\"monthly\"" },
        /// After the day of the request, within a year.
        pub first: Date { named: "firstDate", example: DATE_EXAMPLE },
        /// No occurrence is later. Only one of `lastDate` and `times`, and neither with `once`.
        pub last: Option<Date> { named: "lastDate", example: "\"2027-12-01\"" },
        /// How many occurrences there are.
        pub times: Option<u32> { at_least: 1.0, at_most: TIMES_MAX as f64 },
    }
}

impl Copy for Plan {}

impl Plan {
    /// The date of an occurrence; `None` if there are not so many.
    pub fn date(&self, ordinal: u32) -> Option<Date> {
        if self.times.is_some_and(|times| ordinal >= times) {
            return None;
        }
        let date = match self.recurrence {
            Recurrence::Once => Some(self.first).filter(|_| ordinal == 0),
            Recurrence::Weekly => self.first.checked_add(Duration::weeks(ordinal.into())),
            Recurrence::Monthly => months_after(self.first, ordinal),
        };
        date.filter(|date| self.last.is_none_or(|last| *date <= last))
    }
}

fn months_after(first: Date, months: u32) -> Option<Date> {
    let months = u32::from(u8::from(first.month()) - 1).checked_add(months)?;
    let year = first.year().checked_add(i32::try_from(months / 12).ok()?)?;
    let month = Month::try_from(u8::try_from(months % 12 + 1).ok()?).ok()?;
    // Fails for a year that `Date` cannot represent.
    let length = Date::from_calendar_date(year, month, 1).ok()?.month().length(year);
    Date::from_calendar_date(year, month, first.day().min(length)).ok()
}

answer! {
    /// An occurrence that is over.
    pub struct Occurrence in camelCase {
        pub date: Date { example: DATE_EXAMPLE },
        pub outcome: Outcome { example: "\"sent\"" },
        /// The transfer, if it was sent.
        pub transfer_id: Option<Uuid> { named: "transactionId", example: ID_EXAMPLE },
        /// The code of the problem for which it was refused.
        pub problem: Option<String> { example: "\"insufficient-funds\"" },
        pub recorded_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    pub schedule_id: Uuid,
    pub owner: String,
    /// The idempotency key of the request that made it.
    pub creation_key: Option<String>,
    /// What each occurrence sends.
    pub request: TransferRequest,
    /// Name when the schedule was made.
    pub beneficiary_name: String,
    pub plan: Plan,
    pub created_at: OffsetDateTime,
    pub status: Status,
    /// Of the next occurrence.
    pub ordinal: u32,
    /// Of the next occurrence; `None` if hosts have nothing more to do.
    pub next_date: Option<Date>,
    /// How long the next occurrence waits for its owner.
    pub waiting_until: Option<OffsetDateTime>,
}

impl Schedule {
    /// The idempotency key of its transfer of that date. Keys of clients have no spaces, so nobody else can use it.
    pub fn key(&self, date: Date) -> String {
        format!("schedule {} {date}", self.schedule_id)
    }

    /// What makes another request with the same idempotency key the same request.
    pub fn is_same_request(&self, other: &Self) -> bool {
        let (one, another) = (&self.request, &other.request);
        (&one.payment, &one.remittance, self.plan) == (&another.payment, &another.remittance, other.plan)
    }

    /// Goes on to the next occurrence, after this one is over.
    #[must_use]
    pub fn after(&self, over: &Occurrence) -> Self {
        let ordinal = self.ordinal.saturating_add(1);
        let is_without_payee = over.problem.as_deref() == Some("beneficiary-not-found");
        let next = self.plan.date(ordinal).filter(|_| self.status == Status::Active && !is_without_payee);
        let status = match (self.status, next) {
            (Status::Active, None) if is_without_payee => Status::Ended,
            (Status::Active, None) => Status::Finished,
            (status, _) => status,
        };
        Self { status, ordinal, next_date: next, waiting_until: None, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;

    fn dates(recurrence: Recurrence, first: Date, ordinals: impl IntoIterator<Item = u32>) -> Vec<String> {
        let plan = Plan { recurrence, first, last: None, times: None };
        ordinals.into_iter().map(|ordinal| plan.date(ordinal).unwrap().to_string()).collect()
    }

    #[test]
    fn a_month_that_is_too_short_ends_on_its_last_day() {
        let monthly = |first, ordinals: &[u32]| dates(Recurrence::Monthly, first, ordinals.iter().copied());
        assert_eq!(
            monthly(date!(2027 - 10 - 31), &[0, 1, 2, 3, 4, 5, 6, 15, 16]),
            [
                "2027-10-31",
                "2027-11-30",
                "2027-12-31",
                "2028-01-31",
                "2028-02-29",
                "2028-03-31",
                "2028-04-30",
                "2029-01-31",
                "2029-02-28"
            ]
        );
        assert_eq!(monthly(date!(2026 - 12 - 30), &[1, 2, 3]), ["2027-01-30", "2027-02-28", "2027-03-30"]);
        assert_eq!(monthly(date!(2028 - 02 - 29), &[1, 12, 48]), ["2028-03-29", "2029-02-28", "2032-02-29"]);
        assert_eq!(
            monthly(date!(2026 - 01 - 01), &[1, 11, 12, 600]),
            ["2026-02-01", "2026-12-01", "2027-01-01", "2076-01-01"]
        );
    }

    #[test]
    fn weeks_cross_months_and_years() {
        assert_eq!(dates(Recurrence::Weekly, date!(2026 - 12 - 28), 0..3), ["2026-12-28", "2027-01-04", "2027-01-11"]);
    }

    #[test]
    fn a_plan_ends() {
        let first = date!(2026 - 11 - 25);
        let plan = Plan { recurrence: Recurrence::Weekly, first, last: None, times: None };
        let count = |plan: Plan| (0..50).take_while(|ordinal| plan.date(*ordinal).is_some()).count();
        assert_eq!(count(Plan { recurrence: Recurrence::Once, ..plan }), 1);
        assert_eq!(count(Plan { times: Some(3), ..plan }), 3);
        assert_eq!(count(Plan { last: Some(date!(2026 - 12 - 09)), ..plan }), 3);
        assert_eq!(count(Plan { last: Some(date!(2026 - 12 - 08)), ..plan }), 2);
        assert_eq!(plan.date(u32::MAX), None);
        assert_eq!(Plan { recurrence: Recurrence::Monthly, ..plan }.date(u32::MAX), None);
    }

    #[test]
    fn no_occurrence_waits_when_the_next_one_is_due() {
        assert!(LATE_MAX + WAITING_MAX < Duration::WEEK);
    }
}
