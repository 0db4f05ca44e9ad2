//! `caudal payments`: lists what a rail has not decided, and decides it by hand, through the same ledger core as the
//! service.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::cli::database::Database;
use crate::cli::ledger;
use crate::cli::output::print;
use crate::clock::{Clock, timestamp};
use crate::config::{Common, DecidePayment, Payments};
use crate::db::payments::{self, PendingPayment};
use crate::domain::money::Money;
use crate::domain::transfer::Report;
use crate::http::admin::payments::PAYMENTS_LISTED_MAX;
use crate::ledger::{ByHand, Command, Outcome};
use crate::rail::decision::{self, Decision, Verdict};
use crate::sealing::ChainKey;

pub(super) async fn run(common: &Common, payments: Payments) -> Result<ExitCode> {
    let (database, key) = ledger::open(common).await?;
    let done = match payments {
        Payments::List => list(&database).await,
        Payments::Settle(decision) => decide(&database, key, decision, Report::Settled).await,
        Payments::Refuse(decision) => decide(&database, key, decision, Report::Rejected).await,
    };
    database.close().await?;
    print(&done?)?;
    Ok(ExitCode::SUCCESS)
}

async fn list(database: &Database) -> Result<String> {
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let pending = payments::list(&mut db, PAYMENTS_LISTED_MAX).await.context("cannot list the payments")?;
    let now = Clock::system().now();
    let lines: Vec<_> = pending.iter().map(|it| line(it, now)).collect();
    Ok(if lines.is_empty() { "no payment is pending".to_owned() } else { lines.join("\n") })
}

fn line(it: &PendingPayment, now: time::OffsetDateTime) -> String {
    let PendingPayment { transfer_id, tracking_key, attempts, rail, .. } = it;
    let amount = Money::from_minor(it.amount);
    let minutes = (now - it.created_at).whole_minutes();
    let state = match it.parked_at {
        Some(at) => format!("to be decided since {}", timestamp(at)),
        None => format!("asked next at {}", timestamp(it.due_at)),
    };
    let date = it.operating_date.map_or_else(|| "not sent".to_owned(), |date| format!("sent for {date}"));
    let error = it.last_error.as_deref().unwrap_or("no error");
    format!(
        "{transfer_id} {tracking_key} {amount} MXN by {rail}, {minutes} min old, {attempts} attempts, {date}, {state}: {error}"
    )
}

async fn decide(database: &Database, key: ChainKey, decision: DecidePayment, report: Report) -> Result<String> {
    let DecidePayment { transaction, reason, by } = decision;
    let clock = Clock::system();
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let decision = Decision { transfer_id: transaction, report, by_hand: ByHand { actor: by, note: reason } };
    let verdict = decision::judge(&mut db, decision, clock.now(), clock.new_id()).await;
    drop(db);
    let report = match verdict.context("cannot stop the payment")? {
        Verdict::Report(report) => report,
        Verdict::NotBefore(at) => {
            bail!("a host may be sending the payment: it is stopped now; repeat the command after {}", timestamp(at))
        }
        Verdict::NotFound => bail!("no rail carried {transaction}: `caudal payments list` names pending payments"),
    };
    let outcome = ledger::submit(database, key, clock, Command::Report(report)).await?;
    match outcome.context("the payment may be undecided: repeat the command")? {
        Outcome::StatusChanged(status) => Ok(format!("{transaction}: now {status}")),
        Outcome::StatusUnchanged(status) => Ok(format!("{transaction}: is already {status}, which is final")),
        other => bail!("unexpected outcome {other:?}"),
    }
}
