//! `/ai/risk`, `/ai/nudge`, `/ai/accessibility`: stateless scores from the components.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};

use crate::app::App;
use crate::domain::accessibility::Language;
use crate::domain::model::ModelKind;
use crate::domain::risk;
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::models::decisions::Kept;
use crate::scoring::accessibility::{AccessibilityAnswer, read_accessibility};
use crate::scoring::kind::read_id;
use crate::scoring::nudge::{NudgeAnswer, read_nudge};
use crate::scoring::risk::{RiskAnswer, RiskRequest, read_risk};

/// Scores a transfer.
pub(crate) async fn assess_risk(
    State(app): State<App>,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<RiskAnswer>, Error> {
    let user_id = read_id(&mut fields, "user_id");
    let request = read_risk(&mut fields);
    fields.finish()?;
    score_risk(&app, &request, user_id).await.map(Json)
}

/// Scores a transfer, and keeps the decision where this host does.
pub(crate) async fn score_risk(
    app: &App,
    request: &risk::Request,
    user_id: Option<String>,
) -> Result<RiskAnswer, Error> {
    let scored = app.models.snapshot().assess_risk(request, user_id.as_deref()).await?;
    let version = scored.version.clone();
    let answer = RiskAnswer::new(user_id.clone(), scored);
    if let Some(log) = app.models.log() {
        let text = |text: serde_json::Result<String>| text.map_err(|error| Error::Internal(error.into()));
        let asked = text(serde_json::to_string(&RiskRequest::new(request, user_id)))?;
        let response = text(serde_json::to_string(&answer))?;
        log.keep(vec![Kept { kind: ModelKind::Risk, version, transfer_id: None, request: asked, response }]).await?;
    }
    Ok(answer)
}

/// Decides whether a person on a screen needs help.
pub(crate) async fn assess_nudge(
    State(app): State<App>,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<NudgeAnswer>, Error> {
    let ids = ["user_id", "session_id"].map(|field| read_id(&mut fields, field));
    let request = read_nudge(&mut fields);
    fields.finish()?;
    let scored = app.models.snapshot().assess_nudge(&request, ids[0].as_deref()).await?;
    Ok(Json(NudgeAnswer::new(ids, request.screen, scored)))
}

/// Recommends an accessibility profile. Neither the request nor the answer is logged or kept: they
/// may say something about a person's health.
pub(crate) async fn assess_accessibility(
    State(app): State<App>,
    headers: HeaderMap,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<AccessibilityAnswer>, Error> {
    let user_id = read_id(&mut fields, "user_id");
    let request = read_accessibility(&mut fields, preferred_language(&headers));
    fields.finish()?;
    let scored = app.models.snapshot().assess_accessibility(&request, user_id.as_deref()).await?;
    Ok(Json(AccessibilityAnswer::new(user_id, scored)))
}

/// The better-liked of Spanish and English in `Accept-Language`; Spanish when in doubt.
fn preferred_language(headers: &HeaderMap) -> Language {
    let header = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let weight_of = |language: &str| {
        let weights = header.split(',').filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let primary = parts.next()?.split('-').next()?.to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |text| text.parse().ok())?;
            (primary == language).then_some(weight)
        });
        weights.fold(0.0_f64, f64::max)
    };
    if weight_of("en") > weight_of("es") { Language::English } else { Language::Spanish }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_liked_language_wins_and_spanish_in_doubt() {
        for (header, language) in [
            ("", Language::Spanish),
            ("en", Language::English),
            ("en-US,en;q=0.9", Language::English),
            ("es-MX, en;q=0.8", Language::Spanish),
            ("en;q=0.9, es;q=0.5", Language::English),
            ("en, es", Language::Spanish),
            ("fr, de;q=0.5", Language::Spanish),
            ("en;q=0", Language::Spanish),
            ("en;q=abc", Language::Spanish),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, header.parse().unwrap());
            assert_eq!(preferred_language(&headers), language, "{header}");
        }
    }
}
