//! `caudal approvals`: actions that wait for a second operator.

use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::cli::admin::AdminApi;
use crate::cli::output::print;
use crate::config::{Approvals, Common};

pub(super) async fn run(common: &Common, approvals: Approvals) -> Result<ExitCode> {
    match approvals {
        Approvals::List { all, admin } => {
            let answer = AdminApi::new(common, &admin)?.get("/admin/approvals").await?;
            let listed = answer["approvals"].as_array().into_iter().flatten();
            let lines: Vec<_> = listed.filter(|it| all || is_open(it)).map(line).collect();
            print(&if lines.is_empty() { "nothing waits for approval".to_owned() } else { lines.join("\n") })?;
        }
        Approvals::Approve { id, digest, admin } => {
            let api = AdminApi::new(common, &admin)?;
            let Some(digest) = digest else {
                let it = api.get(&format!("/admin/approvals/{id}")).await?;
                print(&line(&it))?;
                bail!(
                    "read it, then approve exactly this: caudal approvals approve {id} --digest {}",
                    it["digest"].as_str().unwrap_or_default()
                );
            };
            let done = api.post(&format!("/admin/approvals/{id}/approve"), &json!({"digest": digest})).await?;
            print(&format!("done: {}", done.body))?;
        }
        Approvals::Withdraw { id, admin } => {
            AdminApi::new(common, &admin)?.post(&format!("/admin/approvals/{id}/withdraw"), &json!({})).await?;
            print(&format!("{id}: withdrawn"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Approved, but not carried out, is open too: its execution failed.
fn is_open(it: &Value) -> bool {
    matches!(it["state"].as_str(), Some("pending" | "approved"))
}

fn line(it: &Value) -> String {
    let text = |field: &str| it[field].as_str().unwrap_or_default();
    let decided = it["decidedBy"].as_str().map(|by| format!(" by {by}")).unwrap_or_default();
    format!(
        "{} {}{decided}, proposed by {} until {}: {}\n  {}\n  {}",
        text("id"),
        text("state"),
        text("proposedBy"),
        text("expiresAt"),
        text("reason"),
        it["action"],
        text("digest")
    )
}
