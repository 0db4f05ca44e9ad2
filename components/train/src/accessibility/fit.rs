//! Fits the confidences of the accessibility model. Its rules on answers are not fitted.

use anyhow::{Context as _, Result, ensure};
use caudal_model::accessibility::{Lean, Signs, Theme, Weights};

use super::generator::Row;
use crate::optimise::{Logistic, Sign, maximise, rounded};

/// The default model: the guidance of the specification, applied literally.
pub const NAME: &str = "accessibility-2";
const VERSION: &str = "2.0.0";
const SUMMARY: &str =
    "Answers decide; an age over 50 suggests large text, and signs of difficulty make it a recommendation.";

/// Fits one logistic regression each for people with a screen reader, people who find small text hard to
/// read, and people who read it well.
///
/// # Errors
/// If a group has no rows, a fit does not converge, or a component would reject the weights.
pub fn fit(rows: &[Row]) -> Result<Weights<'static>> {
    let group = |holds: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| holds(row)).collect::<Vec<_>>();
    let voice = group(&|row| row.facts.uses_screen_reader);
    let voice = logistic(
        &voice,
        Theme::VoiceAssisted,
        &|row| vec![1.0, f64::from(row.facts.can_read_small_text)],
        &[Sign::Free, Sign::Negative],
    )
    .context("people with a screen reader")?;
    let lean = |fine: bool| -> Result<Lean> {
        let rows = group(&|row| !row.facts.uses_screen_reader && row.facts.can_read_small_text == fine);
        let mut signs = [Sign::Positive; 6];
        signs[0] = Sign::Free;
        let values = logistic(&rows, Theme::LargeTextHighContrast, &leaning, &signs)?;
        Ok(Lean::new(values.try_into().ok().context("a lean has six numbers")?))
    };
    let weights = Weights {
        version: VERSION,
        summary: SUMMARY,
        screen_reader: voice[0],
        reads_small_text_too: voice[1],
        small_text: lean(false).context("people who find small text hard")?,
        leaning: lean(true).context("people who read small text well")?,
    };
    ensure!(weights.is_sound(), "the fit violates a guarantee: {weights:?}");
    Ok(weights)
}

/// The intercept, then the features that lean towards large text.
fn leaning(row: &Row) -> Vec<f64> {
    let request = row.facts.request();
    let holds = Lean::features(request.age_range, Signs::of(&request));
    [true].into_iter().chain(holds).map(f64::from).collect()
}

fn logistic(rows: &[&Row], theme: Theme, features: &dyn Fn(&Row) -> Vec<f64>, signs: &[Sign]) -> Result<Vec<f64>> {
    ensure!(!rows.is_empty(), "there are no rows");
    let all: Vec<_> = rows.iter().map(|row| features(row)).collect();
    let outcomes: Vec<_> = rows.iter().map(|row| row.label.kept == theme).collect();
    let offsets = vec![0.0; rows.len()];
    let fitted = maximise(&Logistic { features: &all, offsets: &offsets, outcomes: &outcomes }, signs)?;
    Ok(fitted.coefficients.into_iter().map(rounded).collect())
}
