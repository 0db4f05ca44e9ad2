//! `/admin/replay`: replays decisions, like `caudal replay`.

use axum::Json;
use axum::extract::{FromRequest as _, Request, State};
use serde_json::Value;
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::reader::Reader;
use crate::db::decisions;
use crate::domain::model::ModelKind;
use crate::domain::risk::CutOffs;
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::http::limits::stage::REPLAYS;
use crate::replay::{Recording, ReplayOutcome, Replayer};
use crate::schema::request;

/// Largest body: room for [`SUPPLIED_MAX`] decisions.
pub(crate) const BODY_BYTES_MAX: usize = 4 << 20;

/// Most decisions of one request; `caudal replay` takes any number.
const SUPPLIED_MAX: usize = 1_000;

/// Longest id of a decision, in characters: any request's id fits.
const ID_CHARS_MAX: usize = 255;

/// Longest name of a kind, in characters: an unknown one is a finding.
const KIND_CHARS_MAX: usize = 64;

request! {
    /// A recorded decision. Its request and response are those of its kind's API.
    pub(crate) struct DecisionRequest as "Decision" {
        /// Repeated in the findings.
        id: Option<String> { chars_max: ID_CHARS_MAX, example: "\"d-1\"" },
        /// Those by which a risk was judged; the defaults if left out.
        cut_offs: Option<CutOffs>,
        kind: String { chars_max: KIND_CHARS_MAX, example: "\"risk\"" },
        request: Value,
        response: Value,
    }
}

request! {
    /// The latest logged decisions.
    pub(crate) struct StoredRequest as "StoredDecisions" {
        kind: String { one_of: &["risk", "transfer-rules"], example: "\"risk\"" },
        limit: u32 { at_least: 1.0, at_most: SUPPLIED_MAX as f64, example: "100" },
    }
}

request! {
    /// Decisions to replay: these, or the latest logged. Other fields are refused.
    pub(crate) struct ReplayRequest {
        decisions: Option<Vec<DecisionRequest>> { length_max: SUPPLIED_MAX, example: "[]" },
        stored: Option<StoredRequest>,
    }
}

impl From<DecisionRequest> for Recording {
    fn from(DecisionRequest { id, cut_offs, kind, request, response }: DecisionRequest) -> Self {
        Self { id, kind, cut_offs, request, response }
    }
}

/// A misspelt field must not look like a replay that found nothing, so unknown ones are refused.
pub(crate) async fn replay(
    State(app): State<App>,
    reader: Reader,
    request: Request,
) -> Result<Json<ReplayOutcome>, Error> {
    reader.may_replay()?;
    // Before the body, which takes memory too.
    let _turn = app.replays.try_acquire().map_err(|_| Error::Shed(REPLAYS))?;
    let AssistBody::<BODY_BYTES_MAX>(fields) = AssistBody::from_request(request, &()).await?;
    let mut fields = fields.strict();
    let ReplayRequest { decisions, stored } = fields.read();
    if stored.as_ref().is_some_and(|it| kept(&it.kind).is_none()) {
        fields.refuse("stored.kind", "unknown-value", "must be risk or transfer-rules");
    }
    match (&decisions, &stored) {
        (Some(_), Some(_)) => fields.refuse("stored", "conflict", "cannot be combined with decisions"),
        (None, None) => fields.refuse("", "required", "Send decisions or stored"),
        _ => {}
    }
    fields.finish()?;
    let decisions = match stored {
        None => decisions.into_iter().flatten().map(Recording::from).collect(),
        Some(StoredRequest { kind, limit }) => {
            let kind = kept(&kind).ok_or(Error::NotFound)?;
            let mut db = app.db.acquire().await?;
            let logged = decisions::latest(&mut db, kind, OffsetDateTime::UNIX_EPOCH, limit.into()).await?;
            let recordings: serde_json::Result<Vec<_>> = logged.iter().map(Recording::try_from).collect();
            recordings.map_err(|error| Error::Internal(error.into()))?
        }
    };
    let mut replayer = Replayer::new((*app.db).clone(), app.runtime.clone());
    replayer.replay(decisions).await?;
    Ok(Json(replayer.finish()))
}

/// The kind of that name, if its decisions are logged.
fn kept(kind: &str) -> Option<ModelKind> {
    ModelKind::parse(kind).filter(|kind| matches!(kind, ModelKind::Risk | ModelKind::TransferRules))
}
