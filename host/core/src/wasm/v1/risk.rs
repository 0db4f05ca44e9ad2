//! The world `risk-scorer`.

use wasmtime::component::{ComponentType, Lift, WasmStr};

use crate::domain::risk::{Assessment, Level, Request};
use crate::wasm::tenant::Tenant;
use crate::wasm::v1::adapter::scorer;

mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "risk-scorer" });
}
use bindings::exports::caudal::scoring::risk as wit;

scorer!(Risk, bindings::RiskScorerPre<Tenant>, "caudal:scoring/risk@1.0.0", Answer);

/// [`wit::Assessment`], except that the names of the contributions are not copied: nothing here reads them.
#[derive(ComponentType, Lift)]
#[component(record)]
struct Answer {
    level: wit::Level,
    score: f64,
    base: f64,
    contributions: Vec<Contribution>,
    factors: Vec<String>,
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct Contribution {
    #[component(name = "feature")]
    _feature: WasmStr,
    weight: f64,
}

impl From<&Request> for wit::Request {
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

impl From<Answer> for Assessment {
    fn from(answer: Answer) -> Self {
        Self {
            level: match answer.level {
                wit::Level::Low => Level::Low,
                wit::Level::Medium => Level::Medium,
                wit::Level::High => Level::High,
            },
            score: answer.score,
            base: answer.base,
            contributions: answer.contributions.into_iter().map(|it| it.weight).collect(),
            factors: answer.factors,
        }
    }
}
