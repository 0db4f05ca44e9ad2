//! Shows the progress of a verification on standard error, if that is a terminal.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};

use crate::ledger::store::proof::Watch;

/// How often the elapsed time is refreshed.
const TICK_EVERY: Duration = Duration::from_millis(200);

/// While Postgres runs a statement, which reports no progress.
const WAITING: &str = "{elapsed:>4} {spinner} {msg}";

const READING: &str = "{elapsed:>4} {bar:30} {percent:>3}% of {human_len} rows, {rate}/s, {eta} left: {msg}";

/// Cleared when dropped.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(TICK_EVERY);
        let progress = Self(bar);
        progress.wait_for("counting rows");
        progress
    }

    /// Shows what is being waited for.
    pub(super) fn wait_for(&self, what: &'static str) {
        self.style(WAITING);
        self.0.set_message(what);
    }

    /// Shows how many of `rows` rows have been read, and from which table.
    pub(super) fn read(&self, rows: i64) -> Watch {
        self.style(READING);
        self.0.set_length(rows.unsigned_abs());
        self.0.set_message("audit_record");
        self.0.reset_eta();
        let bar = self.0.clone();
        Watch::new(move |table, rows| {
            bar.inc(rows);
            bar.set_message(table);
        })
    }

    fn style(&self, template: &str) {
        // The templates are valid.
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, out: &mut dyn Write| {
                // A terminal shows whole rows; a failure to write to it is nothing to report here.
                let _ = write!(out, "{}", HumanCount(state.per_sec() as u64));
            };
            self.0.set_style(style.with_key("rate", rate));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
