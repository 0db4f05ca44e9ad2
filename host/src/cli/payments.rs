//! `caudal payments` and `caudal reverse`: lists what a rail has not decided, decides it by hand, and gives money back.

use std::process::ExitCode;

use anyhow::{Result, bail};
use hyper::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::admin::{AdminApi, is_refusal, pesos};
use crate::cli::output::print;
use crate::cli::table::{print_json, table, text};
use crate::config::{Common, DecidePayment, Payments};

pub(super) async fn run(common: &Common, payments: Payments) -> Result<ExitCode> {
    match payments {
        Payments::List { json, admin } => list(&AdminApi::new(common, &admin)?, json).await,
        Payments::Settle(decision) => decide(common, decision, "settle").await,
        Payments::Refuse(decision) => decide(common, decision, "refuse").await,
    }
}

async fn list(api: &AdminApi, json: bool) -> Result<ExitCode> {
    let answer = api.get("/admin/payments").await?;
    if json {
        print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<_> = answer["payments"].as_array().into_iter().flatten().map(row).collect();
    print(&if rows.is_empty() {
        "no payment is pending".to_owned()
    } else {
        let heads = [
            "TRANSACTION",
            "TRACKING KEY",
            "MXN",
            "RAIL",
            "MINUTES",
            "ATTEMPTS",
            "OPERATING DATE",
            "STATE",
            "LAST ERROR",
        ];
        table(heads, &rows)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn row(it: &Value) -> [String; 9] {
    let state = match it["parkedAt"].as_str() {
        Some(at) => format!("awaiting a decision since {at}"),
        None => format!("next check at {}", text(&it["nextAttemptAt"])),
    };
    [
        text(&it["transactionId"]),
        text(&it["trackingKey"]),
        pesos(&it["amount"]),
        text(&it["rail"]),
        (it["ageSeconds"].as_i64().unwrap_or_default() / 60).to_string(),
        it["attempts"].to_string(),
        it["operatingDate"].as_str().unwrap_or("not sent").to_owned(),
        state,
        text(&it["lastError"]),
    ]
}

async fn decide(common: &Common, decision: DecidePayment, action: &str) -> Result<ExitCode> {
    let DecidePayment { transaction, reason, admin } = decision;
    let api = AdminApi::new(common, &admin)?;
    let answer = api.post(&format!("/admin/payments/{transaction}/{action}"), &json!({"reason": reason})).await;
    let answer = match answer {
        Err(error) if is_refusal(&error, StatusCode::NOT_FOUND) => {
            bail!("no rail carried {transaction}: `caudal payments list` names pending payments")
        }
        answer => answer?,
    };
    if let Some(done) = answer.done()? {
        let status = done["status"].as_str().unwrap_or_default();
        let is_new = done["changed"] == true;
        print(&if is_new {
            format!("{transaction}: now {status}")
        } else {
            format!("{transaction}: already {status}, which is final")
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn reverse(common: &Common, decision: DecidePayment) -> Result<ExitCode> {
    let DecidePayment { transaction, reason, admin } = decision;
    let api = AdminApi::new(common, &admin)?;
    let answer = api.post(&format!("/admin/transactions/{transaction}/reverse"), &json!({"reason": reason})).await;
    let answer = match answer {
        Err(error) if is_refusal(&error, StatusCode::NOT_FOUND) => bail!("there is no transaction {transaction}"),
        answer => answer?,
    };
    if let Some(done) = answer.done()? {
        let by = done["reversalId"].as_str().and_then(|id| id.parse::<Uuid>().ok()).unwrap_or_default();
        let is_new = done["changed"] == true;
        let when = if is_new { "reversed" } else { "already reversed or returned" };
        print(&format!("{transaction}: {when}, by the credit {by}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
