//! The result of an examination.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::model::ModelKind;

/// Longest detail of a check, in characters: part of it is the component's own text.
const DETAIL_CHARS_MAX: usize = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    Passed,
    /// Worth knowing, but no reason to refuse.
    Noted,
    Refused,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Stable, for programs.
    pub name: String,
    pub outcome: CheckOutcome,
    /// For people.
    pub detail: String,
}

/// The checks, and what they found out about the component. Facts that an early refusal left unknown are
/// absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Length of the component.
    pub bytes: usize,
    pub kind: Option<String>,
    #[serde(default)]
    pub class: Option<String>,
    /// The component's own semantic version.
    pub version: Option<String>,
    pub model_version: Option<String>,
    /// The component's description of itself.
    pub summary: Option<String>,
    /// What it answers to the cases, in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// The most that a call cost, in instructions: of it and of the built-in versions of its kind, by digest. Unknown of
    /// components with a language runtime, which take long to compile again, and of rules.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fuel: BTreeMap<String, u64>,
    /// In order; a refusal ends the examination.
    pub checks: Vec<Check>,
}

/// A check refused the component, which ends its examination; the reason is in the report.
#[derive(Debug)]
pub(crate) struct Refusal;

impl Report {
    /// Whether checks ran and none refused the component.
    pub fn is_accepted(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.outcome != CheckOutcome::Refused)
    }

    /// Refuses an accepted component of another kind.
    pub(super) fn expect_kind(&mut self, kind: ModelKind) {
        if self.is_accepted() && self.kind.as_deref() != Some(kind.as_str()) {
            let found = self.kind.clone().unwrap_or_else(|| "unknown".to_owned());
            self.add("kind", CheckOutcome::Refused, format!("it is a {found} component"));
        }
    }

    pub(super) fn add(&mut self, name: &str, outcome: CheckOutcome, detail: impl Into<String>) {
        let detail: String = detail.into().chars().filter(|it| !it.is_control()).take(DETAIL_CHARS_MAX).collect();
        self.checks.push(Check { name: name.to_owned(), outcome, detail });
    }

    pub(super) fn refuse(&mut self, name: &str, detail: impl Into<String>) -> Refusal {
        self.add(name, CheckOutcome::Refused, detail);
        Refusal
    }
}
