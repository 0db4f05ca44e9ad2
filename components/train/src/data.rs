//! Data files: CSV with a header, with fields named as in the HTTP API.

mod columns;

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use csv::StringRecord;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::metrics::Reference;

/// Columns that a file may omit.
const OPTIONAL: [&str; 2] = ["beneficiary_saved_minutes", "age_range"];

/// Booleans as pandas writes them, and as they are here.
const BOOLEANS: [(&str, &str); 2] = [("True", "true"), ("False", "false")];

/// One case of a data file.
#[derive(Clone, Copy, Debug)]
pub struct Row<F, L> {
    /// What a model is shown.
    pub facts: F,
    /// The outcome, and attributes that no model is shown.
    pub label: L,
}

/// The facts of a kind of model.
pub trait Facts: Serialize + DeserializeOwned {
    /// Checks the ranges.
    ///
    /// # Errors
    /// If a model would reject these facts.
    fn check(&self) -> Result<()>;
}

/// Writes rows as CSV.
///
/// # Errors
/// If the writer fails.
pub fn write<F: Serialize, L: Serialize>(rows: &[Row<F, L>], to: impl Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    for Row { facts, label } in rows {
        writer.serialize((facts, label))?;
    }
    Ok(writer.flush()?)
}

/// Reads rows from a CSV file.
///
/// # Errors
/// If the header lacks columns, names all of them; otherwise the first invalid line, with its number.
pub fn read<F: Facts, L: DeserializeOwned>(path: &Path) -> Result<Vec<Row<F, L>>> {
    let columns = [columns::of::<F>(), columns::of::<L>()].concat();
    read_with(path, &columns, |record, header| {
        let facts: F = parse(record, header)?;
        facts.check()?;
        Ok(Row { facts, label: parse(record, header)? })
    })
}

/// Reads the lines of a CSV file into structs.
///
/// # Errors
/// As [`read`].
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    read_with(path, columns::of::<T>(), parse)
}

fn read_with<T>(
    path: &Path,
    columns: &[&str],
    parse: impl Fn(&StringRecord, &StringRecord) -> Result<T>,
) -> Result<Vec<T>> {
    let file = || path.display().to_string();
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).with_context(file)?;
    let header = reader.headers().with_context(file)?.clone();
    let lacks = |column: &&str| !OPTIONAL.contains(column) && !header.iter().any(|name| name == *column);
    let missing: Vec<_> = columns.iter().copied().filter(lacks).collect();
    ensure!(missing.is_empty(), "{}: the header lacks {}", path.display(), missing.join(", "));
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.with_context(file)?;
        let line = record.position().map_or(0, csv::Position::line);
        let record = record.iter().map(usual).collect();
        rows.push(parse(&record, &header).with_context(|| format!("{}, line {line}", path.display()))?);
    }
    Ok(rows)
}

fn usual(text: &str) -> &str {
    BOOLEANS.iter().find(|(other, _)| *other == text).map_or(text, |(_, usual)| usual)
}

/// Parses a record, naming the column in errors where the reader knows it.
fn parse<T: DeserializeOwned>(record: &StringRecord, header: &StringRecord) -> Result<T> {
    record.deserialize(Some(header)).map_err(|error| match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|field| header.get(usize::try_from(field).ok()?));
            anyhow::anyhow!("{}: {}", column.unwrap_or("the row"), err.kind())
        }
        _ => error.into(),
    })
}

/// The distributions of the facts that are numbers or flags in every row.
///
/// # Errors
/// None in practice: facts are plain data.
pub fn references<F: Facts, L>(rows: &[Row<F, L>]) -> Result<Vec<Reference>> {
    let names = columns::of::<F>();
    let mut columns = vec![Vec::with_capacity(rows.len()); names.len()];
    for row in rows {
        let facts = serde_json::to_value(&row.facts)?;
        for (column, name) in columns.iter_mut().zip(names) {
            column.extend(match &facts[name] {
                Value::Bool(flag) => Some(f64::from(*flag)),
                value => value.as_f64(),
            });
        }
    }
    let complete = names.iter().zip(columns).filter(|(_, column)| column.len() == rows.len());
    Ok(complete.map(|(name, column)| Reference::new(name, &column)).collect())
}

/// The name of an enum's variant in the HTTP API.
pub fn code(variant: impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(Value::String(code)) => code,
        _ => String::new(),
    }
}

/// The SHA-256 of rows as CSV, in hexadecimal.
///
/// # Errors
/// As [`write()`].
pub fn sha256_of<F: Serialize, L: Serialize>(rows: &[Row<F, L>]) -> Result<String> {
    let mut bytes = Vec::new();
    write(rows, &mut bytes)?;
    Ok(sha256(&bytes))
}

/// The SHA-256 of bytes, in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Replaces a file atomically and returns whether its contents changed. An unchanged file keeps its
/// modification time, so that nothing is rebuilt.
///
/// # Errors
/// If the folder cannot be created or written to.
pub fn replace(path: &Path, contents: &[u8]) -> Result<bool> {
    if fs::read(path).is_ok_and(|present| present == contents) {
        return Ok(false);
    }
    let folder = path.parent().context("a file has a folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let new = path.with_extension("new");
    fs::write(&new, contents).with_context(|| new.display().to_string())?;
    fs::rename(&new, path).with_context(|| path.display().to_string())?;
    Ok(true)
}
