//! Commands about what became of orders.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::RowFormat;
use super::token::Admin;

/// What became of orders: frauds, scams, false alarms.
#[derive(Debug, Subcommand)]
pub enum Outcomes {
    /// Record the outcomes of a file; what is recorded already is left as it is
    #[command(
        after_help = "Each line is a JSON object with subject_id, kind (reported, confirmed_fraud, authorised_scam, \
                            false_alarm, help_accepted or withdrawn), source and known_at. Up to 10,000 lines are \
                            recorded, all or none; `split -l 10000` makes such files."
    )]
    Import {
        /// File of outcomes as NDJSON, `-` for standard input
        file: PathBuf,
        #[command(flatten)]
        admin: Admin,
    },
    /// Print precision, recall and alarm rate of each version by what is known 30, 60 and 90 days after its decisions
    Report {
        /// How many days of decisions [default: 455]
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        days: Option<u32>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Print decisions on risks with their facts and what is known of their orders, from the database
    Export(ExportOutcomes),
}

#[derive(Debug, Args)]
pub struct ExportOutcomes {
    /// How far back
    #[arg(long, default_value = "90d", value_parser = humantime::parse_duration)]
    pub since: Duration,
    /// Only decisions on orders of which something is stated
    #[arg(long)]
    pub labelled: bool,
    #[arg(long, value_enum, default_value = "csv")]
    pub format: RowFormat,
}
