//! Trees are refused exactly if some pair of requests shows that they are not monotone.

use std::fmt::Write;

use crate::common::{MAP, built};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const TREES: u64 = 3_000;
/// What a fact can be; thresholds are among these numbers.
const VALUES: [Option<f64>; 5] = [Some(0.0), Some(1.0), Some(2.0), Some(3.0), None];

#[derive(Default)]
struct Tree {
    feature: Vec<i64>,
    threshold: Vec<f64>,
    left: Vec<i64>,
    right: Vec<i64>,
    missing_left: Vec<bool>,
    value: Vec<f64>,
}

impl Tree {
    /// Adds a random part, and returns the position of its root.
    fn grow(&mut self, random: &mut ChaCha8Rng, depth: u32) -> i64 {
        let at = self.feature.len();
        let is_leaf = depth == 0 || random.next_u32().is_multiple_of(5);
        self.feature.push(if is_leaf { -1 } else { i64::from(random.next_u32() % 2) });
        self.threshold.push(f64::from(random.next_u32() % 3));
        self.missing_left.push(random.next_u32().is_multiple_of(2));
        // Few values, rising, so that about half of the trees are monotone.
        self.value.push(at as f64 + f64::from(random.next_u32() % 8));
        self.left.push(-1);
        self.right.push(-1);
        if !is_leaf {
            self.left[at] = self.grow(random, depth - 1);
            self.right[at] = self.grow(random, depth - 1);
        }
        at as i64
    }

    fn predict(&self, values: [Option<f64>; 2]) -> f64 {
        let mut at = 0;
        while self.feature[at] >= 0 {
            let value = values[self.feature[at] as usize];
            let is_left = value.map_or(self.missing_left[at], |value| value <= self.threshold[at]);
            at = if is_left { self.left[at] } else { self.right[at] } as usize;
        }
        self.value[at]
    }

    /// Whether it rises with the first fact, whatever the second is.
    fn rises(&self) -> bool {
        VALUES.iter().all(|other| {
            let predictions: Vec<_> = VALUES[..4].iter().map(|value| self.predict([*value, *other])).collect();
            predictions.is_sorted()
        })
    }
}

#[test]
fn a_tree_is_refused_exactly_if_it_is_not_monotone() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut monotone = 0;
    for _ in 0..TREES {
        let mut tree = Tree::default();
        tree.grow(&mut random, 4);
        let mut json = String::from(
            r#"{"format": "caudal-model-1", "features": ["importe", "hora", "nuevo", "minutos"], "inputs": "f64",
            "sum": "f64", "base": 0, "link": "logistic", "trees": [{"#,
        );
        let Tree { feature, threshold, left, right, missing_left, value } = &tree;
        write!(json, r#""feature": {feature:?}, "threshold": {threshold:?}, "left": {left:?}, "right": {right:?}, "#)
            .and_then(|()| {
                write!(json, r#""missing_left": {missing_left:?}, "value": {value:?}, "cover": {value:?}}}]}}"#)
            })
            .expect("a string takes everything");
        let result = built(json.as_bytes(), MAP);
        assert_eq!(result.is_ok(), tree.rises(), "{json}: {result:?}");
        monotone += u64::from(tree.rises());
        let Err(error) = result else { continue };
        // The message shows the violation.
        let number = |name: &str| {
            let numbers = error.problem.split(name).skip(1);
            numbers
                .map(|rest| rest.split([' ', ',', ';']).next().and_then(|word| word.parse::<f64>().ok()))
                .collect::<Vec<_>>()
        };
        let hour = number("hour_of_day = ").first().copied().unwrap_or(Some(0.0));
        let (amounts, leaves) = (number(" amount = "), [number("tree is ")[0], number(" and ")[0]]);
        assert!(amounts[0] < amounts[1] && leaves[0] > leaves[1], "{error}");
        assert_eq!([0, 1].map(|at| Some(tree.predict([amounts[at], hour]))), leaves, "{json}: {error}");
    }
    assert!((TREES / 10..TREES * 9 / 10).contains(&monotone), "{monotone} of {TREES} are monotone");
}
