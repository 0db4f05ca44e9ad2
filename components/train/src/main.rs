//! `make train`: trains every model again, and writes its weights, card, plot and golden cases.
#![expect(clippy::print_stdout, reason = "the program prints its results")]

use std::path::PathBuf;

use caudal_train::pipeline;
use clap::Parser;

/// Trains Caudal's models: data, weights, cards, golden cases.
#[derive(Debug, Parser)]
#[command(name = "caudal-train", version)]
struct Command {
    /// Root of the repository that contains the models
    #[arg(long, default_value = ".")]
    root: PathBuf,
}

fn main() -> anyhow::Result<()> {
    pipeline::all(&Command::parse().root, pipeline::PAIRS, |line| println!("{line}"))
}
