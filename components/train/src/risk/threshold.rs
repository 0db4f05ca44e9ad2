//! Cut-offs of the score that minimise the cost of wrong levels.

use std::path::Path;

use anyhow::{Result, ensure};
use caudal_model::risk::{HIGH_FROM, Level, MEDIUM_FROM};
use serde::Deserialize;

use crate::card::{Cell, Table};
use crate::data;
use crate::metrics::mean;

/// The cost of each predicted level (column) for each true severity (row), in any unit.
pub(crate) type Costs = [[f64; 3]; 3];

/// Candidates are multiples of one hundredth.
const STEPS: usize = 100;

/// A line of a cost matrix.
#[derive(Deserialize)]
struct Line {
    severity: Level,
    low: f64,
    medium: f64,
    high: f64,
}

/// Reads a cost matrix: a header `severity,low,medium,high` and a line for each severity.
///
/// # Errors
/// If the file is not such a matrix of finite costs.
pub(crate) fn read(path: &Path) -> Result<Costs> {
    let mut costs = [[f64::NAN; 3]; 3];
    for Line { severity, low, medium, high } in data::read_lines(path)? {
        costs[severity as usize] = [low, medium, high];
    }
    ensure!(
        costs.iter().flatten().all(|cost| cost.is_finite()),
        "{}: a severity is missing or a cost is not finite",
        path.display()
    );
    Ok(costs)
}

/// For each step, the rows of each severity with a lower score.
type Below = Vec<[usize; 3]>;

fn count_below(scored: &[(f64, Level)]) -> Below {
    let counts = |step: usize| {
        let cut_off = step as f64 / STEPS as f64;
        let below = |severity: Level| scored.iter().filter(|row| row.1 == severity && row.0 < cut_off).count();
        super::LEVELS.map(below)
    };
    // One step past the end, which exceeds a score of 1.
    (0..STEPS + 2).map(counts).collect()
}

/// The cost of a row under two cut-offs, given in steps.
fn cost((score, severity): (f64, Level), [medium, high]: [usize; 2], costs: &Costs) -> f64 {
    let reached = |step: usize| score >= step as f64 / STEPS as f64;
    costs[severity as usize][usize::from(reached(medium)) + usize::from(reached(high))]
}

/// The cut-offs with the lowest total cost.
fn cheapest(below: &Below, costs: &Costs) -> [usize; 2] {
    let all = below[STEPS + 1];
    let total = |[medium, high]: [usize; 2]| {
        let of = |severity: usize| {
            let (low, not_high) = (below[medium][severity], below[high][severity]);
            let levels = [low, not_high - low, all[severity] - not_high];
            levels.iter().zip(costs[severity]).map(|(&rows, cost)| rows as f64 * cost).sum::<f64>()
        };
        (0..3).map(of).sum::<f64>()
    };
    let pairs = (0..=STEPS).flat_map(|medium| (medium..=STEPS + 1).map(move |high| [medium, high]));
    pairs.fold([0, 0], |best, pair| if total(pair) < total(best) { pair } else { best })
}

/// Chooses cut-offs on every other row, and compares their cost with that of the current ones on the
/// rest. Rows without a factor score below 0.25; a lower first cut-off would warn of some of them
/// without a reason, and is marked.
pub(crate) fn table(scored: &[(f64, Level)], costs: &Costs) -> Table {
    let chosen_on: Vec<_> = scored.iter().copied().step_by(2).collect();
    let measured_on: Vec<_> = scored.iter().copied().skip(1).step_by(2).collect();
    let cheapest = cheapest(&count_below(&chosen_on), costs);
    let current = [MEDIUM_FROM, HIGH_FROM].map(|cut_off| libm::round(cut_off * STEPS as f64) as usize);
    let row = |(name, cut_offs): (&str, [usize; 2])| {
        let explained = cut_offs[0] as f64 >= MEDIUM_FROM * STEPS as f64;
        let [medium, high] = cut_offs.map(|step| match step {
            0..=STEPS => Cell::Figure(step as f64 / STEPS as f64),
            _ => Cell::text("never"),
        });
        let mean_cost = mean(measured_on.iter().map(|&row| cost(row, cut_offs, costs)));
        let explained = if explained { "yes" } else { "no: some warnings lack a factor" };
        vec![Cell::text(name), medium, high, Cell::Interval(mean_cost), Cell::text(explained)]
    };
    Table {
        id: "thresholds",
        title: "Cut-offs",
        note: format!("Chosen on {} rows; mean cost of a transfer on {} others.", chosen_on.len(), measured_on.len()),
        columns: vec!["", "medium from", "high from", "cost", "every warning explained"],
        rows: [
            ("cheapest", cheapest),
            ("current", current),
            ("never warn", [STEPS + 1, STEPS + 1]),
            ("always medium", [0, STEPS + 1]),
        ]
        .map(row)
        .into(),
    }
}
