//! `/admin/sinks`: where events are delivered. For operators, with a token of scope `events:admin`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::EventOperator;
use crate::db::sinks::{self, ListedSink, Undelivered};
use crate::domain::sink::{Kind, Sink, State as SinkState};
use crate::http::admin::feed::{read_cursor, read_types};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, PathId};
use crate::http::ledger::accounts::{ID_EXAMPLE, INSTANT_EXAMPLE};
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
    /// What a sink gets again.
    pub(crate) struct ResendRequest {
        /// A cursor of `/admin/events`: everything after it; empty for everything. Left out: what was not accepted.
        from: Option<String> { chars_max: CURSOR_CHARS_MAX, example: "\"\"" },
    }
}

answer! {
    /// A system that gets events, and how far it is.
    pub(crate) struct SinkJson as "Sink" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        kind: Kind { example: "\"webhook\"" },
        url: String { example: "\"https://events.example.com/caudal\"" },
        /// Empty for all.
        types: Vec<String> { example: "[\"mx.caudal.transfer\"]" },
        state: SinkState { example: "\"active\"" },
        created_by: String { example: "\"eva\"" },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// Events that it did not accept, and later ones that wait for them.
        undelivered: i64 { example: "0" },
        /// When the oldest of them happened.
        oldest_undelivered_at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
        /// Everything before it was delivered or is undelivered.
        cursor: String { example: "\"5f3a9c01.0-r0.9-0.15\"" },
    }
}

answer! {
    /// A new sink, with what it shares with this bank.
    pub(crate) struct AddedSinkJson as "AddedSink" in camelCase {
        sink: Flat<SinkJson>,
        /// Answered only once: what verifies the signatures of a webhook, or the password of the user `id` in NATS.
        secret: String { example: "\"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfVVB6jyZk=\"" },
    }
}

answer! {
    /// All sinks, oldest first.
    pub(crate) struct SinksJson as "Sinks" {
        sinks: Vec<SinkJson>,
    }
}

answer! {
    /// An event that a sink did not accept, or that waits for an earlier one.
    pub(crate) struct UndeliveredJson as "UndeliveredEvent" in camelCase {
        id: String { example: "\"0-15-0\"" },
        kind: String { named: "type", example: "\"mx.caudal.transfer.completed\"" },
        /// What keeps its order, accounts as a rule.
        keys: Vec<String> { example: "[\"0198f1c2-5a2b-7c3d-8e4f-5a6b7c8d9e0f\"]" },
        time: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// 0 if it only waits for an earlier one.
        attempts: i64 { example: "3" },
        last_error: Option<String> { example: "\"answered 503 Service Unavailable\"" },
    }
}

answer! {
    /// What a sink did not accept, in the order in which it is to arrive.
    pub(crate) struct UndeliveredEventsJson as "UndeliveredEvents" {
        events: Vec<UndeliveredJson>,
    }
}

impl From<ListedSink> for SinkJson {
    fn from(ListedSink { sink, undelivered, oldest, cursor }: ListedSink) -> Self {
        let Sink { sink_id, kind, url, types, state, created_by, created_at } = sink;
        let oldest_undelivered_at = oldest;
        Self {
            id: sink_id,
            kind,
            url,
            types,
            state,
            created_by,
            created_at,
            undelivered,
            oldest_undelivered_at,
            cursor,
        }
    }
}

impl From<Undelivered> for UndeliveredJson {
    fn from(it: Undelivered) -> Self {
        let Undelivered { event_id, kind, keys, happened_at, attempts, last_error, .. } = it;
        Self { id: event_id, kind, keys, time: happened_at, attempts: attempts.into(), last_error }
    }
}

pub(crate) async fn list_sinks(State(app): State<App>, _: EventOperator) -> Result<Json<SinksJson>, Error> {
    let listed = sinks::list(&mut *app.db.acquire().await?).await?;
    Ok(Json(SinksJson { sinks: listed.into_iter().map(SinkJson::from).collect() }))
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
    let (created_by, created_at, cursor) = (operator.person.name, app.clock.now(), cursor.to_string());
    let sink = Sink { sink_id: app.clock.new_id(), kind, url, types, state: SinkState::Active, created_by, created_at };
    if !sinks::insert(&mut *app.db.acquire().await?, &app.key, &sink, (&cursor, SINKS_MAX)).await? {
        let detail = format!("There are {SINKS_MAX} sinks already: remove one first");
        return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "", "too-many", &detail));
    }
    audit::done(Event::SinkAdded, &sink.created_by, &sink.sink_id);
    let secret = secret_of(&app.key, sink.sink_id);
    let sink = Flat(ListedSink { sink, undelivered: 0, oldest: None, cursor }.into());
    Ok((StatusCode::CREATED, Json(AddedSinkJson { sink, secret })))
}

/// Its events are lost to it, unless it is added again with its last cursor.
pub(crate) async fn remove_sink(
    State(app): State<App>,
    operator: EventOperator,
    id: Result<PathId, Error>,
) -> Result<StatusCode, Error> {
    let (PathId(id), by) = (id?, operator.person.name);
    let removed = sinks::remove(&mut *app.db.acquire().await?, &app.key, id, &by, app.clock.now()).await?;
    done(removed, (Event::SinkRemoved, &by, id))
}

pub(crate) async fn pause_sink(
    State(app): State<App>,
    operator: EventOperator,
    id: Result<PathId, Error>,
) -> Result<StatusCode, Error> {
    set(&app, operator, id, (SinkState::Paused, Event::SinkPaused)).await
}

pub(crate) async fn resume_sink(
    State(app): State<App>,
    operator: EventOperator,
    id: Result<PathId, Error>,
) -> Result<StatusCode, Error> {
    set(&app, operator, id, (SinkState::Active, Event::SinkResumed)).await
}

async fn set(
    app: &App,
    operator: EventOperator,
    id: Result<PathId, Error>,
    (state, event): (SinkState, Event),
) -> Result<StatusCode, Error> {
    let (PathId(id), by) = (id?, operator.person.name);
    let set = sinks::set_state(&mut *app.db.acquire().await?, &app.key, (id, state), &by, app.clock.now()).await?;
    done(set, (event, &by, id))
}

pub(crate) async fn resend(
    State(app): State<App>,
    operator: EventOperator,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
) -> Result<StatusCode, Error> {
    let ResendRequest { from } = fields.read();
    let from = read_cursor(&mut fields, from);
    fields.finish()?;
    let (PathId(id), by) = (id?, operator.person.name);
    let from = match from {
        Some(cursor) => Some(app.outbox.resume(&cursor).await?),
        None => None,
    };
    let text = from.as_ref().map(ToString::to_string);
    let from = from.as_ref().map(|it| &it.0).zip(text.as_deref());
    let resent = sinks::resend(&mut *app.db.acquire().await?, &app.key, (id, from), &by, app.clock.now()).await?;
    done(resent, (Event::SinkResent, &by, id))
}

fn done(is_done: bool, (event, by, id): (Event, &str, Uuid)) -> Result<StatusCode, Error> {
    if !is_done {
        return Err(Error::NotFound);
    }
    audit::done(event, by, &id);
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn list_undelivered(
    State(app): State<App>,
    _: EventOperator,
    id: Result<PathId, Error>,
) -> Result<Json<UndeliveredEventsJson>, Error> {
    let PathId(id) = id?;
    let mut db = app.db.acquire().await?;
    if !sinks::list(&mut db).await?.iter().any(|it| it.sink.sink_id == id) {
        return Err(Error::NotFound);
    }
    let events = sinks::undelivered(&mut db, id).await?;
    Ok(Json(UndeliveredEventsJson { events: events.into_iter().map(UndeliveredJson::from).collect() }))
}
