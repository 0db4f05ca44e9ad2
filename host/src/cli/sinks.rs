//! `caudal sinks`: where events are delivered.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::admin::{AdminApi, found};
use crate::cli::output::print;
use crate::cli::table::{Column, print_list, text};
use crate::config::{Common, SinkOrder, Sinks};

pub(super) async fn run(common: &Common, sinks: Sinks) -> Result<ExitCode> {
    let from = |cursor: Option<String>| cursor.map(|it| if it == "0" { String::new() } else { it });
    let unknown = |id: Uuid| move || format!("there is no sink {id}: `caudal sinks list` names them");
    let (SinkOrder { id, admin }, body) = match sinks {
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
            let answer = AdminApi::new(common, &admin)?.get(&format!("/admin/sinks/{id}/undelivered")).await;
            return print_list(&found(answer, unknown(id))?, ("events", "everything was delivered"), EVENTS, json);
        }
        Sinks::Pause(order) => (order, json!({"order": "pause"})),
        Sinks::Resume(order) => (order, json!({"order": "resume"})),
        Sinks::Resend { order, from: cursor } => (order, json!({"order": "resend", "from": from(cursor)})),
        Sinks::Remove(order) => (order, json!({"order": "remove"})),
    };
    found(AdminApi::new(common, &admin)?.post(&format!("/admin/sinks/{id}"), &body).await, unknown(id))?;
    print(&format!("{id}: done"))?;
    Ok(ExitCode::SUCCESS)
}

const SINKS: &[Column<Value>] = &[
    ("SINK", |it| text(&it["id"])),
    ("KIND", |it| text(&it["kind"])),
    ("PAUSED", |it| text(&it["isPaused"])),
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
