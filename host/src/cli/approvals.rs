//! `caudal approvals`: actions that wait for a second operator.

use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::cli::admin::AdminApi;
use crate::cli::output::print;
use crate::cli::table::{Column, print_list, text};
use crate::config::{Approvals, Common};

pub(super) async fn run(common: &Common, approvals: Approvals) -> Result<ExitCode> {
    match approvals {
        Approvals::List { all, json, admin } => {
            let mut answer = AdminApi::new(common, &admin)?.get("/admin/approvals").await?;
            if let Some(listed) = answer["approvals"].as_array_mut() {
                listed.retain(|it| all || is_open(it));
            }
            return print_list(&answer, ("approvals", "nothing is waiting for approval"), COLUMNS, json);
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
    let facts = done.as_object().into_iter().flatten().filter(|(_, it)| !it.is_null() && !it.is_object());
    facts.map(|(name, it)| format!("\n  {name}: {}", text(it))).collect()
}

/// Approved is open too: it is being carried out, or its outcome is unknown.
fn is_open(it: &Value) -> bool {
    matches!(it["state"].as_str(), Some("pending" | "approved"))
}

const COLUMNS: &[Column<Value>] = &[
    ("APPROVAL", |it| text(&it["id"])),
    ("STATE", state),
    ("BY", |it| text(&it["proposedBy"])),
    ("EXPIRES", |it| text(&it["expiresAt"])),
    ("REASON", |it| text(&it["reason"])),
    ("ACTION", |it| it["action"].to_string()),
    ("DIGEST", |it| text(&it["digest"])),
];

fn state(it: &Value) -> String {
    let decided = it["decidedBy"].as_str().map(|by| format!(" by {by}")).unwrap_or_default();
    text(&it["state"]) + &decided
}

/// One action, over several lines.
fn line(it: &Value) -> String {
    let [id, by, expires, reason, digest] =
        ["id", "proposedBy", "expiresAt", "reason", "digest"].map(|name| text(&it[name]));
    let (state, action) = (state(it), &it["action"]);
    format!("{id} {state}, proposed by {by}, expires {expires}: {reason}\n  {action}\n  {digest}")
}
