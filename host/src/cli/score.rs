//! `caudal score`: scores the rows of a file, for backtests.
//!
//! Rows are validated and answered like requests to the assistance API, but many share an instance, and every
//! processor scores some. A rejected row is reported with its line and does not stop the others. Answers are in the order
//! of the rows, and the output file appears only once it is complete.

pub(super) mod evaluate;
mod input;
mod output;
mod scorers;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::config::{ExplanationLanguage, Score};
use crate::domain::accessibility::Language;
use crate::domain::model::ModelVersion;
use crate::models::Embedded;
use crate::schema::{Columns, FieldError, Fields};
use crate::scoring::{Envelope, Kind, Scorer, Visitor, with_kind};
use crate::wasm::Runtime;
use input::Input;
use output::{Output, Rejects};
use scorers::{Answered, Form, RowOutcome, Scorers};

/// Rows in one instance: enough to make instantiation negligible, few enough that their answers fit into
/// what one call may return.
const BATCH_ROWS: usize = 256;
/// Consecutive failures after which the model is at fault, not the rows.
const FAILURES_MAX: usize = 100;
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// Exit code if rows were rejected.
const EXIT_REJECTED: u8 = 3;

pub(super) fn run(score: &Score) -> Result<ExitCode> {
    let bytes = component(score)?;
    with_kind(score.kind, Backtest { score, bytes }).context("transfer rules do not score")?
}

/// The bytes of the requested component.
fn component(score: &Score) -> Result<Vec<u8>> {
    let kind = score.kind;
    if let Some(path) = &score.component {
        return fs::read(path).with_context(|| format!("cannot read the component {}", path.display()));
    }
    let name = score.model.as_deref().unwrap_or(kind.as_str());
    match Embedded::find(name) {
        Some(embedded) if embedded.kind == kind => Ok(embedded.bytes.to_vec()),
        _ => {
            let all = Embedded::ALL.into_iter().filter(|it| it.kind == kind).map(|it| it.name);
            bail!("there is no {kind} model '{name}'; choose from {}", all.collect::<Vec<_>>().join(", "))
        }
    }
}

struct Backtest<'a> {
    score: &'a Score,
    bytes: Vec<u8>,
}

impl Visitor for Backtest<'_> {
    type Output = Result<ExitCode>;

    fn visit<K: Kind>(self) -> Result<ExitCode> {
        run_kind::<K>(self.score, &Scorer::<K>::load(&Runtime::new()?, &self.bytes)?)
    }
}

/// Rejects a command line that names one file twice.
fn require_separate_files(score: &Score) -> Result<()> {
    let files = [
        ("--output", score.output.as_deref()),
        ("--rejects", score.rejects.as_deref()),
        ("--input", Some(score.input.as_path())),
        ("--component", score.component.as_deref()),
    ];
    let files: Vec<_> = files.into_iter().filter_map(|(flag, path)| Some((flag, path?))).collect();
    for (at, (flag, path)) in files.iter().enumerate() {
        let same = files[at + 1..].iter().find(|(_, other)| is_same_file(path, other));
        if let Some((other, _)) = same {
            bail!("{flag} and {other} are the same file, {}: choose another", path.display());
        }
    }
    Ok(())
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let resolve = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    resolve(one).is_some_and(|one| Some(one) == resolve(other))
}

/// Rejects a header that lacks a required column.
fn require_columns<K: Kind>(columns: &Columns, language: Language) -> Result<()> {
    ensure!(columns.count() > 0, "the file is empty: it needs a header");
    // The values do not matter: only missing columns are reported as required.
    let mut fields = Fields::from_query(columns.names().map(|name| (name, "0")));
    Envelope::read::<K>(&mut fields, language);
    let missing = fields.into_faults().into_iter().filter(|fault| fault.code == "required");
    let missing: Vec<_> = missing.map(|fault| fault.field).collect();
    ensure!(missing.is_empty(), "the header lacks {}", missing.join(", "));
    Ok(())
}

fn run_kind<K: Kind>(score: &Score, scorer: &Scorer<K>) -> Result<ExitCode> {
    require_separate_files(score)?;
    let language = match score.language {
        ExplanationLanguage::Es => Language::Spanish,
        ExplanationLanguage::En => Language::English,
    };
    let mut input = Input::open(&score.input, score.format)?;
    if let Some(columns) = input.columns() {
        require_columns::<K>(columns, language)?;
    }
    let output = Output::open(score.output.as_deref(), input.format, K::COLUMNS)?;
    let form = Form { language, format: output.format };
    let mut run = Run {
        output,
        rejects: Rejects::open(score.rejects.as_deref())?,
        scored: 0,
        failures: 0,
        started: Instant::now(),
        progress: progress(input.bytes),
    };
    let is_empty = thread::scope(|scope| {
        let scorers = Scorers::start::<K>(scope, scorer, form);
        let mut sent = 0;
        while let Some(batch) = input.next_batch(BATCH_ROWS)? {
            if sent >= scorers.ahead() {
                run.record(scorers.answer(sent - scorers.ahead())?)?;
            }
            scorers.send(sent, batch)?;
            sent += 1;
        }
        for number in sent.saturating_sub(scorers.ahead())..sent {
            run.record(scorers.answer(number)?)?;
        }
        anyhow::Ok(sent == 0)
    })?;
    ensure!(!is_empty, "{} has no rows", score.input.display());
    run.finish(&scorer.identity().version)
}

/// One pass over a file.
struct Run {
    output: Output,
    rejects: Rejects,
    scored: u64,
    /// Consecutive rows that the model failed on.
    failures: usize,
    started: Instant,
    progress: ProgressBar,
}

impl Run {
    fn record(&mut self, answered: Answered) -> Result<()> {
        for (line, outcome) in answered.outcomes {
            match outcome {
                RowOutcome::Scored => {
                    self.failures = 0;
                    self.scored += 1;
                }
                RowOutcome::Rejected(faults) => self.rejects.add(line, &faults)?,
                RowOutcome::Failed(error) => {
                    self.failures += 1;
                    let (failures, most) = (self.failures, FAILURES_MAX);
                    ensure!(failures < most, "line {line}: {error}; {most} consecutive rows have failed");
                    let code = "model-failed".into();
                    self.rejects.add(line, &[FieldError { field: String::new(), code, detail: error.to_string() }])?;
                }
            }
        }
        self.output.write(&answered.text)?;
        self.progress.set_message(format!("{} rows, {} rows/s", HumanCount(self.scored), HumanCount(self.rate())));
        self.progress.set_position(answered.read);
        Ok(())
    }

    fn rate(&self) -> u64 {
        (self.scored as f64 / self.started.elapsed().as_secs_f64().max(1e-9)) as u64
    }

    fn finish(self, version: &ModelVersion) -> Result<ExitCode> {
        let (rate, seconds) = (self.rate(), self.started.elapsed().as_secs_f64());
        self.progress.finish_and_clear();
        self.output.finish()?;
        let rejected = self.rejects.finish()?;
        let mut stderr = io::stderr();
        writeln!(
            stderr,
            "rows scored by {version}: {} in {seconds:.1} s ({} per second); rejected: {}",
            HumanCount(self.scored),
            HumanCount(rate),
            HumanCount(rejected)
        )?;
        Ok(if rejected == 0 { ExitCode::SUCCESS } else { ExitCode::from(EXIT_REJECTED) })
    }
}

/// A bar over the bytes of a file, or a spinner if the length is unknown. Shown only on a terminal.
fn progress(bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match bytes {
        Some(bytes) => (ProgressBar::new(bytes), "{elapsed:>4} {bar:30} {percent:>3}%  {msg}"),
        None => (ProgressBar::new_spinner(), "{elapsed:>4} {spinner} {msg}"),
    };
    // The templates are valid.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(PROGRESS_EVERY);
    bar
}
