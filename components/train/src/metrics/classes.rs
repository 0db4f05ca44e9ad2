//! Accuracy and macro-averaged F1 over ordered classes, with 95 % intervals.

use serde::Serialize;

use crate::random::Random;

/// Low, medium, high.
const CLASSES: usize = 3;
/// Resamples behind an interval; its ends move by about a tenth of its width between seeds.
const RESAMPLES: usize = 400;
/// Standard deviations around the mean that hold 95 %.
const Z: f64 = 1.959_964;

/// A figure with the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The figure itself.
    pub value: f64,
    /// 2.5 % of resamples, or of chance, lie below.
    pub low: f64,
    /// 97.5 % lie below.
    pub high: f64,
}

/// Counts of rows by their true class and the class that was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion(pub [[u64; CLASSES]; CLASSES]);

/// What a confusion comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Share of rows whose class was said.
    pub accuracy: f64,
    /// Mean over classes of the harmonic mean of precision and recall.
    pub macro_f1: f64,
}

impl Confusion {
    /// Counts rows.
    pub fn of(pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut confusion = Self::default();
        for (truth, said) in pairs {
            confusion.0[truth][said] += 1;
        }
        confusion
    }

    /// Accuracy and macro-F1; 0 for a class that is neither there nor said.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let cells = &self.0;
        let total: u64 = cells.iter().flatten().sum();
        let right: u64 = (0..CLASSES).map(|class| cells[class][class]).sum();
        let f1 = |class: usize| {
            let there: u64 = cells[class].iter().sum();
            let said: u64 = cells.iter().map(|row| row[class]).sum();
            if there + said == 0 { 0.0 } else { 2.0 * cells[class][class] as f64 / (there + said) as f64 }
        };
        Figures {
            accuracy: right as f64 / total.max(1) as f64,
            macro_f1: (0..CLASSES).map(f1).sum::<f64>() / CLASSES as f64,
        }
    }
}

/// Figures of several models on the same rows, and how far each lies from the first, with intervals
/// from resampling rows: a row keeps what every model said of it, so that differences are paired.
#[derive(Debug)]
pub struct Bootstrapped {
    /// Accuracy of each model.
    pub accuracy: Vec<Interval>,
    /// Macro-F1 of each.
    pub macro_f1: Vec<Interval>,
    /// Accuracy less that of the model's reference.
    pub accuracy_gap: Vec<Interval>,
    /// Macro-F1 less that of its reference.
    pub macro_f1_gap: Vec<Interval>,
}

/// Resamples rows. `said[m][row]` is what model `m` said; `reference[m]` is the model that its gap
/// is measured from.
#[must_use]
pub fn bootstrap(truth: &[usize], said: &[Vec<usize>], reference: &[usize], random: &mut Random) -> Bootstrapped {
    let models = said.len();
    let confusion = |rows: &dyn Fn(usize) -> usize| -> Vec<Figures> {
        let mut counts = vec![Confusion::default(); models];
        for draw in 0..truth.len() {
            let row = rows(draw);
            for (count, said) in counts.iter_mut().zip(said) {
                count.0[truth[row]][said[row]] += 1;
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

/// The mean of values with its interval, by the normal approximation: fine for thousands of rows.
#[must_use]
pub fn mean(values: impl ExactSizeIterator<Item = f64> + Clone) -> Interval {
    let rows = values.len().max(2) as f64;
    let mean = values.clone().sum::<f64>() / rows;
    let spread = values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / (rows - 1.0);
    let reach = Z * libm::sqrt(spread / rows);
    Interval { value: mean, low: mean - reach, high: mean + reach }
}

/// The chance that a row where it happened was given a higher score than one where it did not, with
/// the interval of Hanley and McNeil. Ties count half.
#[must_use]
pub fn area_under_curve(said: &[f64], happened: &[bool]) -> Interval {
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
    let yes = happened.iter().filter(|happened| **happened).count() as f64;
    let no = happened.len() as f64 - yes;
    let area = wins / (yes * no).max(1.0);
    let (one, two) = (area / (2.0 - area), 2.0 * area * area / (1.0 + area));
    let spread = area * (1.0 - area) + (yes - 1.0) * (one - area * area) + (no - 1.0) * (two - area * area);
    let reach = Z * libm::sqrt((spread / (yes * no).max(1.0)).max(0.0));
    Interval { value: area, low: area - reach, high: area + reach }
}

/// A share with Wilson's interval; all zero without rows.
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
