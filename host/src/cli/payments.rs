//! `caudal payments` and `caudal reverse`: lists what a rail has not decided and where it differs, decides it by hand, and
//! gives money back.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::admin::{AdminApi, found, pesos};
use crate::cli::output::print;
use crate::cli::table::{Column, print_list, text};
use crate::config::{Common, DecideCase, DecidePayment, Payments};

pub(super) async fn run(common: &Common, payments: Payments) -> Result<ExitCode> {
    match payments {
        Payments::List { json, admin } => {
            let answer = AdminApi::new(common, &admin)?.get("/admin/payments").await?;
            print_list(&answer, ("payments", "no payment is pending"), COLUMNS, json)
        }
        Payments::Settle(decision) => decide(common, decision, "settle").await,
        Payments::Refuse(decision) => decide(common, decision, "refuse").await,
        Payments::Cases { json, admin } => {
            let answer = AdminApi::new(common, &admin)?.get("/admin/cases").await?;
            print_list(&answer, ("cases", "no case is open"), CASE_COLUMNS, json)
        }
        Payments::Book { account, case } => end(common, case, "book", account).await,
        Payments::Close(case) => end(common, case, "close", None).await,
    }
}

const COLUMNS: &[Column<Value>] = &[
    ("TRANSACTION", |it| text(&it["transactionId"])),
    ("KIND", |it| text(&it["kind"])),
    ("TRACKING KEY", |it| text(&it["trackingKey"])),
    ("MXN", |it| pesos(&it["amount"])),
    ("RAIL", |it| text(&it["rail"])),
    ("MINUTES", |it| (it["ageSeconds"].as_i64().unwrap_or_default() / 60).to_string()),
    ("ATTEMPTS", |it| text(&it["attempts"])),
    ("OPERATING DATE", |it| it["operatingDate"].as_str().unwrap_or("not sent").to_owned()),
    ("STATE", |it| match it["parkedAt"].as_str() {
        Some(at) => format!("awaiting a decision since {at}"),
        None => format!("next check at {}", text(&it["nextAttemptAt"])),
    }),
    ("LAST ERROR", |it| text(&it["lastError"])),
];

const CASE_COLUMNS: &[Column<Value>] = &[
    ("CASE", |it| text(&it["id"])),
    ("OPERATING DATE", |it| text(&it["operatingDate"])),
    ("DIRECTION", |it| text(&it["difference"]["direction"])),
    ("FINDING", |it| text(&it["difference"]["finding"])),
    ("TRACKING KEY", |it| text(&it["difference"]["trackingKey"])),
    ("MXN HERE", |it| text(&it["difference"]["here"]["amount"])),
    ("MXN THERE", |it| text(&it["difference"]["there"]["amount"])),
    ("STATUS HERE", |it| text(&it["difference"]["here"]["status"])),
    ("STATUS THERE", |it| text(&it["difference"]["there"]["status"])),
    ("SENDER", |it| text(&it["difference"]["senderNumber"])),
    ("OPENED", |it| text(&it["openedAt"])),
];

async fn end(common: &Common, case: DecideCase, action: &str, account: Option<Uuid>) -> Result<ExitCode> {
    let DecideCase { case, reason, admin } = case;
    let mut body = json!({"reason": reason});
    if let Some(account) = account {
        body["accountId"] = json!(account);
    }
    let answer = AdminApi::new(common, &admin)?.post(&format!("/admin/cases/{case}/{action}"), &body).await;
    let answer = found(answer, || format!("there is no case {case}: `caudal payments cases` lists the open ones"))?;
    if let Some(done) = answer.done()? {
        print(&match done["transactionId"].as_str() {
            Some(transaction) => format!("{case}: booked as {transaction}"),
            None => format!("{case}: closed"),
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Posts a decision, and returns what became of it unless a second operator has to approve it.
async fn post(common: &Common, decision: &DecidePayment, path: &str, unknown: &str) -> Result<Option<Value>> {
    let DecidePayment { reason, admin, .. } = decision;
    let answer = AdminApi::new(common, admin)?.post(path, &json!({"reason": reason})).await;
    found(answer, || unknown.to_owned())?.done()
}

async fn decide(common: &Common, decision: DecidePayment, action: &str) -> Result<ExitCode> {
    let transaction = decision.transaction;
    let path = format!("/admin/payments/{transaction}/{action}");
    let unknown = format!("no rail carried {transaction}: `caudal payments list` names pending payments");
    if let Some(done) = post(common, &decision, &path, &unknown).await? {
        let status = text(&done["status"]);
        print(&match done["changed"] == true {
            true => format!("{transaction}: now {status}"),
            false => format!("{transaction}: already {status}, which is final"),
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn reverse(common: &Common, decision: DecidePayment) -> Result<ExitCode> {
    let transaction = decision.transaction;
    let path = format!("/admin/transactions/{transaction}/reverse");
    if let Some(done) = post(common, &decision, &path, &format!("there is no transaction {transaction}")).await? {
        let when = if done["changed"] == true { "reversed" } else { "already reversed or returned" };
        print(&format!("{transaction}: {when}, by the credit {}", text(&done["reversalId"])))?;
    }
    Ok(ExitCode::SUCCESS)
}
