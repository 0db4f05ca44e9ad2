//! `/ai/risk/explain`: what weighed most in a score. That takes milliseconds, so it is asked for by itself, and not through
//! the fast way of scores.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::domain::accessibility::Language;
use crate::domain::fact::Fact;
use crate::domain::reason::Words;
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::schema::{Flat, answer};
use crate::scoring::{Envelope, Kind as _, Risk, RiskAnswer};

/// Facts of one answer. More than a few explain nothing to anybody.
const FACTS_MAX: usize = 5;

answer! {
    /// How risky a transfer is, and what weighed most.
    pub(crate) struct RiskExplanation {
        answer: Flat<RiskAnswer>,
        /// The number from which the score follows, before anything is added to it.
        base: f64 { example: "-1.25" },
        /// What facts add to it, the largest first.
        weighed: Vec<WeighedFact> { length_max: FACTS_MAX },
        /// What everything else adds.
        rest: f64 { example: "0.125" },
    }
}

answer! {
    /// What a fact adds to the number from which a score follows.
    struct WeighedFact {
        /// A field of the request.
        fact: &'static str { example: "\"amount\"" },
        /// Positive if it raises the score.
        contribution: f64 { example: "0.83" },
        words: Words,
    }
}

/// Asks the version that would score. The answer is neither evidence nor logged.
pub(crate) async fn explain_risk(
    State(app): State<App>,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<RiskExplanation>, Error> {
    // A risk has no words of its own.
    let envelope = Envelope::read::<Risk>(&mut fields, Language::Spanish);
    fields.finish()?;
    let (scored, explanation) = app.models.snapshot().explain::<Risk>(&envelope).await?;
    let (weighed, rest) = explanation.weighed(FACTS_MAX);
    let told = |(fact, contribution): (&Fact, f64)| {
        let (fact, words) = (fact.name, fact.words.clone());
        WeighedFact { fact, contribution, words }
    };
    Ok(Json(RiskExplanation {
        answer: Flat(Risk::response(envelope, scored)),
        base: explanation.base,
        weighed: weighed.into_iter().map(told).collect(),
        rest,
    }))
}
