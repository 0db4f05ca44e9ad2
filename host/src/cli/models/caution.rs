//! Asks before a change that is easily made by mistake. Where nobody can answer, a flag says that it is meant.

use std::io::{IsTerminal as _, Write as _, stderr, stdin};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::models::deploying::setback::Cause;

/// Why a version should not simply be promoted, as the admin API says it.
#[derive(Deserialize)]
pub(super) struct Setback {
    pub(super) version: Option<String>,
    pub(super) cause: String,
    epoch: i64,
    reason: String,
    changed_by: String,
}

impl Setback {
    pub(super) fn is_of(&self, version: &str) -> bool {
        self.version.as_deref() == Some(version)
    }

    /// In a sentence.
    pub(super) fn describe(&self, version: &str) -> String {
        let Self { epoch, reason, changed_by, .. } = self;
        let happened = Cause::parse(&self.cause).map_or("has a setback", Cause::describe);
        format!("{version} {happened} by change {epoch} ({changed_by}): {reason}")
    }
}

/// Returns if the flag was given or the operator says yes.
///
/// # Errors
/// If they do not, or there is no terminal to ask at.
pub(super) fn agree(warning: &str, flag: &str, is_given: bool) -> Result<()> {
    if is_given {
        return Ok(());
    }
    if !stdin().is_terminal() || !stderr().is_terminal() {
        bail!("{warning}. Nothing was changed; to do it anyway, add {flag}");
    }
    write!(stderr(), "{warning}.\nContinue? [y/N] ").context("cannot ask")?;
    let mut answer = String::new();
    stdin().read_line(&mut answer).context("cannot read the answer")?;
    if ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    bail!("nothing was changed")
}
