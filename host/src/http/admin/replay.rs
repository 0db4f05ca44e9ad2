//! `/admin/replay`: decisions run again on the very component that made them, and compared bit for bit.
//! `caudal replay` does the same.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::PgPool;
use time::OffsetDateTime;
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::db::{components, decisions};
use crate::domain::accessibility::Language;
use crate::domain::model::ModelKind;
use crate::domain::rules::Facts;
use crate::http::auth::Operator;
use crate::http::error::Error;
use crate::models::decisions::{RulesRequest, RulesResponse};
use crate::models::{Loaded, Runtime, Scored};
use crate::schema::Fields;
use crate::scoring::accessibility::{AccessibilityAnswer, read_accessibility};
use crate::scoring::kind::read_id;
use crate::scoring::nudge::{NudgeAnswer, read_nudge};
use crate::scoring::risk::{RiskAnswer, read_risk};

/// Largest body: room for [`SUPPLIED_MAX`] decisions.
pub(crate) const BODY_BYTES_MAX: usize = 4 << 20;

/// Decisions of one request; `caudal replay` takes any number.
const SUPPLIED_MAX: usize = 1_000;

/// What is run again: decisions that come with the request, or the latest that were kept.
#[derive(Deserialize)]
pub(crate) struct Body {
    #[serde(default)]
    decisions: Vec<Recorded>,
    stored: Option<Stored>,
}

#[derive(Deserialize)]
struct Stored {
    kind: String,
    limit: u32,
}

/// A decision as it was.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Recorded {
    /// Shown with what is found.
    #[serde(default)]
    pub(crate) id: Option<String>,
    pub(crate) kind: String,
    pub(crate) request: Value,
    pub(crate) response: Value,
}

impl Recorded {
    /// One that was kept.
    pub(crate) fn kept(decision: &decisions::Decision) -> serde_json::Result<Self> {
        Ok(Self {
            id: Some(decision.decision_id.to_string()),
            kind: decision.kind.to_string(),
            request: serde_json::from_str(&decision.request)?,
            response: serde_json::from_str(&decision.response)?,
        })
    }
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Findings {
    /// Decisions that were run again.
    pub(crate) replayed: usize,
    /// Those whose answer was the same, bit for bit.
    pub(crate) equal: usize,
    /// Those whose answer was not, or that could not be run.
    pub(crate) different: Vec<Finding>,
}

/// What is wrong with one decision.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    /// Its place among those that were run, from 0.
    pub(crate) index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Where the answers differ, or why it could not be run.
    pub(crate) differences: Vec<String>,
}

/// Runs decisions again.
pub(crate) async fn replay(
    State(app): State<App>,
    _: Operator,
    body: Result<Json<Body>, JsonRejection>,
) -> Result<Json<Findings>, Error> {
    let Json(Body { decisions, stored }) = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Error::PayloadTooLarge(BODY_BYTES_MAX),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Error::NotJson,
        StatusCode::UNPROCESSABLE_ENTITY => refused("", "wrong-type", &rejection.body_text()),
        _ => Error::MalformedJson(rejection.body_text()),
    })?;
    if decisions.len() > SUPPLIED_MAX {
        return Err(refused("decisions", "too-long", "has more than 1000: use `caudal replay`"));
    }
    if stored.is_some() && !decisions.is_empty() {
        return Err(refused("stored", "conflict", "is there beside decisions"));
    }
    let decisions = match stored {
        None => decisions,
        Some(Stored { kind, limit }) => {
            let is_kept = |kind: &ModelKind| matches!(kind, ModelKind::Risk | ModelKind::TransferRules);
            let kind = ModelKind::parse(&kind)
                .filter(is_kept)
                .ok_or_else(|| refused("stored.kind", "unknown-value", "must be risk or transfer-rules"))?;
            if limit as usize > SUPPLIED_MAX {
                return Err(refused("stored.limit", "out-of-range", "is above 1000: use `caudal replay`"));
            }
            let limit = i64::from(limit);
            let mut db = app.db.acquire().await?;
            let kept = decisions::latest(&mut db, kind, OffsetDateTime::UNIX_EPOCH, limit).await?;
            let read: serde_json::Result<Vec<_>> = kept.iter().map(Recorded::kept).collect();
            read.map_err(|error| Error::Internal(error.into()))?
        }
    };
    let mut replayer = Replayer::new(app.db.clone(), app.runtime.clone());
    replayer.run(decisions).await?;
    Ok(Json(replayer.findings))
}

fn refused(field: &str, code: &'static str, detail: &str) -> Error {
    Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, field, code, detail)
}

/// Runs decisions again, on components that it loads as it needs them.
pub(crate) struct Replayer {
    db: PgPool,
    runtime: Runtime,
    loaded: HashMap<String, Option<Loaded>>,
    pub(crate) findings: Findings,
}

impl Replayer {
    pub(crate) fn new(db: PgPool, runtime: Runtime) -> Self {
        Self { db, runtime, loaded: HashMap::new(), findings: Findings::default() }
    }

    /// Runs some more.
    ///
    /// # Errors
    /// When the database fails. What is wrong with a decision is a finding.
    pub(crate) async fn run(&mut self, decisions: Vec<Recorded>) -> Result<(), sqlx::Error> {
        for recorded in decisions {
            let version = recorded.response["model_version"].as_str().unwrap_or_default().to_owned();
            let loaded = self.load(&version).await?;
            let id = recorded.id.clone();
            let differences = match loaded {
                None => vec![format!("no component is registered as {version:?}, or it does not load")],
                // Off the worker threads: some components take milliseconds.
                Some(loaded) => spawn_blocking(move || again(&loaded, &recorded))
                    .await
                    .unwrap_or_else(|_| vec!["running it again panicked".to_owned()]),
            };
            let index = self.findings.replayed;
            self.findings.replayed += 1;
            if differences.is_empty() {
                self.findings.equal += 1;
            } else {
                self.findings.different.push(Finding { index, id, differences });
            }
        }
        Ok(())
    }

    async fn load(&mut self, version: &str) -> Result<Option<Loaded>, sqlx::Error> {
        if let Some(known) = self.loaded.get(version) {
            return Ok(known.clone());
        }
        let found = components::by_version(&mut *self.db.acquire().await?, version).await?;
        let runtime = self.runtime.clone();
        let loaded = match found {
            Some((kind, bytes)) => spawn_blocking(move || Loaded::new(&runtime, kind, &bytes).ok()).await,
            None => Ok(None),
        };
        let loaded = loaded.unwrap_or_default();
        self.loaded.insert(version.to_owned(), loaded.clone());
        Ok(loaded)
    }
}

/// Asks again, and tells where the answers differ; nowhere when they are the same.
fn again(loaded: &Loaded, recorded: &Recorded) -> Vec<String> {
    let kind = loaded.identity().kind.as_str();
    if recorded.kind != kind {
        return vec![format!("the component is a {kind} component, not {}", recorded.kind)];
    }
    let mut found = Vec::new();
    match answer(loaded, recorded) {
        Ok(answer) => compare("", &recorded.response, &answer, &mut found),
        Err(why) => found.push(why),
    }
    found
}

fn answer(loaded: &Loaded, recorded: &Recorded) -> Result<Value, String> {
    let version = loaded.identity().version.clone();
    let text = recorded.request.to_string();
    let fields = Fields::from_row(text.as_str());
    let mut fields = fields.map_err(|error| format!("the request does not read: {error}"))?;
    let user_id = read_id(&mut fields, "user_id");
    let failed = |error: &dyn std::error::Error| format!("no answer: {error}");
    let json = match loaded {
        Loaded::Risk(served) => {
            let request = read_risk(&mut fields);
            check(fields)?;
            let assessment = served.scorer.assess(&request).map_err(|error| failed(&error))?;
            serde_json::to_value(RiskAnswer::new(user_id, Scored { assessment, version }))
        }
        Loaded::Nudge(served) => {
            let session_id = read_id(&mut fields, "session_id");
            let request = read_nudge(&mut fields);
            check(fields)?;
            let assessment = served.scorer.assess(&request).map_err(|error| failed(&error))?;
            serde_json::to_value(NudgeAnswer::new(
                [user_id, session_id],
                request.screen,
                Scored { assessment, version },
            ))
        }
        Loaded::Accessibility(served) => {
            let english = recorded.request["language"] == "en";
            let language = if english { Language::English } else { Language::Spanish };
            let request = read_accessibility(&mut fields, language);
            check(fields)?;
            let assessment = served.scorer.assess(&request).map_err(|error| failed(&error))?;
            serde_json::to_value(AccessibilityAnswer::new(user_id, Scored { assessment, version }))
        }
        Loaded::Rules(rules) => {
            let request: RulesRequest =
                serde_json::from_str(&text).map_err(|error| format!("the request does not read: {error}"))?;
            let verdict = rules.decide(&Facts::from(&request)).map_err(|error| failed(&error))?;
            serde_json::to_value(RulesResponse::new(&version, &verdict))
        }
    };
    json.map_err(|error| failed(&error))
}

fn check(fields: Fields) -> Result<(), String> {
    let faults = fields.into_faults();
    let told: Vec<_> = faults.iter().map(|fault| format!("{} {}", fault.field, fault.detail)).collect();
    if told.is_empty() { Ok(()) } else { Err(format!("the request is not valid: {}", told.join(", "))) }
}

/// Notes where two values differ. Numbers are the same when their bits are.
fn compare(place: &str, recorded: &Value, replayed: &Value, found: &mut Vec<String>) {
    match (recorded, replayed) {
        (Value::Object(was), Value::Object(is)) => {
            for name in was.keys().chain(is.keys().filter(|name| !was.contains_key(*name))) {
                let part = |of: &serde_json::Map<String, Value>| of.get(name).cloned().unwrap_or_default();
                compare(&format!("{place}/{name}"), &part(was), &part(is), found);
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            for (at, (was, is)) in was.iter().zip(is).enumerate() {
                compare(&format!("{place}/{at}"), was, is, found);
            }
        }
        (Value::Number(was), Value::Number(is)) => {
            let bits = |number: &serde_json::Number| number.as_f64().map(f64::to_bits);
            if bits(was) != bits(is) {
                found.push(format!("{place} was {was} and is {is}"));
            }
        }
        (was, is) if was == is => {}
        (was, is) => found.push(format!("{place} was {was} and is {is}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_bit_is_a_difference_and_the_spelling_is_not() {
        let found = |was: &str, is: &Value| {
            let mut found = Vec::new();
            compare("", &serde_json::from_str(was).unwrap(), is, &mut found);
            found
        };
        assert!(found(r#"{"score": 0.1, "factors": ["A"]}"#, &json!({"factors": ["A"], "score": 0.1})).is_empty());
        assert!(found(r#"{"score": 1.0}"#, &json!({"score": 1})).is_empty(), "the same number");
        assert_eq!(found("0.1", &json!(0.1_f64.next_up())), [" was 0.1 and is 0.10000000000000002"]);
        assert_eq!(found("-0.0", &json!(0.0)), [" was -0.0 and is 0.0"]);
        assert_eq!(found(r#"{"a": 1}"#, &json!({"b": 1})), ["/a was 1 and is null", "/b was null and is 1"]);
        assert_eq!(found("[1, 2]", &json!([1])), [" was [1,2] and is [1]"]);
    }
}
