//! One loaded component of any kind.

use std::sync::Arc;

use super::Registry;
use crate::domain::model::ModelKind;
use crate::wasm::{AccessibilityScorer, Identity, LoadError, NudgeScorer, RiskScorer, Runtime, TransferRules};

/// A loaded component; cheap to clone.
#[derive(Clone)]
pub enum Loaded {
    /// Risk scorer.
    Risk(Arc<RiskScorer>),
    /// Nudge scorer.
    Nudge(Arc<NudgeScorer>),
    /// Accessibility recommender.
    Accessibility(Arc<AccessibilityScorer>),
    /// Transfer rules.
    Rules(Arc<TransferRules>),
}

impl Loaded {
    /// Compiles a component of a kind; takes tens of milliseconds.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn new(runtime: &Runtime, kind: ModelKind, bytes: &[u8]) -> Result<Self, LoadError> {
        Ok(match kind {
            ModelKind::Risk => Self::Risk(RiskScorer::load(runtime, bytes)?.into()),
            ModelKind::Nudge => Self::Nudge(NudgeScorer::load(runtime, bytes)?.into()),
            ModelKind::Accessibility => Self::Accessibility(AccessibilityScorer::load(runtime, bytes)?.into()),
            ModelKind::TransferRules => Self::Rules(TransferRules::load(runtime, bytes)?.into()),
        })
    }

    /// Who it is.
    pub fn identity(&self) -> &Identity {
        match self {
            Self::Risk(scorer) => scorer.identity(),
            Self::Nudge(scorer) => scorer.identity(),
            Self::Accessibility(scorer) => scorer.identity(),
            Self::Rules(rules) => rules.identity(),
        }
    }
}

impl Registry {
    /// What is active.
    pub fn loaded(&self) -> impl Iterator<Item = Loaded> {
        [
            self.risk.clone().map(Loaded::Risk),
            self.nudge.clone().map(Loaded::Nudge),
            self.accessibility.clone().map(Loaded::Accessibility),
            self.rules.clone().map(Loaded::Rules),
        ]
        .into_iter()
        .flatten()
    }

    /// This registry with other components in place of those of their kinds.
    #[must_use]
    pub fn with(&self, changed: impl IntoIterator<Item = Loaded>) -> Self {
        let mut registry = self.clone();
        for loaded in changed {
            match loaded {
                Loaded::Risk(scorer) => registry.risk = Some(scorer),
                Loaded::Nudge(scorer) => registry.nudge = Some(scorer),
                Loaded::Accessibility(scorer) => registry.accessibility = Some(scorer),
                Loaded::Rules(rules) => registry.rules = Some(rules),
            }
        }
        registry
    }
}
