//! Detection of high risk: recall, false positives, and precision at other prevalences.

use caudal_model::risk::{HIGH_FROM, Level};

use super::Evaluation;
use crate::card::{Cell, Table};
use crate::metrics::{Interval, wilson};

/// The false positive rate that one of the thresholds allows.
const FALSE_POSITIVES: f64 = 0.05;
/// Prevalences to which the figures are transferred, after that of the data.
const PREVALENCES: [f64; 4] = [0.05, 0.015, 0.005, 0.001];

impl Evaluation<'_> {
    /// The lowest score threshold with a false positive rate of at most 5 %. Rows with the same score stay
    /// together, so the rate may be clearly lower.
    fn five_percent(&self) -> f64 {
        let mut negatives: Vec<_> = self.scores(false).collect();
        negatives.sort_by(f64::total_cmp);
        let allowed = (FALSE_POSITIVES * negatives.len() as f64) as usize;
        let Some(&last) = negatives.get(negatives.len().saturating_sub(allowed + 1)) else { return 1.0 };
        // The next larger score: including those equal to the last one would exceed the rate.
        let next = negatives.partition_point(|score| *score <= last);
        negatives.get(next).copied().unwrap_or(1.0)
    }

    /// Scores of the transfers that are high, or of all others.
    fn scores(&self, high: bool) -> impl Iterator<Item = f64> {
        self.scored().filter(move |(_, severity)| (*severity == Level::High) == high).map(|(score, _)| score)
    }

    /// Recall and false positive rate of a threshold.
    fn rates(&self, from: f64) -> [Interval; 2] {
        [true, false]
            .map(|high| wilson(self.scores(high).filter(|score| *score >= from).count(), self.scores(high).count()))
    }

    pub(super) fn detection(&self) -> Table {
        let row = |name: &str, from: f64| {
            let [recall, false_positives] = self.rates(from);
            vec![Cell::text(name), Cell::Figure(from), Cell::Interval(recall), Cell::Interval(false_positives)]
        };
        Table {
            id: "detection",
            title: "Detection of high risk",
            note: "Recall is the share of high transfers whose score reaches the threshold; the false positive rate is the \
                   share of all others whose score does."
                .into(),
            columns: vec!["threshold", "score from", "recall", "false positive rate"],
            rows: vec![row("at most 5 % false positives", self.five_percent()), row("level high", HIGH_FROM)],
        }
    }

    pub(super) fn prevalences(&self) -> Table {
        let high = self.rows.iter().filter(|row| row.label.severity == Level::High).count();
        let here = high as f64 / self.rows.len().max(1) as f64;
        let (five, level) = (self.rates(self.five_percent()), self.rates(HIGH_FROM));
        let ratio = |recall: f64, false_positives: f64, prevalence: f64| {
            let (hits, misses) = (prevalence * recall, (1.0 - prevalence) * false_positives);
            if hits + misses > 0.0 { hits / (hits + misses) } else { 0.0 }
        };
        let precision = |[recall, false_positives]: &[Interval; 2], prevalence: f64| {
            Cell::Interval(Interval {
                value: ratio(recall.value, false_positives.value, prevalence),
                low: ratio(recall.low, false_positives.high, prevalence),
                high: ratio(recall.high, false_positives.low, prevalence),
            })
        };
        let row = |prevalence: f64| {
            let positives = 1e4 * (prevalence * level[0].value + (1.0 - prevalence) * level[1].value);
            vec![
                Cell::Figure(prevalence),
                Cell::Interval(five[0]),
                precision(&five, prevalence),
                precision(&level, prevalence),
                Cell::Count(libm::round(positives) as usize),
            ]
        };
        Table {
            id: "prevalence",
            title: "Lower prevalence",
            note: "If high transfers are rarer but otherwise the same, recall stays and precision falls. The first row is \
                   the prevalence in these rows. The intervals of precision combine the bounds of both rates."
                .into(),
            columns: vec![
                "prevalence",
                "recall at 5 % false positives",
                "precision at 5 %",
                "precision at level high",
                "level high in 10,000",
            ],
            rows: [here].into_iter().chain(PREVALENCES).map(row).collect(),
        }
    }
}
