//! Opens the ledger of a command: its database with the key that records what the command changes.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cli::database::{Database, Use};
use crate::cli::secret::{self, Missing};
use crate::clock::Clock;
use crate::config::Common;
use crate::ledger::chain::ChainKey;
use crate::ledger::heads::RecordedHeads;
use crate::ledger::store::Postgres;
use crate::ledger::{Command, Ledger, LedgerConfig, LedgerError, Outcome};
use crate::models::{Models, Registry};
use crate::wasm::Runtime;

/// File of the recorded heads of the chains, in the data folder.
const HEADS: &str = "ledger-heads.json";

pub(super) fn heads_path(data_dir: &Path) -> PathBuf {
    data_dir.join(HEADS)
}

/// Opens the ledger of any command but `serve`. Its chains must reach the heads that the data folder remembers, if any.
pub(super) async fn open(common: &Common) -> Result<(Database, ChainKey)> {
    let database = Database::open(common, Use::Shared).await?;
    let opened = async {
        let (key, _) = secret::ledger_key(common, Missing::of_command(common))?;
        adopt(&database, &key, &[heads_path(&common.data_dir)]).await?;
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

/// Executes one command on a ledger core of its own. The rules component that a deployment names is not loaded: only a
/// payment's report asks one, which may at most refuse it, and asks the built-in one.
pub(super) async fn submit(
    database: &Database,
    key: ChainKey,
    clock: Clock,
    command: Command,
) -> Result<Result<Outcome, LedgerError>> {
    let registry = match command {
        Command::Report(_) => {
            let runtime = Runtime::new().context("cannot run components on this machine")?;
            Registry::embedded(&runtime).context("this program was built with an unusable component")?
        }
        _ => Registry::default(),
    };
    let models = Models::new(registry);
    let store = Postgres::new(database.pool.clone(), key.clone()).with_durability(database.barrier.durability());
    let config = LedgerConfig::new(Default::default(), key);
    let (ledger, task) = Ledger::start(store, models, clock, config).await.context("cannot start the ledger")?;
    let outcome = ledger.submit(command).await;
    drop(ledger);
    task.await.context("the ledger stopped")?;
    Ok(outcome)
}

/// Binds the ledger to its key and adopts what no record covers, but only if every recorded head is still there.
/// Otherwise, deleting the records would get an altered ledger adopted.
pub(super) async fn adopt(database: &Database, key: &ChainKey, heads: &[PathBuf]) -> Result<()> {
    Postgres::check(&database.pool, key).await.context("cannot use the ledger")?;
    for path in heads {
        let mut db = database.pool.acquire().await.context("cannot reach the database")?;
        RecordedHeads::read(path)?.check(&mut db, key).await?;
    }
    Postgres::open(database.pool.clone(), key, Clock::system().now()).await.context("cannot use the ledger")?;
    Ok(())
}
