//! Which component version serves.
//!
//! One immutable [`Registry`] holds what is active of every kind; [`Models`] points at the present
//! one. A request takes one snapshot and uses it to its end, so all its answers belong together.

pub mod catalog;
mod embedded;
pub mod gate;
mod loaded;
pub mod swap;

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::domain::model::{ModelKind, ModelVersion};
use crate::domain::rules::{Facts, Verdict};
use crate::domain::transfer::{RailEvent, Status};
use crate::domain::{accessibility, nudge, risk};
pub use crate::wasm::ScoreError;
use crate::wasm::{AccessibilityScorer, Identity, LoadError, NudgeScorer, RiskScorer, Runtime, TransferRules};
pub use embedded::{Card, Embedded};
pub use loaded::Loaded;

/// What is active of every kind at one moment. A kind without a component answers
/// [`ScoreError::Missing`].
#[derive(Clone, Default)]
pub struct Registry {
    /// Risk scorer.
    pub risk: Option<Arc<RiskScorer>>,
    /// Nudge scorer.
    pub nudge: Option<Arc<NudgeScorer>>,
    /// Accessibility recommender.
    pub accessibility: Option<Arc<AccessibilityScorer>>,
    /// Transfer rules.
    pub rules: Option<Arc<TransferRules>>,
}

/// An answer and the one version that gave it.
#[derive(Debug, Clone)]
pub struct Scored<T> {
    /// The answer.
    pub assessment: T,
    /// Who gave it.
    pub version: ModelVersion,
}

/// One component does not load.
#[derive(Debug, thiserror::Error)]
#[error("the {kind} component does not load")]
pub struct ComponentError {
    kind: ModelKind,
    source: LoadError,
}

/// The bytes of one component of each kind.
#[derive(Debug, Clone, Copy)]
pub struct Components<'a> {
    /// Risk scorer.
    pub risk: &'a [u8],
    /// Nudge scorer.
    pub nudge: &'a [u8],
    /// Accessibility recommender.
    pub accessibility: &'a [u8],
    /// Transfer rules.
    pub rules: &'a [u8],
}

impl Components<'static> {
    /// The four that this program was built with.
    pub const EMBEDDED: Self = embedded::COMPONENTS;
}

impl Registry {
    /// Loads one component of each kind.
    ///
    /// # Errors
    /// When one of them does not load.
    pub fn load(runtime: &Runtime, components: Components<'_>) -> Result<Self, ComponentError> {
        let error = |kind| move |source| ComponentError { kind, source };
        let risk = RiskScorer::load(runtime, components.risk).map_err(error(ModelKind::Risk))?;
        let nudge = NudgeScorer::load(runtime, components.nudge).map_err(error(ModelKind::Nudge))?;
        let accessibility = AccessibilityScorer::load(runtime, components.accessibility);
        let accessibility = accessibility.map_err(error(ModelKind::Accessibility))?;
        let rules = TransferRules::load(runtime, components.rules).map_err(error(ModelKind::TransferRules))?;
        Ok(Self {
            risk: Some(risk.into()),
            nudge: Some(nudge.into()),
            accessibility: Some(accessibility.into()),
            rules: Some(rules.into()),
        })
    }

    /// Who is active of a kind.
    pub fn identity(&self, kind: ModelKind) -> Option<&Identity> {
        match kind {
            ModelKind::Risk => self.risk.as_deref().map(RiskScorer::identity),
            ModelKind::Nudge => self.nudge.as_deref().map(NudgeScorer::identity),
            ModelKind::Accessibility => self.accessibility.as_deref().map(AccessibilityScorer::identity),
            ModelKind::TransferRules => self.rules.as_deref().map(TransferRules::identity),
        }
    }

    /// Scores a transfer.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn assess_risk(&self, request: &risk::Request) -> Result<Scored<risk::Assessment>, ScoreError> {
        let scorer = self.risk.as_deref().ok_or(ScoreError::Missing)?;
        Ok(Scored { assessment: scorer.assess(request)?, version: scorer.identity().version.clone() })
    }

    /// Decides on a nudge.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn assess_nudge(&self, request: &nudge::Request) -> Result<Scored<nudge::Assessment>, ScoreError> {
        let scorer = self.nudge.as_deref().ok_or(ScoreError::Missing)?;
        Ok(Scored { assessment: scorer.assess(request)?, version: scorer.identity().version.clone() })
    }

    /// Recommends a profile.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn assess_accessibility(
        &self,
        request: &accessibility::Request,
    ) -> Result<Scored<accessibility::Assessment>, ScoreError> {
        let scorer = self.accessibility.as_deref().ok_or(ScoreError::Missing)?;
        Ok(Scored { assessment: scorer.assess(request)?, version: scorer.identity().version.clone() })
    }

    /// Decides on a transfer. There is no falling back to other rules.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn decide(&self, facts: &Facts) -> Result<Verdict, ScoreError> {
        self.rules.as_deref().ok_or(ScoreError::Missing)?.decide(facts)
    }

    /// The status after a rail's event.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError> {
        self.rules.as_deref().ok_or(ScoreError::Missing)?.transition(status, event)
    }
}

/// The pointer to the active registry; cheap to clone.
#[derive(Clone)]
pub struct Models {
    active: Arc<ArcSwap<Registry>>,
    /// Why what is deployed of a kind does not serve here.
    notes: Arc<ArcSwap<BTreeMap<&'static str, String>>>,
}

impl Models {
    /// Starts with `registry` active.
    pub fn new(registry: Registry) -> Self {
        Self { active: Arc::new(ArcSwap::from_pointee(registry)), notes: Arc::default() }
    }

    /// What is active now, for one request.
    pub fn snapshot(&self) -> Arc<Registry> {
        self.active.load_full()
    }

    /// Makes another registry active; requests under way keep theirs.
    pub fn activate(&self, registry: Registry) {
        self.active.store(Arc::new(registry));
    }

    /// Notes why what is deployed of a kind does not serve here, or that it does.
    pub fn note(&self, kind: ModelKind, failure: Option<String>) {
        let mut notes = BTreeMap::clone(&self.notes.load());
        match failure {
            Some(failure) => notes.insert(kind.as_str(), failure),
            None => notes.remove(kind.as_str()),
        };
        self.notes.store(Arc::new(notes));
    }

    /// Why what is deployed of a kind does not serve here; none when it does.
    pub fn failure(&self, kind: ModelKind) -> Option<String> {
        self.notes.load().get(kind.as_str()).cloned()
    }
}
