//! Opens the ledger of a command: its database with the key that records what the command changes.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use sqlx::{PgConnection, PgPool};

use crate::cli::database::{Database, Use};
use crate::cli::secret::{self, Missing};
use crate::clock::Clock;
use crate::config::Common;
use crate::db::durability::Durability;
use crate::db::policy;
use crate::ledger::chain::ChainKey;
use crate::ledger::heads::RecordedHeads;
use crate::ledger::store::Postgres;

/// File of the recorded heads of the chains, in the data folder.
const HEADS: &str = "ledger-heads.json";

const UNREADABLE_POLICY: &str = "cannot read the policy of the hosts";

pub(super) fn heads_path(data_dir: &Path) -> PathBuf {
    data_dir.join(HEADS)
}

/// The recorded heads in a file. One that was named `must_hold_some`, so that a typo or a disk that is not mounted does
/// not pass for a history of which nothing is gone.
pub(super) fn recorded_heads(path: &Path, must_hold_some: bool) -> Result<RecordedHeads> {
    let recorded = RecordedHeads::read(path)?;
    if must_hold_some && recorded.latest().is_empty() {
        let path = path.display();
        bail!(
            "there are no heads in {path}: is its disk mounted? To begin such a file, copy {HEADS} from a host's data \
             folder, or run `caudal verify --heads {path} --record-heads` once"
        );
    }
    Ok(recorded)
}

/// Opens the ledger of any command but `serve`. Its chains must reach the heads that the data folder remembers, if any.
pub(super) async fn open(common: &Common, usage: Use<'_>) -> Result<(Database, ChainKey)> {
    let database = Database::open(common, usage).await?;
    let opened = async {
        let (key, _) = secret::ledger_key(common, Missing::of_command(common))?;
        bind(&database, &key, &[heads_path(&common.data_dir)]).await?;
        Ok(key)
    };
    match opened.await {
        Ok(key) => Ok((database, key)),
        Err(error) => {
            database.close().await?;
            Err(error)
        }
    }
}

/// Binds the ledger to its key, but only if every recorded head is still there: otherwise an emptied ledger would pass for
/// a new one.
pub(super) async fn bind(database: &Database, key: &ChainKey, heads: &[PathBuf]) -> Result<()> {
    check(&database.pool, key, heads).await?;
    Postgres::open(database.pool.clone(), key, Clock::system().now()).await.context("cannot use the ledger")?;
    Ok(())
}

/// Fails if the ledger is bound to another key, or a recorded head in these files is gone.
pub(super) async fn check(pool: &PgPool, key: &ChainKey, heads: &[PathBuf]) -> Result<()> {
    Postgres::check(pool, key).await.context("cannot use the ledger")?;
    for path in heads {
        let mut db = pool.acquire().await.context("cannot reach the database")?;
        RecordedHeads::read(path)?.check(&mut db, key).await?;
    }
    Ok(())
}

/// Fails if the policy is not the one that was recorded last.
pub(super) async fn check_policy(db: &mut PgConnection, key: &ChainKey) -> Result<()> {
    if !policy::is_authentic(db, key).await.context(UNREADABLE_POLICY)? {
        bail!("somebody without the ledger key changed the policy of the hosts: run `caudal verify`");
    }
    Ok(())
}

/// Records that hosts wait for replicas once one does, so that none ever waits for less without being asked to.
pub(super) async fn keep_policy(database: &Database, key: &ChainKey) -> Result<()> {
    let mut db = database.pool.acquire().await.context(UNREADABLE_POLICY)?;
    check_policy(&mut db, key).await?;
    if database.barrier.durability() == Durability::Replicated {
        policy::replicate(&mut db, key, Clock::system().now())
            .await
            .context("cannot record the policy of the hosts")?;
    }
    Ok(())
}
