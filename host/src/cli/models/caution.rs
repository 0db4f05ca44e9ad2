//! Asks before a change that is easily made by mistake. Where nobody can answer, a flag says that it is meant.

use std::io::{IsTerminal as _, Write as _, stderr, stdin};

use anyhow::{Context as _, Result, bail};

use crate::http::admin::confirmation::SetbackJson;

impl SetbackJson {
    /// In a sentence.
    pub(super) fn describe(&self, version: &str) -> String {
        let Self { cause, epoch, reason, changed_by, .. } = self;
        format!("{version} {} by change {epoch} ({changed_by}): {reason}", cause.describe())
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
