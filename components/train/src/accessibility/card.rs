//! The text and tables of an accessibility model's card.

use caudal_model::accessibility::{AppConfidence, Request, Weights, assess};

use super::generator::{CONFIDENCES, Facts};
use crate::age;
use crate::card::{Cell, Table, Text};
use crate::data::code;

pub(crate) fn text() -> Text {
    Text {
        purpose: vec![PURPOSE, RULES, CONFIDENCE],
        notes: vec![MADE_UP, FORM, GUARANTEES],
        limits: vec![UNKNOWN, FAIRNESS, UNOBSERVED, UNCONSIDERED],
        misuse: MISUSE.into(),
    }
}

const PURPOSE: &str = "Recommends a theme, a text size, screen reader mode, voice feedback and how often to offer help, from \
     a short questionnaire and the use of the app so far.";

const CONFIDENCE: &str = "The confidence is the share of people with the same answers and signs who keep the theme. Below \
     0.70, a client presents the profile as a suggestion. The explanation refers to the answers and to the use of the app, \
     never to age.";

const MADE_UP: &str = "Everything is made up: who finds small text hard to read, how they use the app, which theme they \
     keep. Screen readers are far more frequent than among real people.";

const FORM: &str = "Themes are drawn from logistic functions with known coefficients, so the best possible result is known. \
     The model has the same form, so coming close to that result shows that it was fitted correctly, not that real people \
     are like this.";

const UNKNOWN: &str = "Its confidence is calibrated on synthetic people. Measure which profiles real people keep before \
     relying on it.";

const UNOBSERVED: &str = "Without behaviour, when only a questionnaire is sent, 0.10 is deducted from the confidence: a \
     rule, not a measurement.";

const UNCONSIDERED: &str =
    "It does not consider colour vision, motor or cognitive needs, or the text size that is set on the device.";

const RULES: &str = "A screen reader decides first, then small text that is hard to read, then age: over 50, large text \
     is recommended, as the guidance of the specification says. If the person reads small text well, it is a suggestion, \
     with a confidence of at most 0.69. Three signs of difficulty (more than 100 seconds per screen on average, at least 3 \
     errors, at least 2 requests for help) raise the confidence, and two or more may make it a recommendation.";

const GUARANTEES: &str = "Over 50, more than half of the people who say that they read small text well keep large text: a \
     reading of the specification, which says that they lean toward it and gives no number. The guarantees (a no to small \
     text never gives less confidence in large text than a yes, and more signs never lower it; with fewer than two signs, a \
     yes leaves it a suggestion) hold whatever the data: by rule, or checked when weights are loaded.";

const FAIRNESS: &str = "With the same answers and signs, people over 50 get another theme than people up to 50. The \
     explanation mentions their answers and the signs but not the age, which decided.";

const MISUSE: [&str; 3] = [
    "A diagnosis, or any decision about a person other than how the app looks to them.",
    "Storing or selling what the answers suggest about a disability: keep the profile, not the answers.",
    "Turning voice feedback on without consent: with a real screen reader everything would be read out twice.",
];

/// The coefficients, so that a reader can compute a confidence by hand.
pub(crate) fn coefficients(weights: &Weights<'_>) -> Table {
    let row = |name: &str, reader: Cell, values: [f64; 2]| {
        vec![Cell::text(name), reader, Cell::Exact(values[0]), Cell::Exact(values[1])]
    };
    let names = ["base", "over 50", "over 60, in addition", "slow", "errors", "requests for help"];
    let (hard, fine) = (weights.small_text.values(), weights.leaning.values());
    let mut rows: Vec<_> =
        names.iter().enumerate().map(|(at, name)| row(name, Cell::None, [hard[at], fine[at]])).collect();
    rows[0][1] = Cell::Exact(weights.screen_reader);
    rows.push(vec![
        Cell::text("reads small text too"),
        Cell::Exact(weights.reads_small_text_too),
        Cell::None,
        Cell::None,
    ]);
    Table {
        id: "coefficients",
        title: "Coefficients",
        note: "In logits: for keeping the voice-assisted theme with a screen reader, and for keeping large text, among people \
               who find small text hard to read and people who read it well. Age and signs never lean away from large text."
            .into(),
        columns: vec!["", "screen reader", "small text hard", "small text fine"],
        rows,
    }
}

/// Every combination of answers, without signs of difficulty.
pub(crate) fn decisions(weights: &Weights<'_>) -> Table {
    let mut rows = Vec::new();
    let yes_or_no = |yes: bool| Cell::text(if yes { "yes" } else { "no" });
    for uses_screen_reader in [false, true] {
        for can_read_small_text in [true, false] {
            for feels_confident_with_apps in CONFIDENCES {
                for age_range in age::ALL {
                    let facts = Facts {
                        can_read_small_text,
                        uses_screen_reader,
                        feels_confident_with_apps,
                        age_range,
                        avg_time_per_screen_seconds: 30,
                        total_validation_errors: 0,
                        requested_help_count: 0,
                    };
                    let answers = vec![
                        yes_or_no(uses_screen_reader),
                        yes_or_no(can_read_small_text),
                        Cell::Text(code(feels_confident_with_apps)),
                        Cell::Text(code(age_range)),
                    ];
                    rows.push([answers, profile(weights, &facts.request()).into()].concat());
                }
            }
        }
    }
    Table {
        id: "decisions",
        title: "Decision table",
        note: "All 48 combinations of answers, without signs of difficulty: 30 seconds per screen, no errors, no requests \
               for help."
            .into(),
        columns: vec![
            "screen reader",
            "reads small text",
            "confidence with apps",
            "age",
            "theme",
            "text size",
            "screen reader mode and voice",
            "nudging",
            "confidence",
        ],
        rows,
    }
}

/// The effect of signs on people who read small text well.
pub(crate) fn signs(weights: &Weights<'_>) -> Table {
    let mut rows = Vec::new();
    for age_range in age::ALL {
        for signs in 0..8_u32 {
            let sign = |bit: u32| signs & (1 << bit) != 0;
            let facts = Facts {
                can_read_small_text: true,
                uses_screen_reader: false,
                feels_confident_with_apps: AppConfidence::High,
                age_range,
                avg_time_per_screen_seconds: if sign(0) { 101 } else { 30 },
                total_validation_errors: if sign(1) { 3 } else { 0 },
                requested_help_count: if sign(2) { 2 } else { 0 },
            };
            let names = [(0, "slow"), (1, "errors"), (2, "help")];
            let present: Vec<_> = names.into_iter().filter(|(bit, _)| sign(*bit)).map(|(_, name)| name).collect();
            let present = if present.is_empty() { "none".to_owned() } else { present.join(", ") };
            let [theme, _, _, nudging, confidence] = profile(weights, &facts.request());
            rows.push(vec![Cell::Text(code(age_range)), Cell::Text(present), theme, nudging, confidence]);
        }
    }
    Table {
        id: "signs",
        title: "Effect of signs",
        note: "For people without a screen reader who say that they read small text well and feel confident with apps."
            .into(),
        columns: vec!["age", "signs", "theme", "nudging", "confidence"],
        rows,
    }
}

/// Theme, text size, screen reader mode, nudging and confidence.
fn profile(weights: &Weights<'_>, request: &Request) -> [Cell; 5] {
    let profile = assess(weights, request);
    [
        Cell::Text(code(profile.theme)),
        Cell::Exact(profile.font_scale),
        Cell::text(if profile.screen_reader_mode { "on" } else { "off" }),
        Cell::Text(code(profile.nudging_level)),
        Cell::Exact(profile.confidence),
    ]
}
