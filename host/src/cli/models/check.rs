//! `caudal models check`: runs the gate on a component file.

use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::cli::output::print;
use crate::config::program;
use crate::gate::launcher::Launcher;
use crate::gate::report::{CheckOutcome, Report};

pub(super) async fn run(file: &Path, json: bool) -> Result<ExitCode> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let report = examine(&bytes).await?;
    let name = file.display();
    print(&if json { serde_json::to_string_pretty(&report)? } else { format_report(&name, &report) })?;
    Ok(if report.is_accepted() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the gate on a component.
pub(super) async fn examine(bytes: &[u8]) -> Result<Report> {
    let gate = Launcher::new(program().context("cannot find the path of this program")?);
    // Developers of models may have another kernel.
    gate.or_unconfined(true).examine(bytes).await.context("cannot start the gate")
}

/// Formats a report for a terminal.
pub(super) fn format_report(from: &dyn Display, report: &Report) -> String {
    let name = report.model_version.as_deref().unwrap_or("not identified");
    let mut lines = vec![format!("{from}: {name}, {} bytes", report.bytes)];
    lines.extend(report.summary.clone());
    for check in &report.checks {
        let outcome = match check.outcome {
            CheckOutcome::Passed => "ok",
            CheckOutcome::Noted => "note",
            CheckOutcome::Refused => "REFUSED",
        };
        lines.push(format!("  {outcome:8}{:13}{}", check.name, check.detail));
    }
    lines.push(if report.is_accepted() { "accepted".to_owned() } else { "refused".to_owned() });
    lines.join("\n")
}
