//! `caudal sinks`: where events are delivered.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::admin::{AdminApi, found};
use crate::cli::output::print;
use crate::cli::table::{Column, print_list, text};
use crate::config::{Common, Sinks};

pub(super) async fn run(common: &Common, sinks: Sinks) -> Result<ExitCode> {
    let from = |cursor: Option<String>| cursor.map(|it| if it == "0" { String::new() } else { it });
    let path = |id: Uuid, action: &str| format!("/admin/sinks/{id}{action}");
    let unknown = |id: Uuid| move || format!("there is no sink {id}: `caudal sinks list` names them");
    let (id, answer, is) = match sinks {
        Sinks::Add { kind, url, types, from: cursor, admin } => {
            let body = json!({"kind": kind, "url": url, "types": types, "from": from(cursor)});
            let added = AdminApi::new(common, &admin)?.post("/admin/sinks", &body).await?.body;
            print(&format!("{}\nsecret, printed only once: {}", text(&added["id"]), text(&added["secret"])))?;
            return Ok(ExitCode::SUCCESS);
        }
        Sinks::List { json, admin } => {
            let answer = AdminApi::new(common, &admin)?.get("/admin/sinks").await?;
            return print_list(&answer, ("sinks", "there is no sink"), SINKS, json);
        }
        Sinks::Undelivered { id, json, admin } => {
            let answer = AdminApi::new(common, &admin)?.get(&path(id, "/undelivered")).await;
            let answer = found(answer, unknown(id))?;
            return print_list(&answer, ("events", "everything was delivered"), EVENTS, json);
        }
        Sinks::Pause { id, admin } => {
            (id, AdminApi::new(common, &admin)?.post(&path(id, "/pause"), &json!({})).await, "paused")
        }
        Sinks::Resume { id, admin } => {
            (id, AdminApi::new(common, &admin)?.post(&path(id, "/resume"), &json!({})).await, "active")
        }
        Sinks::Resend { id, from: cursor, admin } => {
            let body = json!({"from": from(cursor)});
            (id, AdminApi::new(common, &admin)?.post(&path(id, "/resend"), &body).await, "delivering again")
        }
        Sinks::Remove { id, admin } => (id, AdminApi::new(common, &admin)?.delete(&path(id, "")).await, "removed"),
    };
    found(answer, unknown(id))?;
    print(&format!("{id}: {is}"))?;
    Ok(ExitCode::SUCCESS)
}

const SINKS: &[Column<Value>] = &[
    ("SINK", |it| text(&it["id"])),
    ("KIND", |it| text(&it["kind"])),
    ("STATE", |it| text(&it["state"])),
    ("UNDELIVERED", |it| text(&it["undelivered"])),
    ("OLDEST", |it| text(&it["oldestUndeliveredAt"])),
    ("TYPES", |it| text(&it["types"])),
    ("URL", |it| text(&it["url"])),
];

const EVENTS: &[Column<Value>] = &[
    ("EVENT", |it| text(&it["id"])),
    ("TYPE", |it| text(&it["type"])),
    ("TIME", |it| text(&it["time"])),
    ("ATTEMPTS", |it| text(&it["attempts"])),
    ("LAST ERROR", |it| text(&it["lastError"])),
];
