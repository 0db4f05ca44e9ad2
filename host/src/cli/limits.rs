//! `caudal limits`: shows and sets a user's own limits.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::cli::database::{Database, Use};
use crate::cli::print;
use crate::config::{Common, LimitChange, UserLimits};
use crate::db::limits::{self, Limits};
use crate::domain::money::Money;

pub(super) async fn run(common: &Common, wanted: UserLimits) -> Result<ExitCode> {
    let database = Database::open(common, Use::Shared).await?;
    let limits = change(&database, &wanted).await;
    database.close().await?;
    let Some(Limits { per_transfer, per_day }) = limits.context("cannot read or set the limits")? else {
        bail!("nobody knows the user {}: one is known from the first account on", wanted.user)
    };
    let tell = |limit: Option<Money>| limit.map_or("as everybody's".to_owned(), |limit| format!("{limit} MXN"));
    print(&format!("{}: one transfer {}, one day {}", wanted.user, tell(per_transfer), tell(per_day)))?;
    Ok(ExitCode::SUCCESS)
}

async fn change(database: &Database, wanted: &UserLimits) -> Result<Option<Limits>, sqlx::Error> {
    let mut db = database.pool.acquire().await?;
    let Some(before) = limits::find(&mut db, &wanted.user).await? else { return Ok(None) };
    let pick = |change: Option<LimitChange>, before| match change {
        None => before,
        Some(LimitChange::Everybodys) => None,
        Some(LimitChange::To(limit)) => Some(limit),
    };
    let after = Limits {
        per_transfer: pick(wanted.per_transfer, before.per_transfer),
        per_day: pick(wanted.per_day, before.per_day),
    };
    if after != before {
        limits::set(&mut db, &wanted.user, after).await?;
    }
    Ok(Some(after))
}
