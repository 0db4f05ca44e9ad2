//! `/admin/replay` and `/admin/what-if`: run kept decisions again, like `caudal replay` and `caudal whatif`.

use axum::Json;
use axum::extract::{FromRequest as _, Request, State};
use time::Duration;
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::auth::reader::Reader;
use crate::db::components;
use crate::db::decisions::Period;
use crate::domain::model::ModelKind;
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::http::limits::BODY_BYTES_MAX;
use crate::http::limits::stage::REPLAYS;
use crate::models::LoadedComponent;
use crate::replay::ReplayOutcome;
use crate::replay::run::{replay_period, try_period};
use crate::replay::what_if::{Candidates, WhatIf};
use crate::schema::{Fields, request};

/// Most decisions of a replay, and most orders of a what-if: a second of a processor. The commands take any number.
const DECISIONS_MAX: u32 = 10_000;
const ORDERS_MAX: u32 = 100_000;

/// As long as decisions are kept by default.
const DAYS_MAX: f64 = 400.0;

/// Longest name of a version.
const VERSION_CHARS_MAX: usize = 100;

const KEPT: &[&str] = &["risk", "transfer-rules"];

request! {
    /// Decisions of the last days.
    pub(crate) struct ReplayRequest {
        kind: String { one_of: KEPT, example: "\"risk\"" },
        days: u32 { at_least: 1.0, at_most: DAYS_MAX, example: "1" },
        limit: u32 { at_least: 1.0, at_most: DECISIONS_MAX as f64, example: "100" },
    }
}

request! {
    /// What to try on the orders of the last days: a risk model, transfer rules or both.
    pub(crate) struct WhatIfRequest {
        /// A registered version. Without one, the version decides that did.
        risk: Option<String> { chars_max: VERSION_CHARS_MAX, example: "\"risk-1.0.0+7f31c2a9\"" },
        rules: Option<String> { chars_max: VERSION_CHARS_MAX, example: "\"transfer-rules-1.0.0+7f31c2a9\"" },
        days: u32 { at_least: 1.0, at_most: DAYS_MAX, example: "30" },
        limit: u32 { at_least: 1.0, at_most: ORDERS_MAX as f64, example: "10000" },
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
    let mut fields = strict(request).await?;
    let ReplayRequest { kind, days, limit } = fields.read();
    let kind = ModelKind::parse(&kind).filter(|kind| KEPT.contains(&kind.as_str()));
    if kind.is_none() {
        fields.refuse("kind", "unknown-value", "must be risk or transfer-rules");
    }
    fields.finish()?;
    let kind = kind.ok_or(Error::NotFound)?;
    let found = replay_period(&app.db, app.runtime.clone(), kind, (last(&app, days), limit as usize)).await?;
    Ok(Json(found))
}

pub(crate) async fn what_if(State(app): State<App>, reader: Reader, request: Request) -> Result<Json<WhatIf>, Error> {
    reader.may_replay()?;
    let _turn = app.replays.try_acquire().map_err(|_| Error::Shed(REPLAYS))?;
    let mut fields = strict(request).await?;
    let WhatIfRequest { risk, rules, days, limit } = fields.read();
    if risk.is_none() && rules.is_none() {
        fields.refuse("", "required", "Send risk, rules or both");
    }
    let risk = candidate(&app, &mut fields, ("risk", ModelKind::Risk), risk).await?;
    let rules = candidate(&app, &mut fields, ("rules", ModelKind::TransferRules), rules).await?;
    fields.finish()?;
    let period = (last(&app, days), limit as usize);
    Ok(Json(try_period(&app.db, app.runtime.clone(), Candidates { risk, rules }, period, &app.clock).await?))
}

async fn strict(request: Request) -> Result<Fields, Error> {
    let AssistBody::<BODY_BYTES_MAX>(fields) = AssistBody::from_request(request, &()).await?;
    Ok(fields.strict())
}

fn last(app: &App, days: u32) -> Period {
    Period::since(app.clock.now() - Duration::days(days.into()))
}

async fn candidate(
    app: &App,
    fields: &mut Fields,
    (field, kind): (&'static str, ModelKind),
    version: Option<String>,
) -> Result<Option<LoadedComponent>, Error> {
    let Some(version) = version else { return Ok(None) };
    let registered = components::by_version(&mut *app.db.acquire().await?, &version).await?;
    let Some((_, bytes)) = registered.filter(|(found, _)| *found == kind) else {
        fields.refuse(field, "unknown-value", format!("must be a registered version of {kind}"));
        return Ok(None);
    };
    let runtime = app.runtime.clone();
    let loaded = spawn_blocking(move || LoadedComponent::load(&runtime, kind, &bytes)).await;
    loaded.map_err(|error| Error::Internal(error.into()))?.map(Some).map_err(|error| Error::Internal(error.into()))
}
