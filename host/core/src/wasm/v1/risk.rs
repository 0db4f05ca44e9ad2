//! The world `risk-scorer`.

use wasmtime::component::{ComponentType, Lift, WasmList, WasmStr};

use crate::domain::fact::Fact;
use crate::domain::fact::explanation::Explanation;
use crate::domain::risk::{Assessment, Level, Request};
use crate::wasm::export::Export;
use crate::wasm::tenant::{Store, Tenant};
use crate::wasm::v1::adapter::scorer;
use crate::wasm::world::World as _;

mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "risk-scorer" });
}
use bindings::exports::caudal::scoring::risk as wit;

scorer!(
    Risk, bindings::RiskScorerPre<Tenant>, "caudal:scoring/risk@1.0.0", Answer, Assessment::check_explained;
    fn explain(&self, store: &mut Store, request: &Request) -> wasmtime::Result<Option<Explanation>> {
        type Full = Export<(wit::Request,), Result<wit::Assessment, wit::Invalid>>;
        let assess = Full::find(self.pre(), Self::INTERFACE, "assess")?;
        let Ok(answer) = assess.call(self.pre(), store, (request.into(),))? else { return Ok(None) };
        let parts = answer.contributions.iter().map(|it| (Fact::behind(&it.feature), it.weight));
        let (facts, contributions): (_, Vec<_>) = parts.unzip();
        let predictor = contributions.iter().fold(answer.base, |sum, part| sum + part);
        Ok(Some(Explanation { predictor, base: answer.base, contributions, facts }))
    }
);

/// [`wit::Assessment`], whose explanation is not read.
#[derive(ComponentType, Lift)]
#[component(record)]
struct Answer {
    level: wit::Level,
    score: f64,
    #[component(name = "base")]
    _base: f64,
    #[component(name = "contributions")]
    _contributions: WasmList<Contribution>,
    factors: Vec<String>,
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct Contribution {
    #[component(name = "feature")]
    _feature: WasmStr,
    #[component(name = "weight")]
    _weight: f64,
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
            predictor: None,
            factors: answer.factors,
            reasons: Vec::new(),
        }
    }
}
