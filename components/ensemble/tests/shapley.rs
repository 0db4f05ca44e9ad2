//! Explanations are the Shapley values, computed here from all coalitions, and predictions the sums of the leaves.

use caudal_ensemble::{Ensemble, Fact, Kind, Link, Model, Node, Outcome, Precision, Tree};
use proptest::prelude::*;

const FACTS: usize = 5;

fn ensemble(trees: Vec<Tree>, precision: Precision) -> Ensemble {
    let fact = |at| Fact {
        name: format!("fact-{at}"),
        kind: Kind::Number,
        unit: String::new(),
        required: false,
        hundredths: false,
        zero_is_missing: false,
    };
    Ensemble {
        version: "1.0.0".into(),
        summary: "Random".into(),
        facts: (0..FACTS).map(fact).collect(),
        reasons: Vec::new(),
        conditions: Vec::new(),
        inputs: precision,
        sum: precision,
        base: 0.25,
        divisor: trees.len() as f64,
        link: Link::Logistic,
        linear: Vec::new(),
        trees,
    }
}

/// A tree in preorder, at most six splits deep.
fn tree() -> impl Strategy<Value = Tree> {
    let leaf = (-8..8_i8, 0..5_u8)
        .prop_map(|(value, cover)| vec![Node::Leaf { value: f64::from(value) / 8.0, cover: cover.into() }]);
    leaf.prop_recursive(6, 64, 2, |side| {
        (0..FACTS as u8, -3..3_i8, any::<bool>(), side.clone(), side).prop_map(
            |(fact, threshold, missing_left, left, right)| {
                let split = Node::Split { fact, threshold: threshold.into(), missing_left };
                [vec![split], left, right].concat()
            },
        )
    })
}

/// Cover of the part of a tree at a node, the number of its nodes, and its expected value if only the facts in
/// `coalition` are known.
fn expected(tree: &[Node], values: &[Option<f64>], coalition: usize) -> (f64, usize, f64) {
    match tree[0] {
        Node::Leaf { value, cover } => (cover, 1, value),
        Node::Split { fact, threshold, missing_left } => {
            let (left_cover, left_nodes, left) = expected(&tree[1..], values, coalition);
            let (right_cover, right_nodes, right) = expected(&tree[1 + left_nodes..], values, coalition);
            let cover = left_cover + right_cover;
            let left_part = if coalition >> fact & 1 == 1 {
                f64::from(values[usize::from(fact)].map_or(missing_left, |value| value <= threshold))
            } else if cover > 0.0 {
                left_cover / cover
            } else {
                0.5
            };
            (cover, 1 + left_nodes + right_nodes, left_part * left + (1.0 - left_part) * right)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn explanations_are_shapley_values(
        trees in prop::collection::vec(tree(), 1..4),
        values in prop::collection::vec(prop::option::of((-4..4_i8).prop_map(f64::from)), FACTS),
        is_f32 in any::<bool>(),
    ) {
        let ensemble = ensemble(trees, if is_f32 { Precision::F32 } else { Precision::F64 });
        let bytes = ensemble.write().expect("the model is within all limits");
        let model = Model::read(&bytes).expect("what is written can be read");
        let wins = |coalition| {
            let sum = ensemble.trees.iter().map(|tree| expected(tree, &values, coalition).2).sum::<f64>();
            (ensemble.base + sum) / ensemble.divisor
        };
        let Outcome::Scored { predictor, .. } = model.assess(&values) else { panic!("no fact is required") };
        prop_assert!((predictor - wins((1 << FACTS) - 1)).abs() < 1e-6);

        let explanation = model.explain(&values);
        prop_assert!((explanation.base - wins(0)).abs() < 1e-12);
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        for (fact, contribution) in explanation.contributions.iter().enumerate() {
            let mut expected = 0.0;
            for coalition in (0..1 << FACTS).filter(|coalition| coalition >> fact & 1 == 0) {
                let size = usize::count_ones(coalition);
                let weight = factorial(size) * factorial(FACTS as u32 - 1 - size) / factorial(FACTS as u32);
                expected += weight * (wins(coalition | 1 << fact) - wins(coalition));
            }
            let rounding = if is_f32 { 1e-6 } else { 1e-12 };
            prop_assert!((contribution - expected).abs() < rounding, "{contribution} instead of {expected}");
        }
        let sum = explanation.contributions.iter().fold(explanation.base, |sum, part| sum + part);
        prop_assert!((sum - predictor).abs() < 1e-15);
    }
}
