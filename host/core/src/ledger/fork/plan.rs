//! What a fork is made of: the recorded batches, the keys that sealed them, and what decides in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use time::OffsetDateTime;
use uuid::Uuid;

use crate::decision::Ruling;
use crate::domain::risk::Request;
use crate::domain::rules::Facts;
use crate::domain::transfer::{RailEvent, Status};
use crate::ledger::chain::Seal;
use crate::models::ScoreError;
use crate::sealing::{ChainKey, Keyring, PublicKey};

/// A version of the transfer rules.
pub trait Rules: Send + Sync {
    /// # Errors
    /// See [`ScoreError`].
    fn rule(&self, facts: &Facts) -> Result<Ruling, ScoreError>;

    /// # Errors
    /// See [`ScoreError`].
    fn transition(&self, status: Status, event: RailEvent) -> Result<Option<Status>, ScoreError>;
}

/// The score that a risk model gives.
pub type ScoreRisk = dyn Fn(&Request) -> Result<f64, ScoreError> + Send + Sync;

/// A batch as it was recorded.
pub struct Recorded {
    pub seal: Seal,
    /// That of its chain.
    pub stripe: i16,
    /// That decided; `None` if they are not registered.
    pub rules: Option<Arc<dyn Rules>>,
}

/// What to execute, and under what.
#[derive(Default)]
pub struct Plan {
    /// From then on the candidates decide, and what they do is counted; `None` for the beginning.
    pub from: Option<OffsetDateTime>,
    /// What comes then or later is left out.
    pub until: Option<OffsetDateTime>,
    pub rules: Option<Arc<dyn Rules>>,
    pub risk: Option<Arc<ScoreRisk>>,
}

impl Plan {
    pub(super) fn is_null(&self) -> bool {
        self.rules.is_none() && self.risk.is_none()
    }
}

/// The keys of the chains.
pub struct Keys {
    pub ring: Keyring,
    /// The retired keys of closed chains.
    pub closed: BTreeMap<Uuid, PublicKey>,
}

impl Keys {
    pub(super) fn of(&self, chain_id: Uuid) -> Option<&ChainKey> {
        match self.closed.get(&chain_id) {
            Some(retired) => self.ring.find(retired),
            None => Some(self.ring.present()),
        }
    }

    pub(super) fn present(&self) -> &ChainKey {
        self.ring.present()
    }
}
