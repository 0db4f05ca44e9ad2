//! The catalogue of facts: what a risk model may ask about a transfer, one row for each.
//!
//! A component names the facts it needs when it is loaded, and gets their values by position. What the gate tries at random,
//! where a score may only rise, and what is watched for drift follow from the rows as well.

pub mod manifest;

use super::risk::Request;
use crate::schema::Record as _;

/// Largest value: up to here, `f64` holds every whole number.
pub(crate) const VALUE_MAX: f64 = 9_007_199_254_740_992.0;

const CENTAVOS_PER_PESO: f64 = 100.0;

super::text_enum! {
    /// What the values of a fact are.
    Measure {
        /// An amount. The HTTP API has it in pesos.
        Money = "money",
        Count = "count",
        Minutes = "minutes",
        /// Of the day, 0 to 23.
        Hour = "hour",
        Flag = "flag",
    }
}

super::text_enum! {
    /// How the score may follow a fact.
    Direction {
        /// A larger value never lowers it.
        Rises = "rises",
        /// A larger value never raises it.
        Falls = "falls",
        Free = "free",
    }
}

super::text_enum! {
    /// Who says so.
    Source {
        /// The bank saw it itself.
        Observed = "observed",
        /// The client claims it, so it proves nothing.
        Claimed = "claimed",
    }
}

impl Measure {
    /// The kind of the values in a manifest.
    pub fn kind(self) -> &'static str {
        if self == Self::Flag { "flag" } else { "integer" }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Self::Money => "centavos",
            Self::Minutes => "minutes",
            Self::Count | Self::Hour | Self::Flag => "",
        }
    }

    /// How many units one unit of the HTTP API has.
    pub(crate) fn scale(self) -> f64 {
        if self == Self::Money { CENTAVOS_PER_PESO } else { 1.0 }
    }
}

/// A row of the catalogue.
#[derive(Debug)]
pub struct Fact {
    pub name: &'static str,
    pub measure: Measure,
    pub direction: Direction,
    pub source: Source,
    /// Whether it is known for every transfer.
    pub is_always_known: bool,
    get: fn(&Request) -> Option<f64>,
    set: fn(&mut Request, Option<f64>),
}

macro_rules! facts {
    ($($name:ident: $measure:ident, $direction:ident, $source:ident;)+) => {
        pub static FACTS: &[Fact] = &[$(Fact {
            name: stringify!($name),
            measure: Measure::$measure,
            direction: Direction::$direction,
            source: Source::$source,
            is_always_known: is_always_known(|request| request.$name),
            get: |request| request.$name.number(),
            set: |request, value| request.$name = Number::of(value),
        }),+];
    };
}

facts! {
    amount: Money, Rises, Observed;
    is_new_beneficiary: Flag, Rises, Observed;
    hour_of_day: Hour, Free, Claimed;
    num_past_transactions: Count, Free, Observed;
    avg_transaction_amount: Money, Free, Observed;
    max_transaction_amount: Money, Free, Observed;
    num_transactions_to_beneficiary: Count, Falls, Observed;
    is_new_device: Flag, Rises, Claimed;
    geolocation_changed: Flag, Rises, Claimed;
    beneficiary_saved_minutes: Minutes, Falls, Observed;
    sent_count_1h: Count, Free, Observed;
    sent_amount_1h: Money, Free, Observed;
    sent_count_24h: Count, Free, Observed;
    sent_amount_24h: Money, Free, Observed;
    sent_count_7d: Count, Free, Observed;
    sent_amount_7d: Money, Free, Observed;
    sent_count_30d: Count, Free, Observed;
    sent_amount_30d: Money, Free, Observed;
    to_payee_count_1h: Count, Free, Observed;
    to_payee_amount_1h: Money, Free, Observed;
    to_payee_count_24h: Count, Free, Observed;
    to_payee_amount_24h: Money, Free, Observed;
    to_payee_count_7d: Count, Free, Observed;
    to_payee_amount_7d: Money, Free, Observed;
    to_payee_count_30d: Count, Free, Observed;
    to_payee_amount_30d: Money, Free, Observed;
    payees_added_today: Count, Rises, Observed;
    refusals_1h: Count, Rises, Observed;
    minutes_since_limits_change: Minutes, Falls, Observed;
    payee_senders_24h: Count, Rises, Observed;
    payee_received_24h: Money, Rises, Observed;
    payee_minutes_to_sending: Minutes, Falls, Observed;
}

const fn is_always_known<T: Number>(_: fn(&Request) -> T) -> bool {
    T::IS_ALWAYS_KNOWN
}

/// A field of a request as a number, in the unit of the HTTP API.
trait Number: Copy {
    const IS_ALWAYS_KNOWN: bool = true;

    fn number(self) -> Option<f64>;
    fn of(value: Option<f64>) -> Self;
}

impl Number for f64 {
    fn number(self) -> Option<f64> {
        Some(self)
    }

    fn of(value: Option<f64>) -> Self {
        value.unwrap_or_default()
    }
}

impl Number for bool {
    fn number(self) -> Option<f64> {
        Some(u8::from(self).into())
    }

    fn of(value: Option<f64>) -> Self {
        value.is_some_and(|it| it > 0.0)
    }
}

macro_rules! whole {
    ($($type:ident),+) => {$(
        impl Number for $type {
            fn number(self) -> Option<f64> {
                Some(self.into())
            }

            fn of(value: Option<f64>) -> Self {
                // Saturates.
                value.unwrap_or_default() as Self
            }
        }
    )+};
}

whole!(u8, u32);

impl Number for Option<f64> {
    const IS_ALWAYS_KNOWN: bool = false;

    fn number(self) -> Option<f64> {
        self
    }

    fn of(value: Option<f64>) -> Self {
        value
    }
}

impl Number for Option<u32> {
    const IS_ALWAYS_KNOWN: bool = false;

    fn number(self) -> Option<f64> {
        self.map(f64::from)
    }

    fn of(value: Option<f64>) -> Self {
        value.map(|it| it as u32)
    }
}

impl Fact {
    pub fn find(name: &str) -> Option<&'static Self> {
        FACTS.iter().find(|fact| fact.name == name)
    }

    /// One sentence, from the HTTP API.
    pub fn about(&self) -> &'static str {
        let fields = Request::DECLARATION.fields.iter();
        fields.filter(|field| field.name == self.name).map(|field| field.about.trim()).next().unwrap_or_default()
    }

    /// The value in the unit of the HTTP API; `None` if it is not known.
    pub fn given(&self, request: &Request) -> Option<f64> {
        (self.get)(request)
    }

    /// The value in its own unit.
    pub fn value(&self, request: &Request) -> Option<f64> {
        let value = self.given(request)?;
        let scale = self.measure.scale();
        let value = if scale > 1.0 { (value * scale).round() } else { value };
        Some(value.min(VALUE_MAX))
    }

    /// The request with another value, in the unit of the HTTP API.
    pub(crate) fn with(&self, request: &Request, value: Option<f64>) -> Request {
        let mut request = request.clone();
        (self.set)(&mut request, value);
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Money;

    #[test]
    fn every_fact_of_a_request_is_in_the_catalogue() {
        let fields = Request::DECLARATION.fields.iter().map(|field| field.name);
        assert_eq!(fields.collect::<Vec<_>>(), FACTS.iter().map(|fact| fact.name).collect::<Vec<_>>());
        assert!(FACTS.iter().all(|fact| !fact.about().is_empty()));
    }

    #[test]
    fn money_is_in_whole_centavos() {
        let amount = Fact::find("amount").unwrap();
        for (pesos, centavos) in [(0.0, 0.0), (0.29, 29.0), (1_500.5, 150_050.0), (1e300, VALUE_MAX)] {
            assert_eq!(amount.value(&Request { amount: pesos, ..Request::default() }), Some(centavos), "{pesos}");
        }
        for centavos in (0..1_000_000).step_by(7) {
            let request = Request { amount: Money::from_minor(centavos).to_f64(), ..Request::default() };
            assert_eq!(amount.value(&request), Some(centavos as f64));
        }
    }

    #[test]
    fn a_value_that_is_set_is_given() {
        for fact in FACTS {
            let request = fact.with(&Request::default(), Some(1.0));
            assert_eq!(fact.given(&request), Some(1.0), "{}", fact.name);
            assert_eq!(fact.given(&fact.with(&request, None)).is_none(), !fact.is_always_known, "{}", fact.name);
        }
    }
}
