//! `caudal outcomes`: what became of orders, and how the decisions on them compare with it.

use std::fs;
use std::io::{BufWriter, Read as _, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use hyper::Method;
use hyper::header::CONTENT_TYPE;
use serde_json::Value;

use crate::cli::admin::AdminApi;
use crate::cli::database::Use;
use crate::cli::ledger;
use crate::cli::output::print;
use crate::cli::table::{Column, print_json, table, text};
use crate::clock::Clock;
use crate::config::{Common, ExportOutcomes, Outcomes, RowFormat};
use crate::http::operation::NDJSON;
use crate::models::outcomes;
use crate::models::outcomes::row::LabelledRow;

pub(super) async fn run(common: &Common, outcomes: Outcomes) -> Result<ExitCode> {
    match outcomes {
        Outcomes::Import { file, admin } => import(&AdminApi::new(common, &admin)?, &file).await?,
        Outcomes::Report { days, json, admin } => {
            let query = days.map(|days| format!("?days={days}")).unwrap_or_default();
            let report = AdminApi::new(common, &admin)?.get(&format!("/admin/outcomes/report{query}")).await?;
            if json { print_json(&report)? } else { print_report(&report)? }
        }
        Outcomes::Export(export) => self::export(common, &export).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn import(api: &AdminApi, file: &Path) -> Result<()> {
    let mut bytes = Vec::new();
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().read_to_end(&mut bytes).map(drop),
        false => fs::read(file).map(|read| bytes = read),
    };
    read.with_context(|| format!("cannot read {}", file.display()))?;
    let headers = [(CONTENT_TYPE, NDJSON.to_owned())];
    let answer = api.send(Method::POST, "/admin/outcomes", &headers, bytes.into()).await?.body;
    print(&format!("outcomes recorded: {}; known before: {}", text(&answer["recorded"]), text(&answer["repeated"])))
}

/// A slice at one horizon.
type Line = (Value, Value);

const COLUMNS: &[Column<Line>] = &[
    ("VERSION", |(slice, _)| text(&slice["version"])),
    ("BY", |(slice, _)| text(&slice["by"])),
    ("SLICE", |(slice, _)| text(&slice["slice"])),
    ("DAYS", |(_, it)| text(&it["horizon_days"])),
    ("DECISIONS", |(_, it)| text(&it["decisions"])),
    ("YOUNG", |(_, it)| text(&it["young"])),
    ("ALARMS", |(_, it)| text(&it["alarms"])),
    ("FRAUDS", |(_, it)| text(&it["frauds"])),
    ("CAUGHT", |(_, it)| text(&it["caught"])),
    ("UNCONFIRMED", |(_, it)| text(&it["unconfirmed"])),
    ("PRECISION", |(_, it)| share(&it["precision"])),
    ("RECALL", |(_, it)| share(&it["recall"])),
    ("ALARM RATE", |(_, it)| share(&it["alarm_rate"])),
];

/// A share with its interval and the naive one, in percent.
fn share(share: &Value) -> String {
    let percent = |name: &str| share[name].as_f64().map(|it| it * 100.0);
    let (Some(rate), Some(low), Some(high)) = (percent("rate"), percent("low"), percent("high")) else {
        return "-".to_owned();
    };
    let naive = percent("naive").zip(percent("naive_error"));
    let naive = naive.map_or_else(String::new, |(naive, error)| format!(", naive {naive:.2} ({error:+.2})"));
    format!("{rate:.2}% [{low:.2}, {high:.2}]{naive}")
}

fn print_report(report: &Value) -> Result<()> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let slices = list(&report["slices"]).into_iter().map(|slice| (list(&slice["figures"]), slice));
    let lines = slices.flat_map(|(figures, slice)| figures.into_iter().map(move |it| (slice.clone(), it)));
    let lines: Vec<Line> = lines.collect();
    match lines.is_empty() {
        true => print("no decisions are kept of this time")?,
        false => print(&table(COLUMNS, &lines))?,
    }
    list(&report["notes"]).iter().try_for_each(|note| print(&format!("\n{}", text(note))))
}

async fn export(common: &Common, ExportOutcomes { since, labelled, format }: &ExportOutcomes) -> Result<()> {
    let (database, _) = ledger::open(common, Use::Shared).await?;
    let mut output = BufWriter::new(std::io::stdout());
    let mut write = |row: &LabelledRow<'_>| match format {
        RowFormat::Csv => Ok(output.write_all(&csv_line(row.values().map(|it| cell(&it)))?)?),
        RowFormat::Ndjson => Ok(writeln!(output, "{}", Value::Object(row.object()))?),
    };
    let mut written = Ok(());
    if *format == RowFormat::Csv {
        print(String::from_utf8(csv_line(LabelledRow::columns())?)?.trim_end())?;
    }
    let now = Clock::system().now();
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let read = outcomes::each_row(&mut db, now - *since, now, |row| {
        if written.is_ok() && (row.is_labelled() || !labelled) {
            written = write(&row);
        }
    });
    let read = read.await.context("cannot read the decisions");
    drop(db);
    database.close().await?;
    read.and(written)?;
    Ok(output.flush()?)
}

fn csv_line(cells: impl Iterator<Item = impl AsRef<[u8]>>) -> Result<Vec<u8>> {
    let mut line = csv::Writer::from_writer(Vec::new());
    line.write_record(cells)?;
    Ok(line.into_inner()?)
}

/// As in the files that `caudal score` reads: what is not known is empty.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
