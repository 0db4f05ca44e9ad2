//! `caudal approvals`: actions that wait for a second operator.

use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::cli::admin::AdminApi;
use crate::cli::output::print;
use crate::cli::table::{print_json, table, text};
use crate::config::{Approvals, Common};

pub(super) async fn run(common: &Common, approvals: Approvals) -> Result<ExitCode> {
    match approvals {
        Approvals::List { all, json, admin } => {
            let mut answer = AdminApi::new(common, &admin)?.get("/admin/approvals").await?;
            if let Some(listed) = answer["approvals"].as_array_mut() {
                listed.retain(|it| all || is_open(it));
            }
            let rows: Vec<_> = answer["approvals"].as_array().into_iter().flatten().map(row).collect();
            if json {
                print_json(&answer)?;
            } else if rows.is_empty() {
                print("nothing is waiting for approval")?;
            } else {
                print(&table(["APPROVAL", "STATE", "BY", "EXPIRES", "REASON", "ACTION", "DIGEST"], &rows))?;
            }
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
            let done = api.post(&format!("/admin/approvals/{id}/approve"), &json!({"digest": digest})).await?.body;
            if done["changed"] == false {
                print(&format!("approved, and nothing was changed: it was so before{}", fields(&done)))?;
                return Ok(ExitCode::FAILURE);
            }
            print(&format!("done{}", fields(&done)))?;
        }
        Approvals::Withdraw { id, admin } => {
            AdminApi::new(common, &admin)?.post(&format!("/admin/approvals/{id}/withdraw"), &json!({})).await?;
            print(&format!("{id}: withdrawn"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What the host answered about an action, a line for each field.
fn fields(done: &Value) -> String {
    let told = done.as_object().into_iter().flatten().filter(|(_, it)| !it.is_null() && !it.is_object());
    let line = |(name, it): (&String, &Value)| {
        format!("\n  {name}: {}", it.as_str().map_or_else(|| it.to_string(), str::to_owned))
    };
    told.map(line).collect()
}

/// Approved is open too: it is being carried out, or its outcome is unknown.
fn is_open(it: &Value) -> bool {
    matches!(it["state"].as_str(), Some("pending" | "approved"))
}

fn row(it: &Value) -> [String; 7] {
    let decided = it["decidedBy"].as_str().map(|by| format!(" by {by}")).unwrap_or_default();
    [
        text(&it["id"]),
        format!("{}{decided}", text(&it["state"])),
        text(&it["proposedBy"]),
        text(&it["expiresAt"]),
        text(&it["reason"]),
        it["action"].to_string(),
        text(&it["digest"]),
    ]
}

/// One action, over several lines.
fn line(it: &Value) -> String {
    let text = |field: &str| it[field].as_str().unwrap_or_default();
    let decided = it["decidedBy"].as_str().map(|by| format!(" by {by}")).unwrap_or_default();
    format!(
        "{} {}{decided}, proposed by {}, expires {}: {}\n  {}\n  {}",
        text("id"),
        text("state"),
        text("proposedBy"),
        text("expiresAt"),
        text("reason"),
        it["action"],
        text("digest")
    )
}
