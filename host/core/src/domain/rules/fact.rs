//! The catalogue of facts that transfer rules may ask for, one row for each. Kept decisions name a fact by its place, so rows
//! are only ever added at the end.

use super::Facts;
use crate::domain::fact::VALUE_MAX;
use crate::domain::fact::manifest::Row;
use crate::domain::money::Money;
use crate::domain::risk::Level;

/// A row of the catalogue.
#[derive(Debug)]
pub struct RulesFact {
    pub name: &'static str,
    pub kind: &'static str,
    /// Empty if it has none.
    pub unit: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Whether it is known for every transfer.
    pub is_always_known: bool,
    get: fn(&Facts) -> Option<f64>,
    set: fn(&mut Facts, f64),
}

macro_rules! facts {
    ($(#[doc = $about:literal] $name:ident: $kind:literal, $unit:literal, $field:ident;)+) => {
        pub static RULES_FACTS: &[RulesFact] = &[$(RulesFact {
            name: stringify!($name),
            kind: $kind,
            unit: $unit,
            about: $about.trim_ascii(),
            is_always_known: is_always_known(|facts| facts.$field),
            get: |facts| facts.$field.number(),
            set: |facts, value| facts.$field = Number::of(value),
        }),+];
    };
}

facts! {
    /// Amount of the transfer.
    amount: "integer", "centavos", amount;
    /// Available balance of the account.
    available: "integer", "centavos", available;
    /// What the user sent earlier today.
    day_total: "integer", "centavos", day_total;
    /// Limit of one transfer, if there is one.
    per_transfer_limit: "integer", "centavos", per_transfer_limit;
    /// Limit of one day's transfers, if there is one.
    per_day_limit: "integer", "centavos", per_day_limit;
    /// Time since the beneficiary was saved.
    beneficiary_saved_seconds: "integer", "seconds", beneficiary_age_seconds;
    /// Waiting period of a new beneficiary; 0 if there is none.
    cooling_seconds: "integer", "seconds", cooling_seconds;
    /// Whether the beneficiary's account is the one that would be debited.
    same_account: "flag", "", same_account;
    /// In Mexico City, 0 to 23.
    hour_of_day: "integer", "", local_hour;
    /// 0 for low, 1 for medium and 2 for high, if the transfer was scored.
    risk_level: "integer", "", risk_level;
}

const fn is_always_known<T: Number>(_: fn(&Facts) -> T) -> bool {
    T::IS_ALWAYS_KNOWN
}

/// A field of the facts as a number.
trait Number: Sized {
    const IS_ALWAYS_KNOWN: bool = true;

    fn number(self) -> Option<f64>;
    fn of(value: f64) -> Self;
}

macro_rules! always_known {
    ($($type:ty: $number:expr, $of:expr;)+) => {$(
        impl Number for $type {
            fn number(self) -> Option<f64> {
                let number: fn(Self) -> f64 = $number;
                Some(number(self))
            }

            fn of(value: f64) -> Self {
                let of: fn(f64) -> Self = $of;
                of(value)
            }
        }
    )+};
}

always_known! {
    Money: |it| it.minor() as f64, |it| Self::from_minor(it as i64);
    u64: |it| it as f64, |it| it as u64;
    u8: |it| it.into(), |it| it as u8;
    bool: |it| u8::from(it).into(), |it| it > 0.0;
    Level: |it| f64::from(it as u8), |it| Self::ALL.get(it as usize).copied().unwrap_or(Self::High);
}

impl<T: Number> Number for Option<T> {
    const IS_ALWAYS_KNOWN: bool = false;

    fn number(self) -> Option<f64> {
        self?.number()
    }

    fn of(value: f64) -> Self {
        Some(T::of(value))
    }
}

impl RulesFact {
    /// The value; `None` if it is not known.
    pub fn value(&self, facts: &Facts) -> Option<f64> {
        Some((self.get)(facts)?.clamp(-VALUE_MAX, VALUE_MAX))
    }

    pub(crate) fn give(&self, facts: &mut Facts, value: f64) {
        (self.set)(facts, value);
    }
}

impl Row for RulesFact {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> &'static str {
        self.kind
    }

    fn unit(&self) -> &'static str {
        self.unit
    }

    fn is_always_known(&self) -> bool {
        self.is_always_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_whole_and_saturate() {
        let facts = Facts {
            amount: Money::from_minor(i64::MAX),
            available: Money::from_minor(i64::MIN),
            per_day_limit: Some(Money::from_minor(150_050)),
            beneficiary_age_seconds: u64::MAX,
            same_account: true,
            local_hour: 23,
            risk_level: Some(Level::High),
            ..Facts::default()
        };
        let values: Vec<_> = RULES_FACTS.iter().map(|fact| fact.value(&facts)).collect();
        let most = Some(VALUE_MAX);
        let expected =
            [most, Some(-VALUE_MAX), Some(0.0), None, Some(150_050.0), most, Some(0.0), Some(1.0), Some(23.0)];
        assert_eq!((&values[..9], values[9]), (&expected[..], Some(2.0)));
        let unknown: Vec<_> = RULES_FACTS.iter().filter(|it| !it.is_always_known).map(|it| it.name).collect();
        assert_eq!(unknown, ["per_transfer_limit", "per_day_limit", "risk_level"]);
    }
}
