//! `caudal serve`: where it listens, what it trusts, what it allows.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::Jwt;
use super::ledger::amount;
use crate::domain::money::Money;
use crate::domain::transfer::RailName;
use crate::rail::stp::INSTITUTION;

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

/// Whether a wrong CLABE check digit is a reason to refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClabePolicy {
    /// Save it and warn.
    Warn,
    /// Refuse it.
    Enforce,
}

impl ValueEnum for RailName {
    fn value_variants<'a>() -> &'a [Self] {
        Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Instant => "Settles at once, in the bank's own books",
            Self::Simulated => "A stand-in for SPEI with its delays, rejections and returns",
            Self::Stp => "SPEI, through the participant STP",
        };
        Some(PossibleValue::new(self.as_str()).help(help))
    }
}

/// How transfers leave the bank.
#[derive(Debug, Clone, Args)]
pub struct Rail {
    /// How transfers leave the bank
    #[arg(long = "rail", env = "CAUDAL_RAIL", value_enum, default_value = "instant")]
    pub kind: RailName,
    /// Longest time that the simulated rail takes for a payment
    #[arg(long, env = "CAUDAL_SIMULATED_DELAY", default_value = "2s", value_parser = humantime::parse_duration)]
    pub simulated_delay: std::time::Duration,
    /// Of a hundred payments, how many the simulated rail refuses
    #[arg(long, env = "CAUDAL_SIMULATED_REJECTED", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub simulated_rejected: u8,
    /// Of a hundred payments that settle, how many the simulated rail sends back later
    #[arg(long, env = "CAUDAL_SIMULATED_RETURNED", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub simulated_returned: u8,
    /// Where STP's API is, for example `https://prod.stpmex.com`
    #[arg(long, env = "CAUDAL_STP_URL", required_if_eq("kind", "stp"))]
    pub stp_url: Option<String>,
    /// The bank's name at STP (empresa)
    #[arg(long, env = "CAUDAL_STP_COMPANY", required_if_eq("kind", "stp"))]
    pub stp_company: Option<String>,
    /// CLABE of the bank's own account, which pays for users whose number is no CLABE
    #[arg(long, env = "CAUDAL_STP_ACCOUNT", required_if_eq("kind", "stp"))]
    pub stp_account: Option<String>,
    /// Five digits of the participant that sends
    #[arg(long, env = "CAUDAL_STP_INSTITUTION", default_value_t = INSTITUTION)]
    pub stp_institution: u32,
    /// File of the RSA key that signs orders: PEM, not encrypted
    #[arg(long, env = "CAUDAL_STP_KEY_FILE", required_if_eq("kind", "stp"))]
    pub stp_key_file: Option<PathBuf>,
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
