//! Cut-offs of the score that cost the least, given what each mistake costs.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use caudal_model::risk::{HIGH_FROM, MEDIUM_FROM};

use super::rows::LEVELS;
use crate::card::{Cell, Table};

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

/// The cheapest cut-offs on scored rows, beside those in force. Rows without a factor score below 0.25;
/// a first cut-off below that would warn of some of them without a reason, and is marked.
#[must_use]
pub fn table(scored: &[(f64, usize)], costs: &Costs) -> Table {
    // Rows of each severity with a score below each step.
    let mut below = vec![[0_usize; 3]; STEPS + 2];
    let total = [0, 1, 2].map(|severity| scored.iter().filter(|row| row.1 == severity).count());
    for (step, counts) in below.iter_mut().enumerate() {
        let cut_off = step as f64 / STEPS as f64;
        for (score, severity) in scored {
            counts[*severity] += usize::from(*score < cut_off);
        }
    }
    let mean = |medium: usize, high: usize| {
        let cost = |severity: usize| {
            let (low, not_high) = (below[medium][severity], below[high][severity]);
            let said = [low, not_high - low, total[severity] - not_high];
            said.iter().zip(costs[severity]).map(|(&rows, cost)| rows as f64 * cost).sum::<f64>()
        };
        (0..3).map(cost).sum::<f64>() / scored.len().max(1) as f64
    };
    let pairs = (0..=STEPS).flat_map(|medium| (medium..=STEPS + 1).map(move |high| (medium, high)));
    let cheapest =
        pairs.fold((0, 0), |best, pair| if mean(pair.0, pair.1) < mean(best.0, best.1) { pair } else { best });
    let in_force = [MEDIUM_FROM, HIGH_FROM].map(|cut_off| libm::round(cut_off * STEPS as f64) as usize);
    let row = |name: &str, medium: usize, high: usize| {
        let reasons =
            if (medium as f64) < MEDIUM_FROM * STEPS as f64 { "no: some warnings lack a factor" } else { "yes" };
        let step =
            |step: usize| if step > STEPS { Cell::text("never") } else { Cell::Figure(step as f64 / STEPS as f64) };
        vec![Cell::text(name), step(medium), step(high), Cell::Figure(mean(medium, high)), Cell::text(reasons)]
    };
    Table {
        id: "thresholds",
        title: "Cut-offs",
        note: format!("Mean cost of a transfer on {} rows.", scored.len()),
        columns: vec!["", "medium from", "high from", "cost", "every warning explained"],
        rows: vec![
            row("cheapest", cheapest.0, cheapest.1),
            row("in force", in_force[0], in_force[1]),
            row("never warn", STEPS + 1, STEPS + 1),
            row("always medium", 0, STEPS + 1),
        ],
    }
}
