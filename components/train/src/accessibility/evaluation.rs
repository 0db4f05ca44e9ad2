//! Evaluates accessibility models on held-out people.

use caudal_model::accessibility::{Assessment, SUGGESTION_BELOW, Theme, Weights, assess};

use super::fit::NAME;
use super::generator::{DATA_2, Process, Row};
use crate::age;
use crate::card::{Cell, Table, grouped};
use crate::data::code;
use crate::metrics::{Reliability, brier, mean, reliability, wilson};

const THEMES: [Theme; 3] = [Theme::StandardAccessible, Theme::LargeTextHighContrast, Theme::VoiceAssisted];

/// What the answers alone recommend: the first rules of the specification.
fn answers_alone(row: &Row) -> Theme {
    if row.facts.uses_screen_reader {
        Theme::VoiceAssisted
    } else if row.facts.can_read_small_text {
        Theme::StandardAccessible
    } else {
        Theme::LargeTextHighContrast
    }
}

/// Whether each person keeps the recommended theme.
fn kept(weights: &Weights<'_>, rows: &[Row]) -> Vec<bool> {
    rows.iter().map(|row| assess(weights, &row.facts.request()).theme == row.label.kept).collect()
}

fn count(kept: &[bool]) -> usize {
    kept.iter().filter(|kept| **kept).count()
}

/// The tables of a card and the curves of its plot. The rows are of [`DATA_2`], so the true probabilities are
/// known.
#[must_use]
pub fn report(weights: &Weights<'_>, rows: &[Row]) -> (Vec<Table>, Vec<Reliability>) {
    let profiles: Vec<_> = rows.iter().map(|row| assess(weights, &row.facts.request())).collect();
    let confidence: Vec<_> = profiles.iter().map(|profile| profile.confidence).collect();
    let kept = kept(weights, rows);
    let probability = |(row, profile): (&Row, &Assessment)| DATA_2.posterior(&row.facts, profile.theme);
    let known: Vec<f64> = rows.iter().zip(&profiles).map(probability).collect();
    let curve = reliability("confidence", &confidence, &kept);
    let tables =
        vec![results(rows, &kept), calibration(&curve, &known, &confidence, &kept), slices(rows, &profiles, &kept)];
    (tables, vec![curve])
}

/// Whether each person keeps the theme that is truly most probable.
fn ceiling(process: &Process, rows: &[Row]) -> Vec<bool> {
    let most_probable = |row: &Row| {
        let probability = |theme| process.posterior(&row.facts, theme);
        THEMES
            .into_iter()
            .fold(THEMES[0], |best, theme| if probability(theme) > probability(best) { theme } else { best })
    };
    rows.iter().map(|row| most_probable(row) == row.label.kept).collect()
}

fn results(rows: &[Row], kept: &[bool]) -> Table {
    let row = |name: &str, hits: usize| vec![Cell::text(name), Cell::Interval(wilson(hits, rows.len()))];
    let best = ceiling(&DATA_2, rows);
    let gap = mean(kept.iter().zip(&best).map(|(ours, best)| f64::from(*ours) - f64::from(*best)));
    let mut table = vec![
        row("ceiling: the theme that is truly most probable", count(&best)),
        row(NAME, count(kept)),
        vec![Cell::text(format!("{NAME} minus ceiling, paired")), Cell::Interval(gap)],
    ];
    table.push(row("answers alone", rows.iter().filter(|row| answers_alone(row) == row.label.kept).count()));
    let standard = rows.iter().filter(|row| row.label.kept == Theme::StandardAccessible).count();
    table.push(row("always standard", standard));
    Table {
        id: "results",
        title: "Results",
        note: "Share of people who keep the recommended theme.".into(),
        columns: vec!["", "kept"],
        rows: table,
    }
}

/// The model on people who differ from those that it was fitted to: `rows` of another process.
pub(crate) fn elsewhere(weights: &Weights<'_>, process: &Process, rows: &[Row]) -> Table {
    let share = |kept: &[bool]| Cell::Interval(wilson(count(kept), rows.len()));
    let kept = kept(weights, rows);
    let confidence: Vec<_> = rows.iter().map(|row| assess(weights, &row.facts.request()).confidence).collect();
    let error = reliability("", &confidence, &kept).ece_interval;
    Table {
        id: "elsewhere",
        title: "Other people",
        note: format!(
            "Share of people who keep the recommended theme, and calibration error, on {} rows of `{}`. There, people \
             over 50 who read small text well seldom keep large text, so suggesting it to all of them is wrong more \
             often. Which of the two is true of real people is not known.",
            grouped(rows.len()),
            process.version
        ),
        columns: vec!["", "kept", "calibration error"],
        rows: vec![
            vec![Cell::text("ceiling"), share(&ceiling(process, rows)), Cell::None],
            vec![Cell::text(NAME), share(&kept), Cell::Interval(error)],
        ],
    }
}

fn calibration(curve: &Reliability, known: &[f64], confidence: &[f64], kept: &[bool]) -> Table {
    let row = |name: &str, predicted: &[f64], curve: &Reliability| {
        vec![Cell::text(name), Cell::Interval(curve.ece_interval), Cell::Figure(brier(predicted, kept))]
    };
    let rows =
        vec![row("confidence", confidence, curve), row("the true probabilities", known, &reliability("", known, kept))];
    Table {
        id: "calibration",
        title: "Calibration",
        note:
            "Expected calibration error of the confidence, in up to 15 bins of equally many rows; rows with the same \
               confidence share a bin. The confidence is rounded down to hundredths, and at most 0.69 if a person who \
               reads small text well shows fewer than two signs."
                .into(),
        columns: vec!["", "error", "Brier score"],
        rows,
    }
}

fn slices(rows: &[Row], profiles: &[Assessment], kept: &[bool]) -> Table {
    /// Whether a row, given by its index, belongs to a slice.
    type Belongs<'s> = Box<dyn Fn(usize) -> bool + 's>;
    let facts = |row: usize| &rows[row].facts;
    let reads_well = move |row: usize| !facts(row).uses_screen_reader && facts(row).can_read_small_text;
    let by_hints = |row: usize| profiles[row].theme != answers_alone(&rows[row]);
    let mut slices: Vec<(String, Belongs<'_>)> = vec![
        ("all".into(), Box::new(|_| true)),
        ("screen reader".into(), Box::new(move |row| facts(row).uses_screen_reader)),
        (
            "small text is hard".into(),
            Box::new(move |row| !facts(row).uses_screen_reader && !facts(row).can_read_small_text),
        ),
        ("small text is fine: standard".into(), Box::new(move |row| reads_well(row) && !by_hints(row))),
        ("small text is fine: large text".into(), Box::new(by_hints)),
        ("a suggestion: confidence below 0.70".into(), Box::new(|row| profiles[row].confidence < SUGGESTION_BELOW)),
    ];
    for age in age::ALL {
        slices.push((format!("age {}", code(age)), Box::new(move |row| facts(row).age_range == age)));
    }
    let row = |(name, belongs): (String, Belongs<'_>)| {
        let here: Vec<_> = (0..rows.len()).filter(|&row| belongs(row)).collect();
        if here.is_empty() {
            return vec![Cell::Text(name), Cell::Count(0), Cell::None, Cell::None];
        }
        let mean = here.iter().map(|&row| profiles[row].confidence).sum::<f64>() / here.len() as f64;
        let hits = here.iter().filter(|&&row| kept[row]).count();
        vec![Cell::Text(name), Cell::Count(here.len()), Cell::Figure(mean), Cell::Interval(wilson(hits, here.len()))]
    };
    Table {
        id: "slices",
        title: "Slices",
        note: String::new(),
        columns: vec!["people", "rows", "mean confidence", "kept"],
        rows: slices.into_iter().map(row).collect(),
    }
}
