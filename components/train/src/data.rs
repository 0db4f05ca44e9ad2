//! Data files: CSV with a head, in the spelling of the HTTP API.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

/// Rows as CSV.
///
/// # Errors
/// When a row is not flat, or the writer fails.
pub fn write<R: Serialize>(rows: impl IntoIterator<Item = R>, to: impl Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(writer.flush()?)
}

/// Rows from a CSV file, each made what it stands for by `checked`.
///
/// # Errors
/// The first line that cannot be read or is refused, by its number.
pub fn read<R: DeserializeOwned, T>(path: &Path, checked: impl Fn(R) -> Result<T>) -> Result<Vec<T>> {
    let mut reader = csv::Reader::from_path(path).with_context(|| format!("{}", path.display()))?;
    let head = reader.headers()?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = record.deserialize(Some(&head)).map_err(|error| named(&error, &head)).and_then(&checked);
        rows.push(row.with_context(|| format!("{}, line {line}", path.display()))?);
    }
    Ok(rows)
}

/// A fault of a value with the name of its column, where the reader knows its place.
fn named(error: &csv::Error, head: &csv::StringRecord) -> anyhow::Error {
    if let csv::ErrorKind::Deserialize { err, .. } = error.kind() {
        let column = err.field().and_then(|field| head.get(usize::try_from(field).ok()?));
        return anyhow::anyhow!("{}: {}", column.unwrap_or("the row"), err.kind());
    }
    anyhow::anyhow!("{error}")
}

/// The sha256 of rows as CSV, in hexadecimal digits.
///
/// # Errors
/// As [`write()`].
pub fn sha256_of<R: Serialize>(rows: impl IntoIterator<Item = R>) -> Result<String> {
    let mut bytes = Vec::new();
    write(rows, &mut bytes)?;
    Ok(sha256(&bytes))
}

/// The sha256 of bytes, in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Puts a file in place whole or not at all, and says whether that changed it. A file that has these
/// contents already keeps its time, so that nothing is built again for it.
///
/// # Errors
/// When the folder cannot be made or written to.
pub fn replace(path: &Path, contents: &[u8]) -> Result<bool> {
    if fs::read(path).is_ok_and(|present| present == contents) {
        return Ok(false);
    }
    let folder = path.parent().context("a file has a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    let new = path.with_extension("new");
    fs::write(&new, contents).with_context(|| format!("{}", new.display()))?;
    fs::rename(&new, path).with_context(|| format!("{}", path.display()))?;
    Ok(true)
}
