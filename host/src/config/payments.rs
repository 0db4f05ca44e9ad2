//! Commands about payments at a rail: those that a person decides on, and comparisons with the rail.

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::token::{Admin, recorded};

/// Payments that their rail has not decided: still under way, or parked until a person decides.
#[derive(Debug, Subcommand)]
pub enum Payments {
    /// List pending payments, those awaiting a decision first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Settle a payment: the other bank has the money
    Settle(DecidePayment),
    /// Refuse a payment and refund it: the other bank will not get the money
    Refuse(DecidePayment),
    /// List the differences from the rail that a person has to decide on, the oldest first
    Cases {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Book a payment that the ledger lost and the rail has settled: it debits its sender's account
    Book {
        /// Account id [default: the account with the sender's number]
        #[arg(long)]
        account: Option<Uuid>,
        #[command(flatten)]
        case: DecideCase,
    },
    /// Close a case without a booking
    Close(DecideCase),
}

/// Transfers that wait until a person decides, because the rules require it.
#[derive(Debug, Subcommand)]
pub enum Reviews {
    /// List transfers under review, the oldest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Take a review, so that nobody else decides on it for an hour
    Claim {
        /// Id of the transaction, as `reviews list` prints it
        #[arg(long)]
        transaction: Uuid,
        #[command(flatten)]
        admin: Admin,
    },
    /// Let a transfer go on: recorded as a false alarm
    Release(DecideReview),
    /// Refuse a transfer and return its money: recorded as a confirmed fraud
    Refuse {
        /// The customer ordered it, deceived: record an authorised scam instead
        #[arg(long)]
        scam: bool,
        #[command(flatten)]
        review: DecideReview,
    },
}

#[derive(Debug, Args)]
pub struct DecideReview {
    /// Id of the transaction, as `reviews list` prints it
    #[arg(long)]
    pub transaction: Uuid,
    /// Why; recorded permanently
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
}

#[derive(Debug, Args)]
pub struct DecideCase {
    /// Id of the case, as `payments cases` prints it
    #[arg(long)]
    pub case: Uuid,
    /// Why; recorded permanently
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
}

#[derive(Debug, Args)]
#[command(
    after_help = "What only the rail knows, the hosts ask it about again and book. What that cannot settle becomes a case: \
                  `caudal payments cases`. Exits with 1 if there is one in the report."
)]
pub struct Reconcile {
    /// Operating date, such as 2026-11-23 [default: the last one that is over]
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
    /// Print the last report instead of making one
    #[arg(long)]
    pub last: bool,
    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
    #[command(flatten)]
    pub admin: Admin,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    #[default]
    Table,
    /// The differences only
    Csv,
    Json,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Before you settle or refuse a payment, ask the rail; one that a host may be sending is stopped first, and can \
                  be decided on a minute later. Before you reverse a transfer that left the bank, make sure that the other \
                  bank gives the money back."
)]
pub struct DecidePayment {
    /// Transaction id
    #[arg(long)]
    pub transaction: Uuid,
    /// Why; recorded permanently
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
}
