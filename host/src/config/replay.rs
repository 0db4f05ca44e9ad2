//! Commands that run kept decisions again.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::models::one_of;
use crate::domain::model::ModelKind;

/// Whose decisions are kept.
const KEPT: &[ModelKind] = &[ModelKind::Risk, ModelKind::TransferRules];

#[derive(Debug, Args)]
#[command(after_help = "The decisions are those that orders rest on. Exits with 1 if an answer differs in any bit.")]
pub struct Replay {
    /// Kind of the decisions
    #[arg(long, default_value = "risk", value_parser = one_of(KEPT))]
    pub kind: ModelKind,
    /// How far back
    #[arg(long, default_value = "24h", value_parser = humantime::parse_duration)]
    pub since: std::time::Duration,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A candidate is a registered version or a file, and need not be deployed. Where none is given, the version \
                  decides that did: what is asked is what only the candidates would change. Exits with 3 if decisions \
                  differ."
)]
pub struct WhatIf {
    /// A risk model to try
    #[arg(long, value_name = "VERSION|FILE", required_unless_present = "rules")]
    pub risk: Option<String>,
    /// Transfer rules to try
    #[arg(long, value_name = "VERSION|FILE")]
    pub rules: Option<String>,
    /// How far back
    #[arg(long, default_value = "30d", value_parser = humantime::parse_duration)]
    pub since: std::time::Duration,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum ReceiptCommand {
    /// Check a receipt and execute its decisions again, offline
    Verify(VerifyReceipt),
}

#[derive(Debug, Args)]
#[command(
    after_help = "A receipt is the answer of /api/ledger/transactions/{id}/receipt; the bank's page saves it. Exits with 1 if \
                  it is not valid or a component answers otherwise."
)]
pub struct VerifyReceipt {
    /// The receipt
    pub file: PathBuf,
    /// A component besides those of this program; repeatable
    #[arg(long = "component", value_name = "FILE")]
    pub components: Vec<PathBuf>,
    /// Recorded chain heads that the bank signed: the receipt must have the same key and no other batch
    #[arg(long, value_name = "FILE")]
    pub heads: Option<PathBuf>,
}
