//! `/admin/sinks`: where events are delivered. For operators, with a token of scope `events:admin`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::EventOperator;
use crate::db::sinks;
use crate::domain::sink::{Kind, Order, Sink, Undelivered};
use crate::http::admin::feed::{read_cursor, read_types};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, PathId};
use crate::outbox::{CURSOR_CHARS_MAX, TYPE_CHARS_MAX, TYPES_MAX};
use crate::schema::{Flat, Shape, answer, request};
use crate::sinks::{SINKS_MAX, check_url, secret_of};

/// Longest URL.
const URL_CHARS_MAX: usize = 2_000;

request! {
    /// A system that gets events.
    pub(crate) struct SinkRequest {
        kind: Kind { example: "\"webhook\"" },
        url: String { chars_max: URL_CHARS_MAX, example: "\"https://events.example.com/caudal\"" },
        /// Types, or what types begin with; all if left out.
        types: Option<Vec<String>> {
            length_max: TYPES_MAX, items: &Shape::text(TYPE_CHARS_MAX), example: "[\"mx.caudal.transfer\"]"
        },
        /// A cursor of `/admin/events`. Empty: from the beginning. Left out: from now on.
        from: Option<String> { chars_max: CURSOR_CHARS_MAX, example: "\"\"" },
    }
}

request! {
    /// What to do to a sink.
    pub(crate) struct SinkOrderRequest {
        order: Order { example: "\"pause\"" },
        /// For `resend`: a cursor of `/admin/events`, everything after which is sent again; empty for everything. Left out:
        /// what was not accepted.
        from: Option<String> { chars_max: CURSOR_CHARS_MAX, example: "\"\"" },
    }
}

answer! {
    /// A new sink, with what it shares with this bank.
    pub(crate) struct AddedSinkJson as "AddedSink" in camelCase {
        sink: Flat<Sink>,
        /// Answered only once: what verifies the signatures of a webhook, or the password of the user `id` in NATS.
        secret: String { example: "\"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfVVB6jyZk=\"" },
    }
}

answer! {
    /// All sinks, oldest first.
    pub(crate) struct SinksJson as "Sinks" {
        sinks: Vec<Sink>,
    }
}

answer! {
    /// What a sink did not accept, in the order in which it is to arrive.
    pub(crate) struct UndeliveredEventsJson as "UndeliveredEvents" {
        events: Vec<Undelivered>,
    }
}

pub(crate) async fn list_sinks(State(app): State<App>, _: EventOperator) -> Result<Json<SinksJson>, Error> {
    Ok(Json(SinksJson { sinks: sinks::list(&mut *app.db.acquire().await?).await? }))
}

pub(crate) async fn add_sink(
    State(app): State<App>,
    operator: EventOperator,
    AssistBody(mut fields): AssistBody,
) -> Result<(StatusCode, Json<AddedSinkJson>), Error> {
    let SinkRequest { kind, url, types, from } = fields.read();
    let from = read_cursor(&mut fields, from);
    let types = types.unwrap_or_default();
    read_types(&mut fields, types.clone());
    if let Err(detail) = check_url(kind, &url) {
        fields.refuse("url", "not-allowed", detail);
    }
    fields.finish()?;
    let cursor = match from {
        Some(cursor) => app.outbox.resume(&cursor).await?,
        None => app.outbox.latest().await?,
    };
    let sink = Sink {
        id: app.clock.new_id(),
        kind: kind.to_string(),
        url,
        types,
        is_paused: false,
        created_by: operator.person.name,
        created_at: app.clock.now(),
        cursor: cursor.to_string(),
        undelivered: 0,
        oldest_undelivered_at: None,
    };
    if !sinks::insert(&mut *app.db.acquire().await?, &app.key, &sink, SINKS_MAX).await? {
        let detail = format!("There are {SINKS_MAX} sinks already: remove one first");
        return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "", "too-many", &detail));
    }
    audit::done(Event::SinkAdded, &sink.created_by, &sink.id);
    let secret = secret_of(&app.key, sink.id);
    Ok((StatusCode::CREATED, Json(AddedSinkJson { sink: Flat(sink), secret })))
}

pub(crate) async fn change_sink(
    State(app): State<App>,
    operator: EventOperator,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
) -> Result<StatusCode, Error> {
    let SinkOrderRequest { order, from } = fields.read();
    let from = read_cursor(&mut fields, from);
    fields.finish()?;
    let (PathId(id), by) = (id?, operator.person.name);
    let from = match from {
        Some(cursor) => Some(app.outbox.resume(&cursor).await?),
        None => None,
    };
    let text = from.as_ref().map(ToString::to_string);
    let from = from.as_ref().map(|it| &it.0).zip(text.as_deref());
    if !sinks::change(&mut *app.db.acquire().await?, &app.key, (id, order, from), &by, app.clock.now()).await? {
        return Err(Error::NotFound);
    }
    audit::done(Event::SinkChanged, &by, &format_args!("{order} {id}"));
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn list_undelivered(
    State(app): State<App>,
    _: EventOperator,
    id: Result<PathId, Error>,
) -> Result<Json<UndeliveredEventsJson>, Error> {
    let PathId(id) = id?;
    let mut db = app.db.acquire().await?;
    if !sinks::list(&mut db).await?.iter().any(|sink| sink.id == id) {
        return Err(Error::NotFound);
    }
    Ok(Json(UndeliveredEventsJson { events: sinks::undelivered(&mut db, id).await? }))
}
