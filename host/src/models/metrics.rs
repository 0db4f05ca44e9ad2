//! What is counted about models.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;

use crate::domain::model::ModelKind;
use crate::metrics::Metrics;
use crate::models::observing::measure::Failure;
use crate::wasm::ScoreError;

/// The metrics of one kind that nearly every decision changes, looked up once.
#[derive(Clone)]
pub(super) struct Answered {
    count: Counter,
    seconds: Histogram,
}

impl Answered {
    pub(super) fn of(metrics: &Metrics, kind: ModelKind) -> Self {
        let count = metrics.model_decisions.of([kind.as_str(), "answered"]).clone();
        Self { count, seconds: metrics.model_decision_seconds.of([kind.as_str()]).clone() }
    }

    pub(super) fn note(&self, time: Duration) {
        self.count.inc();
        self.seconds.observe(time.as_secs_f64());
    }
}

impl Metrics {
    pub(super) fn decided(&self, kind: ModelKind, error: Option<&ScoreError>, time: Duration) {
        let failure = |failure| Failure::ALL.into_iter().find(|(it, _)| *it == failure).map(|(_, name)| name);
        let outcome = match error {
            None => "answered",
            Some(error) => Failure::of(error).and_then(failure).unwrap_or("unavailable"),
        };
        self.model_decisions.of([kind.as_str(), outcome]).inc();
        self.model_decision_seconds.of([kind.as_str()]).observe(time.as_secs_f64());
    }

    /// How many were compiled and how many were in the cache, since the start.
    pub(super) fn components(&self, (compiled, cached): (u64, u64)) {
        self.components_compiled.inner().store(compiled, Relaxed);
        self.components_cached.inner().store(cached, Relaxed);
    }
}
