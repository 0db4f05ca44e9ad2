//! A scorecard: CSV with the columns fact, from, points.
//!
//! A value gets the points of the largest `from` that it reaches, and none below the first. In place of a number, `from` can
//! be `missing`. Points in a row without a fact are the base.

use std::collections::BTreeMap;

use caudal_ensemble::Precision;

use super::{Raw, Trained, below};
use crate::error::{Error, Result};

pub(crate) const COLUMNS: [&str; 3] = ["fact", "from", "points"];
/// What a row about missing values has in the column `from`.
const MISSING: &str = "missing";

#[derive(Default)]
struct Steps {
    /// Rows by `from`, ascending.
    rows: Vec<(f64, f64)>,
    missing: Option<f64>,
}

/// Whether the first line of a text is the header of a scorecard.
pub(crate) fn is_scorecard(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.split(',').map(str::trim).eq(COLUMNS))
}

pub(crate) fn read(text: &str) -> Result<Trained> {
    let mut trained = Trained::default();
    let mut columns = BTreeMap::<String, usize>::new();
    let mut steps = Vec::<Steps>::new();
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    for row in reader.records() {
        let row = row.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            Error::model(format!("line {line}"), "a row has three fields, fact,from,points")
        })?;
        let place = format!("line {}", row.position().map_or(0, csv::Position::line));
        let field = |at: usize| row.get(at).unwrap_or_default();
        let number = |at: usize| {
            let number = field(at).parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| {
                Error::model(format!("{place}, {}", COLUMNS[at]), format!("\"{}\" is not a number", field(at)))
            })
        };
        let points = number(2)?;
        if field(0).is_empty() {
            trained.base += points;
            continue;
        }
        let column = *columns.entry(field(0).to_owned()).or_insert_with(|| {
            trained.names.push(field(0).to_owned());
            steps.push(Steps::default());
            steps.len() - 1
        });
        let steps = &mut steps[column];
        if field(1) == MISSING {
            if steps.missing.replace(points).is_some() {
                return Err(Error::model(place, format!("a second row for missing values of {}", field(0))));
            }
            continue;
        }
        let from = number(1)?;
        if steps.rows.last().is_some_and(|(last, _)| *last >= from) {
            return Err(Error::model(place, format!("the rows of {} must ascend by from", field(0))));
        }
        steps.rows.push((from, points));
    }
    trained.columns = steps.len();
    for (column, steps) in steps.iter().enumerate() {
        trained.push(&nodes(column, steps), &trained.names[column].clone())?;
    }
    Ok(trained)
}

/// A chain of splits. Nobody knows how often each step applies, so all count alike in explanations.
fn nodes(column: usize, steps: &Steps) -> Vec<Raw> {
    // Every value is on the left of the first split, so only a missing one gets to the right.
    let split = |threshold, left, right| Raw::Split { column, threshold, missing_left: false, left, right };
    let cover = f64::from(u8::from(steps.missing.is_some()));
    let mut nodes = vec![split(f64::MAX, 2, 1), Raw::Leaf { value: steps.missing.unwrap_or_default(), cover }];
    let mut value = 0.0;
    for (from, points) in &steps.rows {
        let at = nodes.len();
        nodes.extend([split(below(*from, Precision::F64), at + 1, at + 2), Raw::Leaf { value, cover: 1.0 }]);
        value = *points;
    }
    nodes.push(Raw::Leaf { value, cover: 1.0 });
    nodes
}
