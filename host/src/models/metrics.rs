//! Metrics of the models, in the text format of OpenMetrics.

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

/// Upper bounds of the latency buckets in seconds. Our scorers take about ten microseconds, interpreters
/// milliseconds, and the longest deadline is a quarter of a second.
const SECONDS: [f64; 12] = [5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 1e-3, 2e-3, 5e-3, 1e-2, 5e-2, 0.25];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    kind: &'static str,
    outcome: &'static str,
}

pub struct Metrics {
    registry: Registry,
    decisions: Family<OutcomeLabels, Counter>,
    seconds: Family<KindLabels, Histogram, fn() -> Histogram>,
    fallbacks: Family<KindLabels, Counter>,
    swaps: Family<KindLabels, Counter>,
    failed_deployments: Family<KindLabels, Gauge>,
    withdrawn: Family<KindLabels, Counter>,
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
        let help = "Time to answer, including the wait for a thread if the component needs one";
        registry.register_with_unit("model_decision", help, Unit::Seconds, metrics.seconds.clone());
        let help = "Answers from the previous version because the champion failed";
        registry.register("model_fallbacks", help, metrics.fallbacks.clone());
        registry.register("model_swaps", "Deployments that went into service on this host", metrics.swaps.clone());
        let help = "1 while the deployment of a kind is not in service on this host";
        registry.register("model_deployment_failed", help, metrics.failed_deployments.clone());
        let help = "Canaries that this host withdrew";
        registry.register("model_canaries_withdrawn", help, metrics.withdrawn.clone());
        registry.register("components_compiled", "Components compiled", metrics.compiled.clone());
        let help = "Components loaded from the cache of compiled components";
        registry.register("components_cached", help, metrics.cached.clone());
        metrics
    }

    pub(crate) fn decided(&self, kind: ModelKind, error: Option<&ScoreError>, time: Duration) {
        let kind = kind.as_str();
        let failure = |failure| Failure::ALL.into_iter().find(|(it, _)| *it == failure).map(|(_, name)| name);
        let outcome = match error {
            None => "answered",
            Some(error) => Failure::of(error).and_then(failure).unwrap_or("unavailable"),
        };
        self.decisions.get_or_create(&OutcomeLabels { kind, outcome }).inc();
        self.seconds.get_or_create(&KindLabels { kind }).observe(time.as_secs_f64());
    }

    pub(crate) fn fell_back(&self, kind: ModelKind) {
        self.fallbacks.get_or_create(&KindLabels { kind: kind.as_str() }).inc();
    }

    pub(crate) fn swapped(&self, kind: ModelKind) {
        self.swaps.get_or_create(&KindLabels { kind: kind.as_str() }).inc();
        self.failed_deployments.get_or_create(&KindLabels { kind: kind.as_str() }).set(0);
    }

    pub(crate) fn failed_to_deploy(&self, kind: ModelKind) {
        self.failed_deployments.get_or_create(&KindLabels { kind: kind.as_str() }).set(1);
    }

    pub(crate) fn withdrew(&self, kind: ModelKind) {
        self.withdrawn.get_or_create(&KindLabels { kind: kind.as_str() }).inc();
    }

    pub(crate) fn components(&self, (compiled, cached): (u64, u64)) {
        self.compiled.inner().store(compiled, std::sync::atomic::Ordering::Relaxed);
        self.cached.inner().store(cached, std::sync::atomic::Ordering::Relaxed);
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
