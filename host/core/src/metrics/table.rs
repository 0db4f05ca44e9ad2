//! The table of metrics. `host/OPERATING.md` shows it, and alerts name its rows.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::family::{Counters, Declared, Definition, Figures, Gauges, Histograms};

/// Upper bounds in seconds of what a component takes. Our scorers take about ten microseconds, interpreters
/// milliseconds, and the longest deadline is a quarter of a second.
const COMPONENT_SECONDS: &[f64] = &[5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 1e-3, 2e-3, 5e-3, 1e-2, 5e-2, 0.25];

/// Upper bounds in seconds of what the database takes: a millisecond alone, and up to a time-out while a replica is
/// slow.
const DATABASE_SECONDS: &[f64] = &[1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Upper bounds of the commands in a batch, up to the longest batch.
const BATCH_COMMANDS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Upper bounds in seconds of an event's age: polls are a fifth of a second apart.
const AGE_SECONDS: &[f64] = &[0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

/// Declares [`Table`] and [`DEFINITIONS`] from one row for each metric: `field: Type = name [labels] in buckets, help`.
macro_rules! table {
    (@buckets) => { &[] };
    (@buckets $buckets:ident) => { $buckets };
    ($($field:ident: $type:ty = $name:literal [$($label:literal),*] $(in $buckets:ident)?, $help:literal;)+) => {
        /// Every metric of a host.
        pub struct Table {
            $(pub $field: $type,)+
        }

        pub const DEFINITIONS: &[Definition] = &[$(Definition {
            name: $name,
            kind: <$type as Declared>::KIND,
            labels: &[$($label),*],
            help: $help,
            buckets: table!(@buckets $($buckets)?),
        }),+];

        impl Table {
            pub(super) fn declare(registry: &mut Registry) -> Self {
                let mut rows = DEFINITIONS.iter();
                Self { $($field: <$type>::declare(rows.next().unwrap_or(&DEFINITIONS[0]), registry),)+ }
            }
        }
    };
}

table! {
    transfers: Counters<2> = "transfers" ["outcome", "reason"], "Transfers by what became of them, and why if they were refused or failed";
    holds: Counters<1> = "holds" ["outcome"], "Holds by what became of them";
    scheduled_transfers: Counters<1> = "scheduled_transfers" ["outcome"], "Attempts to send scheduled transfers, and their users' decisions, by outcome";
    schedules: Gauges<1> = "schedules" ["state"], "Occurrences of scheduled transfers that are due or waiting for their users, across all hosts";
    ledger_failures: Counters<1> = "ledger_failures" ["cause"], "Commands without an outcome";
    ledger_retries: Counters<1> = "ledger_retries" ["cause"], "Batches that had to be decided again";
    batch_commands: Histogram = "ledger_batch_commands" [] in BATCH_COMMANDS, "Commands in each batch that was committed";
    commit_seconds: Histogram = "ledger_commit_seconds" [] in DATABASE_SECONDS, "Time to commit a batch at the configured durability";
    chain_seq: Gauges<1> = "ledger_chain_seq" ["batcher"], "Number of the last batch in the chain that a batcher extends";
    queue_commands: Gauges<1> = "ledger_queue_commands" ["batcher"], "Commands that wait for a batcher";
    heads_recorded: Gauge = "ledger_heads_timestamp_seconds" [], "When the heads of the chains were last recorded outside the database, in every file; 0 before that";
    ledger_open: Gauge = "ledger_open" [], "1 while the ledger accepts commands";

    payments: Gauges<1> = "payments" ["state"], "Payments without a final answer from their rail, across all hosts";
    oldest_payment: Gauge = "payments_oldest_timestamp_seconds" [], "Since when the oldest of them has been pending; 0 if there is none";
    payment_cases: Gauge = "payment_cases" [], "Differences from the rail that a person has to decide on, across all hosts";
    reconciliation_due: Gauge = "reconciliation_due_timestamp_seconds" [], "Since when the oldest comparison of an operating day with the rail has been due; 0 if none is";
    rail_answers: Counters<1> = "rail_answers" ["answer"], "Answers of the rail about payments";
    rail_contradictions: Counters<1> = "rail_contradictions" ["report"], "Final statuses that the rail contradicted";

    pool_connections: Gauges<1> = "pool_connections" ["state"], "Connections to the database";
    barrier_seconds: Histogram = "barrier_seconds" [] in DATABASE_SECONDS, "Time until the replicas confirm what was read";
    outbox_lag: Histogram = "outbox_lag_seconds" [] in AGE_SECONDS, "Age of events when they are handed to listeners";
    deliveries: Counters<2> = "sink_deliveries" ["kind", "result"], "Events sent to sinks, by the sink's answer";
    oldest_undelivered: Gauge = "sink_oldest_timestamp_seconds" [], "When the oldest event happened that an active sink has not accepted, across all hosts; 0 if there is none";
    outbox_failures: Counter = "outbox_failures" [], "Polls for new events that failed";

    answers: Counters<2> = "http_answers" ["listener", "status"], "Answers by the class of their status";
    problems: Counters<2> = "http_problems" ["status", "code"], "Failed requests by the code of the problem";
    shed: Counters<1> = "requests_shed" ["stage"], "Requests refused at once because they would have waited too long, by what they would have waited for";
    refusals: Counters<2> = "refusals" ["event", "reason"], "Requests refused for security reasons, as in the audit log";

    model_decisions: Counters<2> = "model_decisions" ["kind", "outcome"], "Calls to models and rules, by outcome";
    model_decision_seconds: Histograms<1> = "model_decision_seconds" ["kind"] in COMPONENT_SECONDS,
        "Time to answer, including the wait for a thread if the component needs one";
    model_fallbacks: Counters<1> = "model_fallbacks" ["kind"], "Answers from the previous version because the champion failed";
    model_swaps: Counters<1> = "model_swaps" ["kind"], "Deployments that went into service on this host";
    model_deployment_failed: Gauges<1> = "model_deployment_failed" ["kind"], "1 while the deployment of a kind is not in service on this host";
    model_drift: Figures<2> = "model_drift" ["kind", "fact"], "Population stability index of a fact, or of the score, in the last one or two days against the training data of the champion, across all hosts; 0 while unknown";
    model_canaries_withdrawn: Counters<1> = "model_canaries_withdrawn" ["kind"], "Canaries that this host withdrew";
    model_rollouts_stopped: Counters<1> = "model_rollouts_stopped" ["kind"], "Rollouts that this host stopped";
    model_upkeep_failures: Counters<1> = "model_upkeep_failures" ["task"], "Attempts to store comparisons, traffic or reports, or to look after rollouts, that failed";
    components_compiled: Counter = "components_compiled" [], "Components compiled";
    components_cached: Counter = "components_cached" [], "Components loaded from the cache of compiled components";
}
