//! The command line. Results go to standard output, progress to standard error.
#![expect(clippy::print_stdout, reason = "these commands print their results")]

mod explain;
mod psi;

use std::fs;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Parser, Subcommand};
use serde::de::DeserializeOwned;

use crate::card::Table;
use crate::data::{self, Facts, Row};
use crate::model::{Kind, Model};
use crate::pipeline::{self, HELD_OUT_ROWS, SEED, Stream, TRAINING_ROWS};
use crate::random::Random;
use crate::risk::evaluation::Evaluation;
use crate::risk::fit::{RISK_1, RISK_2};
use crate::{accessibility, nudge, risk};

/// Trains Caudal's models: data, weights, cards, golden cases.
#[derive(Debug, Parser)]
#[command(name = "caudal-train", version)]
pub struct Command {
    /// Root of the repository that contains the models
    #[arg(long, default_value = ".", global = true)]
    root: PathBuf,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Train every model: weights, cards, plots, golden cases
    All,
    /// Generate labelled rows as CSV
    Generate {
        #[arg(long)]
        kind: Kind,
        #[arg(long, default_value_t = 1000)]
        rows: usize,
        #[arg(long, default_value_t = SEED)]
        seed: u64,
        /// File to write (default: standard output)
        #[arg(long)]
        output: Option<PathBuf>,
    },
    /// Fit a model to rows and write its weights file
    Fit {
        #[arg(long)]
        model: Model,
        /// Labelled rows, in the format of `generate` (default: the training rows)
        #[arg(long)]
        input: Option<PathBuf>,
        /// File to write
        #[arg(long)]
        output: PathBuf,
        /// Version of the fitted risk model, for example 2.1.0 (default: that of the model)
        #[arg(long)]
        version: Option<String>,
    },
    /// Evaluate a model on rows: results with intervals, calibration, slices
    Evaluate {
        #[arg(long)]
        model: Model,
        /// Weights file (default: that of the model)
        #[arg(long)]
        weights: Option<PathBuf>,
        /// Labelled rows (default: the held-out rows)
        #[arg(long)]
        input: Option<PathBuf>,
    },
    /// Explain one verdict: every contribution to it
    Explain {
        #[arg(long)]
        model: Model,
        /// Weights file (default: that of the model)
        #[arg(long)]
        weights: Option<PathBuf>,
        /// The body of an HTTP request as JSON; `-` for standard input
        #[arg(long, default_value = "-")]
        input: PathBuf,
    },
    /// Population stability index of features and score between two files of rows
    Psi {
        #[arg(long)]
        model: Model,
        /// Weights file (default: that of the model)
        #[arg(long)]
        weights: Option<PathBuf>,
        /// Earlier rows, in the format of `generate`
        #[arg(long)]
        reference: PathBuf,
        /// Later rows
        #[arg(long)]
        observed: PathBuf,
    },
    /// Find the cut-offs of a risk score with the lowest cost
    Threshold {
        #[arg(long, default_value = "risk-2")]
        model: Model,
        /// Weights file (default: that of the model)
        #[arg(long)]
        weights: Option<PathBuf>,
        /// CSV with the header `severity,low,medium,high` and a line for each severity: the cost of each level
        #[arg(long)]
        cost_matrix: PathBuf,
        /// Labelled rows (default: the held-out rows)
        #[arg(long)]
        input: Option<PathBuf>,
    },
}

impl Command {
    /// # Errors
    /// Name the file or the value at fault.
    pub fn run(self) -> Result<()> {
        let root = self.root.as_path();
        match self.action {
            Action::All => pipeline::all(root, pipeline::PAIRS, |line| println!("{line}")),
            Action::Generate { kind, rows, seed, output } => generate(kind, rows, seed, output.as_deref()),
            Action::Fit { model, input, output, version } => fit(model, input.as_deref(), &output, version.as_deref()),
            Action::Evaluate { model, weights, input } => {
                evaluate(model, &bytes(model, weights, root)?, input.as_deref())
            }
            Action::Explain { model, weights, input } => explain::run(model, &bytes(model, weights, root)?, &input),
            Action::Psi { model, weights, reference, observed } => {
                psi::run(model, &bytes(model, weights, root)?, &reference, &observed)
            }
            Action::Threshold { model, weights, cost_matrix, input } => {
                threshold(model, &bytes(model, weights, root)?, &cost_matrix, input.as_deref())
            }
        }
    }
}

fn bytes(model: Model, given: Option<PathBuf>, root: &Path) -> Result<Vec<u8>> {
    let path = given.unwrap_or_else(|| model.weights(root));
    fs::read(&path).with_context(|| path.display().to_string())
}

fn malformed(reason: caudal_model::weights::Malformed) -> anyhow::Error {
    use caudal_model::weights::Malformed;
    match reason {
        Malformed::Kind => anyhow::anyhow!("these weights are for another kind of model"),
        reason => anyhow::anyhow!("the weights file is malformed: {reason:?}"),
    }
}

/// Rows from a file, or else generated.
fn rows<F: Facts, L: DeserializeOwned>(
    input: Option<&Path>,
    generate: impl Fn(usize, &mut Random) -> Vec<Row<F, L>>,
    (stream, count): (Stream, usize),
) -> Result<Vec<Row<F, L>>> {
    match input {
        Some(path) => data::read(path),
        None => Ok(generate(count, &mut stream.random(SEED))),
    }
}

/// People for the accessibility model.
fn people(count: usize, random: &mut Random) -> Vec<accessibility::generator::Row> {
    accessibility::generator::DATA_2.generate(count, random)
}

const TRAINING: (Stream, usize) = (Stream::Training, TRAINING_ROWS);
const HELD_OUT: (Stream, usize) = (Stream::HeldOut, HELD_OUT_ROWS);

fn generate(kind: Kind, rows: usize, seed: u64, output: Option<&Path>) -> Result<()> {
    let mut csv = Vec::new();
    let random = &mut Stream::Training.random(seed);
    match kind {
        Kind::Risk => data::write(&risk::generator::generate(rows, random), &mut csv)?,
        Kind::Nudge => data::write(&nudge::generator::generate(rows, random), &mut csv)?,
        Kind::Accessibility => data::write(&people(rows, random), &mut csv)?,
    }
    match output {
        Some(path) => data::replace(path, &csv).map(drop),
        None => Ok(stdout().write_all(&csv)?),
    }
}

fn fit(model: Model, input: Option<&Path>, output: &Path, version: Option<&str>) -> Result<()> {
    ensure!(version.is_none() || model.kind() == Kind::Risk, "--version is for risk models");
    let fit_risk = |model| {
        let weights = risk::fit::fit(model, &rows(input, risk::generator::generate, TRAINING)?)?;
        anyhow::Ok(caudal_model::risk::Weights { version: version.unwrap_or(weights.version), ..weights }.to_file())
    };
    let file = match model {
        Model::Risk1 => fit_risk(&RISK_1)?,
        Model::Risk2 => fit_risk(&RISK_2)?,
        Model::Nudge1 => nudge::fit::fit(&rows(input, nudge::generator::generate, TRAINING)?)?.weights.to_file(),
        Model::Accessibility2 => accessibility::fit::fit(&rows(input, people, TRAINING)?)?.to_file(),
    };
    data::replace(output, &file)?;
    println!("{}: {} bytes, SHA-256 {}", output.display(), file.len(), data::sha256(&file));
    Ok(())
}

fn evaluate(model: Model, weights: &[u8], input: Option<&Path>) -> Result<()> {
    let generated = input.is_none();
    let (tables, _) = match model.kind() {
        Kind::Risk => {
            let weights = caudal_model::risk::Weights::parse(weights).map_err(malformed)?;
            let rows = rows(input, risk::generator::generate, HELD_OUT)?;
            let evaluation = Evaluation::new(&weights, &rows, generated);
            evaluation.report(model.name(), &[], &mut Stream::Intervals.random(SEED))
        }
        Kind::Nudge => {
            let weights = caudal_model::nudge::Weights::parse(weights).map_err(malformed)?;
            let rows = rows(input, nudge::generator::generate, HELD_OUT)?;
            nudge::evaluation::report(&weights, &rows, generated)
        }
        Kind::Accessibility => {
            let weights = caudal_model::accessibility::Weights::parse(weights).map_err(malformed)?;
            accessibility::evaluation::report(&weights, &rows(input, people, HELD_OUT)?, generated)
        }
    };
    print(&tables);
    Ok(())
}

fn threshold(model: Model, weights: &[u8], costs: &Path, input: Option<&Path>) -> Result<()> {
    if model.kind() != Kind::Risk {
        bail!("only risk models have cut-offs to choose; those of nudge models are set by the specification");
    }
    let weights = caudal_model::risk::Weights::parse(weights).map_err(malformed)?;
    let costs = risk::threshold::read(costs)?;
    let rows = rows(input, risk::generator::generate, HELD_OUT)?;
    let scored: Vec<_> = Evaluation::new(&weights, &rows, false).scored().collect();
    print(&[risk::threshold::table(&scored, &costs)]);
    Ok(())
}

fn print(tables: &[Table]) {
    let text: Vec<_> = tables.iter().map(Table::markdown).collect();
    print!("{}", text.join("\n"));
}
