//! The world `transfer-policy` of `caudal:rules`. The words of a refusal and the transitions are the host's.

use wasmtime::component::InstancePre;

use crate::decision::{RulesAnswer, Ruling};
use crate::domain::BadAnswer;
use crate::domain::fact::manifest::{ClaimedFact, Claims, Manifest};
use crate::domain::model::ModelKind;
use crate::domain::rules::Facts;
use crate::domain::rules::requirement::RulesManifest;
use crate::domain::transfer::{RailEvent, Status};
use crate::wasm::export::Export;
use crate::wasm::tenant::{Store, Tenant};
use crate::wasm::world::{Description, Rules, World};

mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit/rules-2", world: "transfer-policy" });
}
use bindings::exports::caudal::rules::rules as wit;

pub struct TransferRules {
    pre: bindings::TransferPolicyPre<Tenant>,
    decide: Export<(Vec<Option<f64>>,), Vec<wit::Requirement>>,
    manifest: RulesManifest,
}

impl World for TransferRules {
    const KIND: ModelKind = ModelKind::TransferRules;
    const INTERFACE: &str = "caudal:rules/rules@2.0.0";

    fn new(pre: InstancePre<Tenant>) -> wasmtime::Result<Self> {
        let decide = Export::find(&pre, Self::INTERFACE, "decide")?;
        Ok(Self { decide, pre: bindings::TransferPolicyPre::new(pre)?, manifest: RulesManifest::default() })
    }

    fn pre(&self) -> &InstancePre<Tenant> {
        self.pre.instance_pre()
    }

    fn describe(&self, store: &mut Store) -> wasmtime::Result<Description> {
        let instance = self.pre.instantiate(&mut *store)?;
        let manifest = instance.caudal_rules_rules().call_describe(store)?;
        let fact = |fact: wit::Fact| ClaimedFact {
            name: fact.name,
            kind: match fact.kind {
                wit::Kind::Number => "number",
                wit::Kind::Integer => "integer",
                wit::Kind::Flag => "flag",
            },
            unit: fact.unit,
            is_required: fact.required,
        };
        Ok(Description {
            kind: Self::KIND.as_str().to_owned(),
            version: manifest.version,
            summary: manifest.summary,
            claims: Some(Claims {
                facts: manifest.facts.into_iter().map(fact).collect(),
                reasons: manifest.reasons,
                requirements: manifest.requirements,
                ..Claims::default()
            }),
        })
    }

    fn bind(&mut self, claims: &Claims) -> Result<Option<Manifest>, String> {
        self.manifest = RulesManifest::of(claims)?;
        Ok(None)
    }
}

impl Rules for TransferRules {
    fn decide(&self, store: &mut Store, facts: &Facts) -> wasmtime::Result<Result<Ruling, BadAnswer>> {
        let answer = self.decide.call(self.pre(), store, (self.manifest.values(facts),))?;
        let answer: Vec<_> = answer.iter().map(|it| (it.code, it.parameter)).collect();
        let verdict = self.manifest.verdict(facts, &answer);
        Ok(verdict.map(|verdict| Ruling { verdict, own: RulesAnswer::Requirements(answer) }))
    }

    fn transition(&self, _: &mut Store, status: Status, event: RailEvent) -> wasmtime::Result<Option<String>> {
        Ok(status.after(event).map(|next| next.as_str().to_owned()))
    }
}
