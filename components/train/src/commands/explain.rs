//! `explain`: the contributions to one verdict.

use std::io::Read as _;
use std::path::Path;
use std::{fs, io};

use anyhow::{Context as _, Result};

use super::{malformed, print};
use crate::card::{Cell, Table};
use crate::data::code;
use crate::model::{Kind, Model};
use crate::{accessibility, nudge};

pub(super) fn run(model: Model, weights: &[u8], input: &Path) -> Result<()> {
    let mut text = String::new();
    if input == Path::new("-") {
        io::stdin().read_to_string(&mut text)?;
    } else {
        text = fs::read_to_string(input).with_context(|| input.display().to_string())?;
    }
    let (note, rows) = match model.kind() {
        Kind::Risk => of_risk(weights, &text)?,
        Kind::Nudge => of_nudge(weights, &text)?,
        Kind::Accessibility => of_accessibility(weights, &text)?,
    };
    print(&[Table { id: "explanation", title: model.name(), note, columns: vec!["", "value"], rows }]);
    Ok(())
}

/// The text above the table, and its rows.
type Explanation = (String, Vec<Vec<Cell>>);

fn line(name: &str, value: f64) -> Vec<Cell> {
    vec![Cell::text(name), Cell::Figure(value)]
}

fn rejected(invalid: caudal_model::Invalid) -> anyhow::Error {
    anyhow::anyhow!("{}: {}", invalid.field, invalid.detail)
}

fn of_risk(weights: &[u8], text: &str) -> Result<Explanation> {
    use caudal_model::risk::{Request, Weights, assess, upper_tails};
    let weights = Weights::parse(weights).map_err(malformed)?;
    let request: Request = serde_json::from_str(text).context("the request")?;
    let verdict = assess(&weights, &request).map_err(rejected)?;
    let mut rows = vec![line("base", weights.base)];
    rows.extend(verdict.contributions.iter().map(|part| line(part.feature, part.weight)));
    let [above_low, high] = upper_tails(&weights, verdict.predictor());
    rows.extend([
        line("= linear predictor", verdict.predictor()),
        line("P(low)", 1.0 - above_low),
        line("P(medium)", above_low - high),
        line("P(high)", high),
        line("score", verdict.score),
    ]);
    let level = code(verdict.level);
    let factors = if verdict.factors.is_empty() {
        "no factor applies, so the score stays below 0.25".to_owned()
    } else {
        verdict.factors.join(", ")
    };
    Ok((format!("{level}: {factors}."), rows))
}

fn of_nudge(weights: &[u8], text: &str) -> Result<Explanation> {
    use caudal_model::nudge::{FEATURES, Weights, assess, features};
    let weights = Weights::parse(weights).map_err(malformed)?;
    let facts: nudge::generator::Facts = serde_json::from_str(text).context("the request")?;
    let verdict = assess(&weights, &facts.request()).map_err(rejected)?;
    let mut rows = vec![line("base", weights.base)];
    let terms = FEATURES.iter().zip(weights.coefficients).zip(features(&facts.request()));
    rows.extend(terms.map(|((name, coefficient), value)| line(name, coefficient * value)));
    rows.push(line("difficulty", verdict.score));
    Ok((format!("{}: {}.", code(verdict.band.nudge), verdict.band.reason), rows))
}

fn of_accessibility(weights: &[u8], text: &str) -> Result<Explanation> {
    use caudal_model::accessibility::{Weights, assess};
    let weights = Weights::parse(weights).map_err(malformed)?;
    let facts: accessibility::generator::Facts = serde_json::from_str(text).context("the request")?;
    let profile = assess(&weights, &facts.request());
    let on = |on: bool| Cell::text(if on { "on" } else { "off" });
    let rows = vec![
        vec![Cell::text("theme"), Cell::Text(code(profile.theme))],
        vec![Cell::text("text size"), Cell::Exact(profile.font_scale)],
        vec![Cell::text("screen reader mode"), on(profile.screen_reader_mode)],
        vec![Cell::text("voice feedback"), on(profile.voice_feedback)],
        vec![Cell::text("nudging"), Cell::Text(code(profile.nudging_level))],
        vec![Cell::text("confidence"), Cell::Exact(profile.confidence)],
    ];
    Ok((profile.explanation.join(" "), rows))
}
