//! The words and tables of a risk model's card.

use caudal_model::risk::Weights;
use caudal_model::risk::features::FEATURES;

use super::fit::Specification;
use super::monotone::{Direction, Kept, check};
use crate::card::{Cell, Table};
use crate::random::Random;

/// What the model is for and how it works.
#[must_use]
pub fn purpose() -> Vec<String> {
    [
        "Advises, before a transfer is sent, whether to go on (low), to explain and ask (medium) or to ask for an \
         explicit acknowledgment (high).",
        "The base and one contribution for each feature add up to a linear predictor; severity is where it falls, plus \
         logistic noise, between two cutpoints. The score is the expected severity, (P(medium) + 2 P(high)) / 2, with one \
         exception.",
        "The exception: a verdict of medium or high always names a factor of the specification, so the score of a transfer \
         without any is moved below 0.25, in order. There it says less than is expected: see the slice `no factor`.",
    ]
    .map(str::to_owned)
    .into()
}

/// What is made up about the data.
#[must_use]
pub fn notes() -> Vec<String> {
    [
        "Severities are drawn from an ordered logit with known numbers, so the best that any model can expect is known, \
         and called the ceiling. On a sample a model may lie a little above it.",
        "The model has the form of the process. That it comes close to the ceiling shows that it was fitted and is computed \
         correctly; it does not show that transfers have this form. The stress table says what happens when they do not.",
        "34 of 100 transfers are low, 40 medium, 26 high. These are tiers of a synthetic scale: not fraud, and not \
         the shares of any bank.",
        "The made-up transfers carry no age of a saved beneficiary.",
    ]
    .map(str::to_owned)
    .into()
}

/// What a model cannot do.
#[must_use]
pub fn limits(model: &Specification) -> Vec<String> {
    let mut limits: Vec<String> = [
        "Nothing here says how the model does on real transfers. Before it may decide anything, measure it on a bank's \
         own labelled history, split by time. `caudal-train threshold` finds the cut-offs that cost the least; those in \
         force are part of the contract between host and components, so others are a change of code.",
        "It believes its caller: an hour, a device or a place that a client sends is as true as the client. The ledger's \
         risk-context computes history from its own books.",
        "In a scam the victim is talked into paying, from the usual device and in daylight. Such transfers look usual.",
        "Low is also what a transfer gets that no factor explains, whatever the probabilities: a warning without a \
         reason to show is worse than none. The slice `no factor` counts the high ones among them.",
        "Almost everybody with fewer than three transfers behind them is warned: LOW_HISTORY is a factor, and so little \
         history is seldom low in the data. The slices say how often in vain.",
    ]
    .map(str::to_owned)
    .into();
    if model.features.contains(&"amount_over_average") {
        limits.push("An amount more than twelve times the usual one says no more than one of twelve times.".to_owned());
        limits.push(
            "A sender without a history of amounts gets no contribution from the amount; with the first transfer it \
             starts to count, which may raise the score of the same amount."
                .to_owned(),
        );
    } else {
        limits.push(
            "It sees six conditions and no amounts: a transfer of a hundred times the average scores as one of 2.1 times."
                .to_owned(),
        );
    }
    if !model.policy.is_empty() {
        limits.push(
            "A victim saves the payee too, so a payee saved in good time may take off a third of what a new one adds, and \
             weights that take off more are refused."
                .to_owned(),
        );
    }
    limits
}

/// What the model must not be used for.
#[must_use]
pub fn misuse() -> Vec<String> {
    [
        "Refusing a transfer or closing an account by itself: it advises a person.",
        "Claiming a rate of fraud found, or comparing these figures with those of models on real data.",
        "Credit, employment, insurance, or anything else about a person rather than one transfer.",
    ]
    .map(str::to_owned)
    .into()
}

/// The coefficients, so that a reader can score by hand.
#[must_use]
pub fn coefficients(model: &Specification, weights: &Weights<'_>) -> Table {
    let row = |(feature, coefficient): (&caudal_model::risk::features::Feature, Option<f64>)| {
        let policy = model.policy.iter().any(|(name, _)| *name == feature.name);
        Some(vec![
            Cell::text(feature.name),
            Cell::Exact(coefficient?),
            Cell::text(if feature.raises { "never negative" } else { "never positive" }),
            Cell::text(if policy { "set by policy: not in the data" } else { "fitted" }),
        ])
    };
    let [low_ends, medium_ends] = weights.cutpoints;
    let plain =
        |name: &str, value: f64| vec![Cell::text(name), Cell::Exact(value), Cell::text("free"), Cell::text("fitted")];
    let mut rows = vec![plain("base", weights.base)];
    rows.extend(FEATURES.iter().zip(weights.coefficients).filter_map(row));
    rows.extend([plain("cutpoint of low and medium", low_ends), plain("cutpoint of medium and high", medium_ends)]);
    Table {
        id: "coefficients",
        title: "Coefficients",
        note: "In logits. What each feature is stands in `components/model/src/risk/features.rs`.".into(),
        columns: vec!["feature", "coefficient", "sign", "origin"],
        rows,
    }
}

/// Counts broken promises; `done` is told after each direction.
#[must_use]
pub fn monotonicity(weights: &Weights<'_>, pairs: usize, random: &mut Random, done: &dyn Fn(&str)) -> Table {
    let row = |direction: Direction| {
        let Kept { broken, differ } = check(direction, weights, pairs, random);
        done(direction.promise());
        let differ = if differ == 0 { Cell::text("not used") } else { Cell::Count(differ) };
        vec![Cell::text(direction.promise()), Cell::Count(pairs), differ, Cell::Count(broken)]
    };
    Table {
        id: "monotonicity",
        title: "Monotonicity",
        note: "Pairs of transfers that differ in one fact, half of them at the edges of conditions and cut-offs. Scores that \
               do not differ keep their order too: a fact may say no more, or the model may not use it. An average of 0 \
               means no history, is no smaller average, and is compared with none."
            .into(),
        columns: vec!["promise", "pairs", "scores differ", "broken"],
        rows: Direction::ALL.map(row).into(),
    }
}
