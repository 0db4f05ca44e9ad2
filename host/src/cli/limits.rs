//! `caudal limits`: shows and sets a user's own limits.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::cli::database::Database;
use crate::cli::ledger;
use crate::cli::output::print;
use crate::clock::Clock;
use crate::config::{Common, LimitChange, UserLimits};
use crate::db::limits::{self, Limits};
use crate::domain::money::Money;
use crate::sealing::ChainKey;

pub(super) async fn run(common: &Common, change: UserLimits) -> Result<ExitCode> {
    let (database, key) = ledger::open(common).await?;
    let limits = apply(&database, &key, &change).await;
    database.close().await?;
    let describe = |limit: Option<Money>| limit.map_or("default".to_owned(), |limit| format!("{limit} MXN"));
    let note = match limits.context("cannot read or set the limits")? {
        Some(Limits { per_transfer, per_day }) => {
            format!("per transfer {}, per day {}", describe(per_transfer), describe(per_day))
        }
        None => "no account and no limits yet, so the defaults apply".to_owned(),
    };
    print(&format!("{}: {note}", change.user))?;
    Ok(ExitCode::SUCCESS)
}

/// The limits after the change; `None` for a user without an account or limits.
async fn apply(database: &Database, key: &ChainKey, change: &UserLimits) -> Result<Option<Limits>, sqlx::Error> {
    let mut db = database.pool.acquire().await?;
    let before = limits::find(&mut db, &change.user).await?;
    let updated = |change: Option<LimitChange>, before| match change {
        None => before,
        Some(LimitChange::Default) => None,
        Some(LimitChange::To(limit)) => Some(limit),
    };
    let current = before.unwrap_or(Limits { per_transfer: None, per_day: None });
    let after = Limits {
        per_transfer: updated(change.per_transfer, current.per_transfer),
        per_day: updated(change.per_day, current.per_day),
    };
    if after == current {
        return Ok(before);
    }
    limits::set(&mut db, key, &change.user, after, &change.by, Clock::system().now()).await?;
    Ok(Some(after))
}
