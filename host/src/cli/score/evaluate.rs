//! `caudal models evaluate`: how well a risk model finds the frauds of labelled rows.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::{Value, json};

use super::input::{Input, Row, format_of};
use super::output::Rejects;
use super::scorers::{assess, envelope};
use super::{BATCH_ROWS, EXIT_REJECTED, require_columns};
use crate::cli::database::{Database, Use};
use crate::cli::output::print;
use crate::cli::table::{Column, print_json, table, text};
use crate::config::{Common, Evaluate, RowFormat};
use crate::db::components;
use crate::domain::accessibility::Language;
use crate::domain::card::Metric;
use crate::domain::risk::{CutOffs, Level};
use crate::models::Embedded;
use crate::models::observing::report::Share;
use crate::schema::{self, Fault, Field, FieldError, Literal, Read, Shape};
use crate::scoring::{Risk, Scorer};
use crate::wasm::Runtime;

/// Shares of the rows that are flagged, in percent: of how many payments a bank can ask about, from few to many.
const FLAGGED: [f64; 4] = [0.5, 1.0, 2.0, 5.0];

/// Standard deviations of a 95 % interval.
const Z: f64 = 1.959_964;

/// A score, and whether the row is a fraud.
type Scored = (f64, bool);

pub(in crate::cli) async fn run(common: &Common, arguments: &Evaluate) -> Result<ExitCode> {
    let Evaluate { medium_from, high_from, .. } = *arguments;
    let cut_offs = CutOffs { medium_from, high_from };
    cut_offs.check().map_err(|(field, detail)| anyhow!("{field} {detail}"))?;
    let scorer = Scorer::<Risk>::load(&Runtime::new()?, &bytes_of(common, &arguments.model).await?)?;
    let (mut rows, rejected) = score(&scorer, arguments)?;
    rows.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let (count, frauds) = (rows.len(), frauds_in(&rows));
    ensure!(0 < frauds && frauds < count, "{count} rows were scored, {frauds} of them frauds: it takes some of both");

    let metrics = [area(&rows)].into_iter().chain(FLAGGED.map(|percent| caught(&rows, percent)));
    let metrics: Vec<_> = metrics.map(|it| json!(it)).collect();
    let levels: Vec<_> = Level::ALL.iter().map(|level| at_level(&rows, *level, cut_offs)).collect();
    let version = scorer.identity().version.as_str();
    if arguments.json {
        let found = json!({"model_version": version, "rows": count, "metrics": metrics, "levels": levels});
        print_json(&found)?;
    } else {
        let tables = [table(&METRICS, &metrics), table(&LEVELS, &levels)].join("\n\n");
        print(&format!("{version}: {count} rows, {frauds} of them frauds\n\n{tables}"))?;
    }
    Ok(if rejected == 0 { ExitCode::SUCCESS } else { ExitCode::from(EXIT_REJECTED) })
}

const METRICS: [Column<Value>; 2] = [("METRIC", |it| text(&it["name"])), ("VALUE", |it| figure(it, "value"))];

const LEVELS: [Column<Value>; 4] = [
    ("LEVEL", |it| format!("{}, from {}", text(&it["level"]), text(&it["from"]))),
    ("ROWS", |it| text(&it["rows"])),
    ("MEAN SCORE", |it| it["mean_score"].as_f64().map_or("-".to_owned(), |it| format!("{it:.4}"))),
    ("FRAUDS", |it| if it["rows"] == 0 { "-".to_owned() } else { figure(&it["frauds"], "share") }),
];

/// With its interval.
fn figure(it: &Value, name: &str) -> String {
    let [value, low, high] = [name, "low", "high"].map(|name| it[name].as_f64().unwrap_or_default());
    format!("{value:.4} ({low:.4} to {high:.4})")
}

async fn bytes_of(common: &Common, model: &str) -> Result<Vec<u8>> {
    if let Some(embedded) = Embedded::find(model) {
        return Ok(embedded.bytes.to_vec());
    }
    // Only full names of versions have a digest.
    if Path::new(model).exists() || !model.contains('+') {
        return fs::read(model).with_context(|| format!("cannot read the component {model}"));
    }
    let database = Database::open(common, Use::Shared).await?;
    let mut db = database.pool.acquire().await.context("cannot reach the database")?;
    let found = components::by_version(&mut db, model).await;
    drop(db);
    database.close().await?;
    let (_, bytes) = found?.with_context(|| format!("there is no registered version {model}"))?;
    Ok(bytes)
}

/// The scores of the rows, and how many were rejected.
fn score(scorer: &Scorer<Risk>, arguments: &Evaluate) -> Result<(Vec<Scored>, u64)> {
    let Evaluate { input, label, .. } = arguments;
    let field = Field::new(label.clone().leak(), "", Shape::Any, true);
    let mut input = Input::open(input, format_of(input).or(Some(RowFormat::Csv)))?;
    if let Some(columns) = input.columns() {
        require_columns::<Risk>(columns, Language::English)?;
        ensure!(columns.names().any(|name| name == label), "the header lacks {label}: name the label with --label");
    }
    let (mut scored, mut rejects) = (Vec::new(), Rejects::open(None)?);
    while let Some(batch) = input.next_batch(BATCH_ROWS)? {
        let (mut places, mut requests) = (Vec::new(), Vec::new());
        for Row { line, mut fields } in batch.rows {
            let is_fraud = fields.as_mut().is_ok_and(|fields| Label::take(fields, &field).0);
            match envelope::<Risk>(fields, Language::English) {
                Ok(row) => {
                    places.push((line, is_fraud));
                    requests.push(row.request);
                }
                Err(faults) => rejects.add(line, &faults)?,
            }
        }
        for ((line, is_fraud), answer) in places.into_iter().zip(assess::<Risk>(scorer, &requests)) {
            match answer {
                Ok(assessment) => scored.push((assessment.score, is_fraud)),
                Err(error) => rejects.add(line, &[FieldError::new("", "model-failed", error.to_string())])?,
            }
        }
    }
    Ok((scored, rejects.finish()?))
}

/// Whether a row is a fraud.
struct Label(bool);

impl schema::Value for Label {
    const SHAPE: Shape = Shape::Any;
}

impl Read for Label {
    fn read(literal: Literal<'_>, _: &Shape) -> Result<Self, Fault> {
        match literal.text() {
            "1" | "1.0" | "true" => Ok(Self(true)),
            "0" | "0.0" | "false" => Ok(Self(false)),
            _ => Err(Fault::new("wrong-type", "must be 1 for a fraud, and 0 otherwise")),
        }
    }

    fn placeholder() -> Self {
        Self(false)
    }
}

fn frauds_in(rows: &[Scored]) -> usize {
    rows.iter().filter(|(_, is_fraud)| *is_fraud).count()
}

fn is_tie((one, _): &Scored, (other, _): &Scored) -> bool {
    one == other
}

/// The area under the ROC curve of rows by ascending score, with the interval of Hanley and McNeil. Ties count half.
fn area(rows: &[Scored]) -> Metric {
    let (mut below, mut wins) = (0.0, 0.0);
    for tie in rows.chunk_by(is_tie) {
        let frauds = frauds_in(tie) as f64;
        let others = tie.len() as f64 - frauds;
        wins += frauds * (below + others / 2.0);
        below += others;
    }
    let yes = frauds_in(rows) as f64;
    let no = rows.len() as f64 - yes;
    let value = wins / (yes * no);
    let (one, two) = (value / (2.0 - value), 2.0 * value * value / (1.0 + value));
    let spread = value * (1.0 - value) + (yes - 1.0) * (one - value * value) + (no - 1.0) * (two - value * value);
    let half = Z * (spread.max(0.0) / (yes * no)).sqrt();
    Metric { name: "AUC".to_owned(), value, low: (value - half).max(0.0), high: (value + half).min(1.0) }
}

/// The share of frauds among the highest scores. Of equal ones, as many count as fit.
fn caught(rows: &[Scored], percent: f64) -> Metric {
    let (mut left, mut found) = (rows.len() as f64 * percent / 100.0, 0.0);
    for tie in rows.chunk_by(is_tie).rev() {
        let taken = left.min(tie.len() as f64);
        found += frauds_in(tie) as f64 * taken / tie.len() as f64;
        left -= taken;
    }
    let Share { share, low, high, .. } = Share::of(found.round() as i64, frauds_in(rows) as i64);
    Metric { name: format!("share of frauds caught with {percent} % flagged"), value: share, low, high }
}

/// Whether the scores from a cut-off on are what they say: the mean of the scores, and the share of frauds.
fn at_level(rows: &[Scored], level: Level, cut_offs: CutOffs) -> Value {
    let of: Vec<_> = rows.iter().copied().filter(|(score, _)| cut_offs.level(*score) == level).collect();
    let from = [0.0, cut_offs.medium_from, cut_offs.high_from][level as usize];
    let mean = (!of.is_empty()).then(|| of.iter().map(|(score, _)| score).sum::<f64>() / of.len() as f64);
    let frauds = Share::of(frauds_in(&of) as i64, of.len() as i64);
    json!({"level": level.as_str(), "from": from, "rows": of.len(), "mean_score": mean, "frauds": frauds})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_count_in_part() {
        let rows = [(0.1, false), (0.5, false), (0.5, true), (0.9, true)];
        // Of the four pairs of a fraud and another row, three are in order and one is a tie.
        assert_eq!(area(&rows).value, 3.5 / 4.0);
        assert_eq!([25.0, 75.0].map(|percent| caught(&rows, percent).value), [0.5, 1.0]);
        let level = at_level(&rows, Level::Medium, CutOffs::DEFAULT);
        assert_eq!(
            (&level["rows"], &level["mean_score"], &level["frauds"]["count"]),
            (&json!(2), &json!(0.5), &json!(1))
        );
    }
}
