//! Replays recorded decisions on the component versions that made them, and compares responses bit for bit.

mod difference;

use std::collections::HashMap;
use std::error::Error;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::PgPool;
use tokio::task::spawn_blocking;

use crate::db::{components, decisions};
use crate::domain::accessibility::Language;
use crate::domain::risk::CutOffs;
use crate::domain::rules::Facts;
use crate::models::LoadedComponent;
use crate::schema::Fields;
use crate::scoring::{Envelope, Kind, RulesRequest, RulesResponse, Scored, Visitor, with_kind};
use crate::wasm::{Runtime, TransferRules};
use difference::differences;

/// Replays at once on a host: each takes a processor for seconds.
pub const CONCURRENT_MAX: usize = 2;

/// A recorded decision.
#[derive(Debug, Clone, Deserialize)]
pub struct Recording {
    /// Copied to a mismatch.
    #[serde(default)]
    pub id: Option<String>,
    pub kind: String,
    /// By which the answer was judged; the defaults if left out.
    #[serde(default)]
    pub cut_offs: Option<CutOffs>,
    pub request: Value,
    pub response: Value,
}

impl TryFrom<&decisions::LoggedDecision> for Recording {
    type Error = serde_json::Error;

    fn try_from(decision: &decisions::LoggedDecision) -> serde_json::Result<Self> {
        Ok(Self {
            id: Some(decision.decision_id.to_string()),
            kind: decision.kind.to_string(),
            cut_offs: Some(decision.cut_offs),
            request: serde_json::from_str(&decision.request)?,
            response: serde_json::from_str(&decision.response)?,
        })
    }
}

/// The outcome of a replay.
#[derive(Debug, Default, Serialize)]
pub struct ReplayOutcome {
    pub replayed: usize,
    /// Decisions whose response was equal, bit for bit.
    pub equal: usize,
    pub different: Vec<Mismatch>,
}

/// A decision whose response differs, or that cannot be replayed.
#[derive(Debug, Serialize)]
pub struct Mismatch {
    /// From 0.
    pub index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the responses differ, or why there is no new one.
    pub differences: Vec<String>,
}

/// Replays decisions, and loads components as needed.
pub struct Replayer {
    db: PgPool,
    runtime: Runtime,
    /// By version; `None` if it cannot be loaded.
    components: HashMap<String, Option<LoadedComponent>>,
    outcome: ReplayOutcome,
}

impl Replayer {
    pub fn new(db: PgPool, runtime: Runtime) -> Self {
        Self { db, runtime, components: HashMap::new(), outcome: ReplayOutcome::default() }
    }

    /// Replays more decisions.
    ///
    /// # Errors
    /// When the database fails. A decision that cannot be replayed is a mismatch.
    pub async fn replay(&mut self, recordings: Vec<Recording>) -> Result<(), sqlx::Error> {
        for recording in recordings {
            let version = recording.response["model_version"].as_str().unwrap_or_default().to_owned();
            let id = recording.id.clone();
            let differences = match self.load(&version).await? {
                None => vec![format!("no component is registered as {version:?}, or it does not load")],
                // Some components take milliseconds, which would block a worker thread.
                Some(component) => spawn_blocking(move || replay(&component, &recording))
                    .await
                    .unwrap_or_else(|_| vec!["the replay panicked".to_owned()]),
            };
            let index = self.outcome.replayed;
            self.outcome.replayed += 1;
            if differences.is_empty() {
                self.outcome.equal += 1;
            } else {
                self.outcome.different.push(Mismatch { index, id, differences });
            }
        }
        Ok(())
    }

    pub fn finish(self) -> ReplayOutcome {
        self.outcome
    }

    async fn load(&mut self, version: &str) -> Result<Option<LoadedComponent>, sqlx::Error> {
        if let Some(component) = self.components.get(version) {
            return Ok(component.clone());
        }
        let registered = components::by_version(&mut *self.db.acquire().await?, version).await?;
        let runtime = self.runtime.clone();
        let component = match registered {
            Some((kind, bytes)) => spawn_blocking(move || LoadedComponent::load(&runtime, kind, &bytes).ok()).await,
            None => Ok(None),
        };
        let component = component.unwrap_or_default();
        self.components.insert(version.to_owned(), component.clone());
        Ok(component)
    }
}

/// Replays one decision, and returns the differences.
fn replay(component: &LoadedComponent, recording: &Recording) -> Vec<String> {
    let kind = component.identity().kind;
    if recording.kind != kind.as_str() {
        return vec![format!("the component is a {kind} component, not {}", recording.kind)];
    }
    let response = match component {
        LoadedComponent::Rules(rules) => respond_by_rules(&rules.component, recording),
        scorer => with_kind(kind, Response(scorer, recording)).unwrap_or_else(|| Err("no such kind".to_owned())),
    };
    response.map_or_else(|error| vec![error], |response| differences(&recording.response, &response))
}

struct Response<'a>(&'a LoadedComponent, &'a Recording);

impl Visitor for Response<'_> {
    type Output = Result<Value, String>;

    fn visit<K: Kind>(self) -> Self::Output {
        let Self(component, Recording { request, cut_offs, .. }) = self;
        let model = component.model::<K>().ok_or("the component is of another kind")?;
        let mut fields = Fields::from_row(request.to_string()).map_err(unreadable)?;
        let language = if request["language"] == "en" { Language::English } else { Language::Spanish };
        let envelope = Envelope::read::<K>(&mut fields, language);
        let faults: Vec<_> =
            fields.into_faults().iter().map(|fault| format!("{} {}", fault.field, fault.detail)).collect();
        if !faults.is_empty() {
            return Err(format!("the request is not valid: {}", faults.join(", ")));
        }
        let version = model.scorer.identity().version.clone();
        let assessment = model.scorer.assess(&envelope.request).map_err(no_answer)?;
        let assessment = K::judged(assessment, cut_offs.unwrap_or(CutOffs::DEFAULT));
        serde_json::to_value(K::response(envelope, Scored { assessment, version })).map_err(no_answer)
    }
}

fn respond_by_rules(rules: &TransferRules, recording: &Recording) -> Result<Value, String> {
    let request: RulesRequest = serde_json::from_str(&recording.request.to_string()).map_err(unreadable)?;
    let verdict = rules.decide(&Facts::from(&request)).map_err(no_answer)?;
    serde_json::to_value(RulesResponse::new(&rules.identity().version, &verdict)).map_err(no_answer)
}

fn unreadable(error: impl Error) -> String {
    format!("the request cannot be read: {error}")
}

fn no_answer(error: impl Error) -> String {
    format!("no answer: {error}")
}
