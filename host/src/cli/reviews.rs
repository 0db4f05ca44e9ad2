//! `caudal reviews`: transfers that wait until a person decides.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::admin::{AdminApi, found, pesos};
use crate::cli::output::print;
use crate::cli::table::{Column, print_list, text};
use crate::config::{Common, DecideReview, Reviews};

pub(super) async fn run(common: &Common, reviews: Reviews) -> Result<ExitCode> {
    match reviews {
        Reviews::List { json, admin } => {
            let answer = AdminApi::new(common, &admin)?.get("/admin/reviews").await?;
            return print_list(&answer, ("reviews", "no transfer is under review"), COLUMNS, json);
        }
        Reviews::Claim { transaction, admin } => {
            let path = format!("/admin/reviews/{transaction}/claim");
            let answer = AdminApi::new(common, &admin)?.post(&path, &json!({})).await;
            found(answer, || format!("{transaction} is not under review: `caudal reviews list` names those that are"))?;
            print(&format!("{transaction}: yours to decide"))?;
        }
        Reviews::Release(review) => decide(common, review, "release", false).await?,
        Reviews::Refuse { scam, review } => decide(common, review, "refuse", scam).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn decide(common: &Common, review: DecideReview, decision: &str, is_scam: bool) -> Result<()> {
    let DecideReview { transaction, reason, admin } = review;
    let body = json!({"decision": decision, "reason": reason, "isScam": is_scam});
    let answer = AdminApi::new(common, &admin)?.post(&format!("/admin/reviews/{transaction}/decision"), &body).await;
    let unknown = || format!("{transaction} is not under review: `caudal reviews list` names those that are");
    let done = found(answer, unknown)?.body;
    print(&format!("{transaction}: {decision}d, recorded as {}", text(&done["outcome"])))
}

const COLUMNS: &[Column<Value>] = &[
    ("TRANSACTION", |it| text(&it["transactionId"])),
    ("PAYER", |it| text(&it["payer"])),
    ("MXN", |it| pesos(&it["amount"])),
    ("PAYEE", |it| text(&it["payee"])),
    ("BANK", |it| text(&it["payeeBank"])),
    ("NUMBER", |it| text(&it["payeeNumber"])),
    ("MINUTES", |it| (it["ageSeconds"].as_i64().unwrap_or_default() / 60).to_string()),
    ("CLAIMED BY", |it| text(&it["claimedBy"])),
    ("DECISION", |it| text(&it["decision"])),
];
