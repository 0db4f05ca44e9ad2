//! Commands about models and their answers.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Kinds of scorers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScorerKind {
    /// Transfers.
    Risk,
    /// Visits to a screen.
    Nudge,
    /// People and their answers.
    Accessibility,
}

/// How rows are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// One JSON object per line.
    Ndjson,
    /// A line of names, then one row per line.
    Csv,
}

/// Languages of explanations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplanationLanguage {
    /// Mexican Spanish.
    Es,
    /// English.
    En,
}

/// `caudal score`
#[derive(Debug, Args)]
#[command(
    after_help = "Rows have the fields of the assistance API's requests; more fields are ignored. Rows that are \
                        refused are told by line, and the others go on. Exits with 3 when rows were refused."
)]
pub struct Score {
    /// Which scorer
    #[arg(long)]
    pub kind: ScorerKind,
    /// File of rows, `.ndjson` or `.csv`; `-` reads standard input
    #[arg(long)]
    pub input: PathBuf,
    /// File to write, whole or not at all; standard output when left out
    #[arg(long)]
    pub output: Option<PathBuf>,
    /// Format of the input, when its name does not tell
    #[arg(long)]
    pub format: Option<RowFormat>,
    /// File for every refused row, as NDJSON
    #[arg(long)]
    pub rejects: Option<PathBuf>,
    /// Model of this program, for example risk-1; by default the one that serves
    #[arg(long, conflicts_with = "component")]
    pub model: Option<String>,
    /// A component file instead of a model of this program
    #[arg(long)]
    pub component: Option<PathBuf>,
    /// Language of accessibility explanations
    #[arg(long, value_enum, default_value = "es")]
    pub language: ExplanationLanguage,
}

/// `caudal models`
#[derive(Debug, Subcommand)]
pub enum Models {
    /// Print a model's card: what it is, how it was measured, what it is not for
    Card {
        /// A kind (risk, nudge, accessibility), or a model such as risk-1
        model: String,
        /// The card for programs
        #[arg(long)]
        json: bool,
    },
    /// List what is registered, what is deployed, and what each running host serves
    List,
    /// Examine a component and register it
    Push {
        /// The component
        file: PathBuf,
        /// Operator for the registry
        #[arg(long, env = "CAUDAL_OPERATOR", default_value = "operator")]
        by: String,
    },
    /// Write the generated part of the package for browsers and edge workers, which is in components/js
    Package {
        /// Its folder dist
        folder: PathBuf,
    },
    /// Deploy a registered version to every host, without a pause
    Deploy(Deploy),
    /// Compare challengers with the champion
    Report {
        /// risk, nudge or accessibility
        kind: String,
        /// Of which deployment; by default the latest that had challengers
        #[arg(long)]
        epoch: Option<i64>,
        /// The report for programs
        #[arg(long)]
        json: bool,
    },
    /// Deploy the version that served last before the present one
    Rollback {
        /// risk, nudge, accessibility or transfer-rules
        kind: String,
        /// Reason for the history
        #[arg(long)]
        reason: String,
        /// Operator for the history
        #[arg(long, env = "CAUDAL_OPERATOR", default_value = "operator")]
        by: String,
        /// Wait until every running host serves it, at most so many seconds
        #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "120")]
        wait: Option<u32>,
    },
    /// Examine a component file as `push` does: its format, its imports, its answers. Exits with 1 if it is
    /// refused
    Check {
        /// The component
        file: PathBuf,
        /// The report for programs
        #[arg(long)]
        json: bool,
    },
}

/// `caudal models deploy`
#[derive(Debug, Args)]
#[command(
    after_help = "A canary answers the same users every time. Users are told apart by `user_id` in the body of the \
                        request, or by the account's owner for a transfer. A request without `user_id` is assigned by \
                        its content, so repeating one request always reaches the same version.\n\n\
                        With --wait, exits with 1 if a host cannot load the version or time runs out."
)]
pub struct Deploy {
    /// As `list` and `push` show it, for example risk-2.0.0+9f2c41aa
    pub version: String,
    /// Another version that answers some users; it is withdrawn automatically if it fails
    #[arg(long, requires = "percent")]
    pub canary: Option<String>,
    /// Share of the users that the canary answers, in percent
    #[arg(long, requires = "canary", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub percent: Option<u8>,
    /// Share of the canary's answers that may fall into another class than the champion's, in percent (default: 10)
    #[arg(long, requires = "canary", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub max_flip_percent: Option<u8>,
    /// Another version that is only compared with the champion; repeatable
    #[arg(long = "shadow")]
    pub shadows: Vec<String>,
    /// Reason for the history
    #[arg(long)]
    pub reason: String,
    /// Operator for the history
    #[arg(long, env = "CAUDAL_OPERATOR", default_value = "operator")]
    pub by: String,
    /// Wait until every running host serves it, at most so many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "120")]
    pub wait: Option<u32>,
}

/// `caudal replay`
#[derive(Debug, Args)]
#[command(
    after_help = "A file has a JSON object per line: kind (risk, nudge, accessibility, transfer-rules), request and \
                  response as they were. Exits with 1 when an answer is not the same, bit for bit."
)]
pub struct Replay {
    /// File of decisions as NDJSON; `-` reads standard input. Without it, those that were kept
    pub file: Option<PathBuf>,
    /// Of those that were kept, which kind: risk or transfer-rules
    #[arg(long, default_value = "risk", conflicts_with = "file")]
    pub kind: String,
    /// Of those that were kept, how far back
    #[arg(long, default_value = "24h", value_parser = humantime::parse_duration, conflicts_with = "file")]
    pub since: std::time::Duration,
    /// Of those that were kept, how many at most
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "file")]
    pub limit: u32,
}
