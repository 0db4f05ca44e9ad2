//! `caudal postgres -- CMD`: a private Postgres for as long as a command runs. Unlike other commands it creates the
//! data folder, because it provides throw-away servers for tests.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{Common, PostgresCommand};
use crate::postgres::Server;

pub(super) async fn run(common: &Common, command: PostgresCommand) -> Result<ExitCode> {
    let server = Server::start(&common.data_dir, common.postgres_bin.as_deref(), false).await?;
    let outcome = run_with(&server, &command.command).await;
    server.stop().await?;
    outcome
}

async fn run_with(server: &Server, command: &[String]) -> Result<ExitCode> {
    let (program, arguments) = command.split_first().context("name a command after --")?;
    // Ctrl-C reaches the command as well: wait until it exits before stopping the server.
    let mut interrupts = signal(SignalKind::interrupt()).context("cannot handle signals")?;
    let mut child = Command::new(program)
        .args(arguments)
        .env("DATABASE_URL", server.url())
        .spawn()
        .with_context(|| format!("cannot run {program}"))?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.with_context(|| format!("cannot wait for {program}"))?,
            _ = interrupts.recv() => {}
        }
    };
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}
