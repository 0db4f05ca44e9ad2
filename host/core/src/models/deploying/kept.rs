//! The champion before, kept as a shadow for a day: what it would have answered shows whether its successor is worse.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::clock::Clock;
use crate::db::deployments::{self, AUTOMATIC, Deployment};
use crate::db::session::{checked_time, within};
use crate::domain::model::Digest;
use crate::models::deploying::built_in::built_in;
use crate::models::deploying::loading::DATABASE_TIME_MAX;
use crate::sealing::ChainKey;

/// A whole day: customers do other things at night than at noon.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The champion before the present one, if the change that replaced it made it a shadow and it has been one since, and
/// when that was. Of a kind's whole history, newest first.
pub(super) fn kept(history: &[Deployment]) -> Option<(Digest, OffsetDateTime)> {
    let Deployment { kind, champion, .. } = *history.first()?;
    let since: Vec<_> = history.iter().take_while(|it| it.champion == champion).collect();
    let before = history.get(since.len()).map_or_else(|| built_in(kind), |it| it.champion);
    let is_kept = before != champion && since.iter().all(|it| it.shadows.contains(&before));
    since.last().filter(|_| is_kept).map(|promotion| (before, promotion.changed_at))
}

/// Removes shadows that were kept for a day, but not while a canary runs: a change would discard its evidence.
pub(super) async fn settle(pool: &PgPool, key: &ChainKey, clock: &Clock) -> Result<(), sqlx::Error> {
    let db = pool.acquire().await?;
    within(db, DATABASE_TIME_MAX, async |db| settle_all(db, key, clock).await).await
}

async fn settle_all(db: &mut PgConnection, key: &ChainKey, clock: &Clock) -> Result<(), sqlx::Error> {
    let recorded = deployments::recorded_deployments(db, key).await?;
    let all = recorded.into_iter().filter(|(it, is_recorded)| *is_recorded && it.canary.is_none());
    for (deployed, _) in all.filter(|(it, _)| !it.shadows.is_empty()) {
        let history = deployments::history_of(db, deployed.kind, i64::MAX).await?;
        let Some((version, since)) = kept(&history) else { continue };
        let now = checked_time(db, clock).await?;
        if now < since + KEPT {
            continue;
        }
        let next = deployed.next("the champion before was a shadow for a day", AUTOMATIC, now);
        let shadows = next.shadows.iter().copied().filter(|it| *it != version).collect();
        // Another host may have been faster.
        deployments::deploy(db, key, &Deployment { shadows, ..next }).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::model::ModelKind;

    /// Champion and shadows of each change, the oldest first.
    fn history(changes: &[(u8, &[u8])]) -> Vec<Deployment> {
        let digest = |name: &u8| Digest([*name; 32]);
        let change = |(at, (champion, shadows)): (usize, &(u8, &[u8]))| Deployment {
            shadows: shadows.iter().map(digest).collect(),
            changed_at: OffsetDateTime::UNIX_EPOCH + Duration::from_secs(at as u64 + 1),
            ..Deployment::nothing(ModelKind::Risk, digest(champion))
        };
        changes.iter().enumerate().map(change).rev().collect()
    }

    #[test]
    fn the_champion_before_is_kept_while_it_is_a_shadow_since_its_replacement() {
        let kept = |changes| kept(&history(changes)).map(|(version, at)| (version.0[0], at.unix_timestamp()));
        assert_eq!(kept(&[(1, &[]), (2, &[1])]), Some((1, 2)));
        assert_eq!(kept(&[(1, &[3]), (2, &[3, 1]), (2, &[1, 4])]), Some((1, 2)));
        assert_eq!(kept(&[(1, &[]), (2, &[]), (2, &[1])]), None, "an operator's shadow");
        assert_eq!(kept(&[(1, &[]), (2, &[1]), (2, &[])]), None, "removed");
        assert_eq!(kept(&[(1, &[]), (2, &[1]), (3, &[1])]), None, "the one before the one before");
        assert_eq!(kept(&[]), None);
    }
}
