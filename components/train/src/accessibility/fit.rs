//! Fits the confidences of the accessibility model. The rules on answers are not fitted.

use anyhow::{Context as _, Result, ensure};
use caudal_model::accessibility::{Lean, Signs, Weights};

use super::generator::{Row, Theme};
use crate::optimise::{Logistic, Sign, maximise, rounded};

/// For example `accessibility-1`.
pub const NAME: &str = "accessibility-1";
const VERSION: &str = "1.0.0";
const SUMMARY: &str = "Answers decide; age and signs of difficulty say how sure to be, and at most suggest.";

/// Fits to rows: one curve for people with a screen reader, one for those who find small text hard,
/// and one for those who say that it is fine.
///
/// # Errors
/// When a group has no rows, a fit does not settle, or ends in weights that a component would refuse.
pub fn fit(rows: &[Row]) -> Result<Weights<'static>> {
    let group = |holds: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| holds(row)).collect::<Vec<_>>();
    let voice = group(&|row| row.uses_screen_reader);
    let voice = logistic(
        &voice,
        Theme::VoiceAssisted,
        &|row| vec![1.0, if row.can_read_small_text { 1.0 } else { 0.0 }],
        &[Sign::Free, Sign::Negative],
    )
    .context("people with a screen reader")?;
    let lean = |fine: bool| -> Result<Lean> {
        let rows = group(&|row| !row.uses_screen_reader && row.can_read_small_text == fine);
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
        leaning: lean(true).context("people who say that small text is fine")?,
    };
    ensure!(weights.is_sound(), "the fit broke a promise: {weights:?}");
    Ok(weights)
}

/// A constant, then what leans towards large text.
fn leaning(row: &Row) -> Vec<f64> {
    let request = row.request();
    let holds = Lean::features(request.age_range, Signs::of(&request));
    [true].into_iter().chain(holds).map(|holds| f64::from(u8::from(holds))).collect()
}

fn logistic(rows: &[&Row], theme: Theme, features: &dyn Fn(&Row) -> Vec<f64>, signs: &[Sign]) -> Result<Vec<f64>> {
    ensure!(!rows.is_empty(), "there are no rows to fit to");
    let all: Vec<_> = rows.iter().map(|row| features(row)).collect();
    let outcomes: Vec<_> = rows.iter().map(|row| row.kept == theme).collect();
    let offsets = vec![0.0; rows.len()];
    let fitted = maximise(&Logistic { features: &all, offsets: &offsets, outcomes: &outcomes }, signs)?;
    Ok(fitted.coefficients.into_iter().map(rounded).collect())
}
