//! Evaluates the nudge model on held-out visits.

use caudal_model::nudge::{INFO_ABOVE, Request, Weights, assess};

use super::fit::Fit;
use super::generator::{Row, posterior};
use crate::age;
use crate::card::{Cell, Table};
use crate::data::code;
use crate::metrics::{Reliability, area_under_curve, mean, reliability, wilson};

/// The scores of rows, which must be in range.
#[must_use]
pub fn scores(weights: &Weights<'_>, rows: &[Row]) -> Vec<f64> {
    let score = |row: &Row| assess(weights, &row.facts.request()).map_or(f64::NAN, |verdict| verdict.score);
    rows.iter().map(score).collect()
}

/// The tables of a card and the curves of its plot. The rows are generated, so the true probabilities are
/// known.
pub(crate) fn report(weights: &Weights<'_>, rows: &[Row]) -> (Vec<Table>, Vec<Reliability>) {
    let predicted = scores(weights, rows);
    let observed: Vec<_> = rows.iter().map(|row| row.label.struggling).collect();
    let known: Vec<f64> = rows.iter().map(|row| posterior(&row.facts.request())).collect();
    let curve = reliability("struggling", &predicted, &observed);
    let tables = vec![
        results(&predicted, &known, &observed),
        bands(&predicted, &observed),
        calibration(&curve, &known, &observed),
        ages(rows, &predicted),
        anchors(weights),
    ];
    (tables, vec![curve])
}

/// Negative log-likelihood of each row.
fn log_losses(predicted: &[f64], observed: &[bool]) -> Vec<f64> {
    let loss = |(predicted, &observed): (&f64, &bool)| -libm::log(if observed { *predicted } else { 1.0 - predicted });
    predicted.iter().zip(observed).map(loss).collect()
}

/// Squared error of each row.
fn squares(predicted: &[f64], observed: &[bool]) -> Vec<f64> {
    let distance = |(predicted, &observed): (&f64, &bool)| predicted - f64::from(observed);
    predicted.iter().zip(observed).map(distance).map(|distance| distance * distance).collect()
}

fn results(predicted: &[f64], known: &[f64], observed: &[bool]) -> Table {
    let average = |values: &[f64]| Cell::Interval(mean(values.iter().copied()));
    let gap = |of: fn(&[f64], &[bool]) -> Vec<f64>| {
        let (ours, best) = (of(predicted, observed), of(known, observed));
        Cell::Interval(mean(ours.iter().zip(&best).map(|(ours, best)| ours - best)))
    };
    let row = |name: &str, predicted: &[f64]| {
        vec![
            Cell::text(name),
            average(&log_losses(predicted, observed)),
            average(&squares(predicted, observed)),
            Cell::Interval(area_under_curve(predicted, observed)),
        ]
    };
    let share = mean(observed.iter().map(|&observed| f64::from(observed))).value;
    let rows = vec![
        row("ceiling: the true probabilities without age", known),
        row("nudge-1", predicted),
        vec![Cell::text("nudge-1 minus ceiling, paired"), gap(log_losses), gap(squares), Cell::None],
        row("always the mean", &vec![share; predicted.len()]),
    ];
    Table {
        id: "results",
        title: "Results",
        note: "How well the score predicts whether a person was struggling, with 95 % intervals. Log-loss and Brier score \
               are better when lower."
            .into(),
        columns: vec!["", "log-loss", "Brier score", "area under the curve"],
        rows,
    }
}

fn bands(predicted: &[f64], observed: &[bool]) -> Table {
    let row = |(name, low, high): (&str, f64, f64)| {
        let rows: Vec<_> = (0..predicted.len()).filter(|&row| predicted[row] > low && predicted[row] <= high).collect();
        let hits = rows.iter().filter(|&&row| observed[row]).count();
        vec![
            Cell::text(name),
            Cell::Interval(wilson(rows.len(), predicted.len())),
            Cell::Interval(wilson(hits, rows.len())),
        ]
    };
    Table {
        id: "bands",
        title: "Bands",
        note: "The nudge depends on the score alone: `assist` above 0.75, `info` above 0.40, otherwise `warning`."
            .into(),
        columns: vec!["nudge", "share of visits", "share struggling"],
        rows: [("warning", -1.0, 0.40), ("info", 0.40, 0.75), ("assist", 0.75, 1.0)].map(row).into(),
    }
}

fn calibration(curve: &Reliability, known: &[f64], observed: &[bool]) -> Table {
    let floor = Cell::Interval(reliability("", known, observed).ece_interval);
    Table {
        id: "calibration",
        title: "Calibration",
        note:
            "Expected calibration error of the score, in up to 15 bins of equally many rows; rows with the same score \
               share a bin. On a sample, even the true probabilities have an error above zero: see the last column."
                .into(),
        columns: vec!["probability of", "error", "error of the true probabilities"],
        rows: vec![vec![Cell::text(&curve.name), Cell::Interval(curve.ece_interval), floor]],
    }
}

fn ages(rows: &[Row], predicted: &[f64]) -> Table {
    let row = |age| {
        let here: Vec<_> = (0..rows.len()).filter(|&row| rows[row].label.age_range == age).collect();
        let share = |struggling: bool| {
            let among: Vec<_> = here.iter().copied().filter(|&row| rows[row].label.struggling == struggling).collect();
            let offered = among.iter().filter(|&&row| predicted[row] > INFO_ABOVE).count();
            Cell::Interval(wilson(offered, among.len()))
        };
        if here.is_empty() {
            let mut empty = vec![Cell::None; 7];
            (empty[0], empty[1]) = (Cell::Text(code(age)), Cell::Count(0));
            return empty;
        }
        let (predicted_here, observed): (Vec<_>, Vec<_>) =
            here.iter().map(|&row| (predicted[row], rows[row].label.struggling)).unzip();
        let average = predicted_here.iter().sum::<f64>() / here.len() as f64;
        let struggling = here.iter().filter(|&&row| rows[row].label.struggling).count();
        vec![
            Cell::Text(code(age)),
            Cell::Count(here.len()),
            share(true),
            share(false),
            Cell::Figure(average),
            Cell::Interval(wilson(struggling, here.len())),
            Cell::Figure(reliability("", &predicted_here, &observed).ece),
        ]
    };
    Table {
        id: "slices",
        title: "Ages",
        note: "Help is offered above 0.40. The model does not see the age, and older people take longer without struggling: \
               compare how often help is offered to people who are doing fine, and the mean score with the share of people \
               who are struggling. Slowness alone is no reason up to 2.24 times the median."
            .into(),
        columns: vec!["age", "visits", "offered when struggling", "offered when not", "mean score", "struggling", "calibration error"],
        rows: age::ALL.map(row).into(),
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
        let nudge = verdict.map_or_else(|_| String::new(), |verdict| code(verdict.band.nudge));
        vec![Cell::text(name), Cell::Figure(score), Cell::Text(nudge)]
    };
    Table {
        id: "anchors",
        title: "Example visits",
        note: "On a screen with a median of 25 seconds, for which the visit takes 25 seconds unless stated.".into(),
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
            ("3 back navigations", 0, 25, 3),
            ("2 back navigations and 43 seconds", 0, 43, 2),
            ("9 back navigations and 56 seconds", 0, 56, 9),
            ("4,294,967,295 back navigations", 0, 25, u32::MAX),
        ]
        .map(row)
        .into(),
    }
}

/// The cost of the constraint on time.
pub(crate) fn constraint(fit: &Fit) -> Table {
    let row = |name: &str, log_likelihood: f64| vec![Cell::text(name), Cell::Figure(-log_likelihood)];
    Table {
        id: "promise",
        title: "Cost of the constraint on time",
        note: "2.24 times the median alone gives a difficulty of exactly 0.40. Log-loss on the training rows with and \
               without this constraint."
            .into(),
        columns: vec!["fit", "log-loss"],
        rows: vec![row("with the constraint (used)", fit.tied), row("without", fit.free)],
    }
}
