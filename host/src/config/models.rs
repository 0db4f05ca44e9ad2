//! Commands about models and their decisions.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};

use super::evaluate::Evaluate;
use super::token::{Admin, recorded};
use crate::domain::model::ModelKind;
use crate::domain::rollout::OnViolation;

pub(super) fn one_of(kinds: &[ModelKind]) -> impl TypedValueParser<Value = ModelKind> {
    let kinds: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
    PossibleValuesParser::new(kinds).try_map(|text| ModelKind::parse(&text).ok_or("no such kind"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// One JSON object per line
    Ndjson,
    /// A header, then one row per line
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplanationLanguage {
    /// Mexican Spanish
    Es,
    /// English
    En,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Rows have the fields of the assistance API's requests; other fields are ignored. Rejected rows are \
                        reported by line and do not stop the rest. Exits with 3 if rows were rejected."
)]
pub struct Score {
    /// The scorer
    #[arg(long, value_parser = one_of(ModelKind::SCORERS))]
    pub kind: ModelKind,
    /// File of rows, `.ndjson` or `.csv`; `-` is standard input
    #[arg(long)]
    pub input: PathBuf,
    /// File to write, atomically [default: standard output]
    #[arg(long)]
    pub output: Option<PathBuf>,
    /// Format of the input [default: from the file's extension]
    #[arg(long)]
    pub format: Option<RowFormat>,
    /// File for all rejected rows, as NDJSON
    #[arg(long)]
    pub rejects: Option<PathBuf>,
    /// A built-in model, for example risk-1 [default: the built-in champion]
    #[arg(long, conflicts_with = "component")]
    pub model: Option<String>,
    /// A component file instead of a built-in model
    #[arg(long)]
    pub component: Option<PathBuf>,
    /// Language of accessibility explanations
    #[arg(long, value_enum, default_value = "es")]
    pub language: ExplanationLanguage,
}

#[derive(Debug, Subcommand)]
pub enum Models {
    /// Print a built-in model's card: its purpose, evaluation and limits
    Card {
        /// A kind such as risk, or a model such as risk-1
        model: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List registered versions, their roles, and what each running host serves
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Run the gate on a component and register it if it is accepted
    Push(Push),
    /// Show one version: who signed it, what the gate found, and what its owner says of it
    Show {
        /// As `list` and `push` print it, for example risk-2.0.0+9f2c41aa, or any unambiguous prefix
        version: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Make a component of a trained model (XGBoost JSON, LightGBM text, ONNX, a scorecard), or transfer rules of a table
    Build(BuildModel),
    /// Measure how well a risk model finds the frauds of labelled rows: AUC, frauds caught, and what its levels mean
    Evaluate(Evaluate),
    /// List the facts that a component may ask for
    Facts {
        /// risk or transfer-rules
        #[arg(default_value = ModelKind::Risk.as_str(), value_parser = one_of(&[ModelKind::Risk, ModelKind::TransferRules]))]
        kind: ModelKind,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Prepare models for pages and edge workers: the generated files of the npm package, or components of one's own
    Package {
        /// The `dist` folder of the package in components/js
        #[arg(required_unless_present = "component", conflicts_with = "component")]
        folder: Option<PathBuf>,
        /// Write a core and its identity for each of these components; a file's name becomes the model's
        #[arg(long, value_name = "FILE", num_args = 1.., requires = "output")]
        component: Vec<PathBuf>,
        /// The folder for them
        #[arg(long, short, value_name = "FOLDER", requires = "component")]
        output: Option<PathBuf>,
    },
    /// Deploy a registered version to every host, without downtime
    Deploy(Deploy),
    /// Change the scores from which a risk is medium and high, whichever version answers
    CutOffs(SetCutOffs),
    /// Compare challengers (canary and shadows) with the champion
    Report {
        /// A kind of scorer, such as risk
        kind: String,
        /// Number of the change [default: the latest with challengers]
        #[arg(long)]
        epoch: Option<i64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Roll a version out to more users step by step, and then promote it, as long as the evidence supports it
    #[command(subcommand)]
    Rollout(Rollout),
    /// End a canary, or else return to the version that served before
    Rollback(RollBack),
    /// List the deployments of a kind, newest first: what, when, by whom and why
    History {
        /// A kind, such as risk or transfer-rules
        kind: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Run the gate on a component file without registering it. Exits with 1 if it is refused
    Check {
        /// The component file
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct BuildModel {
    /// The model, as its library saves it, or a decision table in CSV
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
    /// Make transfer rules of a decision table, in this version, for example 1.1.0; explained in components/README.md
    #[arg(long, value_name = "VERSION", conflicts_with = "facts")]
    pub rules: Option<String>,
    /// Which fact each of its columns is, in TOML; explained in components/README.md
    #[arg(long, value_name = "FILE", required_unless_present = "rules")]
    pub facts: Option<PathBuf>,
    /// The component to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "Sign with `cosign sign-blob --key KEY --bundle risk.sig risk.wasm`, or \
                        `openssl dgst -sha256 -sign KEY risk.wasm | base64 -w0 > risk.sig`. Pushing a registered component \
                        again replaces its signature and its card.\n\n\
                        An image comes from a registry with `skopeo copy docker://REGISTRY/NAME@sha256:DIGEST \
                        oci:FOLDER`. One layer must have the type application/wasm; another may be its cosign bundle.")]
pub struct Push {
    /// The component file
    #[arg(required_unless_present = "oci")]
    pub file: Option<PathBuf>,
    /// Signature of the component by one of the host's model keys: a cosign bundle, or base64
    #[arg(long, value_name = "FILE", requires = "file")]
    pub signature: Option<PathBuf>,
    /// What its owner says of it, in JSON, as caudal-models writes it; explained in components/README.md
    #[arg(long, value_name = "FILE")]
    pub card: Option<PathBuf>,
    /// An image in an OCI image layout instead of files: FOLDER@sha256:DIGEST
    #[arg(long, value_name = "IMAGE", conflicts_with = "file")]
    pub oci: Option<String>,
    #[command(flatten)]
    pub admin: Admin,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A canary always answers the same users, identified by `user_id` in the body of a request. A request \
                        without `user_id` is assigned by its content: repeating it always reaches the same version.\n\n\
                        Asks before ending a running canary, or promoting a version that was withdrawn or rolled back. \
                        Without a terminal, confirm with --end-canary or --despite-setback.\n\n\
                        With --wait, exits with 1 if a host cannot load the version or time runs out."
)]
pub struct Deploy {
    /// The champion, as `list` and `push` print it, for example risk-2.0.0+9f2c41aa, or any unambiguous prefix
    pub version: String,
    /// A version that answers a share of the users; withdrawn automatically if it fails
    #[arg(long, requires = "percent")]
    pub canary: Option<String>,
    /// Percentage of users that the canary answers; a user always gets the same version
    #[arg(long, requires = "canary", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub percent: Option<u8>,
    /// Percentage of compared answers that may differ in class before the canary is withdrawn [default: 10]
    #[arg(long, requires = "canary", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub max_flip_percent: Option<u8>,
    /// A version that is compared but answers no user; repeatable
    #[arg(long = "shadow")]
    pub shadows: Vec<String>,
    /// The oldest version of the kind that may be deployed from now on, for example 2.0.0
    #[arg(long, value_name = "VERSION")]
    pub minimum_release: Option<String>,
    #[command(flatten)]
    pub cut_offs: CutOffOptions,
    /// End the running canary without asking
    #[arg(long)]
    pub end_canary: bool,
    /// Promote the version without asking, even if it was withdrawn or rolled back
    #[arg(long)]
    pub despite_setback: bool,
    /// Output of `caudal fork --json` with these versions; the approver of the deployment sees its SHA-256
    #[arg(long, value_name = "FILE")]
    pub fork_report: Option<PathBuf>,
    /// Reason, kept in the deployment history
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
    /// Wait until every running host serves it, at most this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "120")]
    pub wait: Option<u32>,
}

#[derive(Debug, Args)]
pub struct CutOffOptions {
    /// Lowest score of a medium risk [default: as it is; at first 0.25]
    #[arg(long, value_name = "SCORE")]
    pub medium_from: Option<f64>,
    /// Lowest score of a high risk [default: as it is; at first 0.75]
    #[arg(long, value_name = "SCORE")]
    pub high_from: Option<f64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The champion, canary and shadows stay, and comparisons start over. A running rollout ends; its canary \
                        keeps its share. A later deployment or rollback keeps the cut-offs, unless `deploy` states others."
)]
pub struct SetCutOffs {
    /// A kind: only risk has levels
    pub kind: String,
    #[command(flatten)]
    pub cut_offs: CutOffOptions,
    /// Reason, kept in the deployment history
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
    /// Wait until every running host serves it, at most this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "120")]
    pub wait: Option<u32>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Undoes the last change: where that began a trial and left the champion, the trial ends and the champion \
                        keeps serving, unless --to says where to return to. Ends all challengers. If the previous champion is \
                        on trial as a challenger, returns to the champion before that one."
)]
pub struct RollBack {
    /// A kind, such as risk or transfer-rules
    pub kind: String,
    /// Version to leave; refused if it is not the champion
    #[arg(long, value_name = "VERSION")]
    pub from: Option<String>,
    /// Version to return to; refused if a rollback would return to another. Required if that version was itself
    /// rolled back, or if the last change began or ended a trial only
    #[arg(long, value_name = "VERSION")]
    pub to: Option<String>,
    /// Return to the version without asking, even if it was withdrawn or itself rolled back
    #[arg(long)]
    pub despite_setback: bool,
    /// Reason, kept in the deployment history
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
    /// Wait until every running host serves it, at most this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "120")]
    pub wait: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub enum Rollout {
    /// Start with the first share of users
    Start(StartRollout),
    /// List the rollouts of a kind, newest first: their steps, their evidence and what they wait for
    List {
        /// A kind of scorer, such as risk
        kind: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Pause a rollout at its current step. A violated bound still withdraws its canary
    Pause(RolloutOrder),
    /// Resume a paused rollout
    Resume(RolloutOrder),
    /// Abort a rollout: its canary stops answering
    Abort(RolloutOrder),
}

#[derive(Debug, Args)]
#[command(
    after_help = "A step ends when the canary has decided often enough for long enough, and its failures and flips are \
                        certainly below their bounds. If one certainly violates its bound, the canary is withdrawn from all \
                        users. Only the first decision of each user counts.\n\nWhere a new risk champion requires two operators, the last step waits for an approval."
)]
pub struct StartRollout {
    /// The version, as `list` and `push` print it, for example risk-2.0.0+9f2c41aa, or any unambiguous prefix
    pub version: String,
    /// Percentages of users, ascending to 100. With 0 the canary is compared on all requests and answers nobody
    /// [default: 0,5,25,100]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(..=100))]
    pub steps: Vec<u8>,
    /// Minimum decisions by the canary at each step [default: 500]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub step_decisions: Option<u32>,
    /// Minimum time for each step, such as 1h [default: 10m]
    #[arg(long, value_parser = humantime::parse_duration)]
    pub step_time: Option<std::time::Duration>,
    /// Percentage of the canary's decisions that may fail [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub max_failure_percent: Option<u8>,
    /// Percentage of compared answers that may differ in class; of a risk, half as many may be in a lower one, and a
    /// quarter go from high to low [default: 10]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub max_flip_percent: Option<u8>,
    /// What a call may cost, in instructions, as a percentage of what it costs the champion [default: 1000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub max_fuel_percent: Option<u32>,
    /// What a violated bound does [default: withdraw]
    #[arg(long, value_parser = PossibleValuesParser::new(OnViolation::TEXTS))]
    pub on_violation: Option<String>,
    /// End the running canary without asking
    #[arg(long)]
    pub end_canary: bool,
    /// Promote the version after the last step, even if it was withdrawn or rolled back
    #[arg(long)]
    pub despite_setback: bool,
    /// Output of `caudal fork --json` with this version; the approver of the promotion sees its SHA-256
    #[arg(long, value_name = "FILE")]
    pub fork_report: Option<PathBuf>,
    /// Reason, kept in the deployment history
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
}

#[derive(Debug, Args)]
pub struct RolloutOrder {
    /// A kind of scorer, such as risk
    pub kind: String,
    /// Reason, kept with the rollout
    #[arg(long, value_parser = recorded)]
    pub reason: String,
    #[command(flatten)]
    pub admin: Admin,
}
