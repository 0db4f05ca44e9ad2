//! `caudal models history`: every deployment of a kind, and why.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use crate::cli::admin::AdminApi;
use crate::cli::table::{Column, print_list, text};
use crate::domain::model::ModelKind;

const COLUMNS: &[Column<Value>] = &[
    ("CHANGE", |it| text(&it["epoch"])),
    ("CHAMPION", |it| text(&it["champion"])),
    ("CANARY", |it| match &it["canary"] {
        Value::Null => "-".to_owned(),
        canary => format!("{} {}%", text(&canary["version"]), canary["percent"]),
    }),
    ("SHADOWS", |it| text(&it["shadows"])),
    ("CUT-OFFS", |it| match &it["cut_offs"] {
        Value::Null => "-".to_owned(),
        cut_offs => format!("{}, {}", cut_offs["medium_from"], cut_offs["high_from"]),
    }),
    ("BY", |it| text(&it["changed_by"])),
    ("WHEN", |it| text(&it["changed_at"])),
    ("REASON", |it| text(&it["reason"])),
];

pub(super) async fn run(api: &AdminApi, kind: ModelKind, json: bool) -> Result<ExitCode> {
    let answer = api.get(&format!("/admin/models/{kind}/history")).await?;
    let none = format!("nothing has been deployed for {kind} yet: the built-in version is serving");
    print_list(&answer, ("history", &none), COLUMNS, json)
}
