//! Model cards in Markdown and JSON. The commands print the same tables.

use std::fmt::Write as _;

use indicatif::HumanCount;
use serde::ser::{Serialize, Serializer};

use crate::metrics::{Interval, Reference, Reliability};

/// Decimals of every figure; the intervals are wider.
const DIGITS: usize = 4;

/// A model card. Its fields are those of `card.json`.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Card {
    pub(crate) model: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) version: String,
    pub(crate) summary: String,
    pub(crate) purpose: Vec<&'static str>,
    pub(crate) data: Data,
    pub(crate) weights: Weights,
    pub(crate) tables: Vec<Table>,
    /// The curves of the plot.
    pub(crate) calibration: Vec<Reliability>,
    /// Distributions of the facts in the training rows, for detecting drift.
    pub(crate) reference: Vec<Reference>,
    pub(crate) limits: Vec<&'static str>,
    pub(crate) misuse: Vec<&'static str>,
}

/// The text of a card.
pub(crate) struct Text {
    /// What the model is for, and how it works.
    pub(crate) purpose: Vec<&'static str>,
    /// How the data were generated.
    pub(crate) notes: Vec<&'static str>,
    /// What the model cannot do.
    pub(crate) limits: Vec<&'static str>,
    /// What the model must not be used for.
    pub(crate) misuse: Vec<&'static str>,
}

/// The origin of the rows.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Data {
    /// Name and version of the generator.
    pub(crate) generator: &'static str,
    pub(crate) seed: u64,
    pub(crate) training: Sample,
    /// The rows behind every figure.
    pub(crate) held_out: Sample,
    pub(crate) notes: Vec<&'static str>,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct Sample {
    pub(crate) rows: usize,
    /// Hash of the rows as CSV, as `generate` writes them.
    pub(crate) sha256: String,
}

/// A weights file. The component that is built from it has another hash.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Weights {
    pub(crate) bytes: usize,
    pub(crate) sha256: String,
}

#[derive(Debug, serde::Serialize)]
pub struct Table {
    /// Stable, for programs.
    pub id: &'static str,
    pub title: &'static str,
    /// How to read the table; may be empty.
    pub note: String,
    pub columns: Vec<&'static str>,
    /// Each has as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug)]
pub enum Cell {
    Text(String),
    Count(usize),
    /// Printed with [`DIGITS`] decimals.
    Figure(f64),
    /// Printed with all its digits.
    Exact(f64),
    Interval(Interval),
    /// Not applicable.
    None,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn markdown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => grouped(*count),
            Self::Figure(value) => format!("{:.DIGITS$}", rounded(*value)),
            Self::Exact(value) => format!("{value}"),
            Self::Interval(Interval { value, low, high }) => {
                format!("{:.DIGITS$} ({:.DIGITS$} to {:.DIGITS$})", rounded(*value), rounded(*low), rounded(*high))
            }
            Self::None => "–".to_owned(),
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Count(count) => serializer.serialize_u64(*count as u64),
            Self::Figure(value) => serializer.serialize_f64(rounded(*value)),
            Self::Exact(value) => serializer.serialize_f64(*value),
            Self::Interval(Interval { value, low, high }) => {
                Interval { value: rounded(*value), low: rounded(*low), high: rounded(*high) }.serialize(serializer)
            }
            Self::None => serializer.serialize_none(),
        }
    }
}

/// Rounded to [`DIGITS`] decimals, and never negative zero.
fn rounded(value: f64) -> f64 {
    const TEN_THOUSANDTHS: f64 = 1e4;
    libm::round(value * TEN_THOUSANDTHS) / TEN_THOUSANDTHS + 0.0
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(count: usize) -> String {
    HumanCount(count as u64).to_string()
}

impl Table {
    /// Title, note and table, with aligned columns.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", self.title);
        if !self.note.is_empty() {
            let _ = write!(text, "{}\n\n", self.note);
        }
        let cells: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(Cell::markdown).collect()).collect();
        let is_text = |column: usize| self.rows.iter().all(|row| row[column].is_text());
        let width = |column: usize| {
            let widths = cells.iter().map(|row| row[column].chars().count());
            widths.chain([self.columns[column].chars().count(), 3]).max().unwrap_or_default()
        };
        let line = |cell: &dyn Fn(usize) -> String| {
            let padded = |column: usize| {
                let (cell, width) = (cell(column), width(column));
                if is_text(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            };
            let cells: Vec<_> = (0..self.columns.len()).map(padded).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        text += &line(&|column| self.columns[column].to_owned());
        let rules: Vec<_> = (0..self.columns.len())
            .map(|column| if is_text(column) { "-".repeat(width(column)) } else { "-".repeat(width(column) - 1) + ":" })
            .collect();
        let _ = writeln!(text, "| {} |", rules.join(" | "));
        for row in &cells {
            text += &line(&|column| row[column].clone());
        }
        text
    }
}

impl Card {
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("# {} {}\n\n{}\n", self.model, self.version, self.summary);
        list(&mut text, "What it is for", &self.purpose);
        let _ = write!(
            text,
            "\n## Data\n\n- Generated by `{}`, seed {}: no data of real people.\n- Fitted to {} rows (SHA-256 `{}`), \
             measured on {} others (SHA-256 `{}`).\n",
            self.data.generator,
            self.data.seed,
            grouped(self.data.training.rows),
            self.data.training.sha256,
            grouped(self.data.held_out.rows),
            self.data.held_out.sha256,
        );
        for note in &self.data.notes {
            let _ = writeln!(text, "- {note}");
        }
        let _ = writeln!(text, "- Weights: {} bytes, SHA-256 `{}`.", self.weights.bytes, self.weights.sha256);
        text += "- `make train` reproduces all of this, byte for byte.\n";
        for table in &self.tables {
            let _ = write!(text, "\n{}", table.markdown());
            if table.id == "calibration" {
                text += "\n![Reliability plot](reliability.svg)\n";
            }
        }
        list(&mut text, "Limits", &self.limits);
        list(&mut text, "Not for", &self.misuse);
        text
    }

    pub(crate) fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

fn list(text: &mut String, title: &str, items: &[&str]) {
    let _ = write!(text, "\n## {title}\n\n");
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
}
