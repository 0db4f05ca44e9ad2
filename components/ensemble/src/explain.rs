//! Exact contributions to a predictor.

use alloc::vec::Vec;

use crate::bytes::{FACT_BYTES, Model, number};
use crate::predict::{Inputs, goes_left};
use crate::{FACTS_MAX, PATH_FACTS_MAX};

/// Nodes and weights of Gauss and Legendre's quadrature on 0..1, the half below 1/2; the other half mirrors it.
/// 4 points integrate a polynomial up to degree 7 exactly, 16 up to degree 31.
const POINTS_4: [(f64, f64); 2] =
    [(0.069_431_844_202_973_71, 0.173_927_422_568_726_92), (0.330_009_478_207_571_87, 0.326_072_577_431_273_05)];
const POINTS_16: [(f64, f64); 8] = [
    (0.005_299_532_504_175_033, 0.013_576_229_705_877_048),
    (0.027_712_488_463_383_71, 0.031_126_761_969_323_947),
    (0.067_184_398_806_084_12, 0.047_579_255_841_246_39),
    (0.122_297_795_822_498_49, 0.062_314_485_627_766_94),
    (0.191_061_877_798_678_11, 0.074_797_994_408_288_37),
    (0.270_991_611_171_386_3, 0.084_578_259_697_501_27),
    (0.359_198_224_610_370_54, 0.091_301_707_522_461_79),
    (0.452_493_745_081_181_3, 0.094_725_305_227_534_25),
];
/// The most facts on a path for which 4 points are exact.
const FEW: usize = 8;

/// `base` and the contributions add up to the predictor, up to the rounding of that sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The predictor before any fact.
    pub base: f64,
    /// One for each fact.
    pub contributions: Vec<f64>,
}

/// A fact on the path to a leaf.
#[derive(Clone, Copy, Default)]
struct Step {
    fact: u8,
    /// Which part of the training data goes the way of this path at the splits on the fact.
    part: f64,
    /// 1 if the request's value goes that way as well, or 0.
    follows: f64,
}

/// The parts of an explanation without the divisor.
struct Sums {
    base: f64,
    contributions: [f64; FACTS_MAX],
    path: [Step; PATH_FACTS_MAX],
    /// Cover of the leaves before each leaf of a tree.
    covers: Vec<f64>,
}

impl Model<'_> {
    /// Shapley values of the trees, where facts outside a coalition go both ways, each with the part of the training data
    /// that did ("path-dependent TreeSHAP"); of a linear term, the term.
    #[must_use]
    pub fn explain(&self, values: &[Option<f64>]) -> Explanation {
        let mut inputs = self.inputs_of(values);
        self.round(&mut inputs);
        let mut sums =
            Sums { base: self.base, contributions: [0.0; FACTS_MAX], path: Default::default(), covers: Vec::new() };
        for (at, input) in inputs.iter().enumerate().take(self.linear.len() / 8) {
            sums.contributions[at] += self.linear_term(at, *input);
        }
        self.explain_trees(&inputs, &mut sums);
        let facts = self.facts.len() / FACT_BYTES;
        let base = sums.base / self.divisor;
        let mut contributions: Vec<_> = sums.contributions.iter().take(facts).map(|sum| sum / self.divisor).collect();
        // A model that sums in f32 rounds more than is allowed here. The largest contribution takes the difference, the
        // least in proportion.
        let rounding = self.predictor(&inputs) - contributions.iter().fold(base, |sum, part| sum + part);
        if let Some(largest) = contributions.iter_mut().max_by(|a, b| a.abs().total_cmp(&b.abs())) {
            *largest += rounding;
        }
        Explanation { base, contributions }
    }

    fn explain_trees(&self, inputs: &Inputs, sums: &mut Sums) {
        let (mut first_split, mut first_leaf) = (0, 0);
        for size in self.sizes.as_chunks().0 {
            let size = usize::from(u16::from_le_bytes(*size));
            sums.covers.clear();
            sums.covers.push(0.0);
            let mut before = 0.0;
            for leaf in first_leaf..=first_leaf + size {
                before += number::<4>(self.covers, leaf).map_or(0.0, |cover| f64::from(f32::from_le_bytes(cover)));
                sums.covers.push(before);
            }
            for leaf in 0..=size {
                let steps = self.path(inputs, sums, (first_split, size, leaf));
                sums.add_leaf(steps, self.value(first_leaf + leaf));
            }
            first_split += size * self.split_bytes();
            first_leaf += size + 1;
        }
    }

    /// Follows the path to a leaf of the tree at a place; returns the number of facts on it.
    fn path(&self, inputs: &Inputs, sums: &mut Sums, (mut at, mut rest, leaf): (usize, usize, usize)) -> usize {
        let (mut steps, mut first) = (0, 0);
        while rest > 0 {
            let Some((threshold, fact, left)) = self.split(at) else { break };
            let left = left.min(rest - 1);
            let cover = |from: usize, splits: usize| match (sums.covers.get(from), sums.covers.get(from + splits + 1)) {
                (Some(before), Some(after)) => after - before,
                _ => 0.0,
            };
            let (all, on_left) = (cover(first, rest), cover(first, left));
            let left_part = if all > 0.0 { on_left / all } else { 0.5 };
            let follows_left = goes_left(inputs[usize::from(fact & 0x7f)], threshold, fact);
            let is_left = leaf <= first + left;
            let (part, skipped) = if is_left { (left_part, 0) } else { (1.0 - left_part, left) };
            at += self.split_bytes() * (1 + skipped);
            if is_left {
                rest = left;
            } else {
                first += left + 1;
                rest -= left + 1;
            }
            let fact = fact & 0x7f;
            let known = sums.path[..steps].iter().position(|step| step.fact == fact);
            let Some(step) = sums.path.get_mut(known.unwrap_or(steps)) else { break };
            if known.is_none() {
                *step = Step { fact, part: 1.0, follows: 1.0 };
                steps += 1;
            }
            step.part *= part;
            step.follows *= f64::from(u8::from(follows_left == is_left));
        }
        steps
    }
}

impl Sums {
    /// Adds the Shapley values of the game in which a coalition wins `value` times the product, over the facts on the path,
    /// of `follows` for its members and `part` for the others. The weighted mean over all coalitions without a fact is the
    /// integral, over 0..1, of the product of `part + (follows - part) * t` over the other facts: a polynomial.
    fn add_leaf(&mut self, steps: usize, value: f64) {
        let path = &self.path[..steps];
        self.base += path.iter().fold(value, |product, step| product * step.part);
        let points: &[_] = if steps <= FEW { &POINTS_4 } else { &POINTS_16 };
        for (t, weight) in points.iter().flat_map(|(t, weight)| [(*t, *weight), (1.0 - t, *weight)]) {
            let factor = |step: &Step| step.part + (step.follows - step.part) * t;
            // Products of the factors after each step.
            let mut after = [1.0; PATH_FACTS_MAX];
            for at in (1..steps).rev() {
                after[at - 1] = after[at] * factor(&path[at]);
            }
            let mut before = value * weight;
            for (step, after) in path.iter().zip(after) {
                self.contributions[usize::from(step.fact)] += before * after * (step.follows - step.part);
                before *= factor(step);
            }
        }
    }
}
