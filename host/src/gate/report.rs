//! The gate: what a component has to show before it may serve.
//!
//! Compiling a stranger's code can be made to take for ever or to eat all memory, and cannot be
//! cancelled. So the gate is another process of this program with limits on time and memory, which
//! reads the bytes and answers with a [`Report`]. Whatever becomes of it, this process goes on.
//!
//! Not for deciding what serves: a report says only that a component could.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::domain::model::ModelKind;

/// Largest component: those that carry an interpreter have about 12 MB.
pub const COMPONENT_BYTES_MAX: usize = 16 << 20;

/// Longest examination. One of ours takes half a second, and one of 12 MB about half a minute where
/// nobody else wants the processor.
const PATIENCE: Duration = Duration::from_secs(180);

/// Longest detail of a check: some of it is the component's own words.
const DETAIL_CHARS_MAX: usize = 600;

/// What became of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As it has to be.
    Passed,
    /// Worth knowing, and no reason to refuse.
    Noted,
    /// A reason to refuse.
    Refused,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Stable, for programs.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What was found, in words and figures.
    pub detail: String,
}

/// What the gate found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Length of the component.
    pub bytes: usize,
    /// Kind, when it could be told.
    pub kind: Option<String>,
    /// How it would be run, when it could be told.
    #[serde(default)]
    pub class: Option<String>,
    /// Semantic version, when it could be told.
    pub version: Option<String>,
    /// `model_version`, when it could be told.
    pub model_version: Option<String>,
    /// What the component says of itself.
    pub summary: Option<String>,
    /// In the order in which they were made; a refusal may end them early.
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether nothing was refused.
    pub fn is_accepted(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.outcome != Outcome::Refused)
    }

    /// Refuses what is of another kind.
    pub fn expect_kind(&mut self, kind: ModelKind) {
        if self.is_accepted() && self.kind.as_deref() != Some(kind.as_str()) {
            let found = self.kind.clone().unwrap_or_else(|| "unknown".to_owned());
            self.add("kind", Outcome::Refused, format!("it is a {found} component"));
        }
    }

    /// Adds a check.
    pub fn add(&mut self, name: &str, outcome: Outcome, detail: impl Into<String>) {
        let detail: String = detail.into().chars().filter(|it| !it.is_control()).take(DETAIL_CHARS_MAX).collect();
        self.checks.push(Check { name: name.to_owned(), outcome, detail });
    }
}

/// Starts examinations.
#[derive(Debug, Clone)]
pub struct Gate {
    program: PathBuf,
}

impl Gate {
    /// `program` is this program's own file.
    pub fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Examines a component.
    ///
    /// # Errors
    /// When the process cannot be started or spoken to. What is wrong with the component stands in
    /// the report instead.
    pub async fn examine(&self, bytes: &[u8]) -> std::io::Result<Report> {
        let mut report = Report { bytes: bytes.len(), ..Report::default() };
        if bytes.len() > COMPONENT_BYTES_MAX {
            report.add(
                "size",
                Outcome::Refused,
                format!("{} bytes; at most {COMPONENT_BYTES_MAX} are taken", bytes.len()),
            );
            return Ok(report);
        }
        let mut command = Command::new(&self.program);
        command.arg("gate").env_clear().kill_on_drop(true);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut stdin = child.stdin.take();
        let whole = async {
            if let Some(stdin) = &mut stdin {
                // A process that ends early says why by how it ends.
                let _ = stdin.write_all(bytes).await;
            }
            drop(stdin);
            child.wait_with_output().await
        };
        let Ok(output) = tokio::time::timeout(PATIENCE, whole).await else {
            let detail = format!("took longer than {} s and was ended", PATIENCE.as_secs());
            report.add("limits", Outcome::Refused, detail);
            return Ok(report);
        };
        let output = output?;
        if let Ok(found) = serde_json::from_slice(&output.stdout) {
            return Ok(found);
        }
        report.add(
            "limits",
            Outcome::Refused,
            format!("used more time or memory than the gate allows ({})", output.status),
        );
        Ok(report)
    }
}
