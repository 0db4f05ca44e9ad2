//! SQL outside the ledger's commit path, one file for each group of tables.
//!
//! Plain functions over a connection, which fail when the database does. Queries are literals, checked against the
//! migrations at compile time. No policy, no HTTP. What the database lets a host write is in [`roles`]. Who writes
//! what:
//!
//! | table | written by |
//! |---|---|
//! | account, account_balance, entry, transfer, transfer_event, idempotency, ledger_batch, ledger_key, ledger_writer, chain_origin, lost_tail, rail_payment, hold, hold_end, account_event, payee_total | `ledger::store` |
//! | app_user | `ledger::store`, its limits `limits`, its name `holders` |
//! | rail_payment, when it is next due and what went wrong; rail_order | `payments` |
//! | review, inserted by `ledger::store`; rail_payment of a released one | `reviews` |
//! | reconciliation, payment_case; rail_order of a payment that was booked by hand | `reconciliations` |
//! | beneficiary | `beneficiaries` |
//! | consent, consent_history | [`consents`] |
//! | event_queue, event | [`events`] |
//! | profile | `profiles` |
//! | component | [`components`] |
//! | deployment, deployment_history | [`deployments`] |
//! | rollout | `rollouts` |
//! | comparison, traffic | `counts` |
//! | rollout_evidence | `comparisons` |
//! | host_status, when a deployment first served | [`hosts`] |
//! | decision | `decisions` |
//! | outcome | `outcomes` |
//! | approval | `approvals` |
//! | policy | `policy` |
//! | schedule, occurrence | `schedules` |
//! | sink, sink_progress, sink_undelivered | `sinks` |
//! | audit_record, audit_head | `records` |
//! | schema_compatibility | migrations |

pub mod accounts;
pub mod approvals;
pub mod audit;
pub mod barrier;
pub mod beneficiaries;
pub mod catalogue;
pub mod comparisons;
pub mod components;
pub mod connections;
pub mod consents;
pub mod counts;
pub mod customers;
pub mod decisions;
pub mod deployments;
pub mod durability;
pub mod entries;
pub mod events;
pub mod funding;
pub mod holders;
pub mod holds;
pub mod hosts;
pub mod limits;
pub mod outbox;
pub mod outcomes;
pub mod payments;
pub mod policy;
pub mod primary;
pub mod profiles;
pub mod pulse;
pub(crate) mod recent;
pub mod reconciliations;
pub mod records;
pub mod reviews;
pub mod roles;
pub mod rollouts;
pub mod schedules;
pub mod schema;
pub mod session;
pub mod sinks;
pub mod timeline;
pub mod transfers;

use time::OffsetDateTime;
use uuid::Uuid;

/// A position in a list that is ordered by creation time and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Creation time of the last item seen.
    pub created_at: OffsetDateTime,
    /// Id of the last item seen.
    pub id: Uuid,
}

/// An error for a stored name that is not a variant of its enum, so another program wrote the row.
pub(crate) fn unknown_text(column: &str, text: &str) -> sqlx::Error {
    sqlx::Error::Decode(format!("unknown {column}: {text:?}").into())
}
