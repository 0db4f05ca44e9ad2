//! The words of a nudge model's card.

use caudal_model::nudge::{FEATURES, Weights};

use crate::card::{Cell, Table};

/// What the model is for and how it works.
#[must_use]
pub fn purpose() -> Vec<String> {
    [
        "Says how probable it is that a person is struggling on a screen, so that an app can offer help: step by step \
         (`assist`), a hint (`info`), or nothing more than a quiet note (`warning`, the band of everybody who is fine).",
        "A constant and one non-negative weight each for errors, time over the median of the screen, going back, and \
         being stuck early in a flow, through a logistic curve. It sees no age and no person.",
        "Show it politely: never steal focus, let it be dismissed, once per screen and session.",
    ]
    .map(str::to_owned)
    .into()
}

/// What is made up about the data.
#[must_use]
pub fn notes() -> Vec<String> {
    [
        "Struggling is drawn from a logistic curve of errors, going back, and time against the usual pace of the person's \
         age, which the model is not shown. The best that can be expected without it is known. The model has the form of \
         that process, so coming close to it shows a correct fit and not that real visits are like this.",
        "Spread of time and the pace of people over 60 follow published usability studies; how often visits go wrong, \
         and what struggling means, are made up.",
    ]
    .map(str::to_owned)
    .into()
}

/// What the model cannot do.
#[must_use]
pub fn limits() -> Vec<String> {
    [
        "Calibrated on made-up visits. Use `nudge_accepted` and `nudge_dismissed` events, where a person consented, to \
         measure it on real ones.",
        "Nothing in a request tells a slow person from a struggling one. Slowness alone is no reason up to 2.24 times the \
         median, but it adds to errors and to going back: at 1.7 times, one error or two steps back bring a hint that \
         somebody quick would not get. The scores of people over 60 are too high, by the difference in the table of ages. \
         Where an app knows a person's own pace, let it raise the time at which help is offered.",
        "The medians of the screens are part of the model's code and were not measured in any app.",
        "Time on a screen also runs while the phone lies on the table.",
        "Going back ends at a ceiling: however often, with any time that is not excessive, it is never `assist`, because \
         the reason of that band names errors and time.",
    ]
    .map(str::to_owned)
    .into()
}

/// What the model must not be used for.
#[must_use]
pub fn misuse() -> Vec<String> {
    [
        "Slowing down, blocking or charging anybody.",
        "Guessing an age, a disability or a state of mind.",
        "Rating employees or customers.",
    ]
    .map(str::to_owned)
    .into()
}

/// The coefficients, so that a reader can score by hand.
#[must_use]
pub fn coefficients(weights: &Weights<'_>) -> Table {
    let row = |(name, coefficient): (&&str, f64)| {
        let origin = if *name == "excessive_time" { "tied to the base" } else { "fitted" };
        vec![Cell::text(*name), Cell::Exact(coefficient), Cell::text("never negative"), Cell::text(origin)]
    };
    let mut rows = vec![vec![Cell::text("base"), Cell::Exact(weights.base), Cell::text("free"), Cell::text("fitted")]];
    rows.extend(FEATURES.iter().zip(weights.coefficients).map(row));
    Table {
        id: "coefficients",
        title: "Coefficients",
        note: "In logits. What each feature is stands in `components/model/src/nudge.rs`.".into(),
        columns: vec!["feature", "coefficient", "sign", "origin"],
        rows,
    }
}
