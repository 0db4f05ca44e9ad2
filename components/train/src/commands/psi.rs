//! `psi`: whether what a model sees or says has moved.

use std::path::Path;

use anyhow::Result;

use super::{accessibility_rows, malformed, nudge_rows, print, risk_rows};
use crate::card::{Cell, Table};
use crate::metrics::{psi, psi_verdict};
use crate::model::{Kind, Model};
use crate::pipeline::Stream;

/// A name and values.
type Column = (&'static str, Vec<f64>);
type Columns = Vec<Column>;

/// Prints the index of each feature and of the score.
pub(super) fn run(model: Model, weights: &[u8], reference: &Path, observed: &Path) -> Result<()> {
    let (was, is) = (columns(model, weights, reference)?, columns(model, weights, observed)?);
    let row = |((name, was), (_, is)): (&Column, &Column)| {
        let index = psi(was, is);
        vec![Cell::text(*name), Cell::Figure(index), Cell::text(psi_verdict(index))]
    };
    print(&[Table {
        id: "psi",
        title: "Population stability",
        note: format!(
            "{} rows against {}. Below 0.1 nothing has moved, up to 0.25 something has, above it look at the model.",
            is[0].1.len(),
            was[0].1.len()
        ),
        columns: vec!["", "index", "change"],
        rows: was.iter().zip(&is).map(row).collect(),
    }]);
    Ok(())
}

/// What a model sees of the rows of a file, by feature, and its score.
fn columns(model: Model, weights: &[u8], path: &Path) -> Result<Columns> {
    // A file is given, so nothing is made.
    let (file, stream) = (Some(path), Stream::HeldOut);
    match model.kind() {
        Kind::Risk => {
            use caudal_model::risk::{Weights, assess, features};
            let weights = Weights::parse(weights).map_err(malformed)?;
            let rows = risk_rows(file, stream, 0)?;
            let values: Vec<_> = rows.iter().map(|row| features::derive(&row.request)).collect();
            let used = (0..features::COUNT).filter(|&at| weights.coefficients[at].is_some());
            let mut columns: Columns =
                used.map(|at| (features::FEATURES[at].name, values.iter().map(|row| row[at]).collect())).collect();
            let score = |row: &crate::risk::generator::Row| assess(&weights, &row.request).ok().map(|it| it.score);
            columns.push(("score", rows.iter().filter_map(score).collect()));
            Ok(columns)
        }
        Kind::Nudge => {
            use caudal_model::nudge::{FEATURES, Weights, features};
            let weights = Weights::parse(weights).map_err(malformed)?;
            let rows = nudge_rows(file, stream, 0)?;
            let values: Vec<_> = rows.iter().map(|row| features(&row.request())).collect();
            let column = |(at, name): (usize, &&'static str)| (*name, values.iter().map(|row| row[at]).collect());
            let mut columns: Columns = FEATURES.iter().enumerate().map(column).collect();
            columns.push(("score", crate::nudge::evaluation::scores(&weights, &rows)));
            Ok(columns)
        }
        Kind::Accessibility => {
            use caudal_model::accessibility::{Weights, assess};
            let weights = Weights::parse(weights).map_err(malformed)?;
            let rows = accessibility_rows(file, stream, 0)?;
            let column = |of: &dyn Fn(&crate::accessibility::generator::Row) -> f64| rows.iter().map(of).collect();
            let flag = |holds: bool| f64::from(u8::from(holds));
            Ok(vec![
                ("can_read_small_text", column(&|row| flag(row.can_read_small_text))),
                ("uses_screen_reader", column(&|row| flag(row.uses_screen_reader))),
                ("feels_confident_with_apps", column(&|row| f64::from(row.feels_confident_with_apps as u8))),
                ("age_range", column(&|row| f64::from(row.age_range as u8))),
                ("avg_time_per_screen_seconds", column(&|row| f64::from(row.avg_time_per_screen_seconds))),
                ("total_validation_errors", column(&|row| f64::from(row.total_validation_errors))),
                ("requested_help_count", column(&|row| f64::from(row.requested_help_count))),
                ("confidence", column(&|row| assess(&weights, &row.request()).confidence)),
            ])
        }
    }
}
