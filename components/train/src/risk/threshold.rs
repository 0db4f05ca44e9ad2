//! Cut-offs of the score that cost the least, given what each mistake costs.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use caudal_model::risk::{HIGH_FROM, MEDIUM_FROM};

use super::rows::LEVELS;
use crate::card::{Cell, Table};
use crate::metrics::mean;

/// Cost of each level that is said (column) for each severity that is true (row), in any unit.
pub type Costs = [[f64; 3]; 3];

/// Cut-offs that are tried: multiples of one hundredth.
const STEPS: usize = 100;

/// Reads a cost matrix: a head `severity,low,medium,high`, then a line for each severity.
///
/// # Errors
/// When the file is not such a matrix of finite costs.
pub fn read(path: &Path) -> Result<Costs> {
    let mut reader = csv::Reader::from_path(path).with_context(|| format!("{}", path.display()))?;
    ensure!(
        reader.headers()?.iter().skip(1).eq(LEVELS),
        "{}: the head has to be severity,low,medium,high",
        path.display()
    );
    let mut costs = [[f64::NAN; 3]; 3];
    for record in reader.records() {
        let record = record?;
        let Some(severity) = LEVELS.iter().position(|level| *level == &record[0]) else {
            bail!("{}: no severity is called '{}'", path.display(), &record[0]);
        };
        for (cost, text) in costs[severity].iter_mut().zip(record.iter().skip(1)) {
            *cost = text.trim().parse().with_context(|| format!("{}: '{text}' is no cost", path.display()))?;
        }
    }
    ensure!(costs.iter().flatten().all(|cost| cost.is_finite()), "{}: a severity is missing", path.display());
    Ok(costs)
}

/// Rows of each severity with a score below each step.
type Below = Vec<[usize; 3]>;

fn count_below(scored: &[(f64, usize)]) -> Below {
    let counts = |step: usize| {
        let cut_off = step as f64 / STEPS as f64;
        let below = |severity: usize| scored.iter().filter(|row| row.1 == severity && row.0 < cut_off).count();
        [0, 1, 2].map(below)
    };
    // One step past the end: a score of 1 is below that.
    (0..STEPS + 2).map(counts).collect()
}

/// What a row costs under two cut-offs, given in steps.
fn cost((score, severity): (f64, usize), [medium, high]: [usize; 2], costs: &Costs) -> f64 {
    let reached = |step: usize| score >= step as f64 / STEPS as f64;
    costs[severity][usize::from(reached(medium)) + usize::from(reached(high))]
}

/// The cut-offs of the least total cost.
fn cheapest(below: &Below, costs: &Costs) -> [usize; 2] {
    let all = below[STEPS + 1];
    let total = |[medium, high]: [usize; 2]| {
        let of = |severity: usize| {
            let (low, not_high) = (below[medium][severity], below[high][severity]);
            let said = [low, not_high - low, all[severity] - not_high];
            said.iter().zip(costs[severity]).map(|(&rows, cost)| rows as f64 * cost).sum::<f64>()
        };
        (0..3).map(of).sum::<f64>()
    };
    let pairs = (0..=STEPS).flat_map(|medium| (medium..=STEPS + 1).map(move |high| [medium, high]));
    pairs.fold([0, 0], |best, pair| if total(pair) < total(best) { pair } else { best })
}

/// The cut-offs that cost the least on every other row, and what they and those in force cost on the
/// rows between. Rows without a factor score below 0.25; a first cut-off below that would warn of some
/// of them without a reason, and is marked.
#[must_use]
pub fn table(scored: &[(f64, usize)], costs: &Costs) -> Table {
    let chosen_on: Vec<_> = scored.iter().copied().step_by(2).collect();
    let measured_on: Vec<_> = scored.iter().copied().skip(1).step_by(2).collect();
    let cheapest = cheapest(&count_below(&chosen_on), costs);
    let in_force = [MEDIUM_FROM, HIGH_FROM].map(|cut_off| libm::round(cut_off * STEPS as f64) as usize);
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
        note: format!("Chosen on {} rows, mean cost of a transfer on {} others.", chosen_on.len(), measured_on.len()),
        columns: vec!["", "medium from", "high from", "cost", "every warning explained"],
        rows: [
            ("cheapest", cheapest),
            ("in force", in_force),
            ("never warn", [STEPS + 1, STEPS + 1]),
            ("always medium", [0, STEPS + 1]),
        ]
        .map(row)
        .into(),
    }
}
