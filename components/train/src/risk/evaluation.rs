//! Evaluates a risk model on held-out rows.

mod detection;
mod slices;
mod stress;

use caudal_model::risk::{Assessment, HIGH_FROM, Level, MEDIUM_FROM, Weights, assess, upper_tails};

use super::LEVELS;
use super::generator::{Row, posterior};
use crate::card::{Cell, Table};
use crate::data::code;
use crate::metrics::{Interval, Reliability, bootstrap, reliability};
use crate::random::Random;

pub(crate) use stress::stress;

/// A model's verdicts on rows.
pub(crate) struct Evaluation<'a> {
    rows: &'a [Row],
    verdicts: Vec<Assessment>,
    /// The model's probability of each severity, before the rule on factors.
    predicted: Vec<[f64; 3]>,
    /// The true probabilities, if the rows are generated.
    known: Option<Vec<[f64; 3]>>,
}

/// Index of the highest probability; the lower index if two are equal.
fn most_probable(probabilities: &[f64; 3]) -> usize {
    (1..3).fold(0, |best, class| if probabilities[class] > probabilities[best] { class } else { best })
}

/// The level for the true probabilities, under the same cut-offs and rule on factors.
fn guarded(probabilities: &[f64; 3], verdict: &Assessment) -> usize {
    let score = (probabilities[1] + 2.0 * probabilities[2]) / 2.0;
    if verdict.factors.is_empty() { 0 } else { usize::from(score >= MEDIUM_FROM) + usize::from(score >= HIGH_FROM) }
}

/// A baseline without a model: low for no factor, medium for one or two, high for more.
fn by_count(verdict: &Assessment) -> usize {
    match verdict.factors.len() {
        0 => 0,
        1 | 2 => 1,
        _ => 2,
    }
}

fn final_level(verdict: &Assessment) -> usize {
    verdict.level as usize
}

impl<'a> Evaluation<'a> {
    /// Scores rows, which must be in range. The true probabilities are known if they are `generated`.
    pub(crate) fn new(weights: &Weights<'_>, rows: &'a [Row], generated: bool) -> Self {
        let verdicts: Vec<_> = rows.iter().filter_map(|row| assess(weights, &row.facts).ok()).collect();
        let classes = |verdict: &Assessment| {
            let [above_low, high] = upper_tails(weights, verdict.predictor());
            [1.0 - above_low, above_low - high, high]
        };
        let predicted = verdicts.iter().map(classes).collect();
        let known = generated.then(|| rows.iter().map(|row| posterior(&row.facts)).collect());
        Self { rows, verdicts, predicted, known }
    }

    /// The tables of a card and the curves of its plot. The first table includes the `others`.
    pub(crate) fn report(
        &self,
        name: &str,
        others: &[(&str, &Evaluation<'_>)],
        random: &mut Random,
    ) -> (Vec<Table>, Vec<Reliability>) {
        let curves = self.curves(&self.predicted);
        let tables = vec![
            self.results(name, others, random),
            self.calibration(&curves),
            self.slices(),
            self.detection(),
            self.prevalences(),
        ];
        (tables, curves)
    }

    /// Scores and severities.
    pub(crate) fn scored(&self) -> impl Iterator<Item = (f64, Level)> {
        self.verdicts.iter().map(|verdict| verdict.score).zip(self.rows.iter().map(|row| row.label.severity))
    }

    fn results(&self, name: &str, others: &[(&str, &Evaluation<'_>)], random: &mut Random) -> Table {
        let truth: Vec<_> = self.rows.iter().map(|row| row.label.severity as usize).collect();
        let mut names = Vec::new();
        let mut classes: Vec<Vec<usize>> = Vec::new();
        let mut reference = Vec::new();
        let mut add = |name: String, predicted: Vec<usize>, compared_with: usize| {
            names.push(name);
            classes.push(predicted);
            reference.push(compared_with);
        };
        // Without the true probabilities, all are compared with the raw class of the model.
        let (mut raw_from, mut final_from) = (0, 0);
        if let Some(known) = &self.known {
            add("ceiling: the true probabilities".into(), known.iter().map(most_probable).collect(), 0);
            let guarded = known.iter().zip(&self.verdicts).map(|(known, verdict)| guarded(known, verdict));
            add("ceiling, no factor means low".into(), guarded.collect(), 1);
            (raw_from, final_from) = (0, 1);
        }
        for (name, evaluation) in [(name, self)].iter().chain(others) {
            add(format!("{name}, raw class"), evaluation.predicted.iter().map(most_probable).collect(), raw_from);
            add(format!("{name}, final level"), evaluation.verdicts.iter().map(final_level).collect(), final_from);
        }
        let by_count = self.verdicts.iter().map(by_count).collect();
        add("number of factors: 0, 1-2, 3 or more".into(), by_count, final_from);
        add("always medium".into(), vec![1; truth.len()], final_from);
        let figures = bootstrap(&truth, &classes, &reference, random);
        let gap = |model: usize, interval: Interval| {
            if reference[model] == model { Cell::None } else { Cell::Interval(interval) }
        };
        let row = |(model, name): (usize, String)| {
            vec![
                Cell::Text(name),
                Cell::Interval(figures.accuracy[model]),
                Cell::Interval(figures.macro_f1[model]),
                gap(model, figures.accuracy_gap[model]),
                gap(model, figures.macro_f1_gap[model]),
            ]
        };
        let known = self.known.is_some();
        let compared = if known { "with the corresponding ceiling" } else { "with the raw class of the model" };
        Table {
            id: "results",
            title: "Results",
            note: format!(
                "Accuracy and macro-averaged F1 over low, medium and high, with 95 % intervals from resampled rows. The \
                 raw class is the most probable one. The final level is what a client gets: the score cut at 0.25 and \
                 0.75, and low if no factor applies. Differences are paired, {compared}."
            ),
            columns: if known {
                vec!["", "accuracy", "macro-F1", "accuracy minus ceiling", "macro-F1 minus ceiling"]
            } else {
                vec!["", "accuracy", "macro-F1", "accuracy minus raw", "macro-F1 minus raw"]
            },
            rows: names.into_iter().enumerate().map(row).collect(),
        }
    }

    fn curves(&self, probabilities: &[[f64; 3]]) -> Vec<Reliability> {
        let curve = |level: Level| {
            let predicted: Vec<_> = probabilities.iter().map(|row| row[level as usize]).collect();
            let observed: Vec<_> = self.rows.iter().map(|row| row.label.severity == level).collect();
            reliability(&code(level), &predicted, &observed)
        };
        LEVELS.map(curve).into()
    }

    fn calibration(&self, curves: &[Reliability]) -> Table {
        let floor = self.known.as_deref().map(|known| self.curves(known));
        let row = |(class, curve): (usize, &Reliability)| {
            let floor = floor.as_ref().map_or(Cell::None, |floor| Cell::Interval(floor[class].ece_interval));
            vec![Cell::text(&curve.name), Cell::Interval(curve.ece_interval), floor]
        };
        Table {
            id: "calibration",
            title: "Calibration",
            note: "Expected calibration error of the raw class probabilities, in up to 15 bins of equally many rows; rows \
                   with the same probability share a bin. On a sample, even the true probabilities have an error above \
                   zero: see the last column."
                .into(),
            columns: vec!["class", "error", "error of the true probabilities"],
            rows: curves.iter().enumerate().map(row).collect(),
        }
    }
}
