//! Commands about the ledger, for operators and auditors.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Subcommand};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::token::{Admin, recorded};
use crate::db::holders::NAME_CHARS_MAX;
use crate::domain::money::{AmountError, Money};
use crate::ledger::store::proof::Pace;
use crate::outbox::Cursor;

/// The limit of `app_user.owner`.
const USER_CHARS_MAX: usize = 255;

pub(super) fn amount(text: &str) -> Result<Money, AmountError> {
    Money::parse_amount(text)
}

/// Actions that wait for a second operator, where the policy asks for approvals.
#[derive(Debug, Subcommand)]
pub enum Approvals {
    /// List actions that take two operators, newest first
    List {
        /// Include actions that were decided or have expired
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Approve an action, which carries it out
    Approve {
        /// As `list` prints it
        id: Uuid,
        /// As `list` prints it: what you read is what you approve [default: show the action]
        #[arg(long)]
        digest: Option<String>,
        #[command(flatten)]
        admin: Admin,
    },
    /// Withdraw an action that was not carried out
    Withdraw {
        /// As `list` prints it
        id: Uuid,
        #[command(flatten)]
        admin: Admin,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Each look-up is recorded with your name.")]
pub struct Customer {
    #[command(flatten)]
    pub quoted: Quoted,
    /// Most transfers, payees and holds to show, of each
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub admin: Admin,
}

/// What a customer is looked up by.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Quoted {
    /// User id, as in tokens
    #[arg(long, value_parser = user)]
    pub user: Option<String>,
    /// CLABE that the bank issued
    #[arg(long)]
    pub account_number: Option<String>,
    /// Tracking key (clave de rastreo) of a payment
    #[arg(long)]
    pub tracking_key: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Each look-up is recorded with your name.")]
pub struct Statement {
    /// Account id, or the CLABE that the bank gave it
    #[arg(long)]
    pub account: String,
    /// Day in Mexico City, such as 2026-11-21
    #[arg(long)]
    pub date: String,
    /// camt (camt.053.001.08) or csv
    #[arg(long, default_value = "camt", value_parser = ["camt", "csv"])]
    pub format: String,
    #[command(flatten)]
    pub admin: Admin,
}

#[derive(Debug, Args)]
pub struct Fund {
    /// Account id, or the CLABE that the bank gave it
    #[arg(long)]
    pub account: String,
    /// Amount in MXN, for example 100.00
    #[arg(long)]
    pub amount: String,
    /// Reason, shown to the second operator; not stored otherwise
    #[arg(long, default_value = "not given", value_parser = recorded)]
    pub reason: String,
    /// Id of the new transaction; repeating the command with the same id does not credit the account again [default: a
    /// new id]
    #[arg(long)]
    pub transaction: Option<Uuid>,
    #[command(flatten)]
    pub admin: Admin,
}

/// What the simulated rail can be made to do.
#[derive(Debug, Subcommand)]
pub enum SimulatedRail {
    /// Send an order of another bank to an account
    Receive(ReceiveOrder),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Prints the tracking key. The host then takes it for an order of any other bank: it asks the rail, and \
                        credits the account. What it cannot credit it sends back."
)]
pub struct ReceiveOrder {
    /// Account number that the bank issued
    #[arg(long)]
    pub to: String,
    /// Amount in MXN, for example 100.00
    #[arg(long)]
    pub amount: String,
    /// Name of the sender
    #[arg(long)]
    pub from_name: Option<String>,
    /// Account number of the sender
    #[arg(long)]
    pub from_number: Option<String>,
    /// Bank of the sender, for example Banorte [default: BBVA]
    #[arg(long)]
    pub from_bank: Option<String>,
    /// What the sender tells the payee
    #[arg(long)]
    pub concept: Option<String>,
    #[command(flatten)]
    pub admin: Admin,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Takes effect from the next transfer, without a restart. A frozen account can still receive money."
)]
pub struct Freeze {
    /// Account id, or the CLABE that the bank gave it
    #[arg(long)]
    pub account: String,
    /// Why; recorded permanently
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
}

#[derive(Debug, Args)]
#[command(after_help = "Payments go out under this name, or without a name if none is set.")]
pub struct Holder {
    /// User id, as in tokens
    #[arg(long, value_parser = user)]
    pub user: String,
    /// Name that the bank has verified [default: show the present one]
    #[arg(long, value_parser = holder_name)]
    pub name: Option<String>,
    #[command(flatten)]
    pub admin: Admin,
}

fn holder_name(text: &str) -> Result<String, String> {
    let is_valid = !text.trim().is_empty() && text.chars().count() <= NAME_CHARS_MAX;
    is_valid.then(|| text.to_owned()).ok_or(format!("must have 1 to {NAME_CHARS_MAX} characters and not be blank"))
}

#[derive(Debug, Args)]
pub struct Verify {
    /// File of recorded chain heads, which reveal truncation; it has to hold some, and is not changed [default:
    /// ledger-heads.json in the data folder, which a running host maintains, and this command if the ledger is sound]
    #[arg(long)]
    pub heads: Option<PathBuf>,
    /// Write the present heads to that file if the ledger is sound, and create it if there is none
    #[arg(long, requires = "heads")]
    pub record_heads: bool,
    /// Verify only what was written after this: `last` is the last sound full verification, `heads` the heads in
    /// `--heads`, and `2h` or `2026-11-22T09:00:00Z` a time. Anything earlier is trusted, NOT checked
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub since: Option<Since>,
    /// Go on where a verification of everything was interrupted
    #[arg(long, conflicts_with = "since")]
    pub resume: bool,
    /// Share of the time, from 0.01 to 1, in which it works; it pauses for the rest, to leave Postgres to transfers
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = pace)]
    pub pace: Pace,
    /// File of a key that `rotate-key` retired; repeatable. What that key sealed cannot be proven without it
    #[arg(long, value_name = "FILE")]
    pub retired_ledger_key_file: Vec<PathBuf>,
}

fn pace(text: &str) -> Result<Pace, &'static str> {
    text.parse().ok().and_then(Pace::new).ok_or("must be a number from 0.01 to 1")
}

/// Where a partial verification begins.
#[derive(Debug, Clone, Copy)]
pub enum Since {
    /// The heads that the last sound full verification found.
    Last,
    /// The recorded heads.
    Heads,
    Ago(Duration),
    At(OffsetDateTime),
}

fn since(text: &str) -> Result<Since, &'static str> {
    match text {
        "last" => Ok(Since::Last),
        "heads" => Ok(Since::Heads),
        _ => humantime::parse_duration(text)
            .map(Since::Ago)
            .or_else(|_| OffsetDateTime::parse(text, &Rfc3339).map(Since::At))
            .map_err(|_| "must be `last`, `heads`, a duration such as 2h, or a time such as 2026-11-22T09:00:00Z"),
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without --rules and --risk every batch has to come out as it was recorded, to the hash. With them, what \
                  comes before --from has to, and the report says what would have become of the rest."
)]
pub struct Fork {
    /// From when on the candidates decide and what they do is counted, such as 2026-11-01T00:00:00Z [default: the
    /// beginning]
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub from: Option<OffsetDateTime>,
    /// When to stop [default: the end]
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub to: Option<OffsetDateTime>,
    /// Transfer rules to decide with instead: a registered version, or a file
    #[arg(long, value_name = "VERSION|FILE")]
    pub rules: Option<String>,
    /// Risk model to score with instead
    #[arg(long, value_name = "VERSION|FILE")]
    pub risk: Option<String>,
    /// Print the report as JSON, which is what its SHA-256 is of
    #[arg(long)]
    pub json: bool,
    /// File of a key that `rotate-key` retired; repeatable. Hashes that it sealed are not compared without it
    #[arg(long, value_name = "FILE")]
    pub retired_ledger_key_file: Vec<PathBuf>,
}

fn instant(text: &str) -> Result<OffsetDateTime, &'static str> {
    OffsetDateTime::parse(text, &Rfc3339).map_err(|_| "must be a time such as 2026-11-22T09:00:00Z")
}

#[derive(Debug, Args)]
#[command(
    after_help = "Compares the recorded chain heads with the database. What is recorded and gone is accepted as lost, \
                  under your name, and cursors from before expire. Run it once with each host's recorded heads, before any \
                  host resumes."
)]
pub struct AcceptLoss {
    /// What happened; recorded permanently
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    /// Who accepts it, for the record
    #[arg(long, env = "CAUDAL_OPERATOR", default_value = "operator", value_parser = recorded)]
    pub by: String,
    /// File of recorded chain heads, which has to hold some [default: ledger-heads.json in the data folder]
    #[arg(long)]
    pub heads: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Stop every host first: the command refuses while one holds a lease. Then start them with the new key. \
                  Keep the old one: it proves what it sealed."
)]
pub struct RotateKey {
    /// File of the new key, at least 32 bytes and readable by its owner only; a trailing newline is not part of it
    #[arg(long, value_name = "FILE")]
    pub new_ledger_key_file: PathBuf,
    /// Who replaces it, for the record
    #[arg(long, env = "CAUDAL_OPERATOR", value_parser = recorded)]
    pub by: String,
    /// Why; recorded permanently
    #[arg(long, value_parser = recorded)]
    pub reason: String,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Limits may be set before the user's first account. A running service applies them from the next \
                  transfer on."
)]
pub struct UserLimits {
    /// User id, as in tokens
    #[arg(long, value_parser = user)]
    pub user: String,
    /// Largest amount of one transfer in MXN, or `default` for the policy's
    #[arg(long, value_parser = limit_change)]
    pub per_transfer: Option<LimitChange>,
    /// Largest total of one day's transfers in MXN, or `default` for the policy's
    #[arg(long, value_parser = limit_change)]
    pub per_day: Option<LimitChange>,
    /// Reason, shown to the second operator; not stored otherwise
    #[arg(long, default_value = "not given", value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
}

fn user(text: &str) -> Result<String, &'static str> {
    let is_valid = !text.trim().is_empty() && text.chars().count() <= USER_CHARS_MAX;
    is_valid.then(|| text.to_owned()).ok_or("must have 1 to 255 characters and not be blank")
}

/// A new value of a user's limit.
#[derive(Debug, Clone, Copy)]
pub enum LimitChange {
    /// The host's default.
    Default,
    /// The user's own.
    To(Money),
}

fn limit_change(text: &str) -> Result<LimitChange, AmountError> {
    if text == "default" { Ok(LimitChange::Default) } else { amount(text).map(LimitChange::To) }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Store the cursor of the last line you processed. Resuming from it neither skips nor repeats an \
                  event, on any host and after any restart. It is refused after events were lost: see \"After a failover \
                  that lost batches\" in OPERATING.md."
)]
pub struct Events {
    /// Cursor of the last line processed; 0 is the start of the stream
    #[arg(long, default_value = "0", value_parser = cursor)]
    pub from: Cursor,
    /// Wait for further events
    #[arg(long)]
    pub follow: bool,
}

fn cursor(text: &str) -> Result<Cursor, <Cursor as FromStr>::Err> {
    if text == "0" { Ok(Cursor::default()) } else { text.parse() }
}
