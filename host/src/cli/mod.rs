//! The commands, one file each, and what they share.

mod database;
mod events;
mod freeze;
mod fund;
mod gate;
mod holder;
mod ledger;
mod limits;
mod loss;
mod models;
mod openapi;
mod output;
mod payments;
mod postgres;
mod rail;
mod replay;
mod rotate;
mod score;
mod secret;
mod serve;
mod token;
mod tokens;
mod verify;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::audit::{self, Event};
use crate::auth::Actor;
use crate::config::{Cli, Command, Models, Payments, exposed_secret};
use crate::db::durability;

/// Runs one command.
///
/// # Errors
/// With a message that says what to do.
pub fn run(cli: Cli) -> Result<ExitCode> {
    let filter = EnvFilter::try_new(&cli.common.log).context("--log is not a filter such as \"info,caudal=debug\"")?;
    let color = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(color).with_filter(filter);
    tracing_subscriber::registry().with(log).with(durability::warnings()).init();

    if let Some(flag) = exposed_secret() {
        let advice = format!("use {flag}-file, or the environment");
        audit::warn_of_configuration(&format!("{flag} shows its value to every user of this machine: {advice}"));
    }

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let action = action(&cli.command);
    let code = runtime.block_on(async {
        match cli.command {
            Command::Serve(serve) => serve::run(&cli.common, *serve).await,
            Command::Token(token) => token::run(&cli.common, token).await,
            Command::Fund(fund) => fund::run(&cli.common, fund).await,
            Command::Freeze(freeze) => freeze::run(&cli.common, freeze, true).await,
            Command::Unfreeze(freeze) => freeze::run(&cli.common, freeze, false).await,
            Command::Verify(verify) => verify::run(&cli.common, verify).await,
            Command::AcceptLoss(loss) => loss::run(&cli.common, loss).await,
            Command::RotateKey(rotate) => rotate::run(&cli.common, rotate).await,
            Command::Limits(limits) => limits::run(&cli.common, limits).await,
            Command::Holder(holder) => holder::run(&cli.common, holder).await,
            Command::Payments(payments) => payments::run(&cli.common, payments).await,
            Command::Events(events) => events::run(&cli.common, events).await,
            Command::Postgres(command) => postgres::run(&cli.common, command).await,
            Command::Score(score) => score::run(&score),
            Command::Replay(replay) => replay::run(&cli.common, &replay).await,
            Command::Openapi(openapi) => openapi::run(&openapi),
            Command::Models(models) => models::run(&cli.common, &models).await,
            Command::Gate => gate::run(),
        }
    })?;
    if let Some((event, by, object)) = action
        && code == ExitCode::SUCCESS
    {
        audit::done(event, &Actor { issuer: None, subject: by }, &object);
    }
    Ok(code)
}

/// What a command does that belongs into the audit log, who says to do it, and what with. Users are not named there.
fn action(command: &Command) -> Option<(Event, String, String)> {
    let (event, by, object) = match command {
        Command::Freeze(freeze) => (Event::AccountFrozen, &freeze.by, freeze.account.to_string()),
        Command::Unfreeze(freeze) => (Event::AccountUnfrozen, &freeze.by, freeze.account.to_string()),
        Command::Fund(fund) => (Event::AccountFunded, &fund.by, fund.account.to_string()),
        Command::Payments(Payments::Settle(payment)) => {
            (Event::PaymentSettled, &payment.by, payment.transaction.to_string())
        }
        Command::Payments(Payments::Refuse(payment)) => {
            (Event::PaymentRefused, &payment.by, payment.transaction.to_string())
        }
        Command::Limits(limits) if limits.per_transfer.is_some() || limits.per_day.is_some() => {
            (Event::LimitsChanged, &limits.by, String::new())
        }
        Command::Holder(holder) if holder.name.is_some() => (Event::HolderNamed, &holder.by, String::new()),
        Command::AcceptLoss(loss) => (Event::LossAccepted, &loss.by, String::new()),
        Command::RotateKey(rotate) => (Event::KeyRotated, &rotate.by, String::new()),
        Command::Models(Models::Push { by, .. }) => (Event::VersionPushed, by, String::new()),
        Command::Models(Models::Deploy(deploy)) => (Event::Deployment, &deploy.by, deploy.version.clone()),
        Command::Models(Models::Rollback(back)) => (Event::Rollback, &back.by, back.kind.clone()),
        _ => return None,
    };
    Some((event, by.clone(), object))
}
