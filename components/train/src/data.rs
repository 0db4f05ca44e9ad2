//! Data files: CSV with a header, with fields named as in the HTTP API.

mod columns;

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::metrics::Reference;

/// One case of a data file.
#[derive(Clone, Copy, Debug)]
pub struct Row<F, L> {
    /// What a model is shown.
    pub facts: F,
    /// The outcome, and attributes that no model is shown.
    pub label: L,
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

/// The distributions of the facts that are numbers or flags in every row.
///
/// # Errors
/// None in practice: facts are plain data.
pub fn references<F: Serialize + DeserializeOwned, L>(rows: &[Row<F, L>]) -> Result<Vec<Reference>> {
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
