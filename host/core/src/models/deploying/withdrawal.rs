//! Stores comparisons with challengers, and withdraws canaries that failed.

use sqlx::{PgConnection, PgPool};

use crate::clock::Clock;
use crate::db::deployments::{self, AUTOMATIC, Deployment};
use crate::db::session::within;
use crate::db::{comparisons, counts};
use crate::metrics::Metrics;
use crate::models::deploying::catalog::present;
use crate::models::deploying::loading::DATABASE_TIME_MAX;
use crate::models::observing::observer::stored;
use crate::models::serving::active::Models;
use crate::models::serving::registry::FailedCanary;
use crate::sealing::ChainKey;

/// Comparisons that cannot be stored are kept for the next call.
pub(super) async fn settle(db: &PgPool, key: &ChainKey, models: &Models, clock: &Clock) -> Result<(), sqlx::Error> {
    store_comparisons(db, key, models).await?;
    for canary in models.snapshot().failed_canaries() {
        let db = db.acquire().await?;
        let withdraw = async |db: &mut PgConnection| withdraw_canary(db, key, &canary, (models.metrics(), clock)).await;
        let done = within(db, DATABASE_TIME_MAX, withdraw).await;
        if let Err(error) = done {
            let FailedCanary { kind, epoch, .. } = canary;
            tracing::warn!(%kind, epoch, %error, "cannot withdraw a canary; this host no longer uses it");
        }
    }
    Ok(())
}

async fn store_comparisons(db: &PgPool, key: &ChainKey, models: &Models) -> Result<(), sqlx::Error> {
    let taken = models.observer().take();
    let (rows, evidence): (Vec<_>, _) = (taken.iter().map(stored).collect(), models.observer().evidence());
    if rows.is_empty() && evidence.is_empty() {
        return Ok(());
    }
    let store = async |db: &mut PgConnection| {
        // Repeating this changes nothing more, repeating what follows would.
        for it in &evidence {
            comparisons::testify(db, key, it).await?;
        }
        counts::add_comparisons(db, &rows).await
    };
    let stored = match db.acquire().await {
        Ok(db) => within(db, DATABASE_TIME_MAX, store).await,
        Err(error) => Err(error),
    };
    stored.inspect_err(|_| models.observer().give_back(taken))
}

pub(super) async fn withdraw_canary(
    db: &mut PgConnection,
    key: &ChainKey,
    canary: &FailedCanary,
    (metrics, clock): (&Metrics, &Clock),
) -> Result<(), sqlx::Error> {
    let FailedCanary { kind, epoch, ref reason } = *canary;
    let deployed = present(&mut *db, key, kind).await?;
    // Another host or an operator may have been faster.
    if deployed.epoch != epoch {
        return Ok(());
    }
    let reason = format!("canary withdrawn: {reason}");
    let next = Deployment { canary: None, ..deployed.next(&reason, AUTOMATIC, clock.now()) };
    if deployments::deploy(db, key, &next).await?.is_some() {
        tracing::warn!(%kind, epoch, reason, "back to the champion");
        metrics.model_canaries_withdrawn.of([kind.as_str()]).inc();
    }
    Ok(())
}
