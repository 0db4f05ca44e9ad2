//! Lists for a terminal.

use serde_json::Value;

use crate::cli::output::print;

/// Spaces between columns.
const GAP: usize = 2;

/// Rows under their headers, in columns as wide as their widest cell.
pub(super) fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = heads.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; N]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    let lines = [heads.map(str::to_owned)].iter().chain(rows).map(line).collect::<Vec<_>>();
    lines.join("\n")
}

/// An answer as it came, for programs.
pub(super) fn print_json(answer: &Value) -> anyhow::Result<()> {
    print(&serde_json::to_string_pretty(answer)?)
}

/// A field's text, or a dash.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            ["ana".to_owned(), "José Ñúñez".to_owned(), String::new()],
            ["b".to_owned(), "x".to_owned(), "1".to_owned()],
        ];
        let shown = table(["ID", "NAME", "N"], &rows);
        assert_eq!(shown, "ID   NAME        N\nana  José Ñúñez\nb    x           1");
        assert_eq!(table(["ID"], &[]), "ID");
    }
}
