//! The command line and the environment; nothing else reads either.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use uuid::Uuid;

use crate::domain::money::{AmountError, Money};
use crate::outbox::Cursor;

/// A bank's transfer service with its models beside it.
#[derive(Debug, Parser)]
#[command(name = "caudal", version, about, max_term_width = 100)]
pub struct Cli {
    /// Settings of every command.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Settings of every command.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Folder of the private database and of the sandbox's secret
    #[arg(long, env = "CAUDAL_DATA_DIR", default_value = ".caudal", global = true)]
    pub data_dir: PathBuf,
    /// Postgres to use instead of a private one, as postgres://user@host/database
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, global = true)]
    pub database_url: Option<String>,
    /// Folder with `postgres` and `initdb`, when they are not found by themselves
    #[arg(long, env = "CAUDAL_POSTGRES_BIN", global = true)]
    pub postgres_bin: Option<PathBuf>,
    /// Key of the hashes over the ledger's history, at least 32 bytes, the same on every host (default: one of the
    /// data folder's own, made when it is needed)
    #[arg(long, env = "CAUDAL_LEDGER_KEY", hide_env_values = true, global = true)]
    pub ledger_key: Option<String>,
    /// What to log, in the syntax of tracing's EnvFilter
    #[arg(long, env = "CAUDAL_LOG", default_value = "info,sqlx=warn", global = true)]
    pub log: String,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the ledger API and the assistance API
    Serve(Serve),
    /// Print a bearer token for a user
    Token(Token),
    /// Credit an account from the bank's own money
    Fund(Fund),
    /// Prove that the ledger's balances, entries and transfers agree, and that nobody changed its history
    Verify(Verify),
    /// Show or set a user's own limits
    Limits(UserLimits),
    /// Print what happened to transfers, one line for each commit, and go on where an earlier run stopped
    Events(Events),
    /// Run a command with DATABASE_URL set to a private Postgres
    Postgres(PostgresCommand),
    /// Run the rows of a file through a scorer, for backtests
    Score(Score),
    /// Run decisions again on the very component that made them, and compare bit for bit
    Replay(Replay),
    /// Look at the models
    #[command(subcommand)]
    Models(Models),
    /// Examine the component on standard input under tight limits (what `models check` starts)
    #[command(hide = true)]
    Gate,
}

/// The file of this program, for starting it again under limits.
///
/// # Errors
/// When the system does not tell.
pub fn program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

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

/// What is published of the scorers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PublishedKind {
    /// The risk scorer: whoever has it can try without being seen how a fraud would score.
    Risk,
    /// The nudge scorer.
    Nudge,
    /// The accessibility recommender.
    Accessibility,
    /// Nothing.
    None,
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
    /// List what is registered and what serves
    List,
    /// Examine a component and register it
    Push {
        /// The component
        file: PathBuf,
        /// Who registers it
        #[arg(long, env = "CAUDAL_OPERATOR", default_value = "operator")]
        by: String,
    },
    /// Write the generated part of the package for browsers and edge workers, which is in components/js
    Package {
        /// Its folder dist
        folder: PathBuf,
    },
    /// Let a registered version serve, on every host and without a pause
    Deploy(Deploy),
    /// Say what was seen of challengers beside the champion
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
    /// Let the version before serve again
    Rollback {
        /// risk, nudge, accessibility or transfer-rules
        kind: String,
        /// Why; kept for good
        #[arg(long)]
        reason: String,
        /// Who
        #[arg(long, env = "CAUDAL_OPERATOR", default_value = "operator")]
        by: String,
    },
    /// Examine a component file as a registry does before it takes one: what it is, what it asks for,
    /// whether its answers hold. Exits with 1 when it is refused
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
pub struct Deploy {
    /// As `list` and `push` show it, for example risk-2.0.0+9f2c41aa
    pub version: String,
    /// Another version that answers some users; it is withdrawn by itself when it fails
    #[arg(long, requires = "percent")]
    pub canary: Option<String>,
    /// Of a hundred users, how many the canary answers: always the same ones
    #[arg(long, requires = "canary", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub percent: Option<u8>,
    /// Of a hundred compared answers, how many of the canary may be of another class (default: 10)
    #[arg(long, requires = "canary", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub max_flip_percent: Option<u8>,
    /// Another version that answers nobody and is only compared; repeatable
    #[arg(long = "shadow")]
    pub shadows: Vec<String>,
    /// Why; kept for good
    #[arg(long)]
    pub reason: String,
    /// Who
    #[arg(long, env = "CAUDAL_OPERATOR", default_value = "operator")]
    pub by: String,
}

/// How tokens are signed and read.
#[derive(Debug, Clone, Args)]
pub struct Jwt {
    /// Secret that signs tokens, at least 32 bytes (default: the sandbox's, in the data folder)
    #[arg(long = "jwt-secret", env = "CAUDAL_JWT_SECRET", hide_env_values = true)]
    pub secret: Option<String>,
    /// Claim that names the user
    #[arg(long = "jwt-user-claim", env = "CAUDAL_JWT_USER_CLAIM", default_value = "sub")]
    pub user_claim: String,
    /// Audience that tokens must have
    #[arg(long = "jwt-audience", env = "CAUDAL_JWT_AUDIENCE")]
    pub audience: Option<String>,
    /// Issuer that tokens must have
    #[arg(long = "jwt-issuer", env = "CAUDAL_JWT_ISSUER")]
    pub issuer: Option<String>,
}

/// Whether a wrong CLABE check digit is a reason to refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClabePolicy {
    /// Save it and warn.
    Warn,
    /// Refuse it.
    Enforce,
}

/// Rails that transfers may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RailKind {
    /// Settles in the moment in which it is made.
    Instant,
    /// A stand-in for SPEI with its delays, refusals and returns.
    Simulated,
}

/// How transfers leave the bank.
#[derive(Debug, Clone, Args)]
pub struct Rail {
    /// How transfers leave the bank
    #[arg(long = "rail", env = "CAUDAL_RAIL", value_enum, default_value = "instant")]
    pub kind: RailKind,
    /// Longest time that the simulated rail takes for a payment
    #[arg(long, env = "CAUDAL_SIMULATED_DELAY", default_value = "2s", value_parser = humantime::parse_duration)]
    pub simulated_delay: std::time::Duration,
    /// Of a hundred payments, how many the simulated rail refuses
    #[arg(long, env = "CAUDAL_SIMULATED_REJECTED", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub simulated_rejected: u8,
    /// Of a hundred payments that settle, how many the simulated rail sends back later
    #[arg(long, env = "CAUDAL_SIMULATED_RETURNED", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub simulated_returned: u8,
}

/// Limits of transfers, which the rules component applies.
#[derive(Debug, Clone, Args)]
pub struct Limits {
    /// Largest amount of one transfer, for example 12800.00 (default: none); `caudal limits` sets a user's own
    #[arg(long = "transfer-limit", env = "CAUDAL_TRANSFER_LIMIT", value_parser = amount)]
    pub per_transfer: Option<Money>,
    /// Largest total of one user's transfers of one day in Mexico City (default: none)
    #[arg(long = "day-limit", env = "CAUDAL_DAY_LIMIT", value_parser = amount)]
    pub per_day: Option<Money>,
}

fn amount(text: &str) -> Result<Money, AmountError> {
    Money::parse_amount(text)
}

/// What the risk of a transfer does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RiskPolicy {
    /// Nothing: the bank's app asks for it and acts.
    Off,
    /// It is scored and logged.
    Shadow,
    /// A high risk has to be acknowledged with the token that the risk context gives.
    Enforce,
}

/// `caudal serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Address of the ledger API
    #[arg(long, env = "CAUDAL_LEDGER_ADDR", default_value = "127.0.0.1:8080")]
    pub ledger_addr: SocketAddr,
    /// Address of the internal assistance API
    #[arg(long, env = "CAUDAL_ASSIST_ADDR", default_value = "127.0.0.1:8081")]
    pub assist_addr: SocketAddr,
    /// Host name that the assistance API answers to, besides its address and localhost; repeatable
    #[arg(long = "assist-host", env = "CAUDAL_ASSIST_HOSTS", value_delimiter = ',')]
    pub assist_hosts: Vec<String>,
    /// Try-out mode: new accounts open with 10,000.00, the secret is made up, a token is printed
    #[arg(long, env = "CAUDAL_SANDBOX")]
    pub sandbox: bool,
    /// Whether a CLABE with a wrong check digit is refused
    #[arg(long, env = "CAUDAL_CLABE_POLICY", value_enum, default_value = "warn")]
    pub clabe_policy: ClabePolicy,
    /// How transfers leave the bank
    #[command(flatten)]
    pub rail: Rail,
    /// Limits of transfers
    #[command(flatten)]
    pub limits: Limits,
    /// What the risk of a transfer does to it
    #[arg(long, env = "CAUDAL_RISK_ENFORCEMENT", value_enum, default_value = "off")]
    pub risk_enforcement: RiskPolicy,
    /// How long a new beneficiary has to wait for its first transfer, for example 30m
    #[arg(long, env = "CAUDAL_BENEFICIARY_COOLING", default_value = "0s", value_parser = humantime::parse_duration)]
    pub beneficiary_cooling: std::time::Duration,
    /// Keep every decision on risk and by the transfer rules for 90 days, so that it can be run again;
    /// what cannot be kept is not answered
    #[arg(long, env = "CAUDAL_DECISION_LOG")]
    pub decision_log: bool,
    /// Kinds whose active model anybody may fetch from /models, to score in a page (default: nudge and
    /// accessibility; in the sandbox all)
    #[arg(long, env = "CAUDAL_PUBLISH_MODELS", value_enum, value_delimiter = ',')]
    pub publish_models: Option<Vec<PublishedKind>>,
    /// Tokens.
    #[command(flatten)]
    pub jwt: Jwt,
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

/// `caudal token`
#[derive(Debug, Args)]
pub struct Token {
    /// User identifier, up to 255 characters
    #[arg(long)]
    pub user: String,
    /// Scope claim
    #[arg(long)]
    pub scope: Option<String>,
    /// How long the token is valid
    #[arg(long, default_value = "24h", value_parser = humantime::parse_duration)]
    pub ttl: std::time::Duration,
    /// Tokens.
    #[command(flatten)]
    pub jwt: Jwt,
}

/// `caudal fund`
#[derive(Debug, Args)]
pub struct Fund {
    /// Id of the account
    #[arg(long)]
    pub account: Uuid,
    /// Amount in MXN, for example 100.00
    #[arg(long)]
    pub amount: String,
}

/// `caudal verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// File that says where the chains of hashes ended earlier; it is written anew when the ledger is sound
    /// (default: the data folder's ledger-heads.json, which a running host keeps)
    #[arg(long)]
    pub heads: Option<PathBuf>,
}

/// `caudal limits`
#[derive(Debug, Args)]
pub struct UserLimits {
    /// User identifier, as tokens name it
    #[arg(long)]
    pub user: String,
    /// Largest amount of one transfer in MXN; `default` for everybody's
    #[arg(long, value_parser = limit_change)]
    pub per_transfer: Option<LimitChange>,
    /// Largest total of a day's transfers in MXN; `default` for everybody's
    #[arg(long, value_parser = limit_change)]
    pub per_day: Option<LimitChange>,
}

/// What a user's limit is set to.
#[derive(Debug, Clone, Copy)]
pub enum LimitChange {
    /// What everybody has.
    Everybodys,
    /// The user's own.
    To(Money),
}

fn limit_change(text: &str) -> Result<LimitChange, AmountError> {
    if text == "default" { Ok(LimitChange::Everybodys) } else { amount(text).map(LimitChange::To) }
}

/// `caudal events`
#[derive(Debug, Args)]
#[command(after_help = "Keep the cursor of the last line that was dealt with: reading on from it misses nothing and \
                  repeats nothing, on whichever host and after any restart.")]
pub struct Events {
    /// Cursor of the last line that was read; empty for the beginning
    #[arg(long, default_value = "")]
    pub from: Cursor,
    /// Wait for what happens next
    #[arg(long)]
    pub follow: bool,
}

/// `caudal postgres`
#[derive(Debug, Args)]
pub struct PostgresCommand {
    /// The command and its arguments
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
}
