//! `caudal config`: the settings file.

use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use clap::FromArgMatches as _;

use crate::cli::output::print;
use crate::cli::serve;
use crate::cli::table::{Column, table};
use crate::config::file::{Shown, as_served, example, read};
use crate::config::{Cli, Command, Common, ConfigCommand};

const COLUMNS: [Column<Shown>; 4] = [
    ("SECTION", |it| it.section.clone()),
    ("SETTING", |it| it.name.clone()),
    ("VALUE", |it| it.value.clone()),
    ("FROM", |it| it.source.clone()),
];

pub(super) fn run(common: &Common, command: &ConfigCommand, shown: &[Shown]) -> Result<ExitCode> {
    match command {
        ConfigCommand::Example => print(example().trim_end())?,
        ConfigCommand::Show(_) => print(&table(&COLUMNS, shown))?,
        ConfigCommand::Check { file } => {
            let file = file.as_ref().or(common.config.as_ref()).context("name the file, or set CAUDAL_CONFIG")?;
            let entries = read(file).map_err(|flaws| anyhow!("{}", flaws.join("\n")))?;
            let count = entries.len();
            let served = as_served(entries).and_then(|it| Cli::from_arg_matches(&it));
            let served = served.map_err(|error| anyhow!("{}: {error}", file.display()))?;
            if let Command::Serve(settings) = &served.command {
                serve::check_settings(settings).with_context(|| file.display().to_string())?;
            }
            print(&format!("{}: {count} settings, all of them valid; `caudal doctor` tries them", file.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
