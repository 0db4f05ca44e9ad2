//! A decision of a model about an order, whole: which version decided in which role, on which facts, and its own answer.

pub mod kept;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::domain::fact::{FACTS, Source};
use crate::domain::model::{Digest, ModelKind};
use crate::domain::reason::reason_codes;
use crate::domain::risk::{Assessment, CutOffs, Level, Request};
use crate::domain::rules::fact::RULES_FACTS;
use crate::domain::rules::{CODES, Facts, Verdict, Violation};

#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The transfer or hold that the order made, or would have made.
    pub subject: Uuid,
    pub by: Deployed,
    /// In the order of the kind's catalogue, as far as they were known.
    pub facts: Vec<KeptFact>,
    /// The component's own, in bytes: a [`RiskOutcome`] or a [`RulesOutcome`].
    pub answer: Vec<u8>,
}

/// The version that decided, and as what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deployed {
    pub kind: ModelKind,
    /// Of the component's bytes.
    pub digest: Digest,
    /// Of the deployment; 0 if the component came with the program.
    pub epoch: i64,
    pub role: Role,
    /// By which a risk was judged.
    pub cut_offs: CutOffs,
}

crate::text_enum! {
    /// As what a version answered.
    Role {
        Champion = "champion",
        Canary = "canary",
        /// The champion gave no answer.
        Fallback = "fallback",
        /// Asked by the sender, who acknowledged the answer before the order.
        Shown = "shown",
    }
}

/// A fact as it was known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptFact {
    /// In the catalogue of the kind. Rows are only ever added at the end.
    pub place: u8,
    /// Of a risk in the unit of the HTTP API, of rules in that of the catalogue.
    pub value: f64,
    /// Whether only the client says so.
    pub is_claimed: bool,
}

/// Whether the person acknowledged the risk: no fact that rules can ask for, but what their requirements are read with.
const ACKNOWLEDGED: (u8, &str) = (127, "acknowledged");

/// In place of the codes of a refusal: a person decides.
const REVIEW: u8 = u8::MAX;

/// What a risk model answered. Reasons are places among the codes of [`reason_codes`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RiskOutcome {
    Scored { score: f64, predictor: Option<f64>, factors: Vec<u8>, reasons: Vec<u8> },
    Abstained(u8),
}

/// What rules answered, and what it meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesOutcome {
    /// Why the order was refused, as places in [`CODES`], or the mark of a review; empty if it was accepted.
    pub codes: Vec<u8>,
    pub own: RulesAnswer,
}

/// In the words of either contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RulesAnswer {
    /// Codes and sentences.
    Violations(Vec<(String, String)>),
    /// Codes and parameters.
    Requirements(Vec<(u16, i64)>),
}

/// What rules decided, with their own answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    pub verdict: Verdict,
    pub own: RulesAnswer,
}

fn place_of(code: &str, codes: impl IntoIterator<Item = &'static str>) -> Option<u8> {
    codes.into_iter().position(|it| it == code).and_then(|at| u8::try_from(at).ok())
}

impl KeptFact {
    /// Empty if the catalogue has no such place.
    pub(crate) fn name(&self, kind: ModelKind) -> &'static str {
        let place = usize::from(self.place);
        let name = match kind {
            ModelKind::TransferRules if self.place == ACKNOWLEDGED.0 => Some(ACKNOWLEDGED.1),
            ModelKind::TransferRules => RULES_FACTS.get(place).map(|fact| fact.name),
            _ => FACTS.get(place).map(|fact| fact.name),
        };
        name.unwrap_or_default()
    }

    /// Which is nobody's business but theirs and the bank's.
    pub(crate) fn is_about_payee(&self, kind: ModelKind) -> bool {
        self.name(kind).starts_with("payee_")
    }
}

impl RiskOutcome {
    pub(crate) fn of(answer: &Assessment) -> Self {
        let places =
            |codes: &mut dyn Iterator<Item = &str>| codes.filter_map(|it| place_of(it, reason_codes())).collect();
        Self::Scored {
            score: answer.score,
            predictor: answer.predictor,
            factors: places(&mut answer.factors.iter().map(String::as_str)),
            reasons: places(&mut answer.reasons.iter().copied()),
        }
    }

    pub(crate) fn abstained(reason: &str) -> Self {
        Self::Abstained(place_of(reason, reason_codes()).unwrap_or(u8::MAX))
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Only what has no length in advance cannot be written.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// An abstention counts as a high risk.
    pub fn level(&self, cut_offs: CutOffs) -> Level {
        if let Self::Scored { score, .. } = self { cut_offs.level(*score) } else { Level::High }
    }
}

impl RulesOutcome {
    pub(crate) fn of(Ruling { verdict, own }: &Ruling) -> Self {
        let place = |it: &Violation| place_of(&it.code, CODES);
        let codes = match verdict {
            Verdict::Rejected(violations) => violations.iter().filter_map(place).collect(),
            Verdict::Reviewed => vec![REVIEW],
            Verdict::Accepted => Vec::new(),
        };
        Self { codes, own: own.clone() }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }

    pub fn is_review(&self) -> bool {
        self.codes == [REVIEW]
    }

    pub fn codes(&self) -> impl Iterator<Item = &'static str> {
        self.codes.iter().filter_map(|place| CODES.get(usize::from(*place)).copied())
    }
}

impl Decision {
    /// `observed` are the facts that the bank saw itself although clients usually claim them.
    pub(crate) fn on_risk(by: Deployed, request: &Request, observed: &[&str], outcome: &RiskOutcome) -> Self {
        let facts = FACTS.iter().zip(0..).filter_map(|(fact, place)| {
            let is_claimed = fact.source == Source::Claimed && !observed.contains(&fact.name);
            Some(KeptFact { place, value: fact.given(request)?, is_claimed })
        });
        Self { subject: Uuid::nil(), by, facts: facts.collect(), answer: outcome.to_bytes() }
    }

    pub fn by_rules(by: Deployed, subject: Uuid, facts: &Facts, ruling: &Ruling) -> Self {
        let kept = |place, value| KeptFact { place, value, is_claimed: false };
        let known = RULES_FACTS.iter().zip(0..).filter_map(|(fact, place)| Some(kept(place, fact.value(facts)?)));
        let acknowledged = facts.acknowledged.then(|| kept(ACKNOWLEDGED.0, 1.0));
        let answer = RulesOutcome::of(ruling).to_bytes();
        Self { subject, by, facts: known.chain(acknowledged).collect(), answer }
    }

    /// Whether it was made for the order, and not shown before it.
    pub fn is_own(&self) -> bool {
        self.by.role != Role::Shown
    }

    /// What the risk model was asked.
    pub fn request(&self) -> Request {
        self.facts.iter().fold(Request::default(), |mut request, kept| {
            if let Some(fact) = FACTS.get(usize::from(kept.place)) {
                fact.give(&mut request, Some(kept.value));
            }
            request
        })
    }

    /// What the rules were asked.
    pub fn rules_facts(&self) -> Facts {
        self.facts.iter().fold(Facts::default(), |mut facts, kept| {
            match RULES_FACTS.get(usize::from(kept.place)) {
                Some(fact) => fact.give(&mut facts, kept.value),
                None => facts.acknowledged = kept.place == ACKNOWLEDGED.0,
            }
            facts
        })
    }

    /// `None` if it is not one on a risk.
    pub fn risk(&self) -> Option<RiskOutcome> {
        (self.by.kind == ModelKind::Risk).then(|| postcard::from_bytes(&self.answer).ok())?
    }

    /// `None` if it is not one of rules.
    pub fn ruling(&self) -> Option<RulesOutcome> {
        (self.by.kind == ModelKind::TransferRules).then(|| postcard::from_bytes(&self.answer).ok())?
    }
}
