//! Changes what is deployed. [`swap`](crate::models::deploying::swap) follows on every host.

use sqlx::PgConnection;

use crate::db::components::{self, Component};
use crate::db::deployments::{self, Deployment};
use crate::domain::model::{Digest, ModelKind, is_older};
use crate::domain::risk::CutOffs;
use crate::models::deploying::built_in::built_in;
use crate::models::deploying::kept::kept;
use crate::models::deploying::setback::{Setback, setbacks};
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
pub fn takes_two(kind: ModelKind, percent: u8, max_flip_percent: u8) -> bool {
    kind == ModelKind::Risk && (percent > SHARE_OF_ONE_PERSON || max_flip_percent > MAX_FLIP_PERCENT)
}

/// What is deployed of a kind; before the first deployment, what is built in.
///
/// # Errors
/// When the database fails, or no host recorded it.
pub async fn present(db: &mut PgConnection, key: &ChainKey, kind: ModelKind) -> Result<Deployment, sqlx::Error> {
    let deployed = deployments::of_kind(db, key, kind).await?;
    Ok(present_of(kind, deployed))
}

pub fn present_of(kind: ModelKind, all: impl IntoIterator<Item = Deployment>) -> Deployment {
    all.into_iter().find(|it| it.kind == kind).unwrap_or_else(|| Deployment::nothing(kind, built_in(kind)))
}

/// What is known of a kind: its versions, what is deployed and what was.
pub struct Catalog {
    /// Of all kinds.
    pub registered: Vec<Component>,
    pub deployed: Deployment,
    /// Every deployment, the newest first.
    pub(crate) history: Vec<Deployment>,
}

impl Catalog {
    pub async fn read(db: &mut PgConnection, key: &ChainKey, kind: ModelKind) -> Result<Self, sqlx::Error> {
        Ok(Self {
            registered: components::list(&mut *db).await?,
            deployed: present(&mut *db, key, kind).await?,
            history: deployments::history_of(db, kind, i64::MAX).await?,
        })
    }

    /// After a change.
    pub fn with(mut self, deployed: Deployment) -> Self {
        self.history.insert(0, deployed.clone());
        Self { deployed, ..self }
    }

    /// The version to which a rollback returns: the champion before, or the one before that if it is on trial as a
    /// challenger. Without any it is the champion itself, and a rollback only ends the trial.
    pub fn rollback_target(&self) -> Digest {
        let Deployment { kind, champion, previous, .. } = self.deployed;
        let is_on_trial = |version: &Digest| self.is_on_trial(*version);
        let served = self.history.iter().filter(|it| it.served_at.is_some()).map(|it| it.champion);
        let before = served.filter(|it| *it != champion).chain([built_in(kind)]);
        [previous].into_iter().chain(before).find(|it| !is_on_trial(it)).unwrap_or(champion)
    }

    /// The champion before is not, for as long as it is kept.
    pub(super) fn is_on_trial(&self, version: Digest) -> bool {
        self.deployed.has_challenger(version) && kept(&self.history).is_none_or(|(it, _)| it != version)
    }

    /// The newest first.
    pub fn setbacks(&self) -> Vec<Setback> {
        setbacks(&self.history)
    }

    /// What counts against promoting a version, unless its operator names it to say that they know.
    pub fn setback(&self, promoted: Digest, known: Option<Digest>) -> Option<Setback> {
        self.setbacks().into_iter().find(|it| it.version == promoted && known != Some(promoted))
    }
}

/// Whether two operators decide on a change, where they do on champions.
pub fn is_for_two(before: &Deployment, next: &Deployment) -> bool {
    let decides = matches!(next.kind, ModelKind::Risk | ModelKind::TransferRules);
    let is_new = next.canary.filter(|_| before.canary != next.canary);
    let minimum = before.minimum_release.as_deref().zip(next.minimum_release.as_deref());
    // Cut-offs decide whose transfers are held up, as a champion does.
    decides && (before.champion != next.champion || before.cut_offs != next.cut_offs)
        || minimum.is_some_and(|(before, next)| is_older(next, before))
        || is_new.is_some_and(|canary| takes_two(next.kind, canary.percent, canary.max_flip_percent))
}

/// Makes a version the champion; the one before answers when it fails if `has_fallback`.
pub fn with_champion(it: Deployment, champion: Digest, has_fallback: bool) -> Deployment {
    if champion == it.champion {
        return it;
    }
    Deployment { champion, has_fallback, previous: built_in(it.kind), ..it }
}

/// The shadows once the champion is replaced: it becomes one if there is room.
pub(super) fn shadows_after(deployed: &Deployment) -> Vec<Digest> {
    deployed.shadows.iter().copied().chain([deployed.champion]).take(SHADOWS_MAX).collect()
}

/// # Errors
/// The field that is wrong, and why.
pub fn check(next: &Deployment) -> Result<(), (&'static str, &'static str)> {
    let Deployment { kind, champion, canary, ref shadows, cut_offs, .. } = *next;
    if kind != ModelKind::Risk && cut_offs != CutOffs::DEFAULT {
        return Err(("cut_offs", "must be left out: only risk has levels"));
    }
    cut_offs.check()?;
    if kind == ModelKind::TransferRules && canary.is_some() {
        return Err(("canary", "must be left out: transfer rules change for all users at once, and may have shadows"));
    }
    if shadows.len() > SHADOWS_MAX {
        return Err(("shadows", "has more than four versions"));
    }
    let mut all = vec![champion];
    if let Some(canary) = canary {
        if canary.percent > CANARY_PERCENT_MAX {
            return Err(("canary.percent", "must be from 0 to 99"));
        }
        if !(1..=100).contains(&canary.max_flip_percent) {
            return Err(("canary.max_flip_percent", "must be from 1 to 100"));
        }
        if canary.version == champion {
            return Err(("canary.version", "is already the champion"));
        }
        all.push(canary.version);
    }
    for shadow in shadows {
        if all.contains(shadow) {
            return Err(("shadows", "names a version that already has another role"));
        }
        all.push(*shadow);
    }
    Ok(())
}
