//! The text and tables of a risk model's card.

use caudal_model::risk::Weights;
use caudal_model::risk::features::{FEATURES, Feature};

use super::fit::Specification;
use super::monotone::{Direction, Order, check};
use crate::card::{Cell, Table, Text};
use crate::random::Random;

pub(crate) fn text(model: &Specification) -> Text {
    Text { purpose: PURPOSE.into(), notes: NOTES.into(), limits: limits(model), misuse: MISUSE.into() }
}

const PURPOSE: [&str; 3] = [
    "Advises, before a transfer is sent, whether to proceed (low), to explain and ask for confirmation (medium) or to \
     ask for an explicit acknowledgment (high).",
    "The base and one contribution for each feature add up to a linear predictor. Severity is determined by where the \
     predictor plus logistic noise falls relative to two cutpoints. The score is the expected severity, \
     (P(medium) + 2 P(high)) / 2, with one exception.",
    "The exception: a verdict of medium or high always names a factor of the specification, so scores of transfers \
     without any factor are compressed to below 0.25, in the same order. These scores are below the expected severity: \
     see the slice `no factor`.",
];

const NOTES: [&str; 4] = [
    "Severities are drawn from an ordered logit with known parameters, so the best result that any model can achieve is \
     known; it is called the ceiling. On a sample, a model may be slightly above it.",
    "The model has the same form as the process. That it comes close to the ceiling shows that it was fitted and is \
     computed correctly, not that real transfers have this form. The stress table shows what happens if they do not.",
    "Of 100 transfers 34 are low, 40 medium and 26 high. These are tiers of a synthetic scale: not fraud, and not the \
     shares of any bank.",
    "The generator leaves the age of a saved beneficiary unknown.",
];

fn limits(model: &Specification) -> Vec<&'static str> {
    let mut limits = vec![
        "These figures say nothing about real transfers. Before the model decides anything, evaluate it on a bank's own \
         labelled history, split by time. `caudal models evaluate` measures it, and says what the cut-offs mean; \
         `caudal models cut-offs` sets others.",
        "It trusts its caller: the hour, device and location that a client sends are only as reliable as the client. The \
         ledger's risk context computes the history from its own books.",
        "In a scam, the victim is talked into paying, from the usual device and in daylight. Such transfers look usual.",
        "A transfer without a factor is always low, whatever the probabilities: a warning without a reason is worse than \
         none. The slice `no factor` counts the high ones among them.",
        "Almost everyone with fewer than three past transfers gets a warning: LOW_HISTORY is a factor, and in the data so \
         short a history is seldom low. The slices show how many of these warnings are false alarms.",
    ];
    if model.features.contains(&"amount_over_average") {
        limits.push("Amounts are capped at twelve times the usual one: larger ones score the same.");
        limits.push(
            "For senders without a history of amounts, the amount contributes nothing. After the first transfer it does, \
             which may raise the score of the same amount.",
        );
    } else {
        limits.push(
            "It uses six conditions and no amounts: a transfer of a hundred times the average scores the same as one of 2.1 \
             times.",
        );
    }
    if !model.policy.is_empty() {
        limits.push(
            "A scam victim saves the beneficiary too, so having saved one early takes off at most a third of what a new \
             beneficiary adds. Weights that take off more are rejected.",
        );
    }
    limits
}

const MISUSE: [&str; 3] = [
    "Rejecting a transfer or closing an account automatically: it advises a person.",
    "Claiming a fraud detection rate, or comparing these figures with those of models on real data.",
    "Credit, employment, insurance, or any other decision about a person rather than one transfer.",
];

/// The coefficients, so that a reader can compute a score by hand.
pub(crate) fn coefficients(model: &Specification, weights: &Weights<'_>) -> Table {
    let row = |(feature, coefficient): (&Feature, Option<f64>)| {
        let policy = model.policy.iter().any(|(name, _)| *name == feature.name);
        Some(vec![
            Cell::text(feature.name),
            Cell::Exact(coefficient?),
            Cell::text(if feature.raises { "never negative" } else { "never positive" }),
            Cell::text(if policy { "set by policy: not in the data" } else { "fitted" }),
        ])
    };
    let [low_ends, medium_ends] = weights.cutpoints;
    let free =
        |name: &str, value: f64| vec![Cell::text(name), Cell::Exact(value), Cell::text("free"), Cell::text("fitted")];
    let mut rows = vec![free("base", weights.base)];
    rows.extend(FEATURES.iter().zip(weights.coefficients).filter_map(row));
    rows.extend([free("cutpoint of low and medium", low_ends), free("cutpoint of medium and high", medium_ends)]);
    Table {
        id: "coefficients",
        title: "Coefficients",
        note: "In logits. The features are defined in `components/model/src/risk/features.rs`.".into(),
        columns: vec!["feature", "coefficient", "sign", "origin"],
        rows,
    }
}

/// Counts violations of each guarantee, and calls `done` after each.
pub(crate) fn monotonicity(weights: &Weights<'_>, pairs: usize, random: &mut Random, done: &dyn Fn(&str)) -> Table {
    let row = |direction: Direction| {
        let Order { violations, differ } = check(direction, weights, pairs, random);
        done(direction.guarantee());
        let differ = if differ == 0 { Cell::text("not used") } else { Cell::Count(differ) };
        vec![Cell::text(direction.guarantee()), Cell::Count(pairs), differ, Cell::Count(violations)]
    };
    Table {
        id: "monotonicity",
        title: "Monotonicity",
        note: "Pairs of transfers that differ in one fact, half of them at the thresholds of conditions and cut-offs. Equal \
               scores are in order too: a fact may be beyond its cap, or the model may not use it. An average of 0 means \
               no history, not a small average, and is not compared with any other."
            .into(),
        columns: vec!["guarantee", "pairs", "scores differ", "violations"],
        rows: Direction::ALL.map(row).into(),
    }
}
