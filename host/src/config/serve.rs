//! Settings of `caudal serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::policy::Policy;
use super::tls::Tls;
use super::token::{Jwt, Provider};
use crate::auth::network::Network;
use crate::domain::model::ModelKind;
use crate::rail::stp::{Form, INSTITUTION};

/// A kind, or `none`.
fn published_kind() -> impl TypedValueParser<Value = Option<ModelKind>> {
    let kinds = ModelKind::SCORERS.iter().map(|kind| kind.as_str());
    PossibleValuesParser::new(kinds.chain(["none"])).map(|text| ModelKind::parse(&text))
}

/// Longest wait for a primary. The longest request takes a minute, in which the outcome is looked up too.
const FAILOVER_WAIT_MAX: Duration = Duration::from_secs(40);

fn failover_wait(text: &str) -> Result<Duration, String> {
    let wait = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if wait > FAILOVER_WAIT_MAX {
        return Err(format!("at most {}", humantime::format_duration(FAILOVER_WAIT_MAX)));
    }
    Ok(wait)
}

fn indirect(text: &str) -> Result<[String; 3], &'static str> {
    let parts: Vec<_> = text.split(',').map(|part| part.trim().to_owned()).collect();
    parts.try_into().map_err(|_| "must be NAME,CLABE,TAX-ID")
}

/// What the policy's rail needs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Payment rail")]
pub struct Rail {
    /// Longest time the simulated rail takes to settle a payment
    #[arg(long, env = "CAUDAL_SIMULATED_DELAY", default_value = "2s", value_parser = humantime::parse_duration)]
    pub simulated_delay: Duration,
    /// Percentage of payments that the simulated rail rejects
    #[arg(long, env = "CAUDAL_SIMULATED_REJECTED", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub simulated_rejected: u8,
    /// Percentage of settled payments that the simulated rail returns later
    #[arg(long, env = "CAUDAL_SIMULATED_RETURNED", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub simulated_returned: u8,
    /// Percentage of payments from issued numbers that the simulated rail answers with an order to their sender
    #[arg(long, env = "CAUDAL_SIMULATED_ANSWERED", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub simulated_answered: u8,
    /// URL of STP's API, for example `https://prod.stpmex.com`
    #[arg(long, env = "CAUDAL_STP_URL")]
    pub stp_url: Option<String>,
    /// The bank's name at STP (empresa)
    #[arg(long, env = "CAUDAL_STP_COMPANY")]
    pub stp_company: Option<String>,
    /// CLABE of the bank's own account, which sends for accounts whose number the bank did not issue
    #[arg(long, env = "CAUDAL_STP_ACCOUNT")]
    pub stp_account: Option<String>,
    /// Five-digit SPEI code of the sending participant
    #[arg(long, env = "CAUDAL_STP_INSTITUTION", default_value_t = INSTITUTION)]
    pub stp_institution: u32,
    /// Which form of an order is signed
    #[arg(long, env = "CAUDAL_STP_FORM", value_enum, default_value_t)]
    pub stp_form: Form,
    /// Name, CLABE and tax id of a bank that takes part in SPEI through another participant, separated by commas, for
    /// example `AMU,646180157099999993,WDCT680526LI0`
    #[arg(long, env = "CAUDAL_STP_INDIRECT", value_parser = indirect)]
    pub stp_indirect: Option<[String; 3]>,
    /// File of the RSA key that signs orders, as unencrypted PEM
    #[arg(long, env = "CAUDAL_STP_KEY_FILE")]
    pub stp_key_file: Option<PathBuf>,
}

/// Where traces are sent.
#[derive(Debug, Args)]
#[command(next_help_heading = "Monitoring")]
pub struct Otlp {
    /// OpenTelemetry collector that gets traces by OTLP over HTTP, for example http://127.0.0.1:4318
    #[arg(long = "otlp-url", env = "CAUDAL_OTLP_URL")]
    pub url: Option<String>,
    /// Percentage of requests that are traced, unless their caller has decided
    #[arg(long = "otlp-traced", env = "CAUDAL_OTLP_TRACED", default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub traced: u8,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Address of the ledger API
    #[arg(long, env = "CAUDAL_LEDGER_ADDR", default_value = "127.0.0.1:8080")]
    pub ledger_addr: SocketAddr,
    /// Address of the assistance API. Scoring takes no token there, so keep it internal
    #[arg(long, env = "CAUDAL_ASSIST_ADDR", default_value = "127.0.0.1:8081")]
    pub assist_addr: SocketAddr,
    /// `Host` header that the assistance API accepts besides its address and localhost; repeatable
    #[arg(long = "assist-host", env = "CAUDAL_ASSIST_HOSTS", value_delimiter = ',')]
    pub assist_hosts: Vec<String>,
    /// Requests per second from one user, with bursts of ten times as many; 0 for no limit. A bulk request counts once
    /// for each of its transfers
    #[arg(long, env = "CAUDAL_REQUESTS_PER_USER", default_value_t = 1_000)]
    pub requests_per_user: u32,
    /// Requests per second from one address, with bursts of ten times as many; 0 for no limit. Many people may share an
    /// address
    #[arg(long, env = "CAUDAL_REQUESTS_PER_ADDRESS", default_value_t = 2_000)]
    pub requests_per_address: u32,
    /// Proxies whose `X-Forwarded-For` is believed: addresses or networks such as 10.0.0.0/8. Loopback
    /// addresses always are; repeatable
    #[arg(long, env = "CAUDAL_TRUSTED_PROXIES", value_delimiter = ',')]
    pub trusted_proxies: Vec<Network>,
    /// How long requests wait for a new Postgres primary, with several servers or replicated durability; in the
    /// drill, a crashed Postgres took 5 s to replace, and a lost or frozen machine 20 to 32 s
    #[arg(long, env = "CAUDAL_FAILOVER_WAIT", default_value = "35s", value_parser = failover_wait)]
    pub failover_wait: Duration,
    /// Run a sandbox, on loopback addresses only: accounts open with 10,000.00 MXN, and a token is printed
    #[arg(long, env = "CAUDAL_SANDBOX")]
    pub sandbox: bool,
    /// Other hosts keep to what `caudal policy set` has recorded.
    #[command(flatten, next_help_heading = "Policy in the sandbox")]
    pub policy: Policy,
    #[command(flatten)]
    pub rail: Rail,
    /// Most payments of a user that wait for the rail; more get 429 `too-many-pending`. A bulk of 1,000 fits twice
    #[arg(long, help_heading = "Transfers", env = "CAUDAL_PENDING_PAYMENTS", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(i32).range(1..=1_000_000))]
    pub pending_payments: i32,
    /// Waiting time before the first transfer to a new beneficiary, for example 30m
    #[arg(long, help_heading = "Transfers", env = "CAUDAL_BENEFICIARY_COOLING", default_value = "0s", value_parser = humantime::parse_duration)]
    pub beneficiary_cooling: Duration,
    /// How long an action waits for a second operator
    #[arg(long, help_heading = "Operators", env = "CAUDAL_APPROVAL_LIFETIME", default_value = "24h", value_parser = humantime::parse_duration)]
    pub approval_lifetime: Duration,
    /// How long the decisions are kept that orders rest on; fraud is often known only after months
    #[arg(long, help_heading = "Models", env = "CAUDAL_DECISION_LIFETIME", default_value = "400d", value_parser = humantime::parse_duration)]
    pub decision_lifetime: Duration,
    /// Kinds whose active model anyone may download from /models, to score in a page; fraudsters could probe a copy
    /// of the risk scorer unobserved [default: nudge,accessibility; in the sandbox all]
    #[arg(long, help_heading = "Models", env = "CAUDAL_PUBLISH_MODELS", value_parser = published_kind(), value_delimiter = ',')]
    pub publish_models: Option<Vec<Option<ModelKind>>>,
    /// File of the public keys, as PEM, that verify components' signatures; read at startup
    #[arg(long, help_heading = "Models", env = "CAUDAL_MODEL_KEYS")]
    pub model_keys: Option<PathBuf>,
    /// Register and serve only components that one of the model keys has signed, besides the built-in ones
    #[arg(long, help_heading = "Models", env = "CAUDAL_REQUIRE_SIGNATURE", requires = "model_keys")]
    pub require_signature: bool,
    /// Second file of recorded chain heads, preferably on another machine's disk: written and compared like the one in
    /// the data folder; repeatable
    #[arg(long, help_heading = "Database", env = "CAUDAL_HEADS_COPY", value_delimiter = ',')]
    pub heads_copy: Vec<PathBuf>,
    /// File of the key of risk acknowledgments and of nonces for proofs (DPoP), at least 32 bytes and the same on every host [default: derived from the
    /// ledger key]
    #[arg(long, help_heading = "Tokens", env = "CAUDAL_ACKNOWLEDGMENT_KEY_FILE")]
    pub acknowledgment_key_file: Option<PathBuf>,
    /// File of the key that authenticates compiled components in the data folder, at least 32 bytes [default: derived
    /// from the ledger key]
    #[arg(long, help_heading = "Models", env = "CAUDAL_CACHE_KEY_FILE")]
    pub cache_key_file: Option<PathBuf>,
    #[command(flatten)]
    pub otlp: Otlp,
    #[command(flatten)]
    pub tls: Tls,
    #[command(flatten)]
    pub jwt: Jwt,
    #[command(flatten)]
    pub provider: Provider,
}
