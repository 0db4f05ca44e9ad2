//! Commands about the ledger, for operators and auditors.

use std::path::PathBuf;

use clap::Args;
use uuid::Uuid;

use crate::domain::money::{AmountError, Money};
use crate::outbox::Cursor;

pub(super) fn amount(text: &str) -> Result<Money, AmountError> {
    Money::parse_amount(text)
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
