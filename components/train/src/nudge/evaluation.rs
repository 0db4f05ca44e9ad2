//! What the nudge model is worth on visits that it was not fitted to.

use caudal_model::nudge::{INFO_ABOVE, Request, Weights, assess};

use super::fit::Fit;
use super::generator::{Row, posterior};
use crate::age::AgeRange;
use crate::card::{Cell, Table};
use crate::metrics::{Interval, Reliability, area_under_curve, mean, reliability, wilson};

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

/// Negative log-likelihood of each row.
fn log_losses(said: &[f64], happened: &[bool]) -> Vec<f64> {
    let loss = |(said, &happened): (&f64, &bool)| -libm::log(if happened { *said } else { 1.0 - said });
    said.iter().zip(happened).map(loss).collect()
}

/// Squared distance of each row.
fn squares(said: &[f64], happened: &[bool]) -> Vec<f64> {
    let distance = |(said, &happened): (&f64, &bool)| said - f64::from(u8::from(happened));
    said.iter().zip(happened).map(distance).map(|distance| distance * distance).collect()
}

fn results(said: &[f64], known: Option<&[f64]>, happened: &[bool]) -> Table {
    let average = |values: &[f64]| Cell::Interval(mean(values.iter().copied()));
    let gap = |of: fn(&[f64], &[bool]) -> Vec<f64>| -> Option<Interval> {
        let (ours, best) = (of(said, happened), of(known?, happened));
        Some(mean(ours.iter().zip(&best).map(|(ours, best)| ours - best)))
    };
    let row = |name: &str, said: &[f64]| {
        vec![
            Cell::text(name),
            average(&log_losses(said, happened)),
            average(&squares(said, happened)),
            Cell::Interval(area_under_curve(said, happened)),
        ]
    };
    let share = mean(happened.iter().map(|&happened| f64::from(u8::from(happened)))).value;
    let mut rows = Vec::new();
    rows.extend(known.map(|known| row("ceiling: the true probabilities without age", known)));
    rows.push(row("nudge-1", said));
    if let (Some(log_loss), Some(brier)) = (gap(log_losses), gap(squares)) {
        rows.push(vec![
            Cell::text("nudge-1 less ceiling, paired"),
            Cell::Interval(log_loss),
            Cell::Interval(brier),
            Cell::None,
        ]);
    }
    rows.push(row("always the mean", &vec![share; said.len()]));
    Table {
        id: "results",
        title: "Results",
        note: "How well the score says whether a person was struggling, with 95 % intervals. Less is better for the first \
               two."
            .into(),
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
    let floor = known.map_or(Cell::None, |known| Cell::Interval(reliability("", known, happened).ece_interval));
    Table {
        id: "calibration",
        title: "Calibration",
        note: "Expected calibration error of the score, in up to 15 bins of equally many rows; rows of one score stay \
             together. On a sample true probabilities do not reach zero either: the last column is theirs."
            .into(),
        columns: vec!["of", "error", "error of the true probabilities"],
        rows: vec![vec![Cell::text(&curve.name), Cell::Interval(curve.ece_interval), floor]],
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
        if here.is_empty() {
            return vec![
                Cell::text(age.code()),
                Cell::Count(0),
                Cell::None,
                Cell::None,
                Cell::None,
                Cell::None,
                Cell::None,
            ];
        }
        let (said_here, happened): (Vec<_>, Vec<_>) = here.iter().map(|&row| (said[row], rows[row].struggling)).unzip();
        let average = said_here.iter().sum::<f64>() / here.len() as f64;
        let struggling = here.iter().filter(|&&row| rows[row].struggling).count();
        vec![
            Cell::text(age.code()),
            Cell::Count(here.len()),
            share(true),
            share(false),
            Cell::Figure(average),
            Cell::Interval(wilson(struggling, here.len())),
            Cell::Figure(reliability("", &said_here, &happened).ece),
        ]
    };
    Table {
        id: "slices",
        title: "Ages",
        note: "Help is offered above 0.40. The model is not shown an age, and older people take longer without struggling: \
               compare what is offered to those who are fine, and the mean score with the share that struggles. Being slower \
               is never a reason by itself up to 2.24 times the median."
            .into(),
        columns: vec!["age", "visits", "offered when struggling", "offered when not", "mean score", "struggling", "calibration error"],
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
            ("1 error and 43 seconds", 1, 43, 0),
            ("went back 3 times", 0, 25, 3),
            ("went back twice, and 43 seconds", 0, 43, 2),
            ("went back 9 times, and 56 seconds", 0, 56, 9),
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
