//! Rolls back: from the champion that the operator names to the one that served before, which they name too.
//! Challengers end with it, and none is promoted.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::deployments::{self, Deployment};
use crate::domain::model::{Digest, ModelKind};
use crate::models::deploying::built_in::built_in;
use crate::models::deploying::catalog::{self, Plan};
use crate::models::deploying::setback::{Setback, setbacks};
use crate::sealing::ChainKey;

/// What an operator wants to leave and return to.
#[derive(Debug, Clone, Copy)]
pub struct Rollback {
    pub kind: ModelKind,
    /// The champion.
    pub from: Digest,
    /// The version to return to, which has to be the [`target`].
    pub to: Digest,
    /// The version whose setback the operator knows of.
    pub despite_setback: Option<Digest>,
}

/// What a rollback did.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// A rollback returns to this version, not to the one that the operator names.
    NotTarget(Digest),
    /// The version to return to is on trial: a rollback must not promote it to all users. It returns to this one.
    Challenger(Digest),
    /// The operator has not confirmed this setback.
    Setback(Setback),
}

/// The version to which a rollback returns: the champion before, or the one before that if it is on trial as a
/// challenger. Without any it is the champion itself, and a rollback only ends the trial.
///
/// # Errors
/// When the database fails.
pub async fn target(db: &mut PgConnection, deployed: &Deployment) -> Result<Digest, sqlx::Error> {
    if !deployed.has_challenger(deployed.previous) {
        return Ok(deployed.previous);
    }
    let served = deployments::served_before(db, deployed).await?;
    let built_in = built_in(deployed.kind).filter(|it| !deployed.has_challenger(*it));
    Ok(served.or(built_in).unwrap_or(deployed.champion))
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
        if let Some(refusal) = self.refusal(db, &deployed, is_current).await? {
            return Ok(refusal);
        }
        let plan = Plan::rollback(self.kind, self.to);
        if let Some(epoch) = catalog::deploy(db, key, &plan, deployed.epoch, why, now).await? {
            return Ok(RolledBack::Now(epoch));
        }
        // Another change came first, perhaps the same rollback.
        Ok(self.done(db).await?.map_or(RolledBack::Stale, RolledBack::Before))
    }

    async fn refusal(
        self,
        db: &mut PgConnection,
        deployed: &Deployment,
        is_current: impl Fn(i64) -> bool,
    ) -> Result<Option<RolledBack>, sqlx::Error> {
        if !is_current(deployed.epoch) {
            return Ok(Some(RolledBack::Stale));
        }
        if deployed.champion != self.from {
            return Ok(Some(RolledBack::NotChampion));
        }
        let target = target(db, deployed).await?;
        if deployed.has_challenger(self.to) {
            return Ok(Some(RolledBack::Challenger(target)));
        }
        if target != self.to {
            return Ok(Some(RolledBack::NotTarget(target)));
        }
        if self.despite_setback == Some(self.to) {
            return Ok(None);
        }
        let history = deployments::history_of(db, self.kind, i64::MAX).await?;
        Ok(setbacks(&history).into_iter().find(|it| it.version == self.to).map(RolledBack::Setback))
    }

    /// The epoch of this rollback, if it is the last change.
    async fn done(self, db: &mut PgConnection) -> Result<Option<i64>, sqlx::Error> {
        Ok(last(db, self.kind)
            .await?
            .filter(|((from, to), _)| (*from, *to) == (self.from, self.to))
            .map(|(_, epoch)| epoch))
    }
}

/// The champions before and after the kind's last change, and its epoch, if that was a rollback.
///
/// # Errors
/// When the database fails.
async fn last(db: &mut PgConnection, kind: ModelKind) -> Result<Option<((Digest, Digest), i64)>, sqlx::Error> {
    let history = deployments::history_of(db, kind, 2).await?;
    let [last, before] = &history[..] else { return Ok(None) };
    // Without another champion to return to, it only ended the trial.
    let is_by_rollback = last.is_rolled_back || last.champion == before.champion;
    let is_rollback = is_by_rollback && last.canary.is_none() && last.shadows.is_empty();
    Ok(is_rollback.then_some(((before.champion, last.champion), last.epoch)))
}
