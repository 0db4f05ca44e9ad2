//! Rolls back: from the champion that the operator names to the one that served before, which they name too.
//! Challengers end with it, and none is promoted.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::deployments::{self, Deployment};
use crate::domain::model::Digest;
use crate::models::deploying::catalog::{Catalog, with_champion};
use crate::models::deploying::setback::Setback;
use crate::sealing::ChainKey;

/// What an operator wants to leave and return to.
#[derive(Debug, Clone, Copy)]
pub struct Rollback {
    /// The champion.
    pub from: Digest,
    /// The version to return to, which has to be the [`Catalog::rollback_target`].
    pub to: Digest,
    /// The version whose setback the operator knows of.
    pub despite_setback: Option<Digest>,
}

/// What a rollback did.
#[derive(Debug)]
pub enum RolledBack {
    Now(Deployment),
    /// The deployment is this very rollback.
    Before,
    NothingDeployed,
    /// The operator saw another deployment.
    Stale,
    /// The version to leave is not the champion.
    NotChampion,
    /// A rollback returns to another version than the operator names.
    NotTarget,
    /// The version to return to is on trial: a rollback must not promote it to all users.
    Challenger,
    /// The operator has not confirmed this setback.
    Setback(Setback),
}

impl Rollback {
    /// Rolls back if `is_current` accepts the epoch. A repeated rollback changes nothing, whatever epoch was seen.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn run(
        self,
        (db, key): (&mut PgConnection, &ChainKey),
        catalog: &Catalog,
        is_current: impl Fn(i64) -> bool,
        (reason, by): (&str, &str),
        now: OffsetDateTime,
    ) -> Result<RolledBack, sqlx::Error> {
        let deployed = &catalog.deployed;
        if deployed.epoch == 0 {
            return Ok(RolledBack::NothingDeployed);
        }
        if self.is_last_of(&catalog.history) {
            return Ok(RolledBack::Before);
        }
        if let Some(refusal) = self.refusal(catalog, is_current(deployed.epoch)) {
            return Ok(refusal);
        }
        let trial_ended = Deployment { canary: None, shadows: Vec::new(), ..deployed.next(reason, by, now) };
        // The version rolled back from must not become the fallback.
        let next = with_champion(trial_ended, self.to, false);
        if let Some(done) = deployments::deploy(&mut *db, key, &next).await? {
            return Ok(RolledBack::Now(done));
        }
        // Another change came first, perhaps the same rollback.
        let latest = deployments::history_of(db, deployed.kind, 2).await?;
        Ok(if self.is_last_of(&latest) { RolledBack::Before } else { RolledBack::Stale })
    }

    fn refusal(self, catalog: &Catalog, is_current: bool) -> Option<RolledBack> {
        if !is_current {
            return Some(RolledBack::Stale);
        }
        if catalog.deployed.champion != self.from {
            return Some(RolledBack::NotChampion);
        }
        if catalog.is_on_trial(self.to) {
            return Some(RolledBack::Challenger);
        }
        if catalog.rollback_target() != self.to {
            return Some(RolledBack::NotTarget);
        }
        catalog.setback(self.to, self.despite_setback).map(RolledBack::Setback)
    }

    /// Whether the last change of a history was this rollback.
    fn is_last_of(self, history: &[Deployment]) -> bool {
        let [last, before, ..] = history else { return false };
        // Without another champion to return to, it only ended the trial.
        let is_by_rollback = !last.has_fallback || last.champion == before.champion;
        let is_rollback = is_by_rollback && last.challengers().next().is_none();
        is_rollback && (before.champion, last.champion) == (self.from, self.to)
    }
}
