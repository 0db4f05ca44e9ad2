//! Model cards: what a model is, what it was measured to do, and what it is not for. One value, two
//! forms: Markdown for people and JSON for programs. Tables are also what the commands print.

use std::fmt::Write as _;

use indicatif::HumanCount;
use serde::ser::{Serialize, Serializer};

use crate::metrics::{Interval, Reference, Reliability};

/// Digits after the point of every figure; the intervals are wider.
const DIGITS: usize = 4;

/// Everything that a card says.
#[derive(Debug, serde::Serialize)]
pub struct Card {
    /// For example `risk-2`.
    pub model: &'static str,
    /// Kind of component.
    pub kind: &'static str,
    /// Semantic version.
    pub version: String,
    /// One sentence.
    pub summary: String,
    /// What it is for, and how it works.
    pub purpose: Vec<String>,
    /// What it was trained and measured on.
    pub data: Data,
    /// The weights file.
    pub weights: Weights,
    /// Figures.
    pub tables: Vec<Table>,
    /// Curves of the plot beside the card.
    pub calibration: Vec<Reliability>,
    /// How the facts lay in the rows it was fitted to, for telling whether they moved since.
    pub reference: Vec<Reference>,
    /// What it cannot do.
    pub limits: Vec<String>,
    /// What it must not be used for.
    pub misuse: Vec<String>,
}

/// Where rows came from.
#[derive(Debug, serde::Serialize)]
pub struct Data {
    /// Name and version of the process that made them.
    pub generator: &'static str,
    /// Seed of that process.
    pub seed: u64,
    /// Rows that the weights were fitted to.
    pub training: Sample,
    /// Rows that every figure is about.
    pub held_out: Sample,
    /// How the process works, and what is made up.
    pub notes: Vec<String>,
}

/// Some rows.
#[derive(Debug, serde::Serialize)]
pub struct Sample {
    /// How many.
    pub rows: usize,
    /// Of their CSV form, as `generate` writes it.
    pub sha256: String,
}

/// A weights file.
#[derive(Debug, serde::Serialize)]
pub struct Weights {
    /// Its length.
    pub bytes: usize,
    /// Of its bytes. The component built from it has a hash of its own.
    pub sha256: String,
}

/// Figures in rows.
#[derive(Debug, serde::Serialize)]
pub struct Table {
    /// Stable, for programs.
    pub id: &'static str,
    /// For people.
    pub title: &'static str,
    /// How to read it; may be empty.
    pub note: String,
    /// Heads of the columns.
    pub columns: Vec<&'static str>,
    /// As many cells as columns in each.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number of things.
    Count(usize),
    /// A figure.
    Figure(f64),
    /// A number that is exact, printed with all its digits.
    Exact(f64),
    /// A figure with its interval.
    Interval(Interval),
    /// Does not apply.
    None,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn markdown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => grouped(*count),
            Self::Figure(value) => format!("{:.DIGITS$}", plain(*value)),
            Self::Exact(value) => format!("{value}"),
            Self::Interval(Interval { value, low, high }) => {
                format!("{:.DIGITS$} ({:.DIGITS$} to {:.DIGITS$})", plain(*value), plain(*low), plain(*high))
            }
            Self::None => "–".to_owned(),
        }
    }

    fn is_words(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Count(count) => serializer.serialize_u64(*count as u64),
            Self::Figure(value) => serializer.serialize_f64(plain(*value)),
            Self::Exact(value) => serializer.serialize_f64(*value),
            Self::Interval(Interval { value, low, high }) => {
                Interval { value: plain(*value), low: plain(*low), high: plain(*high) }.serialize(serializer)
            }
            Self::None => serializer.serialize_none(),
        }
    }
}

/// To the digits that are printed, and never minus zero.
fn plain(value: f64) -> f64 {
    const TEN_THOUSANDTHS: f64 = 1e4;
    libm::round(value * TEN_THOUSANDTHS) / TEN_THOUSANDTHS + 0.0
}

/// `1234567` as `1,234,567`.
#[must_use]
pub fn grouped(count: usize) -> String {
    HumanCount(count as u64).to_string()
}

impl Table {
    /// Title, note and a table whose columns are aligned also where it is read as plain text.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", self.title);
        if !self.note.is_empty() {
            let _ = write!(text, "{}\n\n", self.note);
        }
        let cells: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(Cell::markdown).collect()).collect();
        let words = |column: usize| self.rows.iter().all(|row| row[column].is_words());
        let width = |column: usize| {
            let widths = cells.iter().map(|row| row[column].chars().count());
            widths.chain([self.columns[column].chars().count(), 3]).max().unwrap_or_default()
        };
        let line = |cell: &dyn Fn(usize) -> String| {
            let padded = |column: usize| {
                let (cell, width) = (cell(column), width(column));
                if words(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            };
            let cells: Vec<_> = (0..self.columns.len()).map(padded).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        text += &line(&|column| self.columns[column].to_owned());
        let rules: Vec<_> = (0..self.columns.len())
            .map(|column| if words(column) { "-".repeat(width(column)) } else { "-".repeat(width(column) - 1) + ":" })
            .collect();
        let _ = writeln!(text, "| {} |", rules.join(" | "));
        for row in &cells {
            text += &line(&|column| row[column].clone());
        }
        text
    }
}

impl Card {
    /// The card for people.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# {} {}\n\n{}\n", self.model, self.version, self.summary);
        list(&mut text, "What it is for", &self.purpose);
        let _ = write!(
            text,
            "\n## Data\n\n- Made by `{}`, seed {}: no person's data.\n- Fitted to {} rows (sha256 `{}`), measured on {} \
             others (sha256 `{}`).\n",
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
        let _ = writeln!(text, "- Weights: {} bytes, sha256 `{}`.", self.weights.bytes, self.weights.sha256);
        text += "- `make train` makes all of it again, byte for byte.\n";
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

    /// The card for programs.
    ///
    /// # Errors
    /// None in practice: a card is plain data.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

fn list(text: &mut String, title: &str, items: &[String]) {
    let _ = write!(text, "\n## {title}\n\n");
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
}
