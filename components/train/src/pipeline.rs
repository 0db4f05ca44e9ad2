//! `make train`: fits and measures each model, and writes weights, card, plot and golden cases.

use std::path::Path;

use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::accessibility::generator::{DATA_1, DATA_2};
use crate::card::{Card, Data, Sample, Table, Text, Weights};
use crate::data::{Row, replace, sha256, sha256_of};
use crate::metrics::{Reference, Reliability};
use crate::model::Model;
use crate::random::Random;
use crate::risk::evaluation::{Evaluation, stress};
use crate::risk::fit::{RISK_1, RISK_2};
use crate::{accessibility, data, golden, nudge, plot, risk};

/// Seed of everything that is written.
pub const SEED: u64 = 20_261_121;
pub(crate) const TRAINING_ROWS: usize = 150_000;
pub const HELD_OUT_ROWS: usize = 50_000;
/// Pairs for each guarantee of monotonicity.
pub const PAIRS: usize = 1_000_000;

/// Characters of a SHA-256 that are printed.
const SHA256_SHOWN: usize = 12;

/// Independent random streams of a seed.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    Training = 1,
    HeldOut = 2,
    /// Resampling for intervals.
    Intervals = 3,
    /// Pairs for monotonicity.
    Monotone = 4,
    Golden = 5,
    Stress = 6,
}

impl Stream {
    #[must_use]
    pub fn random(self, seed: u64) -> Random {
        Random::new(seed, self as u64)
    }
}

/// Trains every model and writes its files below `root`. Checks `pairs` pairs for each guarantee of
/// monotonicity, and calls `report` with a line for each finished model.
///
/// # Errors
/// If a fit fails or a file cannot be written.
pub fn all(root: &Path, pairs: usize, report: impl Fn(&str)) -> Result<()> {
    risk(root, pairs, &report).context("risk")?;
    report(&nudge(root).context("nudge")?);
    report(&accessibility(root).context("accessibility")?);
    Ok(())
}

fn risk(root: &Path, pairs: usize, report: &dyn Fn(&str)) -> Result<()> {
    let progress = Progress::new("risk");
    progress.step("generating rows");
    let samples = Samples::new(risk::generator::VERSION, risk::generator::generate);
    progress.step("fitting risk-1");
    let baseline = risk::fit::fit(&RISK_1, &samples.training)?;
    progress.step("fitting risk-2");
    let engineered = risk::fit::fit(&RISK_2, &samples.training)?;
    drop(progress);
    let baseline_evaluation = Evaluation::new(&baseline, &samples.held_out, true);
    let others = [("risk-1", &baseline_evaluation)];
    for (model, specification, weights, others) in
        [(Model::Risk1, &RISK_1, &baseline, &[][..]), (Model::Risk2, &RISK_2, &engineered, &others[..])]
    {
        let name = specification.name;
        let progress = Progress::new(name);
        progress.step("evaluating");
        let evaluation = Evaluation::new(weights, &samples.held_out, true);
        let (mut tables, calibration) = evaluation.report(name, others, &mut Stream::Intervals.random(SEED));
        tables.push(stress(name, weights, HELD_OUT_ROWS, &mut Stream::Stress.random(SEED)));
        let done = |guarantee: &str| progress.step(&format!("{pairs} pairs: {guarantee}"));
        tables.push(risk::card::monotonicity(weights, pairs, &mut Stream::Monotone.random(SEED), &done));
        tables.push(risk::card::coefficients(specification, weights));
        let cases = risk::golden::cases(name, weights, &mut Stream::Golden.random(SEED));
        let trained = Trained {
            version: weights.version,
            summary: weights.summary,
            weights: weights.to_file(),
            text: risk::card::text(specification),
            tables,
            calibration,
            reference: data::references(&samples.training)?,
            golden: golden::lines(&cases)?,
        };
        let line = write(root, model, &samples, trained)?;
        drop(progress);
        report(&line);
    }
    Ok(())
}

fn nudge(root: &Path) -> Result<String> {
    let progress = Progress::new(nudge::fit::NAME);
    progress.step("generating rows");
    let samples = Samples::new(nudge::generator::VERSION, nudge::generator::generate);
    progress.step("fitting");
    let fit = nudge::fit::fit(&samples.training)?;
    progress.step("evaluating");
    let weights = &fit.weights;
    let (mut tables, calibration) = nudge::evaluation::report(weights, &samples.held_out);
    tables.extend([nudge::evaluation::constraint(&fit), nudge::card::coefficients(weights)]);
    let cases = nudge::golden::cases(nudge::fit::NAME, weights, &mut Stream::Golden.random(SEED));
    let trained = Trained {
        version: weights.version,
        summary: weights.summary,
        weights: weights.to_file(),
        text: nudge::card::text(),
        tables,
        calibration,
        reference: data::references(&samples.training)?,
        golden: golden::lines(&cases)?,
    };
    write(root, Model::Nudge1, &samples, trained)
}

fn accessibility(root: &Path) -> Result<String> {
    use accessibility::{card, evaluation, fit};
    let progress = Progress::new(fit::NAME);
    progress.step("generating rows");
    let samples = Samples::new(DATA_2.version, |rows, random| DATA_2.generate(rows, random));
    let others = DATA_1.generate(HELD_OUT_ROWS, &mut Stream::HeldOut.random(SEED));
    progress.step("fitting");
    let weights = &fit::fit(&samples.training)?;
    progress.step("evaluating");
    let (mut tables, calibration) = evaluation::report(weights, &samples.held_out);
    tables.push(evaluation::elsewhere(weights, &DATA_1, &others));
    tables.extend([card::decisions(weights), card::signs(weights), card::coefficients(weights)]);
    let cases = accessibility::golden::cases(weights, &mut Stream::Golden.random(SEED));
    let trained = Trained {
        version: weights.version,
        summary: weights.summary,
        weights: weights.to_file(),
        text: card::text(),
        tables,
        calibration,
        // The host does not monitor what people can see or hear, so it has nothing to compare.
        reference: Vec::new(),
        golden: golden::lines(&cases)?,
    };
    write(root, Model::Accessibility2, &samples, trained)
}

/// The rows of a kind.
struct Samples<F, L> {
    generator: &'static str,
    training: Vec<Row<F, L>>,
    held_out: Vec<Row<F, L>>,
}

impl<F: Serialize, L: Serialize> Samples<F, L> {
    fn new(generator: &'static str, generate: impl Fn(usize, &mut Random) -> Vec<Row<F, L>>) -> Self {
        Self {
            generator,
            training: generate(TRAINING_ROWS, &mut Stream::Training.random(SEED)),
            held_out: generate(HELD_OUT_ROWS, &mut Stream::HeldOut.random(SEED)),
        }
    }

    fn describe(&self, notes: Vec<&'static str>) -> Result<Data> {
        let sample = |rows: &[Row<F, L>]| anyhow::Ok(Sample { rows: rows.len(), sha256: sha256_of(rows)? });
        let (training, held_out) = (sample(&self.training)?, sample(&self.held_out)?);
        Ok(Data { generator: self.generator, seed: SEED, training, held_out, notes })
    }
}

/// The files written for a model.
struct Trained<'a> {
    version: &'a str,
    summary: &'a str,
    weights: Vec<u8>,
    text: Text,
    tables: Vec<Table>,
    calibration: Vec<Reliability>,
    reference: Vec<Reference>,
    golden: String,
}

/// Writes the files of a model, and returns a line that says which of them changed.
fn write<F: Serialize, L: Serialize>(
    root: &Path,
    model: Model,
    samples: &Samples<F, L>,
    trained: Trained<'_>,
) -> Result<String> {
    let card = Card {
        model: model.name(),
        kind: model.kind().name(),
        version: trained.version.to_owned(),
        summary: trained.summary.to_owned(),
        purpose: trained.text.purpose,
        data: samples.describe(trained.text.notes)?,
        weights: Weights { bytes: trained.weights.len(), sha256: sha256(&trained.weights) },
        tables: trained.tables,
        calibration: trained.calibration,
        reference: trained.reference,
        limits: trained.text.limits,
        misuse: trained.text.misuse,
    };
    let folder = model.folder(root);
    let title = format!("{} {}: reliability on held-out rows", card.model, card.version);
    let plot = plot::reliability(&title, &card.calibration);
    let mut changed = Vec::new();
    for (path, contents) in [
        (folder.join("weights.bin"), trained.weights.as_slice()),
        (folder.join("card.md"), card.markdown().as_bytes()),
        (folder.join("card.json"), card.json()?.as_bytes()),
        (folder.join("reliability.svg"), plot.as_bytes()),
        (model.golden(root), trained.golden.as_bytes()),
    ] {
        if replace(&path, contents)? {
            changed.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    let changed = if changed.is_empty() { "unchanged".to_owned() } else { format!("changed: {}", changed.join(", ")) };
    Ok(format!("{:16} weights {}  {changed}", card.model, &card.weights.sha256[..SHA256_SHOWN]))
}

/// Shows the current step if standard error is a terminal.
struct Progress(ProgressBar);

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Progress {
    fn new(model: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_prefix(model);
        // The template is constant and valid.
        if let Ok(style) = ProgressStyle::with_template("{prefix:16} {elapsed:>4} {spinner} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn step(&self, name: &str) {
        self.0.set_message(name.to_owned());
        self.0.tick();
    }
}
