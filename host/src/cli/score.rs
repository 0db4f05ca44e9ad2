//! `caudal score`: runs the rows of a file through a scorer, for backtests.
//!
//! Rows are read, checked and answered as the assistance API does it, but many to an instance. A row
//! that is refused is told by its line and does not stop the others; the output appears whole or not
//! at all.

mod input;
mod output;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::cli::scorers::Scorer;
use crate::config::{ExplanationLanguage, Score, ScorerKind};
use crate::domain::accessibility::Language;
use crate::domain::model::ModelKind;
use crate::models::{Embedded, ScoreError};
use crate::schema::{FieldError, Fields};
use crate::wasm::{AccessibilityScorer, Identity, NudgeScorer, RiskScorer, Runtime};
use input::{Input, Row};
use output::{Output, Rejects};

/// Rows to an instance: enough that starting one costs nothing, few enough that their answers fit in
/// what one call may return.
const BATCH_ROWS: usize = 256;
/// Rows that fail one after another before the model is given up: it is not the rows.
const FAILURES_MAX: usize = 100;
/// How often the progress on a terminal changes.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// Some rows were refused.
const EXIT_REFUSED: u8 = 3;

pub(super) fn run(score: &Score) -> Result<ExitCode> {
    let runtime = Runtime::new()?;
    let bytes = component(score)?;
    match score.kind {
        ScorerKind::Risk => each_row(score, &RiskScorer::load(&runtime, &bytes)?),
        ScorerKind::Nudge => each_row(score, &NudgeScorer::load(&runtime, &bytes)?),
        ScorerKind::Accessibility => each_row(score, &AccessibilityScorer::load(&runtime, &bytes)?),
    }
}

/// The bytes of the component that was asked for.
fn component(score: &Score) -> Result<Vec<u8>> {
    if let Some(path) = &score.component {
        return fs::read(path).with_context(|| format!("cannot read the component {}", path.display()));
    }
    let kind = match score.kind {
        ScorerKind::Risk => ModelKind::Risk,
        ScorerKind::Nudge => ModelKind::Nudge,
        ScorerKind::Accessibility => ModelKind::Accessibility,
    };
    let name = score.model.as_deref().unwrap_or(kind.as_str());
    match Embedded::find(name) {
        Some(embedded) if embedded.kind == kind => Ok(embedded.bytes.to_vec()),
        _ => {
            let all = Embedded::ALL.into_iter().filter(|it| it.kind == kind).map(|it| it.name);
            bail!("there is no {kind} model '{name}'; there are {}", all.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Refuses to write a file over another one of the same command.
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

/// Refuses a header without a column that every row needs.
fn require_columns<S: Scorer>(columns: &[String], language: Language) -> Result<()> {
    // The values do not matter: only a column that is missing is reported as required.
    let mut fields = Fields::from_query(columns.iter().map(|name| (name.clone(), "0".to_owned())).collect());
    S::read(&mut fields, language);
    let missing = fields.into_faults().into_iter().filter(|fault| fault.code == "required");
    let missing: Vec<_> = missing.map(|fault| fault.field).collect();
    ensure!(missing.is_empty(), "the header lacks {}", missing.join(", "));
    Ok(())
}

fn each_row<S: Scorer>(score: &Score, scorer: &S) -> Result<ExitCode> {
    require_separate_files(score)?;
    let language = match score.language {
        ExplanationLanguage::Es => Language::Spanish,
        ExplanationLanguage::En => Language::English,
    };
    let mut input = Input::open(&score.input, score.format)?;
    if let Some(columns) = input.columns() {
        require_columns::<S>(columns, language)?;
    }
    let mut run = Run {
        scorer,
        output: Output::open(score.output.as_deref(), input.format, S::COLUMNS)?,
        rejects: Rejects::open(score.rejects.as_deref())?,
        waiting: Vec::with_capacity(BATCH_ROWS),
        scored: 0,
        failures: 0,
        started: Instant::now(),
        progress: progress(input.bytes),
    };
    let mut is_empty = true;
    while let Some(Row { line, fields }) = input.next_row()? {
        is_empty = false;
        let read = fields.and_then(|mut fields| {
            let row = S::read(&mut fields, language);
            let faults = fields.into_faults();
            if faults.is_empty() { Ok(row) } else { Err(faults) }
        });
        match read {
            Ok(row) => run.waiting.push((line, row)),
            Err(faults) => run.rejects.add(line, &faults)?,
        }
        if run.waiting.len() == BATCH_ROWS {
            run.flush()?;
            run.show(input.read());
        }
    }
    ensure!(!is_empty, "{} has no rows", score.input.display());
    run.flush()?;
    run.finish()
}

/// One pass over a file.
struct Run<'a, S: Scorer> {
    scorer: &'a S,
    output: Output,
    rejects: Rejects,
    /// Rows of the next batch, with their lines.
    waiting: Vec<(u64, S::Row)>,
    scored: u64,
    /// Rows that the model failed on, one after another.
    failures: usize,
    started: Instant,
    progress: ProgressBar,
}

impl<S: Scorer> Run<'_, S> {
    /// Scores the rows that wait.
    fn flush(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        let (lines, rows): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let answers = match self.scorer.score(&rows) {
            Ok(answers) => answers,
            // One row may be what the batch failed of: find it, and go on with the others.
            Err(_) => rows.iter().map(|row| self.scorer.score_one(row)).collect(),
        };
        for ((line, row), answer) in lines.into_iter().zip(rows).zip(answers) {
            match answer {
                Ok(answer) => {
                    self.failures = 0;
                    self.scored += 1;
                    let answer = self.scorer.answer(row, answer);
                    self.output.write(line, &answer)?;
                }
                Err(error) => self.failed(line, &error)?,
            }
        }
        Ok(())
    }

    fn failed(&mut self, line: u64, error: &ScoreError) -> Result<()> {
        self.failures += 1;
        ensure!(self.failures < FAILURES_MAX, "line {line}: {error}; so did {FAILURES_MAX} rows one after another");
        let fault = FieldError { field: String::new(), code: "model-failed".into(), detail: error.to_string() };
        self.rejects.add(line, &[fault])
    }

    fn show(&self, bytes: u64) {
        self.progress.set_message(format!("{} rows, {} rows/s", HumanCount(self.scored), HumanCount(self.rate())));
        self.progress.set_position(bytes);
    }

    fn rate(&self) -> u64 {
        // A rate of rows, shown to a person: whole numbers are enough.
        (self.scored as f64 / self.started.elapsed().as_secs_f64().max(1e-9)) as u64
    }

    fn finish(self) -> Result<ExitCode> {
        let (rate, seconds) = (self.rate(), self.started.elapsed().as_secs_f64());
        self.progress.finish_and_clear();
        self.output.finish()?;
        let refused = self.rejects.finish()?;
        let Identity { version, .. } = self.scorer.identity();
        let mut stderr = io::stderr();
        writeln!(
            stderr,
            "{} rows scored by {version} in {seconds:.1} s ({} rows/s), {} refused",
            HumanCount(self.scored),
            HumanCount(rate),
            HumanCount(refused)
        )?;
        Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::from(EXIT_REFUSED) })
    }
}

/// On a terminal a bar over the bytes of a file, or a count when there is no end to see.
fn progress(bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match bytes {
        Some(bytes) => (ProgressBar::new(bytes), "{elapsed:>4} {bar:30} {percent:>3} %  {msg}"),
        None => (ProgressBar::new_spinner(), "{elapsed:>4} {spinner} {msg}"),
    };
    // Constant templates, which are sound.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(PROGRESS_EVERY);
    bar
}
