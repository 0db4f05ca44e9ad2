//! The command line. Results go to stdout, progress to stderr.
#![expect(clippy::print_stdout, reason = "printing is what these commands are for")]

mod explain;
mod psi;

use std::fs;
use std::io::stdout;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};

use crate::card::Table;
use crate::model::{Kind, Model};
use crate::pipeline::{self, HELD_OUT_ROWS, SEED, Stream, TRAINING_ROWS};
use crate::risk::evaluation::Evaluation;
use crate::risk::fit::{RISK_1, RISK_2};
use crate::{accessibility, data, nudge, risk};

/// Train Caudal's models: data, weights, cards, golden cases.
#[derive(Debug, Parser)]
#[command(name = "caudal-train", version)]
pub struct Command {
    /// Root of the project, whose models are read and written
    #[arg(long, default_value = ".", global = true)]
    root: PathBuf,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make every model again: weights, cards, plots, golden cases
    All,
    /// Make labelled rows, as CSV
    Generate {
        /// What the rows are about
        #[arg(long)]
        kind: Kind,
        /// How many
        #[arg(long, default_value_t = 1000)]
        rows: usize,
        /// Another seed, other rows
        #[arg(long, default_value_t = SEED)]
        seed: u64,
        /// File to write, instead of standard output
        #[arg(long)]
        output: Option<PathBuf>,
    },
    /// Fit a model's weights to rows, and write the weights file
    Fit {
        /// Which model
        #[arg(long)]
        model: Model,
        /// Labelled rows, as `generate` writes them, instead of the generated ones
        #[arg(long)]
        input: Option<PathBuf>,
        /// File to write
        #[arg(long)]
        output: PathBuf,
    },
    /// Measure a model on rows: results with intervals, calibration, slices
    Evaluate {
        /// Which model
        #[arg(long)]
        model: Model,
        /// Weights, instead of the model's own
        #[arg(long)]
        weights: Option<PathBuf>,
        /// Labelled rows, instead of the held-out ones
        #[arg(long)]
        input: Option<PathBuf>,
    },
    /// Show how one verdict comes about
    Explain {
        /// Which model
        #[arg(long)]
        model: Model,
        /// Weights, instead of the model's own
        #[arg(long)]
        weights: Option<PathBuf>,
        /// A request as JSON, the body of the HTTP API; `-` for standard input
        #[arg(long, default_value = "-")]
        input: PathBuf,
    },
    /// Population stability of what a model sees and says, between two files of rows
    Psi {
        /// Which model
        #[arg(long)]
        model: Model,
        /// Weights, instead of the model's own
        #[arg(long)]
        weights: Option<PathBuf>,
        /// Rows as they were
        #[arg(long)]
        reference: PathBuf,
        /// Rows as they are
        #[arg(long)]
        observed: PathBuf,
    },
    /// Find the cut-offs of a risk score that cost the least
    Threshold {
        /// Which model
        #[arg(long, default_value = "risk-2")]
        model: Model,
        /// Weights, instead of the model's own
        #[arg(long)]
        weights: Option<PathBuf>,
        /// CSV: `severity,low,medium,high`, then what each level costs for each severity
        #[arg(long)]
        cost_matrix: PathBuf,
        /// Labelled rows, instead of the held-out ones
        #[arg(long)]
        input: Option<PathBuf>,
    },
}

impl Command {
    /// Does what the command line asks.
    ///
    /// # Errors
    /// With the file or the value that is at fault.
    pub fn run(self) -> Result<()> {
        let root = self.root.as_path();
        match self.action {
            Action::All => pipeline::all(root, pipeline::PAIRS, |line| println!("{line}")),
            Action::Generate { kind, rows, seed, output } => generate(kind, rows, seed, output.as_deref()),
            Action::Fit { model, input, output } => fit(model, input.as_deref(), &output),
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
    fs::read(&path).with_context(|| format!("{}", path.display()))
}

/// What was wrong with a weights file, as an error.
fn malformed(reason: caudal_model::weights::Malformed) -> anyhow::Error {
    anyhow::anyhow!("the weights are malformed: {reason:?}")
}

/// Rows of risk, from a file or made.
fn risk_rows(input: Option<&Path>, stream: Stream, rows: usize) -> Result<Vec<risk::generator::Row>> {
    match input {
        Some(path) => data::read(path, |record: risk::rows::Record| record.try_into()),
        None => Ok(risk::generator::generate(rows, &mut stream.random(SEED))),
    }
}

fn nudge_rows(input: Option<&Path>, stream: Stream, rows: usize) -> Result<Vec<nudge::generator::Row>> {
    match input {
        Some(path) => data::read(path, nudge::generator::Row::checked),
        None => Ok(nudge::generator::generate(rows, &mut stream.random(SEED))),
    }
}

fn accessibility_rows(input: Option<&Path>, stream: Stream, rows: usize) -> Result<Vec<accessibility::generator::Row>> {
    match input {
        Some(path) => data::read(path, accessibility::generator::Row::checked),
        None => Ok(accessibility::generator::generate(rows, &mut stream.random(SEED))),
    }
}

fn generate(kind: Kind, rows: usize, seed: u64, output: Option<&Path>) -> Result<()> {
    let mut csv = Vec::new();
    let random = &mut Stream::Training.random(seed);
    match kind {
        Kind::Risk => {
            let rows = risk::generator::generate(rows, random);
            data::write(rows.iter().map(risk::rows::Record::from), &mut csv)?;
        }
        Kind::Nudge => data::write(nudge::generator::generate(rows, random), &mut csv)?,
        Kind::Accessibility => data::write(accessibility::generator::generate(rows, random), &mut csv)?,
    }
    match output {
        Some(path) => data::replace(path, &csv).map(drop),
        None => Ok(std::io::Write::write_all(&mut stdout(), &csv)?),
    }
}

fn fit(model: Model, input: Option<&Path>, output: &Path) -> Result<()> {
    let (stream, rows) = (Stream::Training, TRAINING_ROWS);
    let file = match model {
        Model::Risk1 => risk::fit::fit(&RISK_1, &risk_rows(input, stream, rows)?)?.to_file(),
        Model::Risk2 => risk::fit::fit(&RISK_2, &risk_rows(input, stream, rows)?)?.to_file(),
        Model::Nudge1 => nudge::fit::fit(&nudge_rows(input, stream, rows)?)?.weights.to_file(),
        Model::Accessibility1 => accessibility::fit::fit(&accessibility_rows(input, stream, rows)?)?.to_file(),
    };
    data::replace(output, &file)?;
    println!("{}: {} bytes, sha256 {}", output.display(), file.len(), data::sha256(&file));
    Ok(())
}

fn evaluate(model: Model, weights: &[u8], input: Option<&Path>) -> Result<()> {
    let (stream, rows) = (Stream::HeldOut, HELD_OUT_ROWS);
    let tables = match model.kind() {
        Kind::Risk => {
            let weights = caudal_model::risk::Weights::parse(weights).map_err(malformed)?;
            let rows = risk_rows(input, stream, rows)?;
            let evaluation = Evaluation::new(&weights, &rows, input.is_none());
            evaluation.report(model.name(), &[], &mut Stream::Intervals.random(SEED)).tables
        }
        Kind::Nudge => {
            let weights = caudal_model::nudge::Weights::parse(weights).map_err(malformed)?;
            nudge::evaluation::report(&weights, &nudge_rows(input, stream, rows)?, input.is_none()).0
        }
        Kind::Accessibility => {
            let weights = caudal_model::accessibility::Weights::parse(weights).map_err(malformed)?;
            accessibility::evaluation::report(&weights, &accessibility_rows(input, stream, rows)?, input.is_none()).0
        }
    };
    print(&tables);
    Ok(())
}

fn threshold(model: Model, weights: &[u8], costs: &Path, input: Option<&Path>) -> Result<()> {
    if model.kind() != Kind::Risk {
        bail!("only risk models have cut-offs to choose; a nudge's are the specification's");
    }
    let weights = caudal_model::risk::Weights::parse(weights).map_err(malformed)?;
    let costs = risk::threshold::read(costs)?;
    let rows = risk_rows(input, Stream::HeldOut, HELD_OUT_ROWS)?;
    let scored: Vec<_> = Evaluation::new(&weights, &rows, false).scored().collect();
    print(&[risk::threshold::table(&scored, &costs)]);
    Ok(())
}

fn print(tables: &[Table]) {
    let text: Vec<_> = tables.iter().map(Table::markdown).collect();
    print!("{}", text.join("\n"));
}
