//! `caudal reconcile`: has a host compare an operating day with the rail, and prints what differs.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::cli::admin::AdminApi;
use crate::cli::output::print;
use crate::cli::table::{Column, print_json, table, text};
use crate::config::{Common, Reconcile, ReportFormat};

/// Pause between two looks at whether the report is there.
const LOOK_EVERY: Duration = Duration::from_secs(1);

const COLUMNS: &[Column<Value>] = &[
    ("DIRECTION", |it| text(&it["direction"])),
    ("FINDING", |it| text(&it["finding"])),
    ("REMEDY", |it| text(&it["remedy"])),
    ("TRACKING KEY", |it| text(&it["trackingKey"])),
    ("INSTITUTION", |it| text(&it["institution"])),
    ("TRANSACTION", |it| text(&it["transactionId"])),
    ("MXN HERE", |it| text(&it["here"]["amount"])),
    ("MXN THERE", |it| text(&it["there"]["amount"])),
    ("STATUS HERE", |it| text(&it["here"]["status"])),
    ("STATUS THERE", |it| text(&it["there"]["status"])),
    ("PAYEE HERE", |it| text(&it["here"]["payeeNumber"])),
    ("PAYEE THERE", |it| text(&it["there"]["payeeNumber"])),
    ("SENDER", |it| text(&it["senderNumber"])),
];

/// Exits with 1 if a person has to decide on something.
pub(super) async fn run(common: &Common, reconcile: Reconcile) -> Result<ExitCode> {
    let Reconcile { date, last, format, admin } = reconcile;
    let api = AdminApi::new(common, &admin)?;
    let path = |date: &str| format!("/admin/reconciliations?operatingDate={date}");
    let mut report = match (last, date) {
        (true, Some(date)) => api.get(&path(&date)).await?,
        (true, None) => api.get("/admin/reconciliations").await?,
        (false, date) => {
            let body = date.map_or(json!({}), |date| json!({"operatingDate": date}));
            let mut answer = api.post("/admin/reconciliations", &body).await?.body;
            while answer["due"] == true {
                tokio::time::sleep(LOOK_EVERY).await;
                answer = api.get(&path(answer["operatingDate"].as_str().context("a report has no date")?)).await?;
            }
            answer
        }
    };
    let differences = report["differences"].as_array_mut().map(std::mem::take).unwrap_or_default();
    match format {
        ReportFormat::Json => {
            report["differences"] = Value::Array(differences.clone());
            print_json(&report)?;
        }
        ReportFormat::Csv => print(csv(&differences)?.trim_end())?,
        ReportFormat::Table if report["madeAt"].is_null() => print("the day has not been compared yet")?,
        ReportFormat::Table => {
            let count = |name: &str| text(&report[name]);
            print(&format!(
                "{}: {} matched, {} missing here, {} missing at the rail, {} different, {} duplicated",
                count("operatingDate"),
                count("matched"),
                count("missingHere"),
                count("missingThere"),
                count("different"),
                count("duplicated")
            ))?;
            if !differences.is_empty() {
                print(&table(COLUMNS, &differences))?;
            }
        }
    }
    let is_open = differences.iter().any(|it| it["remedy"] == "decision");
    Ok(if is_open { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn csv(differences: &[Value]) -> Result<String> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(COLUMNS.iter().map(|(head, _)| head.to_lowercase().replace(' ', "_")))?;
    for it in differences {
        rows.write_record(
            COLUMNS.iter().map(|(_, cell)| cell(it)).map(|cell| if cell == "-" { String::new() } else { cell }),
        )?;
    }
    Ok(String::from_utf8(rows.into_inner()?)?)
}
