//! A decision with its label, as a row of a table.

use serde_json::{Map, Value};
use time::OffsetDateTime;

use crate::clock::timestamp;
use crate::decision::{Decision, RiskOutcome};
use crate::domain::fact::FACTS;
use crate::domain::outcome::{Statement, counting};

/// The columns before those of the facts.
const COLUMNS: [&str; 9] =
    ["subject_id", "decided_at", "version", "role", "level", "score", "outcome", "source", "known_at"];

/// A decision on a risk, and what is known of its order.
#[derive(Debug)]
pub struct LabelledRow<'a> {
    decided_at: OffsetDateTime,
    decision: &'a Decision,
    outcome: RiskOutcome,
    stated: Option<&'a Statement>,
}

impl<'a> LabelledRow<'a> {
    pub(super) fn of(
        decided_at: OffsetDateTime,
        decision: &'a Decision,
        statements: &'a [Statement],
        now: OffsetDateTime,
    ) -> Option<Self> {
        Some(Self { decided_at, decision, outcome: decision.risk()?, stated: counting(statements, now) })
    }

    pub fn columns() -> impl Iterator<Item = &'static str> {
        COLUMNS.into_iter().chain(FACTS.iter().map(|fact| fact.name))
    }

    pub fn is_labelled(&self) -> bool {
        self.stated.is_some()
    }

    /// In the order of the columns; facts in the units of `/ai/risk`. What is not known is null.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        let (by, stated) = (self.decision.by, self.stated);
        let score = if let RiskOutcome::Scored { score, .. } = self.outcome { Value::from(score) } else { Value::Null };
        let own = [
            self.decision.subject.to_string().into(),
            timestamp(self.decided_at).into(),
            by.digest.to_string().into(),
            by.role.as_str().into(),
            self.outcome.level(by.cut_offs).as_str().into(),
            score,
            stated.map(|it| it.kind.as_str()).into(),
            stated.map(|it| it.source.clone()).into(),
            stated.map(|it| timestamp(it.known_at)).into(),
        ];
        let mut facts = vec![Value::Null; FACTS.len()];
        for kept in &self.decision.facts {
            if let Some(value) = facts.get_mut(usize::from(kept.place)) {
                *value = kept.value.into();
            }
        }
        own.into_iter().chain(facts)
    }

    pub fn object(&self) -> Map<String, Value> {
        Self::columns().map(str::to_owned).zip(self.values()).collect()
    }
}
