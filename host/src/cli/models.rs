//! `caudal models`: cards, examinations and the registry.

mod deployment;
mod registry;
mod report;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::cli::database::{Database, Use};
use crate::cli::output::print;
use crate::config::{Common, Models, program};
use crate::domain::model::ModelKind;
use crate::gate::launcher::Launcher;
use crate::gate::report::{Outcome, Report};
use crate::models::Embedded;
use crate::models::publishing::package;
use crate::wasm::Runtime;

pub(super) async fn run(common: &Common, models: &Models) -> Result<ExitCode> {
    match models {
        Models::Card { model, json } => card(model, *json),
        Models::Check { file, json } => check(file, *json).await,
        Models::Package { folder } => package(folder),
        Models::List
        | Models::Push { .. }
        | Models::Deploy { .. }
        | Models::Rollback { .. }
        | Models::Report { .. } => {
            let database = Database::open(common, Use::Shared).await?;
            let outcome = registry::run(models, &database.pool).await;
            database.close().await?;
            outcome
        }
    }
}

/// A kind by its name.
pub(super) fn kind_of(name: &str) -> Result<ModelKind> {
    let kinds = ModelKind::TEXTS.join(", ");
    ModelKind::parse(name).with_context(|| format!("there is no kind '{name}'; there are {kinds}"))
}

fn card(model: &str, json: bool) -> Result<ExitCode> {
    let Some(embedded) = Embedded::find(model) else {
        let names: Vec<_> = Embedded::ALL.iter().map(|it| it.name).collect();
        bail!("there is no model '{model}'; there are {}", names.join(", "));
    };
    let Some(card) = embedded.card else {
        bail!("{} has no card: rules are written, not trained", embedded.name);
    };
    print(if json { card.json } else { card.markdown }.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

fn package(folder: &Path) -> Result<ExitCode> {
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    for (path, bytes) in package::files(&runtime)? {
        let file = folder.join(path);
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        // An unchanged file keeps its modification time, so that nothing depending on it is rebuilt.
        if fs::read(&file).is_ok_and(|old| old == bytes) {
            continue;
        }
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn check(file: &Path, json: bool) -> Result<ExitCode> {
    let (_, report) = examine(file).await?;
    print(&if json { serde_json::to_string_pretty(&report)? } else { shown(file, &report) })?;
    Ok(if report.is_accepted() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A component's bytes and the gate's report.
async fn examine(file: &Path) -> Result<(Vec<u8>, Report)> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let gate = Launcher::new(program().context("cannot find the path of this program")?);
    let report = gate.examine(&bytes).await.context("cannot start the gate")?;
    Ok((bytes, report))
}

/// A report for a terminal.
fn shown(file: &Path, report: &Report) -> String {
    let name = report.model_version.as_deref().unwrap_or("not identified");
    let mut lines = vec![format!("{}: {name}, {} bytes", file.display(), report.bytes)];
    lines.extend(report.summary.clone());
    for check in &report.checks {
        let outcome = match check.outcome {
            Outcome::Passed => "ok",
            Outcome::Noted => "note",
            Outcome::Refused => "REFUSED",
        };
        lines.push(format!("  {outcome:8}{:13}{}", check.name, check.detail));
    }
    lines.push(if report.is_accepted() { "accepted".to_owned() } else { "refused".to_owned() });
    lines.join("\n")
}
