//! `/ai/risk`, `/ai/nudge`, `/ai/accessibility`: stateless scores.

use std::pin::Pin;

use axum::Json;
use axum::extract::{FromRequest as _, Request};
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::domain::accessibility::Language;
use crate::domain::model::ModelKind;
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::http::limits::BODY_BYTES_MAX;
use crate::models::serving::answer::Asker;
use crate::scoring::{Envelope, Kind, Visitor, with_kind};
use crate::telemetry;

type Score = Box<dyn Fn(Request) -> Pin<Box<dyn Future<Output = Response> + Send>> + Send + Sync>;

/// The route of each kind of scorer. They do not pass through the router, which takes a fifteenth of the time of a
/// score.
#[derive(Default)]
pub(crate) struct Scores(Vec<(&'static str, Score)>);

impl Scores {
    pub(crate) fn of(app: &App) -> Self {
        struct Route<'a>(&'a App);
        impl Visitor for Route<'_> {
            type Output = (&'static str, Score);

            fn visit<K: Kind>(self) -> Self::Output {
                let app = self.0.clone();
                (K::PATH, Box::new(move |request| Box::pin(respond::<K>(app.clone(), request))))
            }
        }
        Self(ModelKind::SCORERS.iter().filter_map(|kind| with_kind(*kind, Route(app))).collect())
    }

    pub(crate) fn find(&self, method: &Method, path: &str) -> Option<&Score> {
        let (_, score) = self.0.iter().find(|(it, _)| *it == path && method == Method::POST)?;
        Some(score)
    }
}

pub(crate) async fn respond<K: Kind>(app: App, request: Request) -> Response {
    // Before the body is read, which may fail. Other routes pass a layer that does it.
    telemetry::set_route(K::PATH);
    assess::<K>(&app, request).await.into_response()
}

/// Scores a request. Nothing is kept of it.
async fn assess<K: Kind>(app: &App, request: Request) -> Result<Json<K::Response>, Error> {
    let language = preferred_language(request.headers());
    let AssistBody(mut fields) = AssistBody::<BODY_BYTES_MAX>::from_request(request, &()).await?;
    let envelope = Envelope::read::<K>(&mut fields, language);
    fields.finish()?;
    // Callers of this API name the user themselves. Rollouts of `risk`, which holds up transfers, do not rely on that.
    let is_evidence = K::KIND != ModelKind::Risk;
    let asker = Asker { user: envelope.user_id.as_deref(), is_evidence };
    let (scored, _) = app.models.snapshot().assess::<K>(&envelope.request, asker).await?;
    Ok(Json(K::response(envelope, scored)))
}

/// Spanish or English, whichever `Accept-Language` prefers; Spanish if neither.
pub(crate) fn preferred_language(headers: &HeaderMap) -> Language {
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
