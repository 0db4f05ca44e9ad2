//! Which component version serves.
//!
//! One immutable [`Registry`] holds what is active of every kind; [`Models`] points at the present
//! one. A request takes one snapshot and uses it to its end, so all its answers belong together.
//!
//! [`route`] decides who answers, [`observer`] compares afterwards, [`report`] says what was seen;
//! [`swap`] follows what is deployed, [`catalog`] is what operators do, [`gate`] is what a component has to
//! show first; [`published`] is what pages get of it, and [`package`] what they ship with.

pub mod decisions;
pub mod deploying;
mod metrics;
pub mod observing;
pub mod publishing;
pub mod serving;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;

use crate::domain::model::ModelKind;
use crate::domain::rules::{Facts, Verdict};
use crate::domain::transfer::{RailEvent, Status};
use crate::domain::{accessibility, nudge, risk};
pub use crate::scoring::Scored;
use crate::wasm::{AccessibilityScorer, Identity, LoadError, NudgeScorer, RiskScorer, TransferRules};
pub use crate::wasm::{Runtime, ScoreError};
use decisions::DecisionLog;
pub use metrics::Metrics;
use observing::observer::Observer;
use publishing::published::{Shelf, Source};
pub use serving::embedded::{Card, Embedded};
pub use serving::loaded::Loaded;
use serving::route::Route;
use serving::scorer::Scorer;
pub use serving::served::Served;

/// What is active of every kind at one moment. A kind without a component answers
/// [`ScoreError::Missing`].
#[derive(Clone, Default)]
pub struct Registry {
    /// Risk scorers.
    pub risk: Option<Arc<Route<RiskScorer>>>,
    /// Nudge scorers.
    pub nudge: Option<Arc<Route<NudgeScorer>>>,
    /// Accessibility recommenders.
    pub accessibility: Option<Arc<Route<AccessibilityScorer>>>,
    /// Transfer rules. Nobody takes their place: what they cannot decide is not decided.
    pub rules: Option<Arc<TransferRules>>,
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
    pub const EMBEDDED: Self = serving::embedded::COMPONENTS;
}

impl Registry {
    /// Loads one component of each kind.
    ///
    /// # Errors
    /// When one of them does not load.
    pub fn load(runtime: &Runtime, components: Components<'_>) -> Result<Self, ComponentError> {
        let all = [
            (ModelKind::Risk, components.risk),
            (ModelKind::Nudge, components.nudge),
            (ModelKind::Accessibility, components.accessibility),
            (ModelKind::TransferRules, components.rules),
        ];
        all.into_iter().try_fold(Self::default(), |registry, (kind, bytes)| {
            let loaded = Loaded::new(runtime, kind, bytes).map_err(|source| ComponentError { kind, source })?;
            Ok(registry.with(loaded))
        })
    }

    /// This registry with another champion, and nobody beside it.
    #[must_use]
    pub fn with(mut self, loaded: Loaded) -> Self {
        match loaded {
            Loaded::Risk(served) => self.risk = Some(Route::alone(served).into()),
            Loaded::Nudge(served) => self.nudge = Some(Route::alone(served).into()),
            Loaded::Accessibility(served) => self.accessibility = Some(Route::alone(served).into()),
            Loaded::Rules(rules) => self.rules = Some(rules),
        }
        self
    }

    /// Who is the champion of a kind.
    pub fn identity(&self, kind: ModelKind) -> Option<&Identity> {
        match kind {
            ModelKind::Risk => self.risk.as_ref().map(|route| route.champion.scorer.identity()),
            ModelKind::Nudge => self.nudge.as_ref().map(|route| route.champion.scorer.identity()),
            ModelKind::Accessibility => self.accessibility.as_ref().map(|route| route.champion.scorer.identity()),
            ModelKind::TransferRules => self.rules.as_deref().map(TransferRules::identity),
        }
    }

    /// What the champion of a kind is for a page. Rules are not for pages.
    fn source(&self, kind: ModelKind) -> Option<Arc<Source>> {
        match kind {
            ModelKind::Risk => self.risk.as_ref()?.champion.source.clone(),
            ModelKind::Nudge => self.nudge.as_ref()?.champion.source.clone(),
            ModelKind::Accessibility => self.accessibility.as_ref()?.champion.source.clone(),
            ModelKind::TransferRules => None,
        }
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
pub struct Models(Arc<Inner>);

struct Inner {
    active: ArcSwap<Registry>,
    /// Why what is deployed of a kind does not serve here.
    notes: ArcSwap<BTreeMap<&'static str, String>>,
    observer: Observer,
    metrics: Metrics,
    log: Option<DecisionLog>,
    shelf: Shelf,
}

impl Models {
    /// Starts with `registry` active.
    pub fn new(registry: Registry) -> Self {
        Self::with_log(registry, None)
    }

    /// The same, keeping decisions.
    pub fn with_log(registry: Registry, log: Option<DecisionLog>) -> Self {
        Self(Arc::new(Inner {
            log,
            active: ArcSwap::from_pointee(registry),
            notes: ArcSwap::default(),
            observer: Observer::start(),
            metrics: Metrics::new(),
            shelf: Shelf::default(),
        }))
    }

    /// What is active now, for one request.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { registry: self.0.active.load_full(), models: Arc::clone(&self.0) }
    }

    /// Makes another registry active; requests under way keep theirs.
    pub fn activate(&self, registry: Registry) {
        self.0.active.store(Arc::new(registry));
    }

    /// Notes why what is deployed of a kind does not serve here, or that it does.
    pub fn note(&self, kind: ModelKind, failure: Option<String>) {
        let mut notes = BTreeMap::clone(&self.0.notes.load());
        match failure {
            Some(failure) => {
                self.0.metrics.failed_to_deploy(kind);
                notes.insert(kind.as_str(), failure)
            }
            None => notes.remove(kind.as_str()),
        };
        self.0.notes.store(Arc::new(notes));
    }

    /// Why what is deployed of a kind does not serve here; none when it does.
    pub fn failure(&self, kind: ModelKind) -> Option<String> {
        self.0.notes.load().get(kind.as_str()).cloned()
    }

    /// What is counted for whoever watches.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// What is handed out to pages.
    pub fn shelf(&self) -> &Shelf {
        &self.0.shelf
    }

    /// Where decisions are kept, if they are.
    pub fn log(&self) -> Option<&DecisionLog> {
        self.0.log.as_ref()
    }

    fn observer(&self) -> &Observer {
        &self.0.observer
    }
}

/// What is active, for one request: all its answers come from here.
pub struct Snapshot {
    registry: Arc<Registry>,
    models: Arc<Inner>,
}

impl Deref for Snapshot {
    type Target = Registry;

    fn deref(&self) -> &Registry {
        &self.registry
    }
}

impl Snapshot {
    /// Scores a transfer of a user, or of nobody in particular.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub async fn assess_risk(
        &self,
        request: &risk::Request,
        user: Option<&str>,
    ) -> Result<Scored<risk::Assessment>, ScoreError> {
        self.assess(self.registry.risk.as_ref(), request, user).await
    }

    /// Decides on a nudge.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub async fn assess_nudge(
        &self,
        request: &nudge::Request,
        user: Option<&str>,
    ) -> Result<Scored<nudge::Assessment>, ScoreError> {
        self.assess(self.registry.nudge.as_ref(), request, user).await
    }

    /// Recommends a profile.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub async fn assess_accessibility(
        &self,
        request: &accessibility::Request,
        user: Option<&str>,
    ) -> Result<Scored<accessibility::Assessment>, ScoreError> {
        self.assess(self.registry.accessibility.as_ref(), request, user).await
    }

    async fn assess<S: Scorer>(
        &self,
        route: Option<&Arc<Route<S>>>,
        request: &S::Request,
        user: Option<&str>,
    ) -> Result<Scored<S::Assessment>, ScoreError> {
        let route = route.ok_or(ScoreError::Missing)?;
        route.assess(request, user, (&self.models.observer, &self.models.metrics)).await
    }

    /// Decides on a transfer. There is no falling back to other rules.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn decide(&self, facts: &Facts) -> Result<Verdict, ScoreError> {
        let start = Instant::now();
        let verdict = self.registry.decide(facts);
        self.models.metrics.decided(ModelKind::TransferRules, verdict.as_ref().err(), start.elapsed());
        verdict
    }
}
