//! Counts the answers of a listener.

use axum::response::Response;
use prometheus_client::metrics::counter::Counter;

use crate::http::error::{ALL, Failure};
use crate::http::shedding;
use crate::metrics::Metrics;

pub(super) struct Answers {
    pub(super) listener: &'static str,
    metrics: Metrics,
    /// Looked up once: most answers are one of them.
    successes: Counter,
}

impl Answers {
    pub(super) fn new(listener: &'static str, metrics: Metrics) -> Self {
        // Shown before they happen, so that an alert sees the first.
        ALL.iter().for_each(|kind| drop(metrics.problems.of([kind.status.as_str(), kind.code])));
        shedding::expect(&metrics);
        let successes = metrics.answers.of([listener, "2xx"]).clone();
        Self { listener, metrics, successes }
    }

    pub(super) fn count(&self, response: &Response) {
        let class = match response.status().as_u16() {
            ..400 => {
                self.successes.inc();
                return;
            }
            400..500 => "4xx",
            _ => "5xx",
        };
        self.metrics.answers.of([self.listener, class]).inc();
        if let Some(Failure { kind, refusal, shed }) = response.extensions().get() {
            self.metrics.problems.of([kind.status.as_str(), kind.code]).inc();
            if let Some(labels) = refusal {
                self.metrics.refusals.of(*labels).inc();
            }
            if let Some(stage) = shed {
                self.metrics.shed.of([stage]).inc();
            }
        }
    }
}
