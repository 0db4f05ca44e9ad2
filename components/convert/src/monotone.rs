//! Whether a score moves with each fact as the catalogue says.
//!
//! Floating-point addition, division by a positive number and both links preserve order, so a sum rises with a fact if each
//! of its terms does. Each tree is checked exactly, with all values of the other facts, missing or not.

use caudal_ensemble::{Ensemble, Node, Precision};

use crate::Direction;
use crate::error::{Error, Result};

/// Maximum number of pairs of nodes that are compared: a few seconds. Trees trained with constraints need hardly any.
const PAIRS_MAX: u64 = 200_000_000;
/// How far a tree may move in the wrong direction. LightGBM's leaves differ in the last digit where they should be equal; a
/// thousand such trees stay below what the host's gate takes for a fall.
const ROUNDING: f64 = 1.0 / (1_u64 << 40) as f64;
const ADVICE: &str = "train with monotone constraints: monotone_constraints in XGBoost and LightGBM, monotonic_cst in \
     scikit-learn; in Python, caudal_models.monotone_constraints(columns) gives them";

/// The values of a fact that reach a node: above `low` up to `high`, and perhaps a missing one.
#[derive(Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
    missing: bool,
}

/// Facts are finite; as `f32`, the largest are not.
const fn all(inputs: Precision) -> Range {
    let high = if let Precision::F32 = inputs { f64::INFINITY } else { f64::MAX };
    Range { low: f64::NEG_INFINITY, high, missing: true }
}

/// A comparison of smaller with larger values of a fact.
struct Check<'a> {
    ensemble: &'a Ensemble,
    at: usize,
    tree: &'a [Node],
    /// For each node, the first one after the part below it, and the smallest and the largest leaf in that part.
    parts: Vec<(usize, f64, f64)>,
    fact: usize,
    rises: bool,
    /// By fact. For the one that is checked, those of the smaller values; `larger` has the others.
    ranges: Vec<Range>,
    larger: Range,
    pairs: u64,
}

pub(crate) fn check(ensemble: &Ensemble, directions: &[Direction]) -> Result<()> {
    let mut pairs = 0;
    for (fact, direction) in directions.iter().enumerate().filter(|(_, direction)| **direction != Direction::Free) {
        let (rises, name) = (*direction == Direction::Rises, &ensemble.facts[fact].name);
        if let Some(coefficient) = ensemble.linear.get(fact)
            && (if rises { *coefficient < 0.0 } else { *coefficient > 0.0 })
        {
            let may = if rises { "rise" } else { "fall" };
            let problem =
                format!("the coefficient of {name} is {coefficient}, and the score may only {may} with that fact");
            return Err(Error::model(format!("coefficient {fact}"), problem));
        }
        if ensemble.facts[fact].zero_is_missing {
            let problem =
                format!("zero counts as missing in {name}, so order means nothing; train without zero_as_missing");
            return Err(Error::model("", problem));
        }
        for (at, tree) in ensemble.trees.iter().enumerate() {
            let larger = all(ensemble.inputs);
            let ranges = vec![larger; ensemble.facts.len()];
            let parts = parts(tree);
            let mut check = Check { ensemble, at, tree, parts, fact, rises, ranges, larger, pairs };
            check.visit(0)?;
            pairs = check.pairs;
        }
    }
    Ok(())
}

fn parts(tree: &[Node]) -> Vec<(usize, f64, f64)> {
    let mut parts = vec![(0, 0.0, 0.0); tree.len()];
    for (at, node) in tree.iter().enumerate().rev() {
        parts[at] = match node {
            Node::Leaf { value, .. } => (at + 1, *value, *value),
            Node::Split { .. } => {
                let (middle, low, high) = parts[at + 1];
                let (end, other_low, other_high) = parts[middle];
                (end, low.min(other_low), high.max(other_high))
            }
        };
    }
    parts
}

impl Check<'_> {
    /// Visits the splits on the fact: those are where smaller and larger values part.
    fn visit(&mut self, node: usize) -> Result<()> {
        let Node::Split { fact, threshold, .. } = self.tree[node] else { return Ok(()) };
        let (left, right) = (node + 1, self.parts[node + 1].0);
        if usize::from(fact) == self.fact {
            let (before, larger) = (self.ranges[self.fact], self.larger);
            self.ranges[self.fact].high = before.high.min(threshold);
            self.larger = Range { low: before.low.max(threshold), ..before };
            self.compare(left, right)?;
            (self.ranges[self.fact], self.larger) = (before, larger);
        }
        self.sides(node, false, Self::visit)
    }

    /// Goes on with both sides of a split that some value reaches.
    fn sides(&mut self, node: usize, larger: bool, go: impl Fn(&mut Self, usize) -> Result<()>) -> Result<()> {
        let Node::Split { fact, threshold, missing_left } = self.tree[node] else { return Ok(()) };
        let is_checked = usize::from(fact) == self.fact;
        for (is_left, side) in [(true, node + 1), (false, self.parts[node + 1].0)] {
            let range = if is_checked && larger { &mut self.larger } else { &mut self.ranges[usize::from(fact)] };
            let before = *range;
            if is_left {
                range.high = before.high.min(threshold);
            } else {
                range.low = before.low.max(threshold);
            }
            range.missing &= is_left == missing_left;
            if range.low < range.high || (range.missing && !is_checked) {
                go(self, side)?;
            }
            *(if is_checked && larger { &mut self.larger } else { &mut self.ranges[usize::from(fact)] }) = before;
        }
        Ok(())
    }

    /// Compares the leaves below two nodes that smaller and larger values reach with the same other facts.
    fn compare(&mut self, small: usize, large: usize) -> Result<()> {
        let ((_, small_min, small_max), (_, large_min, large_max)) = (self.parts[small], self.parts[large]);
        let is_reached = self.ranges[self.fact].is_reached() && self.larger.is_reached();
        let most_wrong = if self.rises { small_max - large_min } else { large_max - small_min };
        if !is_reached || most_wrong <= ROUNDING {
            return Ok(());
        }
        self.pairs += 1;
        if self.pairs > PAIRS_MAX {
            return Err(Error::model("", format!("the trees are too large to check that they are monotone; {ADVICE}")));
        }
        match (&self.tree[small], &self.tree[large]) {
            (Node::Split { .. }, _) => self.sides(small, false, |check, side| check.compare(side, large)),
            (_, Node::Split { .. }) => self.sides(large, true, |check, side| check.compare(small, side)),
            (Node::Leaf { .. }, Node::Leaf { .. }) => Err(self.violation(small_min, large_min)),
        }
    }

    /// Shows two requests that differ in the fact alone.
    fn violation(&self, small: f64, large: f64) -> Error {
        let name = |fact: usize| &self.ensemble.facts[fact].name;
        let fact = name(self.fact);
        let others = self.ranges.iter().enumerate().filter(|(at, range)| *at != self.fact && !range.is_all());
        let others: Vec<_> = others.map(|(at, range)| format!("{} = {}", name(at), self.pick(*range))).collect();
        let others = if others.is_empty() { String::new() } else { format!(", with {}", others.join(", ")) };
        let (less, more) = (self.pick(self.ranges[self.fact]), self.pick(self.larger));
        let may = if self.rises { "rise" } else { "fall" };
        Error::model(
            format!("tree {}", self.at),
            format!(
                "the score may only {may} with {fact}, but the leaf of this tree is {small} where {fact} = {less} and {large} where \
                 {fact} = {more}{others}; {ADVICE}"
            ),
        )
    }

    /// A value in a range, a whole number if there is one.
    fn pick(&self, range: Range) -> String {
        let Range { low, high, .. } = range;
        let next = low.floor() + 1.0;
        let value = if low >= high {
            return "missing".to_owned();
        } else if low == f64::NEG_INFINITY {
            if high >= f64::MAX { 0.0 } else { high.floor() }
        } else if next <= high && self.ensemble.inputs.round(next) > low {
            next
        } else if high < f64::MAX {
            high
        } else {
            2.0 * low
        };
        value.to_string()
    }
}

impl Range {
    fn is_reached(self) -> bool {
        self.low < self.high
    }

    fn is_all(self) -> bool {
        self.low == f64::NEG_INFINITY && self.high >= f64::MAX && self.missing
    }
}
