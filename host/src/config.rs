//! The command line and the environment; nothing else reads either.

mod ledger;
mod models;
mod serve;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use ledger::{Events, Fund, LimitChange, UserLimits, Verify};
pub use models::{Deploy, ExplanationLanguage, Models, Replay, RowFormat, Score, ScorerKind};
pub use serve::{ClabePolicy, Limits, PublishedKind, Rail, RiskPolicy, Serve};

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
    Serve(Box<Serve>),
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

/// `caudal postgres`
#[derive(Debug, Args)]
pub struct PostgresCommand {
    /// The command and its arguments
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
}
