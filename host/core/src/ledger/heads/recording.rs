//! Records the heads while a host runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::PgPool;
use uuid::Uuid;

use super::{HeadsError, RecordedHeads};
use crate::clock::Clock;
use crate::db::barrier::Barrier;
use crate::ledger::store::proof::{self, Head, Heads};
use crate::metrics::Metrics;
use crate::sealing::ChainKey;

/// How often a running host records the heads. Truncation of batches younger than this goes undetected if the host that
/// committed them is gone too.
const WRITE_INTERVAL: Duration = Duration::from_secs(10);

/// What a host has committed since it started: what vanishes before it was recorded is noticed as well.
#[derive(Debug, Clone, Default)]
pub struct Committed(Arc<Mutex<Heads>>);

impl Committed {
    pub(crate) fn add(&self, chain_id: Uuid, head: Head) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(chain_id, head);
    }

    fn heads(&self) -> Heads {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Compares what is recorded, and what this host has committed, with the database, then adds the current heads.
///
/// # Errors
/// When a recorded head is gone, or the file or the database fails.
async fn record(
    db: &PgPool,
    barrier: &Barrier,
    (key, committed): (&ChainKey, &Committed),
    path: &Path,
) -> Result<(), HeadsError> {
    let mut recorded = off_threads(path, RecordedHeads::read).await?;
    let view = barrier.begin();
    let mut db = db.acquire().await?;
    recorded.check_signer(&mut db, key).await?;
    // Recorded even if it is gone, so that an operator can accept the loss.
    let (ours, writer) = (committed.heads(), key.clone());
    let added = off_threads(path, move |_| recorded.advance(&ours, &writer).map(|()| recorded));
    let mut recorded = added.await?;
    recorded.check(&mut db, key).await?;
    let heads = proof::heads(&mut db).await?;
    drop(db);
    // A recorded head must not vanish in a failover.
    barrier.pass(view).await.map_err(sqlx::Error::from)?;
    let key = key.clone();
    off_threads(path, move |_| recorded.advance(&heads, &key)).await
}

/// A disk or network that hangs must not hold up what else shares a thread.
async fn off_threads<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce(&Path) -> Result<T, HeadsError> + Send + 'static,
) -> Result<T, HeadsError> {
    let owned = path.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&owned)).await;
    done.unwrap_or_else(|error| Err(HeadsError::File(path.to_owned(), error.into())))
}

/// Records the heads once, in each of these files, as a host does when it stops: what it committed last counts too.
///
/// # Errors
/// When a recorded head is gone, or a file or the database fails.
pub async fn record_last(
    db: &PgPool,
    barrier: &Barrier,
    (key, committed): (&ChainKey, &Committed),
    paths: &[PathBuf],
) -> Result<(), HeadsError> {
    for path in paths {
        record(db, barrier, (key, committed), path).await?;
    }
    Ok(())
}

/// Records the heads periodically, in each of these files. Ends only when a recorded head is gone. Safe to abort at any
/// time.
pub async fn keep(
    db: PgPool,
    barrier: Barrier,
    (key, committed): (ChainKey, Committed),
    paths: Vec<PathBuf>,
    metrics: Metrics,
) -> HeadsError {
    for folder in paths.iter().filter_map(|path| path.parent()) {
        if let Err(error) = tokio::fs::create_dir_all(folder).await {
            tracing::warn!(%error, folder = %folder.display(), "cannot create the folder of the recorded heads");
        }
    }
    let mut every = tokio::time::interval(WRITE_INTERVAL);
    loop {
        every.tick().await;
        let mut are_recorded = true;
        for path in &paths {
            match record(&db, &barrier, (&key, &committed), path).await {
                Ok(()) => continue,
                Err(error @ HeadsError::Gone { .. }) => {
                    tracing::error!(%error, "stopping");
                    return error;
                }
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "cannot record the heads of the hash chains");
                }
            }
            are_recorded = false;
        }
        if are_recorded {
            metrics.heads_recorded.set(Clock::system().now().unix_timestamp());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::db::durability::Durability;
    use crate::db::timeline::Timeline;

    #[tokio::test]
    async fn a_file_that_does_not_answer_holds_nothing_else_up() {
        let pipe = PathBuf::from(format!("/tmp/caudal-heads.{}", Uuid::new_v4()));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let db = PgPool::connect_lazy("postgres://nobody@127.0.0.1:1/none").unwrap();
        let barrier = Barrier::new(db.clone(), Durability::Local, Timeline::default());
        let waited = tokio::time::timeout(
            Duration::from_millis(50),
            record(&db, &barrier, (&ChainKey::new(&[7; 32]).unwrap(), &Committed::default()), &pipe),
        )
        .await;
        assert!(waited.is_err(), "{waited:?}");
        fs::write(&pipe, "").unwrap();
        fs::remove_file(&pipe).unwrap();
    }
}
