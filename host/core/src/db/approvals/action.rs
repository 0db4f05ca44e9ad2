//! What operators can ask for that may take a second person.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::db::accounts::SeenAccount;
use crate::db::deployments::Canary;
use crate::db::limits::Limits;
use crate::db::payments::SeenPayment;
use crate::domain::money::Money;
use crate::domain::risk::CutOffs;

/// Its JSON is stored, and approved byte for byte. Ids of what it makes are part of it, so that it can be repeated.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Action {
    Deploy {
        kind: String,
        versions: Versions,
    },
    StartRollout {
        kind: String,
        rollout: Start,
    },
    SettlePayment {
        transaction_id: Uuid,
        /// As the first operator saw it; likewise below.
        payment: SeenPayment,
    },
    RefusePayment {
        transaction_id: Uuid,
        payment: SeenPayment,
    },
    Reverse {
        transaction_id: Uuid,
        payment: SeenPayment,
        reversal_id: Uuid,
    },
    BookPayment {
        case_id: Uuid,
        account_id: Uuid,
        payment: SeenPayment,
    },
    Fund {
        account_id: Uuid,
        account: SeenAccount,
        /// In pesos.
        amount: String,
        transaction_id: Uuid,
    },
    SetLimits {
        user: String,
        before: OwnLimits,
        limits: OwnLimits,
    },
}

/// The versions to deploy in place of those of an epoch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Versions {
    pub epoch: i64,
    pub champion: String,
    pub canary: Option<Canary<String>>,
    pub shadows: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_release: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_offs: Option<OtherCutOffs>,
    /// What the operator knows of, for the second one to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub despite_setback: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_canary: Option<String>,
    /// SHA-256 of the report of a fork with them: two people who name it approve its consequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_report: Option<String>,
}

/// A change of where levels begin, with what the second operator compares it with.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherCutOffs {
    pub before: CutOffs,
    pub after: CutOffs,
}

/// A rollout beside the deployment of an epoch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Start {
    pub rollout_id: Uuid,
    pub epoch: i64,
    pub canary: String,
    pub steps: Vec<u8>,
    pub step_decisions: u32,
    pub step_seconds: u32,
    pub max_failure_percent: u8,
    pub max_flip_percent: u8,
    pub max_fuel_percent: u32,
    /// `withdraw` or `pause`.
    pub on_violation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub despite_setback: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_canary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_report: Option<String>,
}

/// A user's own limits, in pesos.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnLimits {
    pub per_transfer: Option<String>,
    pub per_day: Option<String>,
}

impl From<Limits> for OwnLimits {
    fn from(limits: Limits) -> Self {
        let text = |limit: Option<Money>| limit.map(|limit| limit.to_string());
        Self { per_transfer: text(limits.per_transfer), per_day: text(limits.per_day) }
    }
}
