//! The tables that are not the ledger's own writing path, one file per group.
//!
//! Plain functions over a connection; `query!` literals, checked against the migrations when the
//! crate is compiled. No policy, no HTTP. Who writes what:
//!
//! | table | written by |
//! |---|---|
//! | account, account_balance, entry, transfer, transfer_event, idempotency, ledger_batch, ledger_key, rail_payment | `ledger::store` |
//! | app_user | `ledger::store`, its limits [`limits`] |
//! | rail_payment, when it is next due | [`payments`] |
//! | ledger_writer | `ledger::writer` |
//! | beneficiary | [`beneficiaries`] |
//! | consent, consent_history | [`consents`] |
//! | event_queue, event | [`events`] |
//! | profile | [`profiles`] |
//! | component | [`components`] |
//! | deployment, deployment_history | [`deployments`] |
//! | comparison | [`comparisons`] |
//! | host_status, when a deployment first served | [`hosts`] |
//! | decision | [`decisions`] |

pub mod accounts;
pub mod audit;
pub mod beneficiaries;
pub mod comparisons;
pub mod components;
pub mod consents;
pub mod decisions;
pub mod deployments;
pub mod entries;
pub mod events;
pub mod hosts;
pub mod limits;
pub mod outbox;
pub mod payments;
pub mod profiles;
pub mod session;
pub mod transfers;

use time::OffsetDateTime;
use uuid::Uuid;

/// A place in a list that is ordered by creation time and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Creation time of the last item seen.
    pub created_at: OffsetDateTime,
    /// Its id.
    pub id: Uuid,
}

/// A stored text that no longer is one of an enum's: the row was not written by this program.
fn unknown_text(column: &str, text: &str) -> sqlx::Error {
    sqlx::Error::Decode(format!("unknown {column}: {text:?}").into())
}
