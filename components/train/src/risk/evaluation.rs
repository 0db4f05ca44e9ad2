//! What a risk model is worth on rows that it was not fitted to.

use caudal_model::risk::{Assessment, HIGH_FROM, Level, MEDIUM_FROM, Weights, assess, upper_tails};

use super::generator::{Process, Row, generate_by, posterior, posterior_by};
use crate::age::AgeRange;
use crate::card::{Cell, Table, grouped};
use crate::metrics::{Confusion, Interval, Reliability, bootstrap, reliability, wilson};
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
            let floor = floor.as_ref().map_or(Cell::None, |floor| Cell::Interval(floor[class].ece_interval));
            vec![Cell::text(&curve.name), Cell::Interval(curve.ece_interval), floor]
        };
        Table {
            id: "calibration",
            title: "Calibration",
            note:
                "Expected calibration error of the raw class probabilities, in up to 15 bins of equally many rows; rows of one probability stay \
             together. On a sample true probabilities do not reach zero either: the last column is theirs."
                    .into(),
            columns: vec!["class", "error", "error of the true probabilities"],
            rows: curves.iter().enumerate().map(row).collect(),
        }
    }

    fn slices(&self) -> Table {
        type Holds<'s> = Box<dyn Fn(usize) -> bool + 's>;
        let request = |row: usize| &self.rows[row].request;
        let mut slices: Vec<(String, Holds<'_>)> = vec![
            ("all".into(), Box::new(|_| true)),
            ("no factor".into(), Box::new(|row| self.verdicts[row].factors.is_empty())),
            ("no transfer before".into(), Box::new(move |row| request(row).num_past_transactions == 0)),
            (
                "1 or 2 transfers before".into(),
                Box::new(move |row| (1..3).contains(&request(row).num_past_transactions)),
            ),
            ("3 or more before".into(), Box::new(move |row| request(row).num_past_transactions >= 3)),
        ];
        for age in AgeRange::ALL {
            slices.push((format!("age {}", age.code()), Box::new(move |row| self.rows[row].age_range == age)));
        }
        for (name, hours) in [("0 to 5", 0..6), ("6 to 11", 6..12), ("12 to 17", 12..18), ("18 to 23", 18..24)] {
            slices.push((format!("hours {name}"), Box::new(move |row| hours.contains(&request(row).hour_of_day))));
        }
        let row = |(name, holds): (String, Holds<'_>)| {
            let rows: Vec<_> = (0..self.rows.len()).filter(|&row| holds(row)).collect();
            let share = |of: &dyn Fn(usize) -> bool, among: &dyn Fn(usize) -> bool| {
                let among: Vec<_> = rows.iter().copied().filter(|&row| among(row)).collect();
                if among.is_empty() {
                    return Cell::None;
                }
                Cell::Interval(wilson(among.iter().filter(|&&row| of(row)).count(), among.len()))
            };
            let average = |of: &dyn Fn(usize) -> f64| match rows.len() {
                0 => Cell::None,
                count => Cell::Figure(rows.iter().map(|&row| of(row)).sum::<f64>() / count as f64),
            };
            vec![
                Cell::Text(name),
                Cell::Count(rows.len()),
                share(&|row| level(&self.verdicts[row]) == self.rows[row].severity, &|_| true),
                share(&|row| level(&self.verdicts[row]) > 0, &|row| self.rows[row].severity == 0),
                share(&|row| level(&self.verdicts[row]) == 0, &|row| self.rows[row].severity == 2),
                average(&|row| self.verdicts[row].score),
                average(&|row| self.rows[row].severity as f64 / 2.0),
            ]
        };
        let ages = if self.known.is_some() {
            " Ages are drawn independently of everything else: differences between them are chance, and no evidence of \
             fairness."
        } else {
            ""
        };
        Table {
            id: "slices",
            title: "Slices",
            note: format!(
                "Final level. False alarms: the share of low transfers that got a warning. Missed: the share of high ones that \
                 got none. The score is the expected severity in halves, so the last two columns should agree, but for \
                 transfers without a factor.{ages}"
            ),
            columns: vec!["slice", "rows", "accuracy", "false alarms", "missed", "mean score", "mean severity / 2"],
            rows: slices.into_iter().map(row).collect(),
        }
    }

    /// The lowest score from which at most 5 % of what is not high is called high. Rows of one score
    /// stay together, so it may be clearly less.
    fn five_percent(&self) -> f64 {
        let mut others: Vec<_> = self.scores(false).collect();
        others.sort_by(f64::total_cmp);
        let allowed = (FALSE_POSITIVES * others.len() as f64) as usize;
        let Some(&last) = others.get(others.len().saturating_sub(allowed + 1)) else { return 1.0 };
        // Everything from the next larger score on: what is equal to the last one would be too much.
        let next = others.partition_point(|score| *score <= last);
        others.get(next).copied().unwrap_or(1.0)
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
            rows: vec![row("at most 5 % false positives", self.five_percent()), row("level high", HIGH_FROM)],
        }
    }

    fn prevalences(&self) -> Table {
        let here = self.rows.iter().filter(|row| row.severity == 2).count() as f64 / self.rows.len().max(1) as f64;
        let (five, level) = (self.rates(self.five_percent()), self.rates(HIGH_FROM));
        let ratio = |found: f64, wrong: f64, share: f64| {
            let (hits, misses) = (share * found, (1.0 - share) * wrong);
            if hits + misses > 0.0 { hits / (hits + misses) } else { 0.0 }
        };
        let precision = |[found, wrong]: &[Interval; 2], share: f64| {
            Cell::Interval(Interval {
                value: ratio(found.value, wrong.value, share),
                low: ratio(found.low, wrong.high, share),
                high: ratio(found.high, wrong.low, share),
            })
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
            title: "Where high is rarer",
            note: "If only the share of high transfers changes, and not what they and the others look like, the share found \
                   stays and the share of warnings that are right falls. The first row is that of the rows themselves; \
                   intervals of the last shares are from the ends of both rates."
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

/// The model on rows of processes that it was not fitted to.
#[must_use]
pub fn stress(name: &'static str, weights: &Weights<'_>, rows: usize, random: &mut Random) -> Table {
    let v1 = Process::V1;
    let row = |(what, process): (&str, Process)| {
        let rows = generate_by(&process, rows, random);
        let known: Vec<_> = rows.iter().map(|row| posterior_by(&process, &row.request)).collect();
        let evaluation = Evaluation::new(weights, &rows, false);
        let truth = || rows.iter().map(|row| row.severity);
        let best = Confusion::of(truth().zip(known.iter().map(most_probable))).figures();
        let raw = Confusion::of(truth().zip(evaluation.said.iter().map(most_probable))).figures();
        let last = Confusion::of(truth().zip(evaluation.verdicts.iter().map(level))).figures();
        let errors = evaluation.curves(&evaluation.said);
        let worst = errors.iter().map(|curve| curve.ece).fold(0.0, f64::max);
        let missed = evaluation.rows.iter().zip(&evaluation.verdicts).filter(|(row, _)| row.severity == 2);
        let missed: Vec<_> = missed.map(|(_, verdict)| level(verdict) == 0).collect();
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
            "{name} as it is, on {} fresh rows of each process. The ceiling is that process's own. A hidden cause makes \
             a transfer riskier and shows in nothing that the model sees, as a well-made scam does.",
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

/// Tables and curves.
#[derive(Debug)]
pub struct Report {
    /// In the order of a card.
    pub tables: Vec<Table>,
    /// Of the reliability plot.
    pub calibration: Vec<Reliability>,
}
