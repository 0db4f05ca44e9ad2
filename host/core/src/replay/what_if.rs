//! What other versions would have decided about the orders of a period.

use std::collections::BTreeMap;
use std::collections::HashMap;

use serde::Serialize;
use uuid::Uuid;

use super::outcomes;
use crate::db::decisions::Kept;
use crate::decision::{Decision, RiskOutcome, RulesOutcome};
use crate::domain::model::{Digest, ModelKind};
use crate::domain::rules::Facts;
use crate::domain::rules::fact::RULES_FACTS;
use crate::models::LoadedComponent;
use crate::scoring::Risk;

/// Examples of each difference: enough to look at.
const EXAMPLES_MAX: usize = 10;

/// What is tried instead of the versions that decided, which decide on where there is none.
#[derive(Clone, Default)]
pub struct Candidates {
    pub risk: Option<LoadedComponent>,
    pub rules: Option<LoadedComponent>,
}

/// The decisions on an order.
#[derive(Debug, Clone)]
pub struct OrderDecisions {
    pub subject: Uuid,
    pub risk: Option<Decision>,
    pub rules: Option<Decision>,
}

/// What would differ.
#[derive(Debug, Clone, Default, Serialize, PartialEq)]
pub struct WhatIf {
    pub orders: u64,
    pub risk: Compared,
    pub rules: Compared,
}

/// The decisions of a kind.
#[derive(Debug, Clone, Default, Serialize, PartialEq)]
pub struct Compared {
    /// Decided again.
    pub decisions: u64,
    pub different: u64,
    /// Without a usable answer.
    pub failed: u64,
    /// The most frequent first, once finished.
    pub changes: Vec<Change>,
}

/// One way in which decisions differ.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub struct Change {
    pub was: String,
    pub is: String,
    pub count: u64,
    /// Of all of them, in centavos.
    pub amount: i64,
    pub by_amount: BTreeMap<&'static str, u64>,
    /// By how long the payee had been saved.
    pub by_payee: BTreeMap<&'static str, u64>,
    /// What became of them, as far as that is known.
    pub by_outcome: BTreeMap<&'static str, u64>,
    pub examples: Vec<Uuid>,
    #[serde(skip)]
    pub subjects: Vec<Uuid>,
}

impl OrderDecisions {
    /// Those of a batch.
    pub fn of(kept: Kept) -> Vec<Self> {
        let mut orders: Vec<Self> = Vec::new();
        for decision in kept.decisions.into_iter().filter(Decision::is_own) {
            let subject = decision.subject;
            if orders.last().is_none_or(|order| order.subject != subject) {
                orders.push(Self { subject, risk: None, rules: None });
            }
            if let Some(order) = orders.last_mut() {
                match decision.by.kind {
                    ModelKind::Risk => order.risk = Some(decision),
                    _ => order.rules = Some(decision),
                }
            }
        }
        orders
    }
}

/// Decides on orders again. `deployed` are the rules that decided on them, which a candidate for the risk needs.
pub fn decide_again(
    candidates: &Candidates,
    deployed: &HashMap<Digest, LoadedComponent>,
    orders: &[OrderDecisions],
) -> WhatIf {
    let mut found = WhatIf { orders: orders.len() as u64, ..WhatIf::default() };
    let (places, on_risk): (Vec<_>, Vec<_>) =
        orders.iter().enumerate().filter_map(|(at, order)| Some((at, order.risk.clone()?))).unzip();
    let model = candidates.risk.as_ref().and_then(LoadedComponent::model::<Risk>);
    let outcomes = model.map(|model| outcomes(&model.scorer, &on_risk)).unwrap_or_default();
    let mut levels = HashMap::new();
    for ((at, decision), outcome) in places.into_iter().zip(on_risk).zip(outcomes) {
        found.risk.decisions += 1;
        let Some((was, is)) = decision.risk().zip(outcome.ok()) else {
            found.risk.failed += 1;
            continue;
        };
        let [was, is] = [&was, &is].map(|outcome: &RiskOutcome| outcome.level(decision.by.cut_offs));
        levels.insert(at, is);
        if was != is {
            found.risk.add(was.as_str(), is.as_str(), &orders[at]);
        }
    }
    for (at, order) in orders.iter().enumerate() {
        let Some(decision) = &order.rules else { continue };
        let was = decision.rules_facts();
        // Where the risk was not enforced, it is not now either.
        let risk_level = was.risk_level.map(|level| levels.get(&at).copied().unwrap_or(level));
        let is_higher = risk_level > was.risk_level;
        // An acknowledgment is good for the level that was shown, not for a higher one.
        let facts = Facts { risk_level, acknowledged: was.acknowledged && !is_higher, ..was.clone() };
        let rules = match &candidates.rules {
            Some(candidate) => Some(candidate),
            None if facts == was => continue,
            None => deployed.get(&decision.by.digest),
        };
        found.rules.decisions += 1;
        let is = rules.and_then(|rules| match rules {
            LoadedComponent::Rules(rules) => rules.component.rule(&facts).ok(),
            LoadedComponent::Scorer(_) => None,
        });
        let Some((was, is)) = decision.ruling().zip(is) else {
            found.rules.failed += 1;
            continue;
        };
        let [was, is] = [&was, &RulesOutcome::of(&is)].map(class);
        if was != is {
            found.rules.add(was, is, order);
        }
    }
    found
}

/// The gravest reason for a refusal, or what happens instead of one.
fn class(outcome: &RulesOutcome) -> &'static str {
    outcome.codes().next().unwrap_or(if outcome.is_review() { "reviewed" } else { "accepted" })
}

impl Compared {
    fn add(&mut self, was: &str, is: &str, order: &OrderDecisions) {
        self.different += 1;
        let [amount, age] = known(order);
        let amount = amount.unwrap_or_default();
        let one = |name| BTreeMap::from([(name, 1)]);
        self.merge_change(Change {
            was: was.to_owned(),
            is: is.to_owned(),
            count: 1,
            amount: amount as i64,
            by_amount: one(amount_band(amount)),
            by_payee: one(age.map_or("unknown", payee_band)),
            by_outcome: BTreeMap::new(),
            examples: vec![order.subject],
            subjects: vec![order.subject],
        });
    }

    fn merge_change(&mut self, other: Change) {
        let Some(change) = self.changes.iter_mut().find(|it| (&it.was, &it.is) == (&other.was, &other.is)) else {
            self.changes.push(other);
            return;
        };
        change.count += other.count;
        change.amount = change.amount.saturating_add(other.amount);
        for (into, from) in [(&mut change.by_amount, other.by_amount), (&mut change.by_payee, other.by_payee)] {
            from.into_iter().for_each(|(name, count)| *into.entry(name).or_default() += count);
        }
        change.examples.extend(other.examples);
        change.examples.truncate(EXAMPLES_MAX);
        change.subjects.extend(other.subjects);
    }

    fn merge(&mut self, other: Self) {
        self.decisions += other.decisions;
        self.different += other.different;
        self.failed += other.failed;
        other.changes.into_iter().for_each(|change| self.merge_change(change));
    }
}

impl WhatIf {
    pub fn merge(&mut self, other: Self) {
        self.orders += other.orders;
        self.risk.merge(other.risk);
        self.rules.merge(other.rules);
    }

    pub fn changes_mut(&mut self) -> impl Iterator<Item = &mut Change> {
        self.risk.changes.iter_mut().chain(&mut self.rules.changes)
    }

    /// With the most frequent differences first.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        for compared in [&mut self.risk, &mut self.rules] {
            compared.changes.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| (&a.was, &a.is).cmp(&(&b.was, &b.is))));
        }
        self
    }
}

/// Amount in centavos, and for how many seconds the payee had been saved.
fn known(order: &OrderDecisions) -> [Option<f64>; 2] {
    if let Some(rules) = &order.rules {
        let facts = rules.rules_facts();
        let value = |name| RULES_FACTS.iter().find(|fact| fact.name == name).and_then(|fact| fact.value(&facts));
        return ["amount", "beneficiary_saved_seconds"].map(value);
    }
    let request = order.risk.as_ref().map(Decision::request).unwrap_or_default();
    let age = request.beneficiary_saved_minutes.map(|minutes| f64::from(minutes) * 60.0);
    [Some((request.amount * 100.0).round()), age]
}

/// In centavos.
fn amount_band(amount: f64) -> &'static str {
    match amount {
        ..100_000.0 => "below 1,000",
        ..500_000.0 => "1,000 to 5,000",
        ..2_000_000.0 => "5,000 to 20,000",
        _ => "20,000 or more",
    }
}

fn payee_band(seconds: f64) -> &'static str {
    match seconds {
        ..86_400.0 => "saved today",
        ..2_592_000.0 => "saved this month",
        _ => "saved earlier",
    }
}
