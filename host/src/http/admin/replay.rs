//! `/admin/replay`: replays decisions, like `caudal replay`.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::Operator;
use crate::db::decisions;
use crate::domain::model::ModelKind;
use crate::http::error::Error;
use crate::replay::{Outcome, Recording, Replayer};

/// Largest body: room for [`SUPPLIED_MAX`] decisions.
pub(crate) const BODY_BYTES_MAX: usize = 4 << 20;

/// Most decisions of one request; `caudal replay` takes any number.
const SUPPLIED_MAX: usize = 1_000;

/// Decisions in the request, or the latest in the log.
#[derive(Deserialize)]
pub(crate) struct Body {
    #[serde(default)]
    decisions: Vec<Recording>,
    stored: Option<Stored>,
}

#[derive(Deserialize)]
struct Stored {
    kind: String,
    limit: u32,
}

pub(crate) async fn replay(
    State(app): State<App>,
    _: Operator,
    body: Result<Json<Body>, JsonRejection>,
) -> Result<Json<Outcome>, Error> {
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
        return Err(refused("stored", "conflict", "cannot be combined with decisions"));
    }
    let decisions = match stored {
        None => decisions,
        Some(Stored { kind, limit }) => {
            let is_logged = |kind: &ModelKind| matches!(kind, ModelKind::Risk | ModelKind::TransferRules);
            let kind = ModelKind::parse(&kind)
                .filter(is_logged)
                .ok_or_else(|| refused("stored.kind", "unknown-value", "must be risk or transfer-rules"))?;
            if limit as usize > SUPPLIED_MAX {
                return Err(refused("stored.limit", "out-of-range", "is above 1000: use `caudal replay`"));
            }
            let limit = i64::from(limit);
            let mut db = app.db.acquire().await?;
            let logged = decisions::latest(&mut db, kind, OffsetDateTime::UNIX_EPOCH, limit).await?;
            let recordings: serde_json::Result<Vec<_>> = logged.iter().map(Recording::try_from).collect();
            recordings.map_err(|error| Error::Internal(error.into()))?
        }
    };
    let mut replayer = Replayer::new(app.db.clone(), app.runtime.clone());
    replayer.replay(decisions).await?;
    Ok(Json(replayer.finish()))
}

fn refused(field: &str, code: &'static str, detail: &str) -> Error {
    Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, field, code, detail)
}
