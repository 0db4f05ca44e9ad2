//! The model on rows from processes to which it was not fitted.

use caudal_model::risk::{Level, Weights};

use super::super::generator::{Process, generate_by, posterior_by};
use super::{Evaluation, final_level, most_probable};
use crate::card::{Cell, Table, grouped};
use crate::metrics::{Confusion, wilson};
use crate::random::Random;

pub(crate) fn stress(name: &'static str, weights: &Weights<'_>, rows: usize, random: &mut Random) -> Table {
    let v1 = Process::V1;
    let row = |(what, process): (&str, Process)| {
        let rows = generate_by(&process, rows, random);
        let known: Vec<_> = rows.iter().map(|row| posterior_by(&process, &row.facts)).collect();
        let evaluation = Evaluation::new(weights, &rows, false);
        let truth = || rows.iter().map(|row| row.label.severity as usize);
        let best = Confusion::of(truth().zip(known.iter().map(most_probable))).figures();
        let raw = Confusion::of(truth().zip(evaluation.predicted.iter().map(most_probable))).figures();
        let last = Confusion::of(truth().zip(evaluation.verdicts.iter().map(final_level))).figures();
        let errors = evaluation.curves(&evaluation.predicted);
        let worst = errors.iter().map(|curve| curve.ece).fold(0.0, f64::max);
        let high = rows.iter().zip(&evaluation.verdicts).filter(|(row, _)| row.label.severity == Level::High);
        let missed: Vec<_> = high.map(|(_, verdict)| verdict.level == Level::Low).collect();
        vec![
            Cell::text(what),
            Cell::Figure(best.accuracy),
            Cell::Figure(raw.accuracy),
            Cell::Figure(last.accuracy),
            Cell::Figure(last.macro_f1),
            Cell::Figure(worst),
            Cell::Interval(wilson(missed.iter().filter(|missed| **missed).count(), missed.len())),
        ]
    };
    Table {
        id: "stress",
        title: "Stress",
        note: format!(
            "{name}, unchanged, on {} new rows from each process. The ceiling is that of the process. A hidden cause makes a \
             transfer riskier without any trace in the facts, as a well-made scam does.",
            grouped(rows)
        ),
        columns: vec![
            "process",
            "ceiling, accuracy",
            "raw class, accuracy",
            "final, accuracy",
            "final, macro-F1",
            "worst calibration error",
            "high ones missed",
        ],
        rows: [
            ("as fitted", v1),
            ("unusual contexts twice as often", Process { unusual: 2.0 * v1.unusual, ..v1 }),
            ("noise twice as wide", Process { noise: 2.0 * v1.noise, ..v1 }),
            ("a hidden cause in 1 of 10", Process { hidden: 0.1, ..v1 }),
        ]
        .map(row)
        .into(),
    }
}
