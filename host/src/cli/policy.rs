//! `caudal policy`: what all hosts keep to.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::cli::database::{Use, recorded_policy};
use crate::cli::ledger;
use crate::cli::output::print;
use crate::clock::{Clock, timestamp};
use crate::config::{Common, PolicyCommand};
use crate::db::policy;

pub(super) async fn run(common: &Common, command: PolicyCommand) -> Result<ExitCode> {
    let (usage, change) = match command {
        PolicyCommand::Show => (Use::Shared, None),
        PolicyCommand::Set { policy, by } => (Use::Migrated, Some((policy, by))),
    };
    let (database, key) = ledger::open(common, usage).await?;
    let done = async {
        let mut db = database.pool.acquire().await.context("cannot reach the database")?;
        ledger::check_policy(&mut db, &key).await?;
        if let Some((changes, by)) = change {
            let policy = recorded_policy(&mut db).await?.unwrap_or_default().with(&changes)?;
            policy::set(&mut db, &key, (&policy.lines(), &by), Clock::system().now())
                .await
                .context("cannot record the policy")?;
        }
        policy::settings(&mut db).await.context("cannot read the policy")
    };
    let done = done.await;
    database.close().await?;
    match done? {
        Some(part) => print(&format!("{}set by {} at {}", part.content, part.changed_by, timestamp(part.changed_at)))?,
        None => print("no policy is set: `caudal policy set` does that")?,
    }
    Ok(ExitCode::SUCCESS)
}
