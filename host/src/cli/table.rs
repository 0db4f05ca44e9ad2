//! Lists for a terminal.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use crate::cli::output::print;

/// Spaces between columns.
const GAP: usize = 2;

/// A heading, and what a row has below it.
pub(super) type Column<T> = (&'static str, fn(&T) -> String);

/// Rows under their headings, in columns as wide as their widest cell.
pub(super) fn table<'a, T: 'a>(columns: &[Column<T>], rows: impl IntoIterator<Item = &'a T>) -> String {
    let heads = columns.iter().map(|(head, _)| (*head).to_owned()).collect();
    let mut lines: Vec<Vec<String>> = vec![heads];
    lines.extend(rows.into_iter().map(|row| columns.iter().map(|(_, cell)| cell(row)).collect()));
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..columns.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Prints a list of an answer, or `none` if it is empty; with `json` the whole answer as it came, for programs.
pub(super) fn print_list(
    answer: &Value,
    (list, none): (&str, &str),
    columns: &[Column<Value>],
    json: bool,
) -> Result<ExitCode> {
    let rows = answer[list].as_array().map(Vec::as_slice).unwrap_or_default();
    match (json, rows) {
        (true, _) => print_json(answer),
        (false, []) => print(none),
        (false, rows) => print(&table(columns, rows)),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// An answer as it came, for programs.
pub(super) fn print_json(answer: &Value) -> Result<()> {
    print(&serde_json::to_string_pretty(answer)?)
}

/// A field as text, or a dash.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["ana", "José Ñúñez", ""], ["b", "x", "1"]];
        let columns: [Column<[&str; 3]>; 3] =
            [("ID", |it| it[0].to_owned()), ("NAME", |it| it[1].to_owned()), ("N", |it| it[2].to_owned())];
        assert_eq!(table(&columns, &rows), "ID   NAME        N\nana  José Ñúñez\nb    x           1");
        assert_eq!(table(&columns[..1], []), "ID");
    }
}
