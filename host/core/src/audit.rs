//! The audit log: what concerns security, one line each under the log target `audit`, with fixed names of events.
//!
//! It names operators only: no customers, account numbers, tokens or free text. Refused requests are counted and
//! reported once a minute by event and reason, so that nobody can fill a disk with them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use crate::auth::{Refusal, scope};
use crate::metrics::Metrics;

/// How often refused requests are reported: at most some thirty lines each time.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// What operators do, and hosts about themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    AccountFrozen,
    AccountUnfrozen,
    AccountFunded,
    PaymentSettled,
    PaymentRefused,
    ReviewClaimed,
    ReviewReleased,
    ReviewRefused,
    TransactionReversed,
    ReconciliationRequested,
    PaymentBooked,
    CaseClosed,
    ActionProposed,
    ActionApproved,
    ActionWithdrawn,
    LimitsChanged,
    OutcomesRecorded,
    HolderNamed,
    CustomerLookedUp,
    VersionPushed,
    CardSet,
    Deployment,
    Rollback,
    RolloutStarted,
    RolloutPaused,
    RolloutResumed,
    RolloutAborted,
    LossAccepted,
    KeyRotated,
    PolicyChanged,
    SinkAdded,
    SinkChanged,
    ConfigurationWarning,
}

impl Event {
    const fn name(self) -> &'static str {
        match self {
            Self::AccountFrozen => "account_frozen",
            Self::AccountUnfrozen => "account_unfrozen",
            Self::AccountFunded => "account_funded",
            Self::PaymentSettled => "payment_settled",
            Self::PaymentRefused => "payment_refused",
            Self::ReviewClaimed => "review_claimed",
            Self::ReviewReleased => "review_released",
            Self::ReviewRefused => "review_refused",
            Self::TransactionReversed => "transaction_reversed",
            Self::ReconciliationRequested => "reconciliation_requested",
            Self::PaymentBooked => "payment_booked",
            Self::CaseClosed => "case_closed",
            Self::ActionProposed => "action_proposed",
            Self::ActionApproved => "action_approved",
            Self::ActionWithdrawn => "action_withdrawn",
            Self::LimitsChanged => "limits_changed",
            Self::OutcomesRecorded => "outcomes_recorded",
            Self::HolderNamed => "holder_named",
            Self::CustomerLookedUp => "customer_looked_up",
            Self::VersionPushed => "version_pushed",
            Self::CardSet => "card_set",
            Self::Deployment => "deployment",
            Self::Rollback => "rollback",
            Self::RolloutStarted => "rollout_started",
            Self::RolloutPaused => "rollout_paused",
            Self::RolloutResumed => "rollout_resumed",
            Self::RolloutAborted => "rollout_aborted",
            Self::LossAccepted => "loss_accepted",
            Self::KeyRotated => "key_rotated",
            Self::PolicyChanged => "policy_changed",
            Self::SinkAdded => "sink_added",
            Self::SinkChanged => "sink_changed",
            Self::ConfigurationWarning => "configuration_warning",
        }
    }
}

/// Logs what an operator did. The object is an id, a kind of model, the number of a change or of changes, or a kind of data.
pub fn done(event: Event, by: &str, object: &dyn Display) {
    tracing::info!(target: "audit", event = event.name(), by, %object, "an operator acted");
}

/// Warns of a configuration that protects less than it could.
pub fn warn_of_configuration(warning: &str) {
    tracing::warn!(target: "audit", event = Event::ConfigurationWarning.name(), "{warning}");
}

/// Why requests are refused: for each event its reasons. The metric `refusals` has them as labels.
fn refusals() -> impl Iterator<Item = [&'static str; 2]> {
    let tokens = Refusal::ALL.into_iter().map(Refusal::name).chain(["missing", "keys-unknown"]);
    let events = [
        (TOKEN_REFUSED, tokens.collect::<Vec<_>>()),
        (SCOPE_REFUSED, scope::ALL.into_iter().chain(["client"]).collect()),
        (LIMIT_REACHED, LIMITS.to_vec()),
        (HOST_REFUSED, vec!["name"]),
        (NOTICE_REFUSED, NOTICE_REASONS.to_vec()),
    ];
    events.into_iter().flat_map(|(event, reasons)| reasons.into_iter().map(move |reason| [event, reason]))
}

pub const TOKEN_REFUSED: &str = "token_refused";
pub const SCOPE_REFUSED: &str = "scope_refused";
pub const LIMIT_REACHED: &str = "limit_reached";
pub const HOST_REFUSED: &str = "host_refused";
pub const NOTICE_REFUSED: &str = "notice_refused";

/// Requests of a user, in a second and at once, what they change for good, their answers about consent and events;
/// requests from an address, a user's proofs of possession, checks of payees, streams of events, refused and pending
/// transfers; an operator's proposals; connections that were refused, and idle ones that were closed for others.
const LIMITS: [&str; 14] = [
    "user",
    "at-once",
    "records",
    "consent",
    "events",
    "address",
    "proofs",
    "payee-checks",
    "event-streams",
    "refusals",
    "pending",
    "proposals",
    "connections",
    "idle-connections",
];

const NOTICE_REASONS: [&str; 5] = ["not-json", "malformed", "unknown-payment", "out-of-date", "too-many"];

/// Tells of refused requests.
pub struct Refusals {
    metrics: Metrics,
    reported: BTreeMap<[&'static str; 2], u64>,
}

impl Refusals {
    pub fn new(metrics: Metrics) -> Self {
        let reported = refusals().map(|labels| (labels, metrics.refusals.of(labels).get())).collect();
        Self { metrics, reported }
    }

    /// Until it is aborted.
    pub async fn run(mut self) {
        loop {
            tokio::time::sleep(REPORT_EVERY).await;
            self.report();
        }
    }

    /// Those since the last call.
    fn report(&mut self) {
        for (labels, reported) in &mut self.reported {
            let count = self.metrics.refusals.of(*labels).get() - *reported;
            *reported += count;
            let [event, reason] = labels;
            if count > 0 {
                tracing::warn!(target: "audit", event, reason, count, "requests were refused");
            }
        }
    }
}

impl Drop for Refusals {
    /// Reports the remaining refusals when the host stops.
    fn drop(&mut self) {
        self.report();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refused_requests_is_one_line_for_each_reason() {
        let metrics = Metrics::default();
        let mut refusals = Refusals::new(metrics.clone());
        let lines = refusals.reported.len();
        assert!((20..50).contains(&lines), "{lines} lines a minute at most");
        for labels in refusals.reported.keys() {
            for _ in 0..1_000 {
                metrics.refusals.of(*labels).inc();
            }
        }
        refusals.report();
        assert!(refusals.reported.values().all(|reported| *reported == 1_000));
        assert_eq!(refusals.reported.len(), lines);
    }
}
