//! The world `risk-scorer` of `caudal:risk`. The level and the factors are the host's.

use std::iter::zip;

use wasmtime::component::InstancePre;

use crate::domain::BadAnswer;
use crate::domain::fact::explanation::Explanation;
use crate::domain::fact::manifest::{ClaimedFact, Claims, Manifest};
use crate::domain::model::ModelKind;
use crate::domain::risk::{Assessment, CutOffs, Request};
use crate::wasm::export::Export;
use crate::wasm::tenant::{Store, Tenant};
use crate::wasm::world::{Answer, Description, Scorer, Unanswered, World};

mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit/risk-2", world: "risk-scorer" });
}
use bindings::exports::caudal::risk::risk as wit;

type Values = Vec<Option<f64>>;

pub struct Risk {
    pre: bindings::RiskScorerPre<Tenant>,
    assess: Export<(Values,), wit::Outcome>,
    assess_batch: Export<(Vec<Values>,), Vec<wit::Outcome>>,
    explain: Export<(Values,), wit::Explanation>,
    manifest: Manifest,
}

impl World for Risk {
    const KIND: ModelKind = ModelKind::Risk;
    const INTERFACE: &str = "caudal:risk/risk@2.0.0";

    fn new(pre: InstancePre<Tenant>) -> wasmtime::Result<Self> {
        Ok(Self {
            assess: Export::find(&pre, Self::INTERFACE, "assess")?,
            assess_batch: Export::find(&pre, Self::INTERFACE, "assess-batch")?,
            explain: Export::find(&pre, Self::INTERFACE, "explain")?,
            pre: bindings::RiskScorerPre::new(pre)?,
            manifest: Manifest::default(),
        })
    }

    fn pre(&self) -> &InstancePre<Tenant> {
        self.pre.instance_pre()
    }

    fn describe(&self, store: &mut Store) -> wasmtime::Result<Description> {
        let instance = self.pre.instantiate(&mut *store)?;
        let manifest = instance.caudal_risk_risk().call_describe(store)?;
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
                contributions: manifest.contributions,
                ..Claims::default()
            }),
        })
    }

    fn bind(&mut self, claims: &Claims) -> Result<Option<Manifest>, String> {
        self.manifest = Manifest::of(claims)?;
        Ok(Some(self.manifest.clone()))
    }
}

impl Scorer for Risk {
    type Request = Request;
    type Assessment = Assessment;

    fn assess(&self, store: &mut Store, request: &Request) -> wasmtime::Result<Answer<Self>> {
        let outcome = self.assess.call(self.pre(), store, (self.manifest.values(request),))?;
        Ok(self.answer(request, &outcome))
    }

    fn assess_batch(&self, store: &mut Store, requests: &[Request]) -> wasmtime::Result<Vec<Answer<Self>>> {
        let rows = requests.iter().map(|request| self.manifest.values(request)).collect();
        let outcomes = self.assess_batch.call(self.pre(), store, (rows,))?;
        if outcomes.len() != requests.len() {
            wasmtime::bail!("a batch of {} has {} answers", requests.len(), outcomes.len());
        }
        Ok(zip(requests, &outcomes).map(|(request, outcome)| self.answer(request, outcome)).collect())
    }

    fn check(&self, assessment: &Assessment) -> Result<(), BadAnswer> {
        assessment.check()
    }

    fn explain(&self, store: &mut Store, request: &Request) -> wasmtime::Result<Option<Explanation>> {
        let values = self.manifest.values(request);
        let instance = self.pre().instantiate(&mut *store)?;
        let wit::Outcome::Scored(scored) = self.assess.call_in(&instance, store, (values.clone(),))? else {
            return Ok(None);
        };
        let wit::Explanation { base, contributions } = self.explain.call_in(&instance, store, (values,))?;
        if contributions.len() != self.manifest.contributions.len() {
            wasmtime::bail!("an explanation has {} contributions", contributions.len());
        }
        let facts = self.manifest.contributions.iter().copied().map(Some).collect();
        Ok(Some(Explanation { predictor: scored.predictor, base, contributions, facts }))
    }
}

impl Risk {
    fn answer(&self, request: &Request, outcome: &wit::Outcome) -> Answer<Self> {
        let reason = |at: &u16| {
            let reason = self.manifest.reasons.get(usize::from(*at)).copied();
            reason.ok_or(Unanswered::Bad(BadAnswer("a reason is not in the manifest")))
        };
        match outcome {
            wit::Outcome::Abstained(at) => Err(Unanswered::Abstained(reason(at)?)),
            wit::Outcome::Scored(scored) => Ok(Assessment {
                level: CutOffs::DEFAULT.level(scored.score),
                score: scored.score,
                predictor: Some(scored.predictor),
                factors: request.factors(),
                reasons: scored.reasons.iter().map(reason).collect::<Result<_, _>>()?,
            }),
        }
    }
}
