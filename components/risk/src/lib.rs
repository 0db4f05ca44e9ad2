//! The risk scorer as a component: converts between the WIT types and [`caudal_model::risk`].
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::vec::Vec;

use caudal_guest::text;
use caudal_model::risk;

use bindings::exports::caudal::scoring::model::{self, Invalid};
use bindings::exports::caudal::scoring::risk::{Assessment, Contribution, Guest, Level, Request};

caudal_guest::bindings!("../../wit", "risk-scorer");

const WEIGHTS: risk::Weights<'static> = risk::Weights::built_in(include_bytes!(env!("CAUDAL_RISK_WEIGHTS")));

struct Component;

impl model::Guest for Component {
    fn describe() -> model::Description {
        model::Description { kind: "risk".into(), version: WEIGHTS.version.into(), summary: WEIGHTS.summary.into() }
    }
}

impl Guest for Component {
    fn assess(request: Request) -> Result<Assessment, Invalid> {
        let verdict = risk::assess(&WEIGHTS, &facts(&request)).map_err(invalid)?;
        let contribution = |part: risk::Contribution| Contribution { feature: text(part.feature), weight: part.weight };
        Ok(Assessment {
            level: match verdict.level {
                risk::Level::Low => Level::Low,
                risk::Level::Medium => Level::Medium,
                risk::Level::High => Level::High,
            },
            score: verdict.score,
            base: verdict.base,
            contributions: verdict.contributions.into_iter().map(contribution).collect(),
            factors: verdict.factors.into_iter().map(text).collect(),
        })
    }

    fn assess_batch(requests: Vec<Request>) -> Vec<Result<Assessment, Invalid>> {
        requests.into_iter().map(Self::assess).collect()
    }
}

fn facts(request: &Request) -> risk::Request {
    risk::Request {
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

fn invalid(invalid: caudal_model::Invalid) -> Invalid {
    Invalid { field: invalid.field.into(), code: invalid.code.into(), detail: invalid.detail.into() }
}
