//! `caudal models`: cards, examinations and the registry.

mod build;
mod caution;
mod check;
mod cut_offs;
mod deployment;
mod facts;
mod history;
mod names;
mod push;
pub(super) mod registry;
mod report;
mod rollout;
mod source;
mod version;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::cli::admin::AdminApi;
use crate::cli::output::print;
use crate::cli::score::evaluate;
use crate::config::{Common, Models};
use crate::models::Embedded;
use crate::models::publishing::package::{self, PackageFile};
use crate::models::publishing::part::Parts;
use crate::wasm::Runtime;

pub(super) async fn run(common: &Common, models: &Models) -> Result<ExitCode> {
    match models {
        Models::Card { model, json } => card(model, *json),
        Models::Check { file, json } => check::run(file, *json).await,
        Models::Build(arguments) => build::run(arguments),
        Models::Evaluate(arguments) => evaluate::run(common, arguments).await,
        Models::Facts { kind, json } => facts::run(*kind, *json),
        Models::Package { folder, component, output } => {
            let folder = folder.as_ref().or(output.as_ref()).context("name a folder")?;
            package(folder, component)
        }
        Models::List { json, admin } => registry::list(&AdminApi::new(common, admin)?, *json).await,
        Models::History { kind, json, admin } => {
            history::run(&AdminApi::new(common, admin)?, registry::kind_of(kind)?, *json).await
        }
        Models::Push(push) => push::run(&AdminApi::new(common, &push.admin)?, push).await,
        Models::Show { version, json, admin } => version::run(&AdminApi::new(common, admin)?, version, *json).await,
        Models::Deploy(arguments) => deployment::deploy(&AdminApi::new(common, &arguments.admin)?, arguments).await,
        Models::CutOffs(arguments) => cut_offs::run(&AdminApi::new(common, &arguments.admin)?, arguments).await,
        Models::Rollback(arguments) => {
            deployment::roll_back(&AdminApi::new(common, &arguments.admin)?, arguments).await
        }
        Models::Rollout(rollout) => rollout::run(common, rollout).await,
        Models::Report { kind, epoch, json, admin } => {
            report::run(&AdminApi::new(common, admin)?, registry::kind_of(kind)?, *epoch, *json).await
        }
    }
}

fn card(model: &str, json: bool) -> Result<ExitCode> {
    let Some(embedded) = Embedded::find(model) else {
        let names: Vec<_> = Embedded::ALL.iter().map(|it| it.name).collect();
        bail!("there is no model '{model}'; choose from {}", names.join(", "));
    };
    let Some(card) = embedded.card else {
        bail!("{} has no card: rules are written, not trained", embedded.name);
    };
    print(if json { card.json } else { card.markdown }.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Prepares the package, or components of one's own.
fn package(folder: &Path, components: &[PathBuf]) -> Result<ExitCode> {
    let runtime = Runtime::new().context("cannot run components on this machine")?;
    if components.is_empty() {
        write(folder, package::files(&runtime)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut parts = Parts::default();
    for file in components {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        parts.add(&runtime, &name, &bytes).with_context(|| format!("cannot prepare {}", file.display()))?;
    }
    write(folder, parts.files())?;
    Ok(ExitCode::SUCCESS)
}

fn write(folder: &Path, files: Vec<PackageFile>) -> Result<()> {
    for (path, bytes) in files {
        let file = folder.join(path);
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        // An unchanged file keeps its modification time, so that nothing depending on it is rebuilt.
        if fs::read(&file).is_ok_and(|old| old == bytes) {
            continue;
        }
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
