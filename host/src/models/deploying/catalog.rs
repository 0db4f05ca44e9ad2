//! Changes what is deployed. [`swap`](crate::models::deploying::swap) follows on every host.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::deployments::{self, Canary, Change, Deployment};
use crate::domain::model::{Digest, ModelKind, is_older};
use crate::models::deploying::built_in::built_in;
use crate::sealing::ChainKey;

/// Longest reason of a change, in characters.
pub const REASON_CHARS_MAX: usize = 500;

/// Each shadow is one more call for every request.
pub const SHADOWS_MAX: usize = 4;

/// Largest share of users for a canary: one that answers everyone is a champion.
pub const CANARY_PERCENT_MAX: u8 = 99;

/// Default share of a canary's compared answers that may fall into another class than the champion's.
pub const MAX_FLIP_PERCENT: u8 = 10;

/// The share of the users whose risk one operator may have scored by a canary: enough to see whether it works. Beyond,
/// a canary decides whose transfers are held up, as a champion does.
const SHARE_OF_ONE_PERSON: u8 = 5;

/// Whether two operators decide on a canary with this share and bound on flips, where they do on champions.
pub(crate) fn takes_two(kind: ModelKind, percent: u8, max_flip_percent: u8) -> bool {
    kind == ModelKind::Risk && (percent > SHARE_OF_ONE_PERSON || max_flip_percent > MAX_FLIP_PERCENT)
}

/// Stored as the operator who withdraws canaries.
pub const AUTOMATIC: &str = "automatic";

/// The deployment that an operator asks for.
#[derive(Debug, Clone)]
pub struct Plan {
    pub kind: ModelKind,
    pub champion: Digest,
    pub canary: Option<Canary>,
    pub shadows: Vec<Digest>,
    /// Whether the previous champion answers when the champion fails.
    pub has_fallback: bool,
    /// The oldest version that may be deployed from now on; as before if there is none.
    pub minimum_release: Option<String>,
}

impl Plan {
    /// A rollback: the previous champion without challengers. The version rolled back from must not
    /// become its fallback.
    pub fn rollback(kind: ModelKind, champion: Digest) -> Self {
        Self { kind, champion, canary: None, shadows: Vec::new(), has_fallback: false, minimum_release: None }
    }

    /// Whether two operators decide on it, where they do on champions, in place of what is deployed.
    pub(crate) fn takes_two(&self, deployed: Option<&Deployment>) -> bool {
        let champion = deployed.map(|it| it.champion).or(built_in(self.kind));
        let decides = matches!(self.kind, ModelKind::Risk | ModelKind::TransferRules);
        let is_new = self.canary.filter(|_| deployed.and_then(|it| it.canary) != self.canary);
        let minimum = deployed.and_then(|it| it.minimum_release.as_deref()).zip(self.minimum_release.as_deref());
        decides && champion != Some(self.champion)
            || minimum.is_some_and(|(before, now)| is_older(now, before))
            || is_new.is_some_and(|canary| takes_two(self.kind, canary.percent, canary.max_flip_percent))
    }

    /// # Errors
    /// The field that is wrong, and why.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.kind == ModelKind::TransferRules && (self.canary.is_some() || !self.shadows.is_empty()) {
            let field = if self.canary.is_some() { "canary" } else { "shadows" };
            return Err((field, "must be left out: transfer rules change for all users at once"));
        }
        if self.shadows.len() > SHADOWS_MAX {
            return Err(("shadows", "has more than four versions"));
        }
        let mut all = vec![self.champion];
        if let Some(canary) = self.canary {
            if !(1..=CANARY_PERCENT_MAX).contains(&canary.percent) {
                return Err(("canary.percent", "must be from 1 to 99"));
            }
            if !(1..=100).contains(&canary.max_flip_percent) {
                return Err(("canary.max_flip_percent", "must be from 1 to 100"));
            }
            if canary.digest == self.champion {
                return Err(("canary.version", "is already the champion"));
            }
            all.push(canary.digest);
        }
        for shadow in &self.shadows {
            if all.contains(shadow) {
                return Err(("shadows", "names a version that already has another role"));
            }
            all.push(*shadow);
        }
        Ok(())
    }
}

impl From<&Deployment> for Plan {
    fn from(deployment: &Deployment) -> Self {
        let Deployment { kind, champion, canary, .. } = *deployment;
        let shadows = deployment.shadows.clone();
        Self { kind, champion, canary, shadows, has_fallback: deployment.stands_in, minimum_release: None }
    }
}

/// The state of a kind before its first deployment, as hosts like this one see it.
pub(super) fn nothing_deployed(kind: ModelKind) -> Option<Deployment> {
    built_in(kind).map(|champion| Deployment::nothing(kind, champion))
}

/// Replaces the deployment that the operator saw. Returns the new epoch, or `None` if it changed meanwhile.
///
/// # Errors
/// When the database fails.
pub async fn deploy(
    db: &mut PgConnection,
    key: &ChainKey,
    plan: &Plan,
    seen_epoch: i64,
    (reason, by): (&str, &str),
    now: OffsetDateTime,
) -> Result<Option<i64>, sqlx::Error> {
    let Plan { kind, champion, canary, ref shadows, has_fallback, ref minimum_release } = *plan;
    let default_previous = built_in(kind).unwrap_or(champion);
    let (stands_in, minimum_release) = (has_fallback, minimum_release.as_deref());
    let change = Change {
        kind,
        seen_epoch,
        champion,
        default_previous,
        canary,
        shadows,
        stands_in,
        minimum_release,
        reason,
        by,
    };
    deployments::deploy(db, key, &change, now).await
}
