//! The world `transfer-policy`.

use crate::decision::{RulesAnswer, Ruling};
use crate::domain::BadAnswer;
use crate::domain::rules::{Facts, Verdict, Violation};
use crate::domain::transfer::{RailEvent, Status};
use crate::wasm::tenant::{Store, Tenant};
use crate::wasm::v1::adapter::world;
use crate::wasm::world::Rules;

mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "transfer-policy" });
}
use bindings::exports::caudal::scoring::transfer_rules as wit;

world!(TransferRules, bindings::TransferPolicyPre<Tenant>, "caudal:scoring/transfer-rules@1.0.0", {
    decide: (wit::Facts,) => wit::Verdict,
    transition: (String, String) => Option<String>,
});

impl Rules for TransferRules {
    fn decide(&self, store: &mut Store, facts: &Facts) -> wasmtime::Result<Result<Ruling, BadAnswer>> {
        self.decide.call(self.pre.instance_pre(), store, (facts.into(),)).map(|verdict| Ok(verdict.into()))
    }

    fn transition(&self, store: &mut Store, status: Status, event: RailEvent) -> wasmtime::Result<Option<String>> {
        let names = (status.as_str().to_owned(), event.as_str().to_owned());
        self.transition.call(self.pre.instance_pre(), store, names)
    }
}

impl From<&Facts> for wit::Facts {
    fn from(facts: &Facts) -> Self {
        Self {
            amount: facts.amount.minor(),
            available: facts.available.minor(),
            day_total: facts.day_total.minor(),
            per_transfer_limit: facts.per_transfer_limit.map(|limit| limit.minor()),
            per_day_limit: facts.per_day_limit.map(|limit| limit.minor()),
            beneficiary_age_seconds: facts.beneficiary_age_seconds,
            cooling_seconds: facts.cooling_seconds,
            same_account: facts.same_account,
            local_hour: facts.local_hour,
            risk_level: facts.risk_level.map(|level| level.as_str().to_owned()),
            acknowledged: facts.acknowledged,
        }
    }
}

impl From<wit::Verdict> for Ruling {
    fn from(answer: wit::Verdict) -> Self {
        let wit::Verdict::Rejected(violations) = answer else {
            return Self { verdict: Verdict::Accepted, own: RulesAnswer::Violations(Vec::new()) };
        };
        let own = violations.iter().map(|it| (it.code.clone(), it.detail.clone())).collect();
        let violation = |it: wit::Violation| Violation { code: it.code, detail: it.detail };
        let verdict = Verdict::Rejected(violations.into_iter().map(violation).collect());
        Self { verdict, own: RulesAnswer::Violations(own) }
    }
}
