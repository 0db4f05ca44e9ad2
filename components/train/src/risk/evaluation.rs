//! What a risk model is worth on rows that it was not fitted to.

use caudal_model::risk::{Assessment, HIGH_FROM, Level, MEDIUM_FROM, Weights, assess, upper_tails};

use super::generator::{Row, posterior};
use crate::age::AgeRange;
use crate::card::{Cell, Table};
use crate::metrics::{Interval, Reliability, bootstrap, reliability, wilson};
use crate::random::Random;

/// The share of transfers that are not high, and that a threshold lets through as high.
const FALSE_POSITIVES: f64 = 0.05;
/// Shares of high-risk transfers to which the figures are carried over; the first is the data's.
const PREVALENCES: [f64; 4] = [0.05, 0.015, 0.005, 0.001];

/// A model's verdicts on rows, beside what is known of them.
pub struct Evaluation<'a> {
    rows: &'a [Row],
    verdicts: Vec<Assessment>,
    /// The probability of each severity that the model gives, before the rule on factors.
    said: Vec<[f64; 3]>,
    /// The true one, when the rows are the generator's.
    known: Option<Vec<[f64; 3]>>,
}

/// The class that is most probable; the lower one when two are.
fn most_probable(probabilities: &[f64; 3]) -> usize {
    (1..3).fold(0, |best, class| if probabilities[class] > probabilities[best] { class } else { best })
}

fn level(verdict: &Assessment) -> usize {
    match verdict.level {
        Level::Low => 0,
        Level::Medium => 1,
        Level::High => 2,
    }
}

/// The level that the true probabilities give under "no factor means low" and the same cut-offs.
fn guarded(probabilities: &[f64; 3], verdict: &Assessment) -> usize {
    let score = (probabilities[1] + 2.0 * probabilities[2]) / 2.0;
    if verdict.factors.is_empty() { 0 } else { usize::from(score >= MEDIUM_FROM) + usize::from(score >= HIGH_FROM) }
}

/// Low for no factor, medium for one or two, high for more: what one would do without a model.
fn counted(verdict: &Assessment) -> usize {
    match verdict.factors.len() {
        0 => 0,
        1 | 2 => 1,
        _ => 2,
    }
}

impl<'a> Evaluation<'a> {
    /// Scores rows. `generated` says that the true probabilities are known.
    #[must_use]
    pub fn new(weights: &Weights<'_>, rows: &'a [Row], generated: bool) -> Self {
        // Rows are checked where they are read or made.
        let verdicts: Vec<_> = rows.iter().filter_map(|row| assess(weights, &row.request).ok()).collect();
        let classes = |verdict: &Assessment| {
            let [above_low, high] = upper_tails(weights, verdict.predictor());
            [1.0 - above_low, above_low - high, high]
        };
        let said = verdicts.iter().map(classes).collect();
        let known = generated.then(|| rows.iter().map(|row| posterior(&row.request)).collect());
        Self { rows, verdicts, said, known }
    }

    /// The tables of a card, and its curves. `others` are shown beside the model in the first table.
    #[must_use]
    pub fn report(&self, name: &str, others: &[(&str, &Evaluation<'_>)], random: &mut Random) -> Report {
        let calibration = self.curves(&self.said);
        let tables = vec![
            self.results(name, others, random),
            self.calibration(&calibration),
            self.slices(),
            self.detection(),
            self.prevalences(),
        ];
        Report { tables, calibration }
    }

    fn results(&self, name: &str, others: &[(&str, &Evaluation<'_>)], random: &mut Random) -> Table {
        let truth: Vec<_> = self.rows.iter().map(|row| row.severity).collect();
        let levels = |of: &dyn Fn(&Assessment) -> usize| self.verdicts.iter().map(of).collect::<Vec<_>>();
        let mut names = Vec::new();
        let mut said: Vec<Vec<usize>> = Vec::new();
        let mut reference = Vec::new();
        let mut add = |name: String, classes: Vec<usize>, from: usize| {
            names.push(name);
            said.push(classes);
            reference.push(from);
        };
        // Without the true probabilities the model itself is what others are measured from.
        let (mut raw_from, mut final_from) = (0, 0);
        if let Some(known) = &self.known {
            add("ceiling: the true probabilities".into(), known.iter().map(most_probable).collect(), 0);
            let guarded = known.iter().zip(&self.verdicts).map(|(known, verdict)| guarded(known, verdict));
            add("ceiling, no factor means low".into(), guarded.collect(), 1);
            (raw_from, final_from) = (0, 1);
        }
        add(format!("{name}, raw class"), self.said.iter().map(most_probable).collect(), raw_from);
        add(format!("{name}, final level"), levels(&level), final_from);
        for (other, evaluation) in others {
            add(format!("{other}, raw class"), evaluation.said.iter().map(most_probable).collect(), raw_from);
            add(format!("{other}, final level"), evaluation.verdicts.iter().map(level).collect(), final_from);
        }
        add("number of factors: 0, 1-2, 3 or more".into(), levels(&counted), final_from);
        add("always medium".into(), vec![1; truth.len()], final_from);
        let figures = bootstrap(&truth, &said, &reference, random);
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
        let from = if known { "to the ceiling of the same kind" } else { "to the raw class of the model" };
        Table {
            id: "results",
            title: "Results",
            note: format!(
                "Accuracy and macro-averaged F1 over low, medium and high, with 95 % intervals from resampled rows. The \
                 raw class is the most probable one; the final level is what a client gets: the score cut at 0.25 and \
                 0.75, and low where no factor holds. Gaps are paired, {from}."
            ),
            columns: if known {
                vec!["", "accuracy", "macro-F1", "accuracy less ceiling", "macro-F1 less ceiling"]
            } else {
                vec!["", "accuracy", "macro-F1", "accuracy less raw", "macro-F1 less raw"]
            },
            rows: names.into_iter().enumerate().map(row).collect(),
        }
    }

    fn curves(&self, probabilities: &[[f64; 3]]) -> Vec<Reliability> {
        let curve = |(class, name): (usize, &&str)| {
            let said: Vec<_> = probabilities.iter().map(|row| row[class]).collect();
            let happened: Vec<_> = self.rows.iter().map(|row| row.severity == class).collect();
            reliability(name, &said, &happened)
        };
        super::rows::LEVELS.iter().enumerate().map(curve).collect()
    }

    fn calibration(&self, curves: &[Reliability]) -> Table {
        let floor = self.known.as_deref().map(|known| self.curves(known));
        let row = |(class, curve): (usize, &Reliability)| {
            let floor = floor.as_ref().map_or(Cell::None, |floor| Cell::Figure(floor[class].ece));
            vec![Cell::text(&curve.name), Cell::Figure(curve.ece), floor]
        };
        Table {
            id: "calibration",
            title: "Calibration",
            note:
                "Expected calibration error of the raw class probabilities, in 15 bins of equally many rows. The true \
                   probabilities do not reach zero on a sample either: the last column is theirs."
                    .into(),
            columns: vec!["class", "error", "error of the true probabilities"],
            rows: curves.iter().enumerate().map(row).collect(),
        }
    }

    fn slices(&self) -> Table {
        type Holds = Box<dyn Fn(&Row) -> bool>;
        let mut slices: Vec<(String, Holds)> = vec![
            ("all".into(), Box::new(|_| true)),
            ("no transfer before".into(), Box::new(|row| row.request.num_past_transactions == 0)),
            ("1 or 2 transfers before".into(), Box::new(|row| (1..3).contains(&row.request.num_past_transactions))),
            ("3 or more before".into(), Box::new(|row| row.request.num_past_transactions >= 3)),
        ];
        for age in AgeRange::ALL {
            slices.push((format!("age {}", age.code()), Box::new(move |row| row.age_range == age)));
        }
        for (name, hours) in [("0 to 5", 0..6), ("6 to 11", 6..12), ("12 to 17", 12..18), ("18 to 23", 18..24)] {
            slices.push((format!("hours {name}"), Box::new(move |row| hours.contains(&row.request.hour_of_day))));
        }
        let row = |(name, holds): (String, Holds)| {
            let rows: Vec<_> = (0..self.rows.len()).filter(|&row| holds(&self.rows[row])).collect();
            let share = |of: &dyn Fn(usize) -> bool, among: &dyn Fn(usize) -> bool| {
                let among: Vec<_> = rows.iter().copied().filter(|&row| among(row)).collect();
                Cell::Interval(wilson(among.iter().filter(|&&row| of(row)).count(), among.len()))
            };
            vec![
                Cell::Text(name),
                Cell::Count(rows.len()),
                share(&|row| level(&self.verdicts[row]) == self.rows[row].severity, &|_| true),
                share(&|row| level(&self.verdicts[row]) > 0, &|row| self.rows[row].severity == 0),
                share(&|row| level(&self.verdicts[row]) == 0, &|row| self.rows[row].severity == 2),
            ]
        };
        Table {
            id: "slices",
            title: "Slices",
            note: "Final level. False alarms: low transfers that got a warning. Missed: high transfers that got none. Ages \
                   are known of the made-up people and not shown to the model."
                .into(),
            columns: vec!["slice", "rows", "accuracy", "false alarms", "missed"],
            rows: slices.into_iter().map(row).collect(),
        }
    }

    /// The score from which 5 % of what is not high is called high.
    fn five_percent(&self) -> f64 {
        let mut others: Vec<_> = self.scores(false).collect();
        others.sort_by(f64::total_cmp);
        let place = ((1.0 - FALSE_POSITIVES) * others.len() as f64) as usize;
        others.get(place).copied().unwrap_or(1.0)
    }

    /// Scores of the transfers that are high, or of the others.
    fn scores(&self, high: bool) -> impl Iterator<Item = f64> {
        let pairs = self.rows.iter().zip(&self.verdicts);
        pairs.filter(move |(row, _)| (row.severity == 2) == high).map(|(_, verdict)| verdict.score)
    }

    /// Shares of high and of other transfers at or above a score.
    fn rates(&self, from: f64) -> [Interval; 2] {
        [true, false]
            .map(|high| wilson(self.scores(high).filter(|score| *score >= from).count(), self.scores(high).count()))
    }

    fn detection(&self) -> Table {
        let row = |name: &str, from: f64| {
            let [found, false_positives] = self.rates(from);
            vec![Cell::text(name), Cell::Figure(from), Cell::Interval(found), Cell::Interval(false_positives)]
        };
        Table {
            id: "detection",
            title: "Finding high risk",
            note:
                "Of high transfers, the share whose score reaches a threshold; of all others, the share that does too."
                    .into(),
            columns: vec!["threshold", "score from", "found", "false positives"],
            rows: vec![row("5 % false positives", self.five_percent()), row("level high", HIGH_FROM)],
        }
    }

    fn prevalences(&self) -> Table {
        let here = self.rows.iter().filter(|row| row.severity == 2).count() as f64 / self.rows.len().max(1) as f64;
        let (five, level) = (self.rates(self.five_percent()), self.rates(HIGH_FROM));
        let precision = |[found, wrong]: &[Interval; 2], share: f64| {
            let (hits, misses) = (share * found.value, (1.0 - share) * wrong.value);
            Cell::Figure(if hits + misses > 0.0 { hits / (hits + misses) } else { 0.0 })
        };
        let row = |share: f64| {
            let called = 1e4 * (share * level[0].value + (1.0 - share) * level[1].value);
            vec![
                Cell::Figure(share),
                Cell::Interval(five[0]),
                precision(&five, share),
                precision(&level, share),
                Cell::Count(libm::round(called) as usize),
            ]
        };
        Table {
            id: "prevalence",
            title: "Where high risk is rarer",
            note: "The share found does not change when high transfers get rarer; how many of the warnings are right does. \
                   The first row is the made-up data, where high is far more frequent than fraud is at any bank."
                .into(),
            columns: vec![
                "share of high",
                "found at 5 % false positives",
                "right among these",
                "right at level high",
                "called high of 10,000",
            ],
            rows: [here].into_iter().chain(PREVALENCES).map(row).collect(),
        }
    }

    /// Scores and severities, for thresholds.
    pub fn scored(&self) -> impl Iterator<Item = (f64, usize)> {
        self.verdicts.iter().map(|verdict| verdict.score).zip(self.rows.iter().map(|row| row.severity))
    }
}

/// Tables and curves.
#[derive(Debug)]
pub struct Report {
    /// In the order of a card.
    pub tables: Vec<Table>,
    /// Of the reliability plot.
    pub calibration: Vec<Reliability>,
}
