//! What `make train` does: for each model fit, measure, and write weights, card, plot and golden cases.

use std::path::Path;

use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};

use crate::card::{Card, Data, Sample, Table, Weights};
use crate::metrics::{Reference, Reliability};
use crate::model::Model;
use crate::random::Random;
use crate::risk::evaluation::Evaluation;
use crate::risk::fit::{RISK_1, RISK_2};
use crate::{accessibility, data, golden, nudge, plot, risk};

/// Seed of everything that is written.
pub const SEED: u64 = 20_261_121;
/// Rows that weights are fitted to.
pub const TRAINING_ROWS: usize = 150_000;
/// Rows that figures are about.
pub const HELD_OUT_ROWS: usize = 50_000;
/// Pairs for each promise of monotonicity.
pub const PAIRS: usize = 1_000_000;

/// Digits of a sha256 that are told.
const SHA256_SHOWN: usize = 12;

/// Streams of the seed: what one of them gives does not depend on another.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    /// Rows that weights are fitted to.
    Training = 1,
    /// Rows that figures are about.
    HeldOut = 2,
    /// Resampling.
    Intervals = 3,
    /// Pairs.
    Monotone = 4,
    /// Golden cases.
    Golden = 5,
    /// Rows of changed processes.
    Stress = 6,
}

impl Stream {
    /// From its start.
    #[must_use]
    pub fn random(self, seed: u64) -> Random {
        Random::new(seed, self as u64)
    }
}

/// Says on a terminal what is being done, and clears it away; elsewhere nothing.
struct Progress(ProgressBar);

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Progress {
    fn new(model: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_prefix(model);
        // A constant template, which is sound.
        if let Ok(style) = ProgressStyle::with_template("{prefix:16} {elapsed:>4} {spinner} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn now(&self, doing: &str) {
        self.0.set_message(doing.to_owned());
        self.0.tick();
    }
}

/// Makes every model again below `root`, with so many pairs for each promise, and tells of each when it
/// is done.
///
/// # Errors
/// When a fit fails or a file cannot be written.
pub fn all(root: &Path, pairs: usize, tell: impl Fn(&str)) -> Result<()> {
    risks(root, pairs, &tell).context("risk")?;
    tell(&nudges(root).context("nudge")?);
    tell(&accessibilities(root).context("accessibility")?);
    Ok(())
}

fn risks(root: &Path, pairs: usize, tell: &dyn Fn(&str)) -> Result<()> {
    let progress = Progress::new("risk");
    progress.now("making rows");
    let training = risk::generator::generate(TRAINING_ROWS, &mut Stream::Training.random(SEED));
    let held_out = risk::generator::generate(HELD_OUT_ROWS, &mut Stream::HeldOut.random(SEED));
    let records = |rows: &[risk::generator::Row]| data::sha256_of(rows.iter().map(risk::rows::Record::from));
    let (training_sha256, held_out_sha256) = (records(&training)?, records(&held_out)?);
    progress.now("fitting risk-1");
    let baseline = risk::fit::fit(&RISK_1, &training)?;
    progress.now("fitting risk-2");
    let engineered = risk::fit::fit(&RISK_2, &training)?;
    drop(progress);
    let others = Evaluation::new(&baseline, &held_out, true);
    let beside = [("risk-1", &others)];
    for (model, specification, weights, others) in
        [(Model::Risk1, &RISK_1, &baseline, &[][..]), (Model::Risk2, &RISK_2, &engineered, &beside[..])]
    {
        let progress = Progress::new(specification.name);
        progress.now("measuring");
        let evaluation = Evaluation::new(weights, &held_out, true);
        let mut report = evaluation.report(specification.name, others, &mut Stream::Intervals.random(SEED));
        report.tables.push(risk::evaluation::stress(
            specification.name,
            weights,
            HELD_OUT_ROWS,
            &mut Stream::Stress.random(SEED),
        ));
        let done = |promise: &str| progress.now(&format!("{pairs} pairs: {promise}"));
        report.tables.push(risk::card::monotonicity(weights, pairs, &mut Stream::Monotone.random(SEED), &done));
        report.tables.push(risk::card::coefficients(specification, weights));
        let cases = risk::golden::cases(specification.name, weights, &mut Stream::Golden.random(SEED));
        let words = Words {
            version: weights.version,
            summary: weights.summary,
            purpose: risk::card::purpose(),
            generator: risk::generator::VERSION,
            hashes: [&training_sha256, &held_out_sha256],
            reference: risk::rows::reference(&training),
            notes: risk::card::notes(),
            limits: risk::card::limits(specification),
            misuse: risk::card::misuse(),
        };
        let told =
            write(root, model, &weights.to_file(), words, report.tables, report.calibration, &golden::lines(&cases)?)?;
        drop(progress);
        tell(&told);
    }
    Ok(())
}

fn nudges(root: &Path) -> Result<String> {
    let progress = Progress::new(nudge::fit::NAME);
    progress.now("making rows");
    let training = nudge::generator::generate(TRAINING_ROWS, &mut Stream::Training.random(SEED));
    let held_out = nudge::generator::generate(HELD_OUT_ROWS, &mut Stream::HeldOut.random(SEED));
    progress.now("fitting");
    let fit = nudge::fit::fit(&training)?;
    progress.now("measuring");
    let (mut tables, calibration) = nudge::evaluation::report(&fit.weights, &held_out, true);
    tables.extend([nudge::evaluation::promise(&fit), nudge::card::coefficients(&fit.weights)]);
    let cases = nudge::golden::cases(nudge::fit::NAME, &fit.weights, &mut Stream::Golden.random(SEED));
    let words = Words {
        version: fit.weights.version,
        summary: fit.weights.summary,
        purpose: nudge::card::purpose(),
        generator: nudge::generator::VERSION,
        hashes: [&data::sha256_of(&training)?, &data::sha256_of(&held_out)?],
        reference: nudge::generator::reference(&training),
        notes: nudge::card::notes(),
        limits: nudge::card::limits(),
        misuse: nudge::card::misuse(),
    };
    write(root, Model::Nudge1, &fit.weights.to_file(), words, tables, calibration, &golden::lines(&cases)?)
}

fn accessibilities(root: &Path) -> Result<String> {
    let progress = Progress::new(accessibility::fit::NAME);
    progress.now("making rows");
    let training = accessibility::generator::generate(TRAINING_ROWS, &mut Stream::Training.random(SEED));
    let held_out = accessibility::generator::generate(HELD_OUT_ROWS, &mut Stream::HeldOut.random(SEED));
    progress.now("fitting");
    let weights = accessibility::fit::fit(&training)?;
    progress.now("measuring");
    let (mut tables, calibration) = accessibility::evaluation::report(&weights, &held_out, true);
    tables.extend([
        accessibility::card::decisions(&weights),
        accessibility::card::signs(&weights),
        accessibility::card::coefficients(&weights),
    ]);
    let cases = accessibility::golden::cases(accessibility::fit::NAME, &weights, &mut Stream::Golden.random(SEED));
    let words = Words {
        version: weights.version,
        summary: weights.summary,
        purpose: accessibility::card::purpose(),
        generator: accessibility::generator::VERSION,
        hashes: [&data::sha256_of(&training)?, &data::sha256_of(&held_out)?],
        // What a person can see or hear is not watched, so there is nothing to compare it with.
        reference: Vec::new(),
        notes: accessibility::card::notes(),
        limits: accessibility::card::limits(),
        misuse: accessibility::card::misuse(),
    };
    write(root, Model::Accessibility1, &weights.to_file(), words, tables, calibration, &golden::lines(&cases)?)
}

/// The parts of a card that differ in words only.
struct Words<'a> {
    version: &'a str,
    summary: &'a str,
    purpose: Vec<String>,
    generator: &'static str,
    hashes: [&'a str; 2],
    reference: Vec<Reference>,
    notes: Vec<String>,
    limits: Vec<String>,
    misuse: Vec<String>,
}

fn write(
    root: &Path,
    model: Model,
    weights: &[u8],
    words: Words<'_>,
    tables: Vec<Table>,
    calibration: Vec<Reliability>,
    cases: &str,
) -> Result<String> {
    let sample = |rows, sha256: &str| Sample { rows, sha256: sha256.to_owned() };
    let card = Card {
        model: model.name(),
        kind: model.kind().name(),
        version: words.version.to_owned(),
        summary: words.summary.to_owned(),
        purpose: words.purpose,
        data: Data {
            generator: words.generator,
            seed: SEED,
            training: sample(TRAINING_ROWS, words.hashes[0]),
            held_out: sample(HELD_OUT_ROWS, words.hashes[1]),
            notes: words.notes,
        },
        weights: Weights { bytes: weights.len(), sha256: data::sha256(weights) },
        tables,
        calibration,
        reference: words.reference,
        limits: words.limits,
        misuse: words.misuse,
    };
    let folder = model.folder(root);
    let title = format!("{} {}: reliability on held-out rows", card.model, card.version);
    let plot = plot::reliability(&title, &card.calibration);
    let mut changed = Vec::new();
    for (path, contents) in [
        (folder.join("weights.bin"), weights),
        (folder.join("card.md"), card.markdown().as_bytes()),
        (folder.join("card.json"), card.json()?.as_bytes()),
        (folder.join("reliability.svg"), plot.as_bytes()),
        (model.golden(root), cases.as_bytes()),
    ] {
        if data::replace(&path, contents)? {
            changed.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    let changed =
        if changed.is_empty() { "nothing changed".to_owned() } else { format!("new: {}", changed.join(", ")) };
    Ok(format!("{:16} weights {}  {changed}", card.model, &card.weights.sha256[..SHA256_SHOWN]))
}
