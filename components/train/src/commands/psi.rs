//! `psi`: whether the distributions of features and scores have shifted.

use std::path::Path;

use anyhow::Result;

use super::{malformed, print};
use crate::card::{Cell, Table};
use crate::data;
use crate::metrics::{psi, psi_verdict};
use crate::model::{Kind, Model};

type Column = (&'static str, Vec<f64>);
type Columns = Vec<Column>;

pub(super) fn run(model: Model, weights: &[u8], reference: &Path, observed: &Path) -> Result<()> {
    let (reference, observed) = (columns(model, weights, reference)?, columns(model, weights, observed)?);
    let row = |((name, reference), (_, observed)): (&Column, &Column)| {
        let index = psi(reference, observed);
        vec![Cell::text(*name), Cell::Figure(index), Cell::text(psi_verdict(index))]
    };
    print(&[Table {
        id: "psi",
        title: "Population stability",
        note: format!(
            "{} rows compared with {}. Below 0.1 there is no relevant shift; above 0.25 the model needs a review.",
            observed[0].1.len(),
            reference[0].1.len()
        ),
        columns: vec!["", "index", "shift"],
        rows: reference.iter().zip(&observed).map(row).collect(),
    }]);
    Ok(())
}

/// The features and the score of the rows of a file.
fn columns(model: Model, weights: &[u8], path: &Path) -> Result<Columns> {
    match model.kind() {
        Kind::Risk => {
            use caudal_model::risk::{Weights, assess, features};
            let weights = Weights::parse(weights).map_err(malformed)?;
            let rows: Vec<crate::risk::generator::Row> = data::read(path)?;
            let values: Vec<_> = rows.iter().map(|row| features::derive(&row.facts)).collect();
            let used = (0..features::COUNT).filter(|&at| weights.coefficients[at].is_some());
            let mut columns: Columns =
                used.map(|at| (features::FEATURES[at].name, values.iter().map(|row| row[at]).collect())).collect();
            let score = |row: &crate::risk::generator::Row| assess(&weights, &row.facts).ok().map(|it| it.score);
            columns.push(("score", rows.iter().filter_map(score).collect()));
            Ok(columns)
        }
        Kind::Nudge => {
            use caudal_model::nudge::{FEATURES, Weights, features};
            let weights = Weights::parse(weights).map_err(malformed)?;
            let rows: Vec<crate::nudge::generator::Row> = data::read(path)?;
            let values: Vec<_> = rows.iter().map(|row| features(&row.facts.request())).collect();
            let column = |(at, name): (usize, &&'static str)| (*name, values.iter().map(|row| row[at]).collect());
            let mut columns: Columns = FEATURES.iter().enumerate().map(column).collect();
            columns.push(("score", crate::nudge::evaluation::scores(&weights, &rows)));
            Ok(columns)
        }
        Kind::Accessibility => {
            use caudal_model::accessibility::{Weights, assess};

            use crate::accessibility::generator::{Facts, Row};
            let weights = Weights::parse(weights).map_err(malformed)?;
            let rows: Vec<Row> = data::read(path)?;
            let column = |of: &dyn Fn(&Facts) -> f64| rows.iter().map(|row| of(&row.facts)).collect();
            Ok(vec![
                ("can_read_small_text", column(&|it| f64::from(it.can_read_small_text))),
                ("uses_screen_reader", column(&|it| f64::from(it.uses_screen_reader))),
                ("feels_confident_with_apps", column(&|it| f64::from(it.feels_confident_with_apps as u8))),
                ("age_range", column(&|it| f64::from(it.age_range as u8))),
                ("avg_time_per_screen_seconds", column(&|it| f64::from(it.avg_time_per_screen_seconds))),
                ("total_validation_errors", column(&|it| f64::from(it.total_validation_errors))),
                ("requested_help_count", column(&|it| f64::from(it.requested_help_count))),
                ("confidence", column(&|it| assess(&weights, &it.request()).confidence)),
            ])
        }
    }
}
