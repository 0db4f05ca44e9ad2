//! The catalogue of facts: what a risk model may ask about a transfer, one row for each.
//!
//! A component names the facts it needs when it is loaded, and gets their values by position. What the gate tries at random,
//! where a score may only rise, and what is watched for drift follow from the rows as well. Kept decisions name a fact by its
//! place, so rows are only ever added at the end.

pub mod explanation;
pub mod manifest;

use super::reason::Words;
use super::risk::Request;
use crate::schema::{Field, Record as _, Shape};

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
    /// What customers know it as, whatever its value: a part of a sentence.
    pub words: Words,
    /// Whether it is known for every transfer.
    pub is_always_known: bool,
    get: fn(&Request) -> Option<f64>,
    set: fn(&mut Request, Option<f64>),
}

macro_rules! facts {
    ($($name:ident: $measure:ident, $direction:ident, $source:ident, $es:literal, $en:literal;)+) => {
        pub static FACTS: &[Fact] = &[$(Fact {
            name: stringify!($name),
            measure: Measure::$measure,
            direction: Direction::$direction,
            source: Source::$source,
            words: Words { es: $es, en: $en },
            is_always_known: is_always_known(|request| request.$name),
            get: |request| request.$name.number(),
            set: |request, value| request.$name = Number::of(value),
        }),+];
    };
}

facts! {
    amount: Money, Rises, Observed, "el monto", "the amount";
    is_new_beneficiary: Flag, Rises, Observed, "si el beneficiario es nuevo", "whether the payee is new";
    hour_of_day: Hour, Free, Claimed, "la hora", "the time of day";
    num_past_transactions: Count, Free, Observed,
        "cuántas transferencias has hecho", "how many transfers you have made";
    avg_transaction_amount: Money, Free, Observed, "lo que sueles enviar", "what you usually send";
    max_transaction_amount: Money, Free, Observed, "lo más que has enviado", "the most that you have sent";
    num_transactions_to_beneficiary: Count, Falls, Observed,
        "cuántas veces le has enviado al beneficiario", "how often you have sent to the payee";
    is_new_device: Flag, Rises, Claimed, "si el dispositivo es nuevo", "whether the device is new";
    geolocation_changed: Flag, Rises, Claimed, "si estás donde sueles estar", "whether you are where you usually are";
    beneficiary_saved_minutes: Minutes, Falls, Observed, "cuándo guardaste al beneficiario", "when you saved the payee";
    sent_count_1h: Count, Free, Observed,
        "cuántas transferencias hiciste en la última hora", "how many transfers you made in the last hour";
    sent_amount_1h: Money, Free, Observed, "cuánto enviaste en la última hora", "how much you sent in the last hour";
    sent_count_24h: Count, Free, Observed,
        "cuántas transferencias hiciste en las últimas 24 horas", "how many transfers you made in the last 24 hours";
    sent_amount_24h: Money, Free, Observed,
        "cuánto enviaste en las últimas 24 horas", "how much you sent in the last 24 hours";
    sent_count_7d: Count, Free, Observed,
        "cuántas transferencias hiciste en los últimos 7 días", "how many transfers you made in the last 7 days";
    sent_amount_7d: Money, Free, Observed,
        "cuánto enviaste en los últimos 7 días", "how much you sent in the last 7 days";
    sent_count_30d: Count, Free, Observed,
        "cuántas transferencias hiciste en los últimos 30 días", "how many transfers you made in the last 30 days";
    sent_amount_30d: Money, Free, Observed,
        "cuánto enviaste en los últimos 30 días", "how much you sent in the last 30 days";
    to_payee_count_1h: Count, Free, Observed,
        "cuántas veces le enviaste al beneficiario en la última hora", "how often you sent to the payee in the last hour";
    to_payee_amount_1h: Money, Free, Observed,
        "cuánto le enviaste al beneficiario en la última hora", "how much you sent to the payee in the last hour";
    to_payee_count_24h: Count, Free, Observed,
        "cuántas veces le enviaste al beneficiario en las últimas 24 horas", "how often you sent to the payee in the last 24 hours";
    to_payee_amount_24h: Money, Free, Observed,
        "cuánto le enviaste al beneficiario en las últimas 24 horas", "how much you sent to the payee in the last 24 hours";
    to_payee_count_7d: Count, Free, Observed,
        "cuántas veces le enviaste al beneficiario en los últimos 7 días", "how often you sent to the payee in the last 7 days";
    to_payee_amount_7d: Money, Free, Observed,
        "cuánto le enviaste al beneficiario en los últimos 7 días", "how much you sent to the payee in the last 7 days";
    to_payee_count_30d: Count, Free, Observed,
        "cuántas veces le enviaste al beneficiario en los últimos 30 días", "how often you sent to the payee in the last 30 days";
    to_payee_amount_30d: Money, Free, Observed,
        "cuánto le enviaste al beneficiario en los últimos 30 días", "how much you sent to the payee in the last 30 days";
    payees_added_today: Count, Rises, Observed,
        "cuántos beneficiarios guardaste hoy", "how many payees you saved today";
    refusals_1h: Count, Rises, Observed,
        "cuántas transferencias se rechazaron en la última hora", "how many transfers were refused in the last hour";
    minutes_since_limits_change: Minutes, Falls, Observed, "cuándo cambiaron tus límites", "when your limits changed";
    payee_senders_24h: Count, Rises, Observed,
        "cuántas personas le pagaron al beneficiario en las últimas 24 horas", "how many people paid the payee in the last 24 hours";
    payee_received_24h: Money, Rises, Observed,
        "cuánto recibió el beneficiario en las últimas 24 horas", "how much the payee received in the last 24 hours";
    payee_minutes_to_sending: Minutes, Falls, Observed,
        "qué tan pronto envía el beneficiario lo que recibe", "how soon the payee sends on what comes in";
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

    fn field(&self) -> Option<&'static Field> {
        Request::DECLARATION.fields.iter().find(|field| field.name == self.name)
    }

    /// One sentence, from the HTTP API.
    pub fn about(&self) -> &'static str {
        self.field().map(|field| field.about.trim()).unwrap_or_default()
    }

    /// Its least and its largest value, from the HTTP API, in its own unit.
    pub fn range(&self) -> [Option<f64>; 2] {
        let bounds = match self.field().map(|field| field.shape) {
            Some(Shape::Number { at_least, at_most }) => [at_least, at_most],
            Some(Shape::Integer { at_least, at_most }) => [at_least, at_most].map(|it| it.map(|it| it as f64)),
            _ => [Some(0.0), Some(1.0)],
        };
        bounds.map(|bound| Some(bound? * self.measure.scale()))
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
        self.give(&mut request, value);
        request
    }

    /// Sets the value, in the unit of the HTTP API.
    pub(crate) fn give(&self, request: &mut Request, value: Option<f64>) {
        (self.set)(request, value);
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
    fn ranges_are_those_of_requests() {
        for (name, range) in [
            ("amount", [Some(0.0), None]),
            ("hour_of_day", [Some(0.0), Some(23.0)]),
            ("is_new_device", [Some(0.0), Some(1.0)]),
            ("refusals_1h", [Some(0.0), None]),
        ] {
            assert_eq!(Fact::find(name).unwrap().range(), range, "{name}");
        }
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
