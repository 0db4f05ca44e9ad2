//! The commands, one file each, and what they share.

mod admin;
mod approvals;
mod candidate;
mod completions;
mod config;
mod customer;
mod database;
mod doctor;
mod events;
mod fork;
mod freeze;
mod fund;
mod gate;
mod holder;
mod ledger;
mod limits;
mod listeners;
mod loss;
mod migrate;
mod models;
mod openapi;
mod outcomes;
mod output;
mod payments;
mod policy;
mod postgres;
mod rail;
mod receipt;
mod reconcile;
mod replay;
mod reviews;
mod rotate;
mod score;
mod secret;
mod serve;
mod sinks;
mod table;
mod token;
mod tokens;
mod verify;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::audit::{self, Event};
use crate::config::file::Shown;
use crate::config::{Cli, Command, PolicyCommand, ReceiptCommand, SimulatedRail, exposed_secret};
use crate::db::{durability, session};
use crate::telemetry::{Lines, SPANS, Telemetry};

/// What to do where the database's role may not.
const FORBIDDEN: &str = "the role in DATABASE_URL may not do this: `caudal migrate`, `caudal policy set` and `caudal rotate-key` \
    need the owner of the tables, `caudal verify` the role caudal_verify, everything else caudal_serve";

/// Runs one command. `shown` is for `caudal config show`.
///
/// # Errors
/// With a message that says what to do.
pub fn run(cli: Cli, shown: &[Shown]) -> Result<ExitCode> {
    // Before there are threads: each confines itself.
    if let Command::Gate { may_be_unconfined } = cli.command {
        return gate::run(may_be_unconfined);
    }
    if let Some(flag) = exposed_secret() {
        bail!("{flag} shows its value to every user of this machine: use {flag}-file, or the environment");
    }
    let filter = EnvFilter::try_new(&cli.common.log).context("--log is not a filter such as \"info,caudal=debug\"")?;
    let color = std::io::IsTerminal::is_terminal(&std::io::stderr());
    // Those of a trace are not for the log.
    let filter = filter.add_directive(format!("{SPANS}=off").parse().context("a target is not a filter")?);
    let log = tracing_subscriber::fmt::layer().event_format(Lines::new(color));
    let log = log.with_writer(std::io::stderr).with_ansi(color).with_filter(filter);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let telemetry = match &cli.command {
        Command::Serve(serve) => {
            serve.otlp.url.as_ref().map(|url| Telemetry::new(url, serve.otlp.traced, runtime.handle().clone()))
        }
        _ => None,
    };
    let telemetry = telemetry.transpose()?;
    let spans = telemetry.as_ref().map(Telemetry::layer);
    tracing_subscriber::registry().with(log).with(durability::warnings()).with(spans).init();

    let action = action(&cli.command);
    let outcome = runtime.block_on(async {
        match cli.command {
            Command::Serve(serve) => serve::run(&cli.common, *serve, telemetry).await,
            Command::Config(command) => config::run(&cli.common, &command, shown),
            Command::Doctor(settings) => doctor::run(&cli.common, &settings).await,
            Command::Migrate => migrate::run(&cli.common).await,
            Command::Roles(roles) => migrate::print_roles(&roles),
            Command::Policy(command) => policy::run(&cli.common, command).await,
            Command::Token(token) => token::run(&cli.common, token).await,
            Command::Fund(fund) => fund::run(&cli.common, fund).await,
            Command::Customer(it) => customer::run(&cli.common, it).await,
            Command::Statement(it) => customer::statement(&cli.common, it).await,
            Command::Freeze(freeze) => freeze::run(&cli.common, freeze, true).await,
            Command::Unfreeze(freeze) => freeze::run(&cli.common, freeze, false).await,
            Command::Verify(verify) => verify::run(&cli.common, verify).await,
            Command::Fork(fork) => fork::run(&cli.common, fork).await,
            Command::AcceptLoss(loss) => loss::run(&cli.common, loss).await,
            Command::RotateKey(rotate) => rotate::run(&cli.common, rotate).await,
            Command::Limits(limits) => limits::run(&cli.common, limits).await,
            Command::Holder(holder) => holder::run(&cli.common, holder).await,
            Command::Payments(payments) => payments::run(&cli.common, payments).await,
            Command::Reviews(reviews) => reviews::run(&cli.common, reviews).await,
            Command::Rail(SimulatedRail::Receive(order)) => rail::receive(&cli.common, order).await,
            Command::Reconcile(reconcile) => reconcile::run(&cli.common, reconcile).await,
            Command::Reverse(decision) => payments::reverse(&cli.common, decision).await,
            Command::Approvals(approvals) => approvals::run(&cli.common, approvals).await,
            Command::Events(events) => events::run(&cli.common, events).await,
            Command::Sinks(sinks) => sinks::run(&cli.common, sinks).await,
            Command::Postgres(command) => postgres::run(&cli.common, command).await,
            Command::Score(score) => score::run(&score),
            Command::Replay(replay) => replay::run(&cli.common, &replay).await,
            Command::WhatIf(asked) => replay::what_if(&cli.common, &asked).await,
            Command::Receipt(ReceiptCommand::Verify(asked)) => receipt::verify(&asked),
            Command::Outcomes(outcomes) => outcomes::run(&cli.common, outcomes).await,
            Command::Openapi(openapi) => openapi::run(&openapi),
            Command::Models(models) => models::run(&cli.common, &models).await,
            Command::Gate { may_be_unconfined } => gate::run(may_be_unconfined),
            Command::Completions { shell } => completions::print(shell),
            Command::Man { folder } => completions::write_manual(&folder),
        }
    });
    let code = outcome.map_err(|error| if is_forbidden(&error) { error.context(FORBIDDEN) } else { error })?;
    if let Some((event, by)) = action
        && code == ExitCode::SUCCESS
    {
        audit::done(event, &by, &"");
    }
    Ok(code)
}

/// The audit event of a command that works without a host, and the name given with `--by`. Hosts log what they do
/// themselves.
fn action(command: &Command) -> Option<(Event, String)> {
    match command {
        Command::AcceptLoss(loss) => Some((Event::LossAccepted, loss.by.clone())),
        Command::Policy(PolicyCommand::Set { by, .. }) => Some((Event::PolicyChanged, by.clone())),
        Command::RotateKey(rotate) => Some((Event::KeyRotated, rotate.by.clone())),
        _ => None,
    }
}

/// Whether the database denied this program's role something.
fn is_forbidden(error: &anyhow::Error) -> bool {
    error.chain().any(session::is_forbidden)
}
