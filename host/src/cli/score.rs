//! `caudal score`: scores the rows of a file, for backtests.
//!
//! Rows are validated and answered like requests to the assistance API, but many share an instance. A
//! rejected row is reported with its line and does not stop the others. The output file appears only once
//! it is complete.

mod input;
mod output;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::config::{ExplanationLanguage, Score};
use crate::domain::accessibility::Language;
use crate::models::Embedded;
use crate::schema::{FieldError, Fields};
use crate::scoring::{Envelope, Kind, Scored, Scorer, Visitor, with_kind};
use crate::wasm::{Runtime, ScoreError};
use input::{Input, Row};
use output::{Output, Rejects};

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
fn require_columns<K: Kind>(columns: &[String], language: Language) -> Result<()> {
    ensure!(!columns.is_empty(), "the file is empty: it needs a header");
    // The values do not matter: only missing columns are reported as required.
    let mut fields = Fields::from_query(columns.iter().map(|name| (name.clone(), "0".to_owned())).collect());
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
    let mut run = Run::<K> {
        scorer,
        output: Output::open(score.output.as_deref(), input.format, K::COLUMNS)?,
        rejects: Rejects::open(score.rejects.as_deref())?,
        lines: Vec::with_capacity(BATCH_ROWS),
        rows: Vec::with_capacity(BATCH_ROWS),
        scored: 0,
        failures: 0,
        started: Instant::now(),
        progress: progress(input.bytes),
    };
    let mut is_empty = true;
    while let Some(Row { line, fields }) = input.next_row()? {
        is_empty = false;
        let read = fields.and_then(|mut fields| {
            let row = Envelope::read::<K>(&mut fields, language);
            let faults = fields.into_faults();
            if faults.is_empty() { Ok(row) } else { Err(faults) }
        });
        match read {
            Ok(row) => {
                run.lines.push(line);
                run.rows.push(row);
            }
            Err(faults) => run.rejects.add(line, &faults)?,
        }
        if run.rows.len() == BATCH_ROWS {
            run.flush()?;
            run.show(input.read());
        }
    }
    ensure!(!is_empty, "{} has no rows", score.input.display());
    run.flush()?;
    run.finish()
}

/// One pass over a file.
struct Run<'a, K: Kind> {
    scorer: &'a Scorer<K>,
    output: Output,
    rejects: Rejects,
    /// Rows of the next batch, and their lines.
    rows: Vec<Envelope<K::Request>>,
    lines: Vec<u64>,
    scored: u64,
    /// Consecutive rows that the model failed on.
    failures: usize,
    started: Instant,
    progress: ProgressBar,
}

impl<K: Kind> Run<'_, K> {
    /// Scores the batch.
    fn flush(&mut self) -> Result<()> {
        let (lines, rows) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.rows));
        let requests: Vec<_> = rows.iter().map(|row| row.request.clone()).collect();
        let answers = match self.scorer.assess_batch(&requests) {
            Ok(answers) => answers,
            // One row may have failed the whole batch: score the rows one by one.
            Err(_) => requests.iter().map(|request| self.scorer.assess(request)).collect(),
        };
        let version = &self.scorer.identity().version;
        for ((line, row), answer) in lines.into_iter().zip(rows).zip(answers) {
            match answer {
                Ok(assessment) => {
                    self.failures = 0;
                    self.scored += 1;
                    let response = K::response(row, Scored { assessment, version: version.clone() });
                    self.output.write::<K>(line, &response)?;
                }
                Err(error) => self.failed(line, &error)?,
            }
        }
        Ok(())
    }

    fn failed(&mut self, line: u64, error: &ScoreError) -> Result<()> {
        self.failures += 1;
        ensure!(self.failures < FAILURES_MAX, "line {line}: {error}; {FAILURES_MAX} consecutive rows have failed");
        let fault = FieldError { field: String::new(), code: "model-failed".into(), detail: error.to_string() };
        self.rejects.add(line, &[fault])
    }

    fn show(&self, bytes: u64) {
        self.progress.set_message(format!("{} rows, {} rows/s", HumanCount(self.scored), HumanCount(self.rate())));
        self.progress.set_position(bytes);
    }

    fn rate(&self) -> u64 {
        (self.scored as f64 / self.started.elapsed().as_secs_f64().max(1e-9)) as u64
    }

    fn finish(self) -> Result<ExitCode> {
        let (rate, seconds) = (self.rate(), self.started.elapsed().as_secs_f64());
        self.progress.finish_and_clear();
        self.output.finish()?;
        let rejected = self.rejects.finish()?;
        let version = &self.scorer.identity().version;
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
