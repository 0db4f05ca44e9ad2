//! How often a version was right, by what is known after fixed times. Pure.
//!
//! A decision counts at a horizon once it is that old, by what was known of its order when it was exactly that old. So all
//! decisions had the same time to be found out about, and a share estimates one fixed quantity, however many are young.

use std::collections::BTreeMap;

use time::{Duration, OffsetDateTime};

use crate::decision::{Decision, Role};
use crate::domain::fact::FACTS;
use crate::domain::model::Digest;
use crate::domain::outcome::{OutcomeKind, Statement, counting};
use crate::domain::risk::Level;
use crate::models::observing::interval::{SHOWN, wilson};
use crate::schema::answer;

/// Days after a decision: one, two and three monthly statements of an account.
pub const HORIZON_DAYS: [i64; 3] = [30, 60, 90];

/// Amounts in pesos below which an order is of a band.
const BANDS: [(f64, &str); 4] =
    [(1_000.0, "< 1,000"), (10_000.0, "< 10,000"), (100_000.0, "< 100,000"), (f64::INFINITY, ">= 100,000")];

/// What the shares cannot say.
pub const NOTES: &[&str] = &[
    "An alarm is a decision of the level high. A fraud is an order that counts as confirmed_fraud or authorised_scam at the \
     horizon. Everything else counts as \"no fraud known\": reported, help_accepted, false_alarm, withdrawn, and orders of \
     which nothing is stated.",
    "An order that was stopped has no outcome: nobody learns whether it was a fraud. The better alarms stop frauds, the lower \
     precision and recall seem.",
    "Labels are not missing at random. Alarms are looked into and other orders are not, so frauds without an alarm are found \
     less often, and recall seems higher than it is. Customers notice some frauds late or never.",
    "What was known within a horizon but is recorded later still changes its shares.",
    "An interval covers chance only, with decisions taken as independent: several of one customer are not.",
    "naive is the share among all decisions with all that is known so far. Young decisions have had less time to be found out \
     about than old ones, so it measures nothing in particular; naive_error is how far it is from the share at the horizon.",
];

answer! {
    /// A share with its interval, which covers 95 %; left out where there is nothing that it could be a share of.
    pub struct OutcomeShare {
        pub rate: f64 { at_least: 0.0, at_most: 1.0, example: "0.42" },
        pub low: f64 { at_least: 0.0, at_most: 1.0, example: "0.36" },
        pub high: f64 { at_least: 0.0, at_most: 1.0, example: "0.48" },
        /// Among all decisions, whatever their age, with all that is known so far.
        pub naive: Option<f64> { example: "0.31" },
        /// `naive` less `rate`.
        pub naive_error: Option<f64> { example: "-0.11" },
    }
}

answer! {
    /// What is known of some decisions of a version, at one horizon.
    pub struct OutcomeFigures {
        pub horizon_days: i64 { example: "30" },
        /// Old enough for the horizon.
        pub decisions: i64 { example: "120000" },
        pub alarms: i64 { example: "480" },
        pub frauds: i64 { example: "260" },
        /// Frauds with an alarm.
        pub caught: i64 { example: "200" },
        /// Reported and not confirmed, at the horizon.
        pub unconfirmed: i64 { example: "14" },
        /// Too young for the horizon: not known yet.
        pub young: i64 { example: "9000" },
        pub young_alarms: i64 { example: "40" },
        /// Frauds among alarms.
        pub precision: Option<OutcomeShare>,
        /// Alarms among frauds.
        pub recall: Option<OutcomeShare>,
        /// Alarms among decisions.
        pub alarm_rate: Option<OutcomeShare>,
    }
}

answer! {
    /// Decisions of a version: all, or those of a slice.
    pub struct OutcomeSlice {
        /// Its name, or its digest if it is not registered.
        pub version: String { example: "\"risk-2.0.0+9f2c41aa\"" },
        pub by: &'static str { one_of: &["all", "level", "payee", "amount", "role"], example: "\"payee\"" },
        /// Amounts are in pesos.
        pub slice: &'static str { example: "\"new\"" },
        pub figures: Vec<OutcomeFigures>,
    }
}

answer! {
    /// How decisions on risks compare with what became of their orders.
    pub struct OutcomeReport {
        pub slices: Vec<OutcomeSlice>,
        /// What the shares cannot say.
        pub notes: Vec<String> { example: "[]" },
    }
}

/// What counts of a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub version: Digest,
    pub role: Role,
    pub level: Level,
    pub is_new_payee: bool,
    /// In pesos.
    pub amount: f64,
    pub decided_at: OffsetDateTime,
}

impl Seen {
    /// `None` if it is no decision on a risk.
    pub(super) fn of(decided_at: OffsetDateTime, decision: &Decision) -> Option<Self> {
        let level = decision.risk()?.level(decision.by.cut_offs);
        let fact = |name: &str| {
            let kept =
                decision.facts.iter().find(|it| FACTS.get(usize::from(it.place)).is_some_and(|it| it.name == name));
            kept.map_or(0.0, |it| it.value)
        };
        let (is_new_payee, amount) = (fact("is_new_beneficiary") > 0.0, fact("amount"));
        Some(Self { version: decision.by.digest, role: decision.by.role, level, is_new_payee, amount, decided_at })
    }

    fn slices(&self) -> [Slice; 5] {
        let band = BANDS.iter().find(|(below, _)| self.amount < *below).map_or(BANDS[3].1, |(_, name)| *name);
        [
            ("all", "all"),
            ("level", self.level.as_str()),
            ("payee", if self.is_new_payee { "new" } else { "known" }),
            ("amount", band),
            ("role", self.role.as_str()),
        ]
    }
}

/// By what, and which.
type Slice = (&'static str, &'static str);

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    decisions: i64,
    alarms: i64,
    frauds: i64,
    caught: i64,
    unconfirmed: i64,
}

impl Counts {
    fn add(&mut self, is_alarm: bool, known: Option<OutcomeKind>) {
        let is_fraud = known.is_some_and(OutcomeKind::is_fraud);
        self.decisions += 1;
        self.alarms += i64::from(is_alarm);
        self.frauds += i64::from(is_fraud);
        self.caught += i64::from(is_alarm && is_fraud);
        self.unconfirmed += i64::from(known == Some(OutcomeKind::Reported));
    }

    /// Precision, recall and alarm rate: of how many, how many.
    fn shares(&self) -> [(i64, i64); 3] {
        [(self.caught, self.alarms), (self.caught, self.frauds), (self.alarms, self.decisions)]
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Group {
    at: [Counts; HORIZON_DAYS.len()],
    young: [Counts; HORIZON_DAYS.len()],
    so_far: Counts,
}

/// Adds up decisions.
#[derive(Debug)]
pub struct Tally {
    now: OffsetDateTime,
    groups: BTreeMap<([u8; 32], Slice), Group>,
}

impl Tally {
    pub fn new(now: OffsetDateTime) -> Self {
        Self { now, groups: BTreeMap::new() }
    }

    /// `statements` are those about its order, in the order in which they were recorded.
    pub fn add(&mut self, seen: &Seen, statements: &[Statement]) {
        let is_alarm = seen.level == Level::High;
        let known = |at| counting(statements, at).map(|it| it.kind);
        let horizons = HORIZON_DAYS.map(|days| seen.decided_at + Duration::days(days));
        let (so_far, known_at) = (known(self.now), horizons.map(known));
        for slice in seen.slices() {
            let group = self.groups.entry((seen.version.0, slice)).or_default();
            group.so_far.add(is_alarm, so_far);
            for (place, horizon) in horizons.into_iter().enumerate() {
                if horizon <= self.now {
                    group.at[place].add(is_alarm, known_at[place]);
                } else {
                    group.young[place].add(is_alarm, None);
                }
            }
        }
    }

    pub fn report(&self, name: impl Fn(Digest) -> String) -> OutcomeReport {
        let slices = self.groups.iter().map(|((digest, (by, slice)), group)| OutcomeSlice {
            version: name(Digest(*digest)),
            by,
            slice,
            figures: (0..HORIZON_DAYS.len()).map(|place| group.figures(place)).collect(),
        });
        OutcomeReport { slices: slices.collect(), notes: NOTES.iter().map(|&it| it.to_owned()).collect() }
    }
}

impl Group {
    fn figures(&self, place: usize) -> OutcomeFigures {
        let (at, young) = (self.at[place], self.young[place]);
        let share = |(hits, of): (i64, i64)| (of > 0).then(|| hits as f64 / of as f64);
        let mut shares = at.shares().into_iter().zip(self.so_far.shares()).map(|((hits, of), so_far)| {
            let ((low, high), rate, naive) = (wilson(hits, of, SHOWN), share((hits, of))?, share(so_far));
            Some(OutcomeShare { rate, low, high, naive, naive_error: naive.map(|it| it - rate) })
        });
        OutcomeFigures {
            horizon_days: HORIZON_DAYS[place],
            decisions: at.decisions,
            alarms: at.alarms,
            frauds: at.frauds,
            caught: at.caught,
            unconfirmed: at.unconfirmed,
            young: young.decisions,
            young_alarms: young.alarms,
            precision: shares.next().flatten(),
            recall: shares.next().flatten(),
            alarm_rate: shares.next().flatten(),
        }
    }
}

#[cfg(test)]
mod tests;
