//! The words and tables of an accessibility model's card.

use caudal_model::accessibility::{Request, Weights, assess};

use super::generator::Sure;
use super::golden::{Facts, nudging_code, theme_code};
use crate::age::AgeRange;
use crate::card::{Cell, Table};

/// What the model is for and how it works.
#[must_use]
pub fn purpose() -> Vec<String> {
    [
        "Recommends a theme, a text size, screen reader mode, spoken notices and how much to help unasked, from a short \
         questionnaire and from how the app went.",
        "Answers decide: a screen reader first, then small text that is hard to read. Age and three signs of difficulty \
         (more than 100 seconds a screen on average, 3 errors or more, help asked for twice or more) say how sure to be. \
         Over 50, two signs or more suggest large text to somebody who said that small text is fine.",
        "The confidence is the share of people with the same answers and signs who keep the theme. Below 0.70 a client \
         presents the profile as a suggestion. Reasons are told in plain sentences, from the answers and from use, never from age.",
    ]
    .map(str::to_owned)
    .into()
}

/// What is made up about the data.
#[must_use]
pub fn notes() -> Vec<String> {
    [
        "Everything is made up: who finds small text hard, how the app goes, which theme is kept. Screen readers are far \
         more frequent than among real people.",
        "Themes are drawn from logistic curves with known numbers, so the best that can be expected is known. The model has \
         the form of these curves, so coming close shows a correct fit and not that real people are like this.",
        "The promises (answers win, what only age and signs suggest stays a suggestion) are checked when weights are \
         read, whatever the data say.",
    ]
    .map(str::to_owned)
    .into()
}

/// What the model cannot do.
#[must_use]
pub fn limits() -> Vec<String> {
    [
        "Its confidence is calibrated on made-up people. Measure it on which profiles real people keep before relying \
         on the number.",
        "With the same answers and signs, people over 50 may get another theme than people up to 50, as a suggestion. They \
         are told the signs and not the age, which decided too.",
        "When only a questionnaire is sent, without behaviour, 0.10 is taken off the confidence: a rule, not a measure.",
        "It does not know colour vision, motor or cognitive needs, nor the text size that the device is set to already.",
    ]
    .map(str::to_owned)
    .into()
}

/// What the model must not be used for.
#[must_use]
pub fn misuse() -> Vec<String> {
    [
        "A diagnosis, or any decision about a person other than how the app looks to them.",
        "Storing or selling what the answers suggest about a disability: keep the profile, not the answers.",
        "Switching spoken notices on without a yes: with a real screen reader everything would be said twice.",
    ]
    .map(str::to_owned)
    .into()
}

/// The coefficients, so that a reader can compute a confidence by hand.
#[must_use]
pub fn coefficients(weights: &Weights<'_>) -> Table {
    let row = |name: &str, reader: Cell, values: [f64; 2]| {
        vec![Cell::text(name), reader, Cell::Exact(values[0]), Cell::Exact(values[1])]
    };
    let names = ["base", "over 50", "over 60, besides", "slow", "errors", "asked for help"];
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
        note: "In logits: of keeping the voice-assisted theme, given a screen reader; of keeping the large one, for people \
               who find small text hard and for people who say that it is fine. Age and signs never lean away from large \
               text."
            .into(),
        columns: vec!["", "screen reader", "small text hard", "small text fine"],
        rows,
    }
}

/// Every combination of answers, with a use that went well.
#[must_use]
pub fn decisions(weights: &Weights<'_>) -> Table {
    let mut rows = Vec::new();
    for uses_screen_reader in [false, true] {
        for can_read_small_text in [true, false] {
            for (sure, name) in [(Sure::Low, "low"), (Sure::Medium, "medium"), (Sure::High, "high")] {
                for age_range in AgeRange::ALL {
                    let facts = Facts {
                        can_read_small_text,
                        uses_screen_reader,
                        feels_confident_with_apps: sure,
                        age_range,
                        avg_time_per_screen_seconds: 30,
                        total_validation_errors: 0,
                        requested_help_count: 0,
                    };
                    let said = |yes: bool| Cell::text(if yes { "yes" } else { "no" });
                    let answers = vec![
                        said(uses_screen_reader),
                        said(can_read_small_text),
                        Cell::text(name),
                        Cell::text(age_range.code()),
                    ];
                    rows.push([answers, profile(weights, &facts.request())].concat());
                }
            }
        }
    }
    Table {
        id: "decisions",
        title: "Decision table",
        note: "All 48 combinations of answers, for people whose use went well: 30 seconds a screen, no error, no help asked \
               for."
            .into(),
        columns: vec![
            "screen reader",
            "reads small text",
            "feels sure",
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

/// What signs change for somebody who says that small text is fine.
#[must_use]
pub fn signs(weights: &Weights<'_>) -> Table {
    let mut rows = Vec::new();
    for age_range in AgeRange::ALL {
        for signs in 0..8_u32 {
            let sign = |bit: u32| signs & (1 << bit) != 0;
            let facts = Facts {
                can_read_small_text: true,
                uses_screen_reader: false,
                feels_confident_with_apps: Sure::High,
                age_range,
                avg_time_per_screen_seconds: if sign(0) { 101 } else { 30 },
                total_validation_errors: if sign(1) { 3 } else { 0 },
                requested_help_count: if sign(2) { 2 } else { 0 },
            };
            let names: Vec<_> = ["slow", "errors", "help"]
                .into_iter()
                .zip(0..)
                .filter(|(_, bit)| sign(*bit))
                .map(|(name, _)| name)
                .collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let mut row = vec![Cell::text(age_range.code()), Cell::Text(names)];
            let [theme, _, _, nudging, confidence] = <[Cell; 5]>::try_from(profile(weights, &facts.request()))
                .unwrap_or_else(|_| core::array::from_fn(|_| Cell::None));
            row.extend([theme, nudging, confidence]);
            rows.push(row);
        }
    }
    Table {
        id: "signs",
        title: "What signs change",
        note: "For somebody without a screen reader who says that small text is fine and who feels sure with apps."
            .into(),
        columns: vec!["age", "signs", "theme", "nudging", "confidence"],
        rows,
    }
}

fn profile(weights: &Weights<'_>, request: &Request) -> Vec<Cell> {
    let profile = assess(weights, request);
    vec![
        Cell::text(theme_code(profile.theme)),
        Cell::Exact(profile.font_scale),
        Cell::text(if profile.screen_reader_mode { "on" } else { "off" }),
        Cell::text(nudging_code(profile.nudging_level)),
        Cell::Exact(profile.confidence),
    ]
}
