//! `caudal models evaluate`.

use std::path::PathBuf;

use clap::Args;

use crate::domain::risk::CutOffs;

#[derive(Debug, Args)]
#[command(
    after_help = "Rows have the facts of the assistance API's requests, amounts in pesos, and a label: 1 or True for a fraud, \
                        else 0 or False. Intervals are of 95 %. Exits with 3 if rows were rejected."
)]
pub struct Evaluate {
    /// A component file, a built-in model such as risk-1, or a registered version in full, which is read from the database
    pub model: String,
    /// File of rows, `.csv` or `.ndjson`; `-` is standard input, in CSV
    #[arg(long)]
    pub input: PathBuf,
    /// Name of the label
    #[arg(long, default_value = "fraud")]
    pub label: String,
    /// Lowest score of a medium risk
    #[arg(long, value_name = "SCORE", default_value_t = CutOffs::DEFAULT.medium_from)]
    pub medium_from: f64,
    /// Lowest score of a high risk
    #[arg(long, value_name = "SCORE", default_value_t = CutOffs::DEFAULT.high_from)]
    pub high_from: f64,
    /// Print JSON, with the metrics as in a card
    #[arg(long)]
    pub json: bool,
}
