//! What is counted for whoever watches the service, in the text format of OpenMetrics.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::domain::model::ModelKind;
use crate::models::observing::measure::Failure;
use crate::wasm::ScoreError;

/// Upper ends of the buckets of an answer's time, in seconds: those of scorers lie around ten
/// microseconds, those of interpreters around milliseconds, and the longest deadline is a quarter second.
const SECONDS: [f64; 12] = [5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 1e-3, 2e-3, 5e-3, 1e-2, 5e-2, 0.25];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfKind {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfOutcome {
    kind: &'static str,
    outcome: &'static str,
}

/// What is counted of the models.
pub struct Metrics {
    registry: Registry,
    decisions: Family<OfOutcome, Counter>,
    seconds: Family<OfKind, Histogram, fn() -> Histogram>,
    fallbacks: Family<OfKind, Counter>,
    swaps: Family<OfKind, Counter>,
    failed_deployments: Family<OfKind, Gauge>,
    withdrawn: Family<OfKind, Counter>,
    compiled: Counter,
    cached: Counter,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("caudal"),
            decisions: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            fallbacks: Family::default(),
            swaps: Family::default(),
            failed_deployments: Family::default(),
            withdrawn: Family::default(),
            compiled: Counter::default(),
            cached: Counter::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("model_decisions", "Calls of models and rules, by outcome", metrics.decisions.clone());
        let help = "Time of an answer, with the wait for a thread where it runs on one of its own";
        registry.register_with_unit("model_decision", help, Unit::Seconds, metrics.seconds.clone());
        let help = "Answers that the version before gave because the champion failed";
        registry.register("model_fallbacks", help, metrics.fallbacks.clone());
        registry.register("model_swaps", "Deployments that went into service here", metrics.swaps.clone());
        let help = "1 while what is deployed of a kind does not serve here";
        registry.register("model_deployment_failed", help, metrics.failed_deployments.clone());
        let help = "Canaries that this host withdrew";
        registry.register("model_canaries_withdrawn", help, metrics.withdrawn.clone());
        registry.register("components_compiled", "Components compiled", metrics.compiled.clone());
        let help = "Components found compiled in the cache";
        registry.register("components_cached", help, metrics.cached.clone());
        metrics
    }

    pub(crate) fn decided(&self, kind: ModelKind, error: Option<&ScoreError>, took: Duration) {
        let kind = kind.as_str();
        let failure = |failure| Failure::ALL.into_iter().find(|(it, _)| *it == failure).map(|(_, name)| name);
        let outcome = match error {
            None => "answered",
            Some(error) => Failure::of(error).and_then(failure).unwrap_or("unavailable"),
        };
        self.decisions.get_or_create(&OfOutcome { kind, outcome }).inc();
        self.seconds.get_or_create(&OfKind { kind }).observe(took.as_secs_f64());
    }

    pub(crate) fn fell_back(&self, kind: ModelKind) {
        self.fallbacks.get_or_create(&OfKind { kind: kind.as_str() }).inc();
    }

    pub(crate) fn swapped(&self, kind: ModelKind) {
        self.swaps.get_or_create(&OfKind { kind: kind.as_str() }).inc();
        self.failed_deployments.get_or_create(&OfKind { kind: kind.as_str() }).set(0);
    }

    pub(crate) fn failed_to_deploy(&self, kind: ModelKind) {
        self.failed_deployments.get_or_create(&OfKind { kind: kind.as_str() }).set(1);
    }

    pub(crate) fn withdrew(&self, kind: ModelKind) {
        self.withdrawn.get_or_create(&OfKind { kind: kind.as_str() }).inc();
    }

    pub(crate) fn components(&self, (compiled, cached): (u64, u64)) {
        self.compiled.inner().store(compiled, std::sync::atomic::Ordering::Relaxed);
        self.cached.inner().store(cached, std::sync::atomic::Ordering::Relaxed);
    }

    /// All of it as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // A string takes whatever is written to it.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
