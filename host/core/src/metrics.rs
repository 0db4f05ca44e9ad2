//! What a host counts and measures, declared in one table, in the text format of OpenMetrics.
//!
//! A label has few values, all of them in the source: nothing that a client sends becomes one. Reading the metrics
//! costs no query, however often somebody does.

mod family;
mod table;

use std::ops::Deref;
use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

pub use family::Definition;
pub use table::{DEFINITIONS, Table};

/// Of all names.
const PREFIX: &str = "caudal";

/// The metrics of a host. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<(Registry, Table)>);

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        let table = Table::declare(&mut registry);
        Self(Arc::new((registry, table)))
    }
}

impl Deref for Metrics {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.0.1
    }
}

impl Metrics {
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.0.0);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_shown_under_its_name_and_labels() {
        let metrics = Metrics::default();
        metrics.transfers.of(["refused", "insufficient-funds"]).inc();
        metrics.batch_commands.observe(3.0);
        metrics.queue_commands.of(["0"]).set(7);
        let text = metrics.text();
        for line in [
            "caudal_transfers_total{outcome=\"refused\",reason=\"insufficient-funds\"} 1",
            "caudal_ledger_batch_commands_bucket{le=\"4.0\"} 1",
            "caudal_ledger_queue_commands{batcher=\"0\"} 7",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
        for definition in DEFINITIONS {
            assert!(definition.labels.len() <= 2, "{}: more labels multiply its series", definition.name);
            let is_shown = text.contains(&format!("# HELP caudal_{} {}", definition.name, definition.help));
            assert!(is_shown || !definition.labels.is_empty(), "{} is not in\n{text}", definition.name);
        }
    }
}
