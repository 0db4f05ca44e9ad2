//! Accuracy and macro-averaged F1 over ordered classes, with 95 % intervals.

use serde::Serialize;

use crate::random::Random;

/// Low, medium, high.
const CLASSES: usize = 3;
/// Resamples for an interval. Between seeds its bounds vary by about a tenth of its width.
const RESAMPLES: usize = 400;
/// 95 % of a normal distribution is within this many standard deviations.
const Z: f64 = 1.959_964;

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Confusion matrix: counts by true class (row) and predicted class (column).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion(pub [[u64; CLASSES]; CLASSES]);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub accuracy: f64,
    /// Unweighted mean of the classes' F1.
    pub macro_f1: f64,
}

impl Confusion {
    /// Counts pairs of true and predicted class.
    pub fn of(pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut confusion = Self::default();
        for (truth, predicted) in pairs {
            confusion.0[truth][predicted] += 1;
        }
        confusion
    }

    /// A class that neither occurs nor is predicted has an F1 of 0.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let cells = &self.0;
        let total: u64 = cells.iter().flatten().sum();
        let correct: u64 = (0..CLASSES).map(|class| cells[class][class]).sum();
        let f1 = |class: usize| {
            let actual: u64 = cells[class].iter().sum();
            let predicted: u64 = cells.iter().map(|row| row[class]).sum();
            if actual + predicted == 0 { 0.0 } else { 2.0 * cells[class][class] as f64 / (actual + predicted) as f64 }
        };
        Figures {
            accuracy: correct as f64 / total.max(1) as f64,
            macro_f1: (0..CLASSES).map(f1).sum::<f64>() / CLASSES as f64,
        }
    }
}

/// Figures of several models on the same rows and their differences, with intervals from resampling
/// rows. A resampled row keeps the predictions of all models, so differences are paired.
#[derive(Debug)]
pub struct Bootstrapped {
    pub accuracy: Vec<Interval>,
    pub macro_f1: Vec<Interval>,
    /// Minus the accuracy of the model's reference.
    pub accuracy_gap: Vec<Interval>,
    /// Minus the macro-F1 of the model's reference.
    pub macro_f1_gap: Vec<Interval>,
}

/// Resamples rows. `predicted[m][row]` is the prediction of model `m`, and `reference[m]` is the model with
/// which it is compared.
#[must_use]
pub fn bootstrap(truth: &[usize], predicted: &[Vec<usize>], reference: &[usize], random: &mut Random) -> Bootstrapped {
    let models = predicted.len();
    let confusion = |rows: &dyn Fn(usize) -> usize| -> Vec<Figures> {
        let mut counts = vec![Confusion::default(); models];
        for draw in 0..truth.len() {
            let row = rows(draw);
            for (count, predicted) in counts.iter_mut().zip(predicted) {
                count.0[truth[row]][predicted[row]] += 1;
            }
        }
        counts.iter().map(Confusion::figures).collect()
    };
    let whole = confusion(&|draw| draw);
    let mut resampled = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let rows: Vec<_> = truth.iter().map(|_| random.below(truth.len() as u64) as usize).collect();
        resampled.push(confusion(&|draw| rows[draw]));
    }
    let interval = |figure: &dyn Fn(&[Figures], usize) -> f64| -> Vec<Interval> {
        let of = |model| {
            let mut values: Vec<_> = resampled.iter().map(|figures| figure(figures, model)).collect();
            values.sort_by(f64::total_cmp);
            let tail = RESAMPLES / 40;
            Interval { value: figure(&whole, model), low: values[tail], high: values[RESAMPLES - 1 - tail] }
        };
        (0..models).map(of).collect()
    };
    Bootstrapped {
        accuracy: interval(&|figures, model| figures[model].accuracy),
        macro_f1: interval(&|figures, model| figures[model].macro_f1),
        accuracy_gap: interval(&|figures, model| figures[model].accuracy - figures[reference[model]].accuracy),
        macro_f1_gap: interval(&|figures, model| figures[model].macro_f1 - figures[reference[model]].macro_f1),
    }
}

/// The mean with its interval by the normal approximation, which is accurate for thousands of rows.
pub(crate) fn mean(values: impl ExactSizeIterator<Item = f64> + Clone) -> Interval {
    let rows = values.len().max(2) as f64;
    let mean = values.clone().sum::<f64>() / rows;
    let spread = values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / (rows - 1.0);
    let reach = Z * libm::sqrt(spread / rows);
    Interval { value: mean, low: mean - reach, high: mean + reach }
}

/// The area under the ROC curve with the interval of Hanley and McNeil. Ties count half.
pub(crate) fn area_under_curve(predicted: &[f64], observed: &[bool]) -> Interval {
    let mut order: Vec<_> = (0..predicted.len()).collect();
    order.sort_by(|&a, &b| predicted[a].total_cmp(&predicted[b]));
    let (mut below, mut wins, mut index) = (0_usize, 0.0, 0);
    while index < order.len() {
        let tie = order[index..].iter().take_while(|&&row| predicted[row] == predicted[order[index]]).count();
        let yes = order[index..index + tie].iter().filter(|&&row| observed[row]).count();
        wins += yes as f64 * (below as f64 + (tie - yes) as f64 / 2.0);
        below += tie - yes;
        index += tie;
    }
    let yes = observed.iter().filter(|observed| **observed).count() as f64;
    let no = observed.len() as f64 - yes;
    let area = wins / (yes * no).max(1.0);
    let (one, two) = (area / (2.0 - area), 2.0 * area * area / (1.0 + area));
    let spread = area * (1.0 - area) + (yes - 1.0) * (one - area * area) + (no - 1.0) * (two - area * area);
    let reach = Z * libm::sqrt((spread / (yes * no).max(1.0)).max(0.0));
    Interval { value: area, low: area - reach, high: area + reach }
}

/// A share with Wilson's interval; zero if there are no rows.
#[must_use]
pub fn wilson(hits: usize, rows: usize) -> Interval {
    if rows == 0 {
        return Interval { value: 0.0, low: 0.0, high: 0.0 };
    }
    let (n, p) = (rows as f64, hits as f64 / rows as f64);
    let middle = p + Z * Z / (2.0 * n);
    let reach = Z * libm::sqrt(p * (1.0 - p) / n + Z * Z / (4.0 * n * n));
    let scale = 1.0 + Z * Z / n;
    Interval { value: p, low: ((middle - reach) / scale).max(0.0), high: ((middle + reach) / scale).min(1.0) }
}
