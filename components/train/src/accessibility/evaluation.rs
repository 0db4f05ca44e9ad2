//! What the accessibility model is worth for people that it was not fitted to.

use caudal_model::accessibility::{self as model, Assessment, SUGGESTION_BELOW, Weights, assess};

use super::generator::{Row, Theme, posterior};
use crate::age::AgeRange;
use crate::card::{Cell, Table};
use crate::metrics::{Reliability, brier, mean, reliability, wilson};

fn theme(profile: &Assessment) -> Theme {
    match profile.theme {
        model::Theme::StandardAccessible => Theme::StandardAccessible,
        model::Theme::LargeTextHighContrast => Theme::LargeTextHighContrast,
        model::Theme::VoiceAssisted => Theme::VoiceAssisted,
    }
}

/// What the answers alone recommend: the first rules of the specification.
fn answers_alone(row: &Row) -> Theme {
    if row.uses_screen_reader {
        Theme::VoiceAssisted
    } else if row.can_read_small_text {
        Theme::StandardAccessible
    } else {
        Theme::LargeTextHighContrast
    }
}

/// The tables of a card and the curves of its plot.
#[must_use]
pub fn report(weights: &Weights<'_>, rows: &[Row], generated: bool) -> (Vec<Table>, Vec<Reliability>) {
    let profiles: Vec<_> = rows.iter().map(|row| assess(weights, &row.request())).collect();
    let said: Vec<_> = profiles.iter().map(|profile| profile.confidence).collect();
    let kept: Vec<_> = rows.iter().zip(&profiles).map(|(row, profile)| theme(profile) == row.kept).collect();
    let known: Option<Vec<f64>> =
        generated.then(|| rows.iter().zip(&profiles).map(|(row, profile)| posterior(row, theme(profile))).collect());
    let curve = reliability("confidence", &said, &kept);
    let tables = vec![
        results(rows, &kept, generated),
        calibration(&curve, known.as_deref(), &said, &kept),
        groups(rows, &profiles, &kept),
    ];
    (tables, vec![curve])
}

fn results(rows: &[Row], kept: &[bool], generated: bool) -> Table {
    let row = |name: &str, hits: usize| vec![Cell::text(name), Cell::Interval(wilson(hits, rows.len()))];
    let mut table = Vec::new();
    let mut gap = None;
    if generated {
        let themes = [Theme::StandardAccessible, Theme::LargeTextHighContrast, Theme::VoiceAssisted];
        let most =
            |row: &Row| {
                themes.into_iter().fold(themes[0], |best, theme| {
                    if posterior(row, theme) > posterior(row, best) { theme } else { best }
                })
            };
        let best: Vec<_> = rows.iter().map(|row| most(row) == row.kept).collect();
        let hits = best.iter().filter(|kept| **kept).count();
        let number = |kept: &bool| f64::from(u8::from(*kept));
        gap = Some(mean(kept.iter().zip(&best).map(|(ours, best)| number(ours) - number(best))));
        table.push(row("ceiling: the theme that is truly most probable", hits));
    }
    table.push(row("accessibility-1", kept.iter().filter(|kept| **kept).count()));
    table.extend(gap.map(|gap| vec![Cell::text("accessibility-1 less ceiling, paired"), Cell::Interval(gap)]));
    table.push(row("answers alone", rows.iter().filter(|row| answers_alone(row) == row.kept).count()));
    let standard = rows.iter().filter(|row| row.kept == Theme::StandardAccessible).count();
    table.push(row("always standard", standard));
    Table {
        id: "results",
        title: "Results",
        note: "Share of people who keep the recommended theme.".into(),
        columns: vec!["", "kept"],
        rows: table,
    }
}

fn calibration(curve: &Reliability, known: Option<&[f64]>, said: &[f64], kept: &[bool]) -> Table {
    let row = |name: &str, said: &[f64], curve: &Reliability| {
        vec![Cell::text(name), Cell::Interval(curve.ece_interval), Cell::Figure(brier(said, kept))]
    };
    let mut rows = vec![row("confidence", said, curve)];
    rows.extend(known.map(|known| row("the true probabilities", known, &reliability("", known, kept))));
    Table {
        id: "calibration",
        title: "Calibration",
        note: "Of the confidence, in up to 15 bins of equally many rows; rows of one confidence stay together. It is rounded \
               down to hundredths, and held at 0.69 where only age and signs speak for large text."
            .into(),
        columns: vec!["of", "error", "Brier score"],
        rows,
    }
}

fn groups(rows: &[Row], profiles: &[Assessment], kept: &[bool]) -> Table {
    type Holds = Box<dyn Fn(usize) -> bool>;
    let tipped: Vec<_> = rows.iter().zip(profiles).map(|(row, profile)| theme(profile) != answers_alone(row)).collect();
    let suggested: Vec<_> = profiles.iter().map(|profile| profile.confidence < SUGGESTION_BELOW).collect();
    let (reader, hard): (Vec<_>, Vec<_>) =
        rows.iter().map(|row| (row.uses_screen_reader, !row.can_read_small_text)).unzip();
    let ages: Vec<_> = rows.iter().map(|row| row.age_range).collect();
    let mut groups: Vec<(String, Holds)> = vec![("all".into(), Box::new(|_| true))];
    let readers = reader.clone();
    groups.push(("screen reader".into(), Box::new(move |row| readers[row])));
    let (readers, hards) = (reader.clone(), hard.clone());
    groups.push(("small text is hard".into(), Box::new(move |row| !readers[row] && hards[row])));
    let (readers, hards, tips) = (reader, hard, tipped.clone());
    groups
        .push(("small text is fine: standard".into(), Box::new(move |row| !readers[row] && !hards[row] && !tips[row])));
    groups.push(("small text is fine: large text suggested".into(), Box::new(move |row| tipped[row])));
    groups.push(("a suggestion: confidence below 0.70".into(), Box::new(move |row| suggested[row])));
    for age in AgeRange::ALL {
        let ages = ages.clone();
        groups.push((format!("age {}", age.code()), Box::new(move |row| ages[row] == age)));
    }
    let row = |(name, holds): (String, Holds)| {
        let here: Vec<_> = (0..rows.len()).filter(|&row| holds(row)).collect();
        if here.is_empty() {
            return vec![Cell::Text(name), Cell::Count(0), Cell::None, Cell::None];
        }
        let mean = here.iter().map(|&row| profiles[row].confidence).sum::<f64>() / here.len().max(1) as f64;
        let hits = here.iter().filter(|&&row| kept[row]).count();
        vec![Cell::Text(name), Cell::Count(here.len()), Cell::Figure(mean), Cell::Interval(wilson(hits, here.len()))]
    };
    Table {
        id: "slices",
        title: "Slices",
        note: String::new(),
        columns: vec!["people", "rows", "mean confidence", "kept"],
        rows: groups.into_iter().map(row).collect(),
    }
}
