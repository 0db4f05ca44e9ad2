//! The text of a nudge model's card.

use caudal_model::nudge::{FEATURES, Weights};

use crate::card::{Cell, Table, Text};

pub(crate) fn text() -> Text {
    Text { purpose: PURPOSE.into(), notes: NOTES.into(), limits: LIMITS.into(), misuse: MISUSE.into() }
}

const PURPOSE: [&str; 3] = [
    "Estimates the probability that a person is struggling on a screen, so that an app can offer help: step by step \
     (`assist`), a hint (`info`), or at most a quiet note (`warning`, for people who are doing fine).",
    "The logistic function of a constant plus non-negative weights for errors, time relative to the median of the \
     screen, back navigations, and being stuck early in a flow. It sees no age and no identity.",
    "Offer help politely: never take the focus, let people dismiss it, and offer it once per screen and session.",
];

const NOTES: [&str; 2] = [
    "Struggling is drawn from a logistic function of errors, back navigations, and time relative to the usual pace of the \
     person's age, which the model does not see. The best result that is possible without the age is known. The model has \
     nearly the same form as the process, so coming close to that result shows that it was fitted correctly, not that real \
     visits are like this.",
    "The variation of time and the pace of people over 60 follow published usability studies. How often visits go wrong, \
     and what struggling means, is made up.",
];

const LIMITS: [&str; 5] = [
    "Calibrated on synthetic visits. Use `nudge_accepted` and `nudge_dismissed` events, where people consented to them, to \
     evaluate it on real ones.",
    "A request does not distinguish a slow person from a struggling one. Slowness alone is no reason up to 2.24 times the \
     median, but it adds to errors and back navigations: at 1.7 times, one error or two back navigations cause a hint that \
     a quick person would not get. The scores of people over 60 are too high, by the difference in the table of ages. An app \
     that knows a person's own pace should raise the time at which help is offered.",
    "The medians of the screens are part of the model's code and were not measured in any app.",
    "Time on a screen includes time during which the phone lies on the table.",
    "Back navigations are capped: any number of them, with any time that is not excessive, stays below `assist`, because the \
     reason for `assist` names errors and time.",
];

const MISUSE: [&str; 3] = [
    "Slowing down, blocking or charging anyone.",
    "Inferring an age, a disability or a state of mind.",
    "Rating employees or customers.",
];

/// The coefficients, so that a reader can compute a score by hand.
pub(crate) fn coefficients(weights: &Weights<'_>) -> Table {
    let row = |(name, coefficient): (&&str, f64)| {
        let origin = if *name == "excessive_time" { "tied to the base" } else { "fitted" };
        vec![Cell::text(*name), Cell::Exact(coefficient), Cell::text("never negative"), Cell::text(origin)]
    };
    let mut rows = vec![vec![Cell::text("base"), Cell::Exact(weights.base), Cell::text("free"), Cell::text("fitted")]];
    rows.extend(FEATURES.iter().zip(weights.coefficients).map(row));
    Table {
        id: "coefficients",
        title: "Coefficients",
        note: "In logits. The features are defined in `components/model/src/nudge.rs`.".into(),
        columns: vec!["feature", "coefficient", "sign", "origin"],
        rows,
    }
}
