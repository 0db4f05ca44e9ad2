//! Scores from values.

use alloc::vec::Vec;

use caudal_model::curve::sigmoid;

use crate::bytes::{CONDITION_BYTES, FACT_BYTES, Model, POINT_BYTES, number};
use crate::flags::{HUNDREDTHS, REQUIRED, WIDE, ZERO_IS_MISSING};
use crate::{FACTS_MAX, LINEAR_INPUT_MAX, Precision};

/// The largest magnitude that counts as zero, LightGBM's `kZeroThreshold`.
const ZERO_MAX: f64 = 1e-35_f32 as f64;

/// The values of a request by fact, in the unit and precision of the model; NaN if missing.
pub(crate) type Inputs = [f64; FACTS_MAX];

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The predictor, its score, and the positions of the reasons, ascending.
    Scored { predictor: f64, score: f64, reasons: Vec<u16> },
    /// A required fact is missing; the position of that reason.
    Abstained(u16),
}

/// A split: its threshold, its fact and the direction of a missing value, and the number of splits on its left.
pub(crate) type Split = (f64, u8, usize);

impl Model<'_> {
    /// Scores one request: its values in the order of the facts.
    #[must_use]
    pub fn assess(&self, values: &[Option<f64>]) -> Outcome {
        if self.requires_facts() {
            let mut facts = self.facts.chunks_exact(FACT_BYTES).zip(values.iter().chain(core::iter::repeat(&None)));
            if facts.any(|(fact, value)| fact[0] & REQUIRED != 0 && value.is_none_or(f64::is_nan)) {
                return Outcome::Abstained(self.reasons.len().saturating_sub(1) as u16);
            }
        }
        let mut inputs = self.inputs_of(values);
        let reasons = self.reasons_of(&inputs);
        self.round(&mut inputs);
        let predictor = self.predictor(&inputs);
        Outcome::Scored { predictor, score: self.score(predictor), reasons }
    }

    /// Values in the model's units.
    pub(crate) fn inputs_of(&self, values: &[Option<f64>]) -> Inputs {
        let mut inputs = [f64::NAN; FACTS_MAX];
        for ((input, value), fact) in inputs.iter_mut().zip(values).zip(self.facts.chunks_exact(FACT_BYTES)) {
            let value = value.unwrap_or(f64::NAN);
            *input = if fact[0] & HUNDREDTHS == 0 { value } else { value / 100.0 };
        }
        inputs
    }

    /// Rounds inputs to what the trees were trained on.
    pub(crate) fn round(&self, inputs: &mut Inputs) {
        for (input, fact) in inputs.iter_mut().zip(self.facts.chunks_exact(FACT_BYTES)) {
            let is_missing = fact[0] & ZERO_IS_MISSING != 0 && (-ZERO_MAX..=ZERO_MAX).contains(input);
            *input = if is_missing { f64::NAN } else { self.inputs().round(*input) };
        }
    }

    /// Conditions are sorted by reason.
    fn reasons_of(&self, inputs: &Inputs) -> Vec<u16> {
        let mut reasons = Vec::with_capacity(self.reasons.len());
        for condition in self.conditions.chunks_exact(CONDITION_BYTES) {
            let reason = u16::from(condition[0]);
            let input = inputs[usize::from(condition[1]) % FACTS_MAX];
            let bound = number::<8>(&condition[3..], 0).map_or(f64::NAN, f64::from_le_bytes);
            let holds = if condition[2] == 1 { input >= bound } else { input <= bound };
            if holds && reasons.last() != Some(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    pub(crate) fn predictor(&self, inputs: &Inputs) -> f64 {
        let mut sum = self.base;
        for (at, input) in inputs.iter().enumerate().take(self.linear.len() / 8) {
            sum = self.sum().round(sum + self.linear_term(at, *input));
        }
        sum = self.add_trees(inputs, sum);
        self.sum().round(sum / self.divisor)
    }

    pub(crate) fn linear_term(&self, at: usize, input: f64) -> f64 {
        let coefficient = number::<8>(self.linear, at).map_or(0.0, f64::from_le_bytes);
        // A missing value contributes nothing.
        let input = if input.is_nan() { 0.0 } else { input.clamp(-LINEAR_INPUT_MAX, LINEAR_INPUT_MAX) };
        self.sum().round(coefficient * input)
    }

    /// Adds the leaf of each tree, in the order of the trees, as the training library does.
    fn add_trees(&self, inputs: &Inputs, mut sum: f64) -> f64 {
        let bytes = self.split_bytes();
        let (mut first_split, mut first_leaf) = (0, 0);
        for size in self.sizes.as_chunks().0 {
            let size = usize::from(u16::from_le_bytes(*size));
            let (mut at, mut leaf, mut rest) = (first_split, first_leaf, size);
            while rest > 0 {
                let Some((threshold, fact, left)) = self.split(at) else { break };
                let goes_right = usize::from(!goes_left(inputs[usize::from(fact & 0x7f)], threshold, fact));
                // Without a branch, which a processor would mispredict half of the time.
                let skipped = left & goes_right.wrapping_neg();
                at = at.wrapping_add(bytes * (1 + skipped));
                leaf += skipped + goes_right;
                rest = if goes_right == 1 { rest.wrapping_sub(left + 1) } else { left };
            }
            // The sum of two `f32` in `f64`, rounded, is their sum in `f32`.
            sum = self.sum().round(sum + self.value(leaf));
            first_split += size * bytes;
            first_leaf += size + 1;
        }
        sum
    }

    /// The split at an offset. With counts of one byte, the byte after it is read and ignored.
    #[inline(always)]
    pub(crate) fn split(&self, at: usize) -> Option<Split> {
        let (threshold, rest) = match self.inputs() {
            Precision::F32 => {
                let (threshold, rest) = self.splits.get(at..)?.split_first_chunk()?;
                (f32::from_le_bytes(*threshold).into(), rest)
            }
            Precision::F64 => {
                let (threshold, rest) = self.splits.get(at..)?.split_first_chunk()?;
                (f64::from_le_bytes(*threshold), rest)
            }
        };
        let [fact, low, high] = *rest.first_chunk()?;
        let high = if self.flags & WIDE == 0 { 0 } else { high };
        Some((threshold, fact, usize::from(u16::from_le_bytes([low, high]))))
    }

    /// Nondecreasing in the predictor, to the last bit.
    fn score(&self, predictor: f64) -> f64 {
        if self.points.is_empty() {
            return if self.is_identity() { predictor.clamp(0.0, 1.0) } else { sigmoid(predictor) };
        }
        let point = |bytes: &[u8]| [0, 1].map(|at| number::<8>(bytes, at).map_or(0.0, f64::from_le_bytes));
        let mut points = self.points.chunks_exact(POINT_BYTES).map(point);
        let [mut x0, mut y0] = points.next().unwrap_or_default();
        for [x1, y1] in points {
            if predictor < x1 {
                // Each step preserves order, and the last keeps rounding below the next point.
                let part = (predictor - x0) / (x1 - x0) * (y1 - y0) + y0;
                return if predictor <= x0 {
                    y0
                } else if part < y1 {
                    part
                } else {
                    y1
                };
            }
            [x0, y0] = [x1, y1];
        }
        y0
    }
}

/// A missing value, NaN, goes where bit 7 of `fact` says.
pub(crate) fn goes_left(input: f64, threshold: f64, fact: u8) -> bool {
    (input <= threshold) | (input.is_nan() & (fact & 0x80 != 0))
}
