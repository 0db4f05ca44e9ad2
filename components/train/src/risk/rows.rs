//! Risk rows as files: the facts in the spelling of the HTTP API, then what is known of the transfer.

use anyhow::{Result, bail};
use caudal_model::risk::Request;
use serde::{Deserialize, Serialize};

use super::generator::Row;
use crate::age::AgeRange;
use crate::metrics::Reference;

/// Codes of the levels, in rising order.
pub const LEVELS: [&str; 3] = ["low", "medium", "high"];

/// The body of `POST /ai/risk`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the HTTP API and of the model's request")]
pub struct Facts {
    pub amount: f64,
    pub is_new_beneficiary: bool,
    pub hour_of_day: u8,
    pub num_past_transactions: u32,
    pub avg_transaction_amount: f64,
    pub max_transaction_amount: f64,
    pub num_transactions_to_beneficiary: u32,
    pub is_new_device: bool,
    pub geolocation_changed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beneficiary_saved_minutes: Option<u32>,
}

impl From<&Request> for Facts {
    fn from(request: &Request) -> Self {
        Self {
            amount: request.amount,
            is_new_beneficiary: request.is_new_beneficiary,
            hour_of_day: request.hour_of_day,
            num_past_transactions: request.num_past_transactions,
            avg_transaction_amount: request.avg_transaction_amount,
            max_transaction_amount: request.max_transaction_amount,
            num_transactions_to_beneficiary: request.num_transactions_to_beneficiary,
            is_new_device: request.is_new_device,
            geolocation_changed: request.geolocation_changed,
            beneficiary_saved_minutes: request.beneficiary_saved_minutes,
        }
    }
}

impl From<&Facts> for Request {
    fn from(facts: &Facts) -> Self {
        Self {
            amount: facts.amount,
            is_new_beneficiary: facts.is_new_beneficiary,
            hour_of_day: facts.hour_of_day,
            num_past_transactions: facts.num_past_transactions,
            avg_transaction_amount: facts.avg_transaction_amount,
            max_transaction_amount: facts.max_transaction_amount,
            num_transactions_to_beneficiary: facts.num_transactions_to_beneficiary,
            is_new_device: facts.is_new_device,
            geolocation_changed: facts.geolocation_changed,
            beneficiary_saved_minutes: facts.beneficiary_saved_minutes,
        }
    }
}

/// A line of a data file.
#[derive(Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the first fields are those of the HTTP API")]
pub struct Record {
    pub amount: f64,
    pub is_new_beneficiary: bool,
    pub hour_of_day: u8,
    pub num_past_transactions: u32,
    pub avg_transaction_amount: f64,
    pub max_transaction_amount: f64,
    pub num_transactions_to_beneficiary: u32,
    pub is_new_device: bool,
    pub geolocation_changed: bool,
    /// Empty when not known.
    pub beneficiary_saved_minutes: Option<u32>,
    /// For slices only.
    pub age_range: AgeRange,
    /// What the transfer turned out to be: `low`, `medium` or `high`.
    pub severity: String,
}

impl From<&Row> for Record {
    fn from(row: &Row) -> Self {
        let r = &row.request;
        Self {
            amount: r.amount,
            is_new_beneficiary: r.is_new_beneficiary,
            hour_of_day: r.hour_of_day,
            num_past_transactions: r.num_past_transactions,
            avg_transaction_amount: r.avg_transaction_amount,
            max_transaction_amount: r.max_transaction_amount,
            num_transactions_to_beneficiary: r.num_transactions_to_beneficiary,
            is_new_device: r.is_new_device,
            geolocation_changed: r.geolocation_changed,
            beneficiary_saved_minutes: r.beneficiary_saved_minutes,
            age_range: row.age_range,
            severity: LEVELS[row.severity].to_owned(),
        }
    }
}

impl TryFrom<Record> for Row {
    type Error = anyhow::Error;

    fn try_from(r: Record) -> Result<Self> {
        let Some(severity) = LEVELS.iter().position(|level| *level == r.severity) else {
            bail!("severity has to be low, medium or high, not '{}'", r.severity);
        };
        let request = Request {
            amount: r.amount,
            is_new_beneficiary: r.is_new_beneficiary,
            hour_of_day: r.hour_of_day,
            num_past_transactions: r.num_past_transactions,
            avg_transaction_amount: r.avg_transaction_amount,
            max_transaction_amount: r.max_transaction_amount,
            num_transactions_to_beneficiary: r.num_transactions_to_beneficiary,
            is_new_device: r.is_new_device,
            geolocation_changed: r.geolocation_changed,
            beneficiary_saved_minutes: r.beneficiary_saved_minutes,
        };
        if let Err(invalid) = request.check() {
            bail!("{}: {}", invalid.field, invalid.detail);
        }
        Ok(Self { request, age_range: r.age_range, severity })
    }
}

/// How the facts lie in rows.
#[must_use]
pub fn reference(rows: &[Row]) -> Vec<Reference> {
    let fact = |name, of: &dyn Fn(&Request) -> f64| {
        Reference::new(name, &rows.iter().map(|row| of(&row.request)).collect::<Vec<_>>())
    };
    let flag = |holds: bool| f64::from(u8::from(holds));
    vec![
        fact("amount", &|it| it.amount),
        fact("is_new_beneficiary", &|it| flag(it.is_new_beneficiary)),
        fact("hour_of_day", &|it| f64::from(it.hour_of_day)),
        fact("num_past_transactions", &|it| f64::from(it.num_past_transactions)),
        fact("avg_transaction_amount", &|it| it.avg_transaction_amount),
        fact("max_transaction_amount", &|it| it.max_transaction_amount),
        fact("num_transactions_to_beneficiary", &|it| f64::from(it.num_transactions_to_beneficiary)),
        fact("is_new_device", &|it| flag(it.is_new_device)),
        fact("geolocation_changed", &|it| flag(it.geolocation_changed)),
    ]
}
