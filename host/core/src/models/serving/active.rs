//! The registry in service, and everything that requests share around it.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use tracing::Instrument as _;
use tracing::field::Empty;

use crate::db::hosts::HostStatus;
use crate::decision::{Deployed, Ruling};
use crate::domain::fact::explanation::Explanation;
use crate::domain::model::ModelKind;
use crate::domain::rules::Facts;
use crate::metrics::Metrics;
use crate::models::observing::observer::{Observer, RulesDecision};
use crate::models::observing::tally::count_failure;
use crate::models::publishing::published::{NotPublishable, Published};
use crate::models::publishing::shelf::Shelf;
use crate::models::serving::answer::Asker;
use crate::models::serving::registry::Registry;
use crate::scoring::{Envelope, Kind, Scored};
use crate::telemetry::SPANS;
use crate::wasm::{Identity, ScoreError};

/// Points at the registry in service; cheap to clone.
#[derive(Clone)]
pub struct Models(Arc<Shared>);

struct Shared {
    active: ArcSwap<Registry>,
    /// This host's progress with each deployment.
    statuses: ArcSwap<BTreeMap<ModelKind, HostStatus>>,
    observer: Observer,
    metrics: Metrics,
    shelf: Shelf,
}

impl Models {
    pub fn new(registry: Registry) -> Self {
        Self(Arc::new(Shared {
            active: ArcSwap::from_pointee(registry),
            statuses: ArcSwap::default(),
            observer: Observer::start(),
            metrics: Metrics::default(),
            shelf: Shelf::default(),
        }))
    }

    /// What is in service now, for one request.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { registry: self.0.active.load_full(), shared: Arc::clone(&self.0) }
    }

    /// Puts another registry into service; requests in flight keep theirs.
    pub fn activate(&self, registry: Registry) {
        self.0.active.store(Arc::new(registry));
    }

    /// Sets this host's progress with a deployment. Repeating a state keeps its start time.
    pub(crate) fn set_status(&self, status: HostStatus) {
        let last = self.status(status.kind);
        if last.is_some_and(|it| (it.epoch, &it.state) == (status.epoch, &status.state)) {
            return;
        }
        if status.state.detail().is_some() {
            self.0.metrics.model_deployment_failed.of([status.kind.as_str()]).set(1);
        }
        let mut statuses = BTreeMap::clone(&self.0.statuses.load());
        statuses.insert(status.kind, status);
        self.0.statuses.store(Arc::new(statuses));
    }

    /// This host's progress with the deployment of a kind; `None` if nothing was ever deployed.
    pub fn status(&self, kind: ModelKind) -> Option<HostStatus> {
        self.0.statuses.load().get(&kind).cloned()
    }

    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Published files that a page may still fetch.
    pub fn shelf(&self) -> &Shelf {
        &self.0.shelf
    }

    pub(crate) fn observer(&self) -> &Observer {
        &self.0.observer
    }
}

/// What is in service, for one request.
pub struct Snapshot {
    registry: Arc<Registry>,
    shared: Arc<Shared>,
}

impl Deref for Snapshot {
    type Target = Registry;

    fn deref(&self) -> &Registry {
        &self.registry
    }
}

impl Snapshot {
    /// Scores a request, and says which version did.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub async fn assess<K: Kind>(
        &self,
        request: &K::Request,
        asker: Asker<'_>,
    ) -> Result<(Scored<K::Assessment>, Deployed), ScoreError> {
        let route = self.registry.route::<K>().ok_or(ScoreError::Missing)?;
        let span = tracing::debug_span!(target: SPANS, "score", kind = K::KIND.as_str(), version = Empty);
        let scored = route.assess(request, asker, (&self.shared.observer, &self.shared.metrics));
        let (scored, by) = scored.instrument(span.clone()).await?;
        span.record("version", scored.version.as_str());
        Ok((scored, by))
    }

    /// What weighed how much in the score that a request gets. Nothing is counted, compared or logged.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub async fn explain<K: Kind>(
        &self,
        envelope: &Envelope<K::Request>,
    ) -> Result<(Scored<K::Assessment>, Explanation), ScoreError> {
        let route = self.registry.route::<K>().ok_or(ScoreError::Missing)?;
        route.explain(&envelope.request, envelope.user_id.as_deref()).await
    }

    /// The champion of a kind and its files for pages, which stay available for a while.
    pub async fn published(&self, kind: ModelKind) -> Option<(Identity, Result<Published, NotPublishable>)> {
        let identity = self.registry.identity(kind)?.clone();
        let Some(source) = self.registry.source(kind) else { return Some((identity, Err(NotPublishable::HostOnly))) };
        let published = source.published().await;
        if let Ok(published) = &published {
            let Published { component, core, glue, .. } = published;
            self.shared.shelf.put([component, core, glue]);
        }
        Some((identity, published))
    }

    /// Decides on a transfer. There is no fallback.
    ///
    /// # Errors
    /// See [`ScoreError`].
    pub fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError> {
        let start = Instant::now();
        let ruling = self.registry.rule(facts);
        let (metrics, kind, time) = (&self.shared.metrics, ModelKind::TransferRules, start.elapsed());
        if let (Some(rules), Ok(ruling)) = (&self.registry.rules, &ruling)
            && !self.registry.rules_shadows.is_empty()
        {
            let decided = RulesDecision { facts: facts.clone(), verdict: ruling.verdict.clone(), time };
            let of = (self.registry.rules_epoch, &**rules);
            self.shared.observer.observe_rules(of, &self.registry.rules_shadows, decided);
        }
        let class = ruling.as_ref().map(|ruling| Some(ruling.verdict.class()));
        match (&self.registry.rules, class) {
            (Some(rules), class) => rules.tally.count(metrics, kind, class, time),
            (None, Err(error)) => count_failure(metrics, kind, error, time),
            (None, Ok(_)) => {}
        }
        ruling
    }
}
