//! What the nudge model is worth on visits that it was not fitted to.

use caudal_model::nudge::{INFO_ABOVE, Request, Weights, assess};

use super::fit::Fit;
use super::generator::{Row, posterior};
use crate::age::AgeRange;
use crate::card::{Cell, Table};
use crate::metrics::{Reliability, brier, reliability, wilson};

/// Scores of rows; rows are checked where they are read or made.
#[must_use]
pub fn scores(weights: &Weights<'_>, rows: &[Row]) -> Vec<f64> {
    let score = |row: &Row| assess(weights, &row.request()).map_or(f64::NAN, |verdict| verdict.score);
    rows.iter().map(score).collect()
}

/// The tables of a card and the curves of its plot.
#[must_use]
pub fn report(weights: &Weights<'_>, rows: &[Row], generated: bool) -> (Vec<Table>, Vec<Reliability>) {
    let said = scores(weights, rows);
    let happened: Vec<_> = rows.iter().map(|row| row.struggling).collect();
    let known: Option<Vec<f64>> = generated.then(|| rows.iter().map(|row| posterior(&row.request())).collect());
    let curve = reliability("struggling", &said, &happened);
    let tables = vec![
        results(&said, known.as_deref(), &happened),
        bands(&said, &happened),
        calibration(&curve, known.as_deref(), &happened),
        ages(rows, &said),
        anchors(weights),
    ];
    (tables, vec![curve])
}

/// Mean negative log-likelihood.
fn log_loss(said: &[f64], happened: &[bool]) -> f64 {
    let loss = |(said, &happened): (&f64, &bool)| -libm::log(if happened { *said } else { 1.0 - said });
    said.iter().zip(happened).map(loss).sum::<f64>() / said.len().max(1) as f64
}

/// The chance that somebody who struggles scores above somebody who does not.
fn area_under_curve(said: &[f64], happened: &[bool]) -> f64 {
    let mut order: Vec<_> = (0..said.len()).collect();
    order.sort_by(|&a, &b| said[a].total_cmp(&said[b]));
    let (mut below, mut wins, mut index) = (0_usize, 0.0, 0);
    while index < order.len() {
        let tie = order[index..].iter().take_while(|&&row| said[row] == said[order[index]]).count();
        let yes = order[index..index + tie].iter().filter(|&&row| happened[row]).count();
        wins += yes as f64 * (below as f64 + (tie - yes) as f64 / 2.0);
        below += tie - yes;
        index += tie;
    }
    let yes = happened.iter().filter(|happened| **happened).count();
    wins / (yes as f64 * (happened.len() - yes) as f64).max(1.0)
}

fn results(said: &[f64], known: Option<&[f64]>, happened: &[bool]) -> Table {
    let share = happened.iter().filter(|happened| **happened).count() as f64 / happened.len().max(1) as f64;
    let row = |name: &str, said: &[f64]| {
        vec![
            Cell::text(name),
            Cell::Figure(log_loss(said, happened)),
            Cell::Figure(brier(said, happened)),
            Cell::Figure(area_under_curve(said, happened)),
        ]
    };
    let mut rows = Vec::new();
    rows.extend(known.map(|known| row("ceiling: the true probabilities without age", known)));
    rows.push(row("nudge-1", said));
    rows.push(row("always the mean", &vec![share; said.len()]));
    Table {
        id: "results",
        title: "Results",
        note: "How well the score says whether a person was struggling. Less is better for the first two.".into(),
        columns: vec!["", "log-loss", "Brier score", "area under the curve"],
        rows,
    }
}

fn bands(said: &[f64], happened: &[bool]) -> Table {
    let row = |(name, low, high): (&str, f64, f64)| {
        let rows: Vec<_> = (0..said.len()).filter(|&row| said[row] > low && said[row] <= high).collect();
        let hits = rows.iter().filter(|&&row| happened[row]).count();
        vec![Cell::text(name), Cell::Interval(wilson(rows.len(), said.len())), Cell::Interval(wilson(hits, rows.len()))]
    };
    Table {
        id: "bands",
        title: "Bands",
        note: "The nudge is a function of the score: `assist` above 0.75, `info` above 0.40, else `warning`. Not only the \
               score, each band too should mean what it says."
            .into(),
        columns: vec!["nudge", "share of visits", "of these struggling"],
        rows: [("warning", -1.0, 0.40), ("info", 0.40, 0.75), ("assist", 0.75, 1.0)].map(row).into(),
    }
}

fn calibration(curve: &Reliability, known: Option<&[f64]>, happened: &[bool]) -> Table {
    let floor = known.map_or(Cell::None, |known| Cell::Figure(reliability("", known, happened).ece));
    Table {
        id: "calibration",
        title: "Calibration",
        note:
            "Expected calibration error of the score, in 15 bins of equally many rows. The true probabilities do not \
               reach zero on a sample either: the last column is theirs."
                .into(),
        columns: vec!["of", "error", "error of the true probabilities"],
        rows: vec![vec![Cell::text(&curve.name), Cell::Figure(curve.ece), floor]],
    }
}

fn ages(rows: &[Row], said: &[f64]) -> Table {
    let row = |age: AgeRange| {
        let here: Vec<_> = (0..rows.len()).filter(|&row| rows[row].age_range == age).collect();
        let share = |struggling: bool| {
            let among: Vec<_> = here.iter().copied().filter(|&row| rows[row].struggling == struggling).collect();
            let offered = among.iter().filter(|&&row| said[row] > INFO_ABOVE).count();
            Cell::Interval(wilson(offered, among.len()))
        };
        let mean = here.iter().map(|&row| said[row]).sum::<f64>() / here.len().max(1) as f64;
        let struggling = here.iter().filter(|&&row| rows[row].struggling).count();
        vec![
            Cell::text(age.code()),
            Cell::Count(here.len()),
            share(true),
            share(false),
            Cell::Figure(mean),
            Cell::Interval(wilson(struggling, here.len())),
        ]
    };
    Table {
        id: "slices",
        title: "Ages",
        note: "Help is offered above 0.40. The model is not shown an age, and people over 60 take longer without \
               struggling: those who are fine are offered help about twice as often as those up to 30 who are. Being \
               slower is never a reason by itself up to 2.24 times the median."
            .into(),
        columns: vec!["age", "visits", "offered when struggling", "offered when not", "mean score", "struggling"],
        rows: AgeRange::ALL.map(row).into(),
    }
}

fn anchors(weights: &Weights<'_>) -> Table {
    let row = |(name, errors, seconds, backs): (&str, u32, u32, u32)| {
        let request = Request {
            screen: "confirm",
            num_validation_errors: errors,
            time_on_screen_seconds: seconds,
            num_back_navigations: backs,
            steps_total: 1,
            current_step: 1,
        };
        let verdict = assess(weights, &request);
        let score = verdict.map_or(f64::NAN, |verdict| verdict.score);
        let nudge = verdict.map_or("", |verdict| match verdict.band.nudge {
            caudal_model::nudge::Nudge::Assist => "assist",
            caudal_model::nudge::Nudge::Info => "info",
            caudal_model::nudge::Nudge::Warning => "warning",
        });
        vec![Cell::text(name), Cell::Figure(score), Cell::text(nudge)]
    };
    Table {
        id: "anchors",
        title: "Visits to know it by",
        note: "On a screen whose median is 25 seconds, in that time unless another is named.".into(),
        columns: vec!["visit", "difficulty", "nudge"],
        rows: [
            ("nothing happened", 0, 25, 0),
            ("43 seconds: 1.72 times the median", 0, 43, 0),
            ("56 seconds: 2.24 times, exactly", 0, 56, 0),
            ("57 seconds: 2.28 times", 0, 57, 0),
            ("1 error", 1, 25, 0),
            ("3 errors", 3, 25, 0),
            ("3 errors and 57 seconds", 3, 57, 0),
            ("5 errors", 5, 25, 0),
            ("went back 3 times", 0, 25, 3),
            ("went back 4,294,967,295 times", 0, 25, u32::MAX),
        ]
        .map(row)
        .into(),
    }
}

/// What the promise about time costs.
#[must_use]
pub fn promise(fit: &Fit) -> Table {
    let row = |name: &str, log_likelihood: f64| vec![Cell::text(name), Cell::Figure(-log_likelihood)];
    Table {
        id: "promise",
        title: "What the promise costs",
        note:
            "Time of exactly 2.24 times the median is tied to a difficulty of 0.40. Log-loss on the training rows with \
               the tie and without it."
                .into(),
        columns: vec!["fit", "log-loss"],
        rows: vec![row("tied, in force", fit.tied), row("free", fit.free)],
    }
}
