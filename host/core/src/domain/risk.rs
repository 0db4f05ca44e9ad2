//! Risk scores: request, answer, and what they tell the rules about a transfer.

use uuid::Uuid;

use super::reason::FACTOR_CODES;
use super::{BadAnswer, check_unit_interval};
use crate::schema::{Read, record};

/// "More than 2 times": exactly twice the average does not count.
pub(crate) const MUCH_HIGHER_TIMES: f64 = 2.0;
/// 22:59 is still hour 22, so 22 is normal.
pub(crate) const NORMAL_HOURS: std::ops::RangeInclusive<u8> = 6..=22;
/// "Fewer than 3 prior transactions".
pub(crate) const HISTORY_MIN: u32 = 3;

/// Last hour of a day.
pub const HOUR_MAX: f64 = 23.0;

record! {
    /// Facts about a transfer and its sender.
    pub struct Request as "RiskFacts" {
        /// Amount of the transfer.
        pub amount: f64 { at_least: 0.0, unit: "MXN", example: "1500.5" },
        /// The user has never completed a transfer to this beneficiary.
        pub is_new_beneficiary: bool { example: "true" },
        /// The sender's local hour.
        pub hour_of_day: u8 { at_most: HOUR_MAX, example: "14" },
        /// Transfers that the user completed before.
        pub num_past_transactions: u32 { example: "42" },
        /// Average amount of those; 0 when there are none.
        pub avg_transaction_amount: f64 { at_least: 0.0, unit: "MXN", example: "800.0" },
        /// Largest amount of those; 0 when there are none.
        pub max_transaction_amount: f64 { at_least: 0.0, unit: "MXN", example: "2500.0" },
        /// Transfers that the user completed to this beneficiary.
        pub num_transactions_to_beneficiary: u32 { example: "0" },
        /// The device is new or not recognised.
        pub is_new_device: bool { example: "false" },
        /// The location differs from the usual one.
        pub geolocation_changed: bool { example: "false" },
        /// Minutes since the beneficiary was saved, when known. Can only lower the score.
        pub beneficiary_saved_minutes: Option<u32> { example: "3" },
        /// Transfers that the user sent to others in the last hour, when known.
        pub sent_count_1h: Option<u32> { example: "2" },
        /// Their sum.
        pub sent_amount_1h: Option<f64> { at_least: 0.0, unit: "MXN", example: "3000.5" },
        /// Transfers that the user sent to others in the last 24 hours, when known.
        pub sent_count_24h: Option<u32> { example: "2" },
        /// Their sum.
        pub sent_amount_24h: Option<f64> { at_least: 0.0, unit: "MXN", example: "3000.5" },
        /// Transfers that the user sent to others in the last 7 days, when known.
        pub sent_count_7d: Option<u32> { example: "2" },
        /// Their sum.
        pub sent_amount_7d: Option<f64> { at_least: 0.0, unit: "MXN", example: "3000.5" },
        /// Transfers that the user sent to others in the last 30 days, when known.
        pub sent_count_30d: Option<u32> { example: "2" },
        /// Their sum.
        pub sent_amount_30d: Option<f64> { at_least: 0.0, unit: "MXN", example: "3000.5" },
        /// Those to this beneficiary's account in the last hour, when known.
        pub to_payee_count_1h: Option<u32> { example: "1" },
        /// Their sum.
        pub to_payee_amount_1h: Option<f64> { at_least: 0.0, unit: "MXN", example: "1500.5" },
        /// Those to this beneficiary's account in the last 24 hours, when known.
        pub to_payee_count_24h: Option<u32> { example: "1" },
        /// Their sum.
        pub to_payee_amount_24h: Option<f64> { at_least: 0.0, unit: "MXN", example: "1500.5" },
        /// Those to this beneficiary's account in the last 7 days, when known.
        pub to_payee_count_7d: Option<u32> { example: "1" },
        /// Their sum.
        pub to_payee_amount_7d: Option<f64> { at_least: 0.0, unit: "MXN", example: "1500.5" },
        /// Those to this beneficiary's account in the last 30 days, when known.
        pub to_payee_count_30d: Option<u32> { example: "1" },
        /// Their sum.
        pub to_payee_amount_30d: Option<f64> { at_least: 0.0, unit: "MXN", example: "1500.5" },
        /// Beneficiaries that the user saved today and has still, when known.
        pub payees_added_today: Option<u32> { example: "1" },
        /// Orders of the user that were refused for good in the last hour, when known.
        pub refusals_1h: Option<u32> { example: "0" },
        /// Minutes since the user's limits were changed, when they were.
        pub minutes_since_limits_change: Option<u32> { example: "90" },
        /// Those who paid the beneficiary in the last 24 hours, if the account is at this bank.
        pub payee_senders_24h: Option<u32> { example: "3" },
        /// What they paid.
        pub payee_received_24h: Option<f64> { at_least: 0.0, unit: "MXN", example: "4500.0" },
        /// Minutes from the last time that the beneficiary was paid to when they sent money on, if that was in the last 24 hours.
        pub payee_minutes_to_sending: Option<u32> { example: "4" },
    }
}

impl Default for Request {
    /// Nothing is known: zero, false and absent.
    fn default() -> Self {
        Read::placeholder()
    }
}

super::text_enum! {
    /// Tells the client how to react.
    Level {
        /// Proceed.
        Low = "low",
        /// Explain and ask for confirmation.
        Medium = "medium",
        /// Require an explicit acknowledgment.
        High = "high",
    }
}

super::text_enum! {
    /// How the risk of a transfer affects it.
    Enforcement {
        /// It does not: the client requests the risk and acts on it.
        Off = "off",
        /// Each transfer is scored, but the score is only logged.
        Shadow = "shadow",
        /// The transfer rules receive the level and whether the sender acknowledged it.
        Enforce = "enforce",
    }
}

record! {
    /// Where the levels of risk begin.
    #[derive(crate::schema::Deserialize)]
    pub struct CutOffs {
        /// Lowest score of a `medium` risk: above 0 and below `high_from`.
        pub medium_from: f64 { at_least: 0.0, at_most: 1.0, example: "0.25" },
        /// Lowest score of a `high` risk.
        pub high_from: f64 { at_least: 0.0, at_most: 1.0, example: "0.75" },
    }
}

impl Copy for CutOffs {}

impl CutOffs {
    /// Those of contract 1, and of a deployment that states no others.
    pub const DEFAULT: Self = Self { medium_from: 0.25, high_from: 0.75 };

    pub fn level(self, score: f64) -> Level {
        if score >= self.high_from {
            Level::High
        } else if score >= self.medium_from {
            Level::Medium
        } else {
            Level::Low
        }
    }

    /// # Errors
    /// The field of a deployment that is wrong, and why.
    pub fn check(self) -> Result<(), (&'static str, &'static str)> {
        let Self { medium_from, high_from } = self;
        if medium_from.is_nan() || medium_from <= 0.0 {
            return Err(("cut_offs.medium_from", "must be above 0: no score would be low"));
        }
        if high_from.is_nan() || high_from <= medium_from {
            return Err(("cut_offs.high_from", "must be above medium_from: no score would be medium"));
        }
        if high_from > 1.0 {
            return Err(("cut_offs.high_from", "must be at most 1: no score would be high"));
        }
        Ok(())
    }
}

impl std::fmt::Display for CutOffs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "medium from {}, high from {}", self.medium_from, self.high_from)
    }
}

/// What is known about the risk of a transfer when the rules decide on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// Risk is not enforced, or there is nothing to score: the sender has no such account or beneficiary.
    NotEnforced,
    Assessed {
        level: Level,
        /// The id for which the person acknowledged exactly this risk: the new transfer or hold gets it, unless an
        /// earlier one has it.
        acknowledged: Option<Uuid>,
    },
    /// The scorer gave no usable answer. Recorded answers are still replayed, but nothing new is decided.
    Unavailable,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// A component's own follows from the contract's cut-offs; what serves has that of the deployment's.
    pub level: Level,
    /// 0 to 1.
    pub score: f64,
    /// The number from which the score follows, in contract 2.
    pub predictor: Option<f64>,
    /// From [`FACTOR_CODES`].
    pub factors: Vec<String>,
    /// The model's own, by their codes.
    pub reasons: Vec<&'static str>,
}

impl Assessment {
    /// Rejects answers that no correct model gives.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), BadAnswer> {
        check_unit_interval(self.score, "the score is not a number from 0 to 1")?;
        if self.predictor.is_some_and(|it| !it.is_finite()) {
            return Err(BadAnswer("the predictor is not a finite number"));
        }
        if self.level != CutOffs::DEFAULT.level(self.score) {
            return Err(BadAnswer("the level does not fit the score"));
        }
        if self.factors.iter().any(|code| !FACTOR_CODES.contains(&code.as_str())) {
            return Err(BadAnswer("a factor code is unknown"));
        }
        Ok(())
    }

    /// As [`Self::check`], for contract 1, in which factors are the only explanation.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check_explained(&self) -> Result<(), BadAnswer> {
        self.check()?;
        if self.level != Level::Low && self.factors.is_empty() {
            return Err(BadAnswer("a medium or high verdict has no factor"));
        }
        Ok(())
    }
}

impl Request {
    /// The factors of the specification that apply, in its order.
    pub fn factors(&self) -> Vec<String> {
        let applies = [
            self.avg_transaction_amount > 0.0 && self.amount > MUCH_HIGHER_TIMES * self.avg_transaction_amount,
            self.is_new_beneficiary,
            !NORMAL_HOURS.contains(&self.hour_of_day),
            self.is_new_device,
            self.geolocation_changed,
            self.num_past_transactions < HISTORY_MIN,
        ];
        FACTOR_CODES.into_iter().zip(applies).filter(|(_, applies)| *applies).map(|(code, _)| code.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Assessment {
        let (factors, reasons) = (vec!["UNUSUAL_TIME".into()], Vec::new());
        Assessment { level: Level::Medium, score: 0.25, predictor: Some(-1.0), factors, reasons }
    }

    #[test]
    fn levels_start_at_their_thresholds() {
        for (score, level) in [
            (0.0, Level::Low),
            (0.25_f64.next_down(), Level::Low),
            (0.25, Level::Medium),
            (0.75_f64.next_down(), Level::Medium),
            (0.75, Level::High),
            (1.0, Level::High),
        ] {
            assert_eq!(CutOffs::DEFAULT.level(score), level, "{score}");
        }
    }

    #[test]
    fn cut_offs_leave_room_for_every_level() {
        let check = |medium_from, high_from| CutOffs { medium_from, high_from }.check().map_err(|(field, _)| field);
        for (medium_from, high_from) in [(0.25, 0.75), (f64::MIN_POSITIVE, 1.0)] {
            assert_eq!(check(medium_from, high_from), Ok(()));
        }
        for (medium_from, high_from, field) in [
            (0.0, 0.5, "cut_offs.medium_from"),
            (f64::NAN, 0.5, "cut_offs.medium_from"),
            (0.5, 0.5, "cut_offs.high_from"),
            (0.5, f64::NAN, "cut_offs.high_from"),
            (0.5, 1.0_f64.next_up(), "cut_offs.high_from"),
        ] {
            assert_eq!(check(medium_from, high_from), Err(field), "{medium_from} {high_from}");
        }
    }

    #[test]
    fn impossible_answers_are_refused() {
        assert_eq!(sound().check_explained(), Ok(()));
        let broken: [fn(&mut Assessment); 5] = [
            |answer| answer.predictor = Some(f64::INFINITY),
            |answer| answer.score = f64::NAN,
            |answer| answer.score = 1.5,
            |answer| answer.level = Level::High,
            |answer| answer.factors = vec!["FULL_MOON".into()],
        ];
        for (index, harm) in broken.iter().enumerate() {
            let mut answer = sound();
            harm(&mut answer);
            assert!(answer.check().is_err(), "case {index}");
        }
        let unexplained = Assessment { factors: Vec::new(), ..sound() };
        assert_eq!(unexplained.check(), Ok(()));
        assert!(unexplained.check_explained().is_err());
    }
}
