//! `caudal migrate` and `caudal roles`: what the owner of the tables does, so that hosts need not own them.

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::database::{Database, Use};
use crate::cli::output::print;
use crate::config::{Common, Roles};
use crate::db::roles;

pub(super) async fn run(common: &Common) -> Result<ExitCode> {
    let database = Database::open(common, Use::Migrated).await?;
    let granted = database.granted.clone();
    database.close().await?;
    print("the tables are those of this release")?;
    print(&match &granted[..] {
        [] => "no rights were granted: either the roles do not exist (`caudal roles` prints the SQL that creates them), or a \
               newer release has already granted theirs"
            .to_owned(),
        roles => format!("granted the necessary rights to {}", roles.join(" and ")),
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn print_roles(arguments: &Roles) -> Result<ExitCode> {
    print(roles::creation(&arguments.owner).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
