//! `/ai/risk`, `/ai/nudge`, `/ai/accessibility`: stateless scores.

use std::convert::Infallible;

use axum::Json;
use axum::extract::{FromRequestParts, MatchedPath, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::app::App;
use crate::domain::accessibility::Language;
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::models::ResponseError;
use crate::scoring::{Envelope, Kind};
use crate::telemetry;

/// Scores a request. Requests and responses of kinds that reveal something about a person's health are never
/// logged or stored.
pub(crate) async fn assess<K: Kind>(
    _: NamedRoute,
    State(app): State<App>,
    PreferredLanguage(language): PreferredLanguage,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<K::Response>, Error> {
    let envelope = Envelope::read::<K>(&mut fields, language);
    fields.finish()?;
    Ok(Json(app.models.snapshot().respond::<K>(envelope).await?))
}

impl From<ResponseError> for Error {
    fn from(error: ResponseError) -> Self {
        match error {
            ResponseError::Score(error) => error.into(),
            ResponseError::Log(error) => error.into(),
        }
    }
}

/// Names the route in the log and in the trace before the body is read, which may fail. Other routes pass a layer that does.
pub(crate) struct NamedRoute;

impl<S: Send + Sync> FromRequestParts<S> for NamedRoute {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        if let Some(route) = parts.extensions.get::<MatchedPath>() {
            telemetry::set_route(route.as_str());
        }
        Ok(Self)
    }
}

/// Spanish or English, whichever `Accept-Language` prefers; Spanish if neither.
pub(crate) struct PreferredLanguage(Language);

impl<S: Send + Sync> FromRequestParts<S> for PreferredLanguage {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(preferred_language(&parts.headers)))
    }
}

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
    fn the_preferred_language_wins_and_spanish_is_the_default() {
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
