//! Rolls back: from the champion that the operator names to the one that served before, which they name too.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::deployments::{self, Deployment};
use crate::domain::model::{Digest, ModelKind};
use crate::models::deploying::catalog::{self, Plan};
use crate::sealing::ChainKey;

/// What an operator wants to leave and return to.
#[derive(Debug, Clone, Copy)]
pub struct Rollback {
    pub kind: ModelKind,
    /// The champion.
    pub from: Digest,
    /// The version before it.
    pub to: Digest,
}

/// What a rollback did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RolledBack {
    /// Into this epoch.
    Now(i64),
    /// The deployment is this very rollback.
    Before(i64),
    NothingDeployed,
    /// The operator saw another deployment.
    Stale,
    /// The version to leave is not the champion.
    NotChampion,
    /// The version to return to is not the one before.
    NotPrevious,
    /// The version to return to serves as a challenger. Returning to it would promote it to all users.
    Challenger,
}

impl Rollback {
    /// Rolls back if `is_current` accepts the epoch. A repeated rollback changes nothing, whatever epoch was seen.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn run(
        self,
        db: &mut PgConnection,
        key: &ChainKey,
        is_current: impl Fn(i64) -> bool,
        why: (&str, &str),
        now: OffsetDateTime,
    ) -> Result<RolledBack, sqlx::Error> {
        let Some(deployed) = deployments::deployment_of(db, self.kind).await? else {
            return Ok(RolledBack::NothingDeployed);
        };
        if let Some(epoch) = self.done(db).await? {
            return Ok(RolledBack::Before(epoch));
        }
        let refusal = match &deployed {
            it if !is_current(it.epoch) => Some(RolledBack::Stale),
            it if it.champion != self.from => Some(RolledBack::NotChampion),
            it if it.previous != self.to => Some(RolledBack::NotPrevious),
            it if has_challenger(it, self.to) => Some(RolledBack::Challenger),
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Ok(refusal);
        }
        let plan = Plan::rollback(self.kind, self.to);
        if let Some(epoch) = catalog::deploy(db, key, &plan, deployed.epoch, why, now).await? {
            return Ok(RolledBack::Now(epoch));
        }
        // Another change came first, perhaps the same rollback.
        Ok(self.done(db).await?.map_or(RolledBack::Stale, RolledBack::Before))
    }

    /// The epoch of this rollback, if it is the last change.
    async fn done(self, db: &mut PgConnection) -> Result<Option<i64>, sqlx::Error> {
        Ok(last(db, self.kind)
            .await?
            .filter(|(it, _)| it.from == self.from && it.to == self.to)
            .map(|(_, epoch)| epoch))
    }
}

/// The kind's last change and its epoch, if that was a rollback.
///
/// # Errors
/// When the database fails.
async fn last(db: &mut PgConnection, kind: ModelKind) -> Result<Option<(Rollback, i64)>, sqlx::Error> {
    let history = deployments::history_of(db, kind, 2).await?;
    let [last, before] = &history[..] else { return Ok(None) };
    let is_rollback = !last.stands_in && last.canary.is_none() && last.shadows.is_empty();
    let rollback = Rollback { kind, from: before.champion, to: last.champion };
    Ok(is_rollback.then_some((rollback, last.epoch)))
}

fn has_challenger(deployment: &Deployment, version: Digest) -> bool {
    deployment.canary.is_some_and(|canary| canary.digest == version) || deployment.shadows.contains(&version)
}
