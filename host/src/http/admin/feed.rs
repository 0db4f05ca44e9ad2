//! `/admin/events`: what happened to all customers, and what operators did, for the bank's own systems. With a token of
//! scope `events:read`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::Value;
use tokio::time::Instant;

use crate::app::App;
use crate::auth::EventReader;
use crate::http::error::Error;
use crate::http::extract::Parameters;
use crate::http::ledger::events::{KEEP_ALIVE_INTERVAL, STREAM_TIME_MAX, last_event_id};
use crate::http::limits::stage::EVENT_STREAMS;
use crate::http::openapi::data_schema;
use crate::outbox::{CURSOR_CHARS_MAX, Cursor, Envelope, Filter, Page, TYPE_CHARS_MAX, TYPES_MAX, types};
use crate::schema::{Fields, answer, request};

/// Pause of a stream that has everything.
const POLL_EVERY: Duration = Duration::from_millis(250);

request! {
    /// Which events.
    pub(crate) struct FeedQuery {
        /// A cursor of an earlier answer or message. Empty: from the beginning. Omitted: from now on.
        from: Option<String> { chars_max: CURSOR_CHARS_MAX, example: "\"\"" },
        /// Types, or what types begin with, with commas between them; all if omitted.
        types: Option<String> { chars_max: TYPES_MAX * (TYPE_CHARS_MAX + 1), example: "\"mx.caudal.transfer,mx.caudal.hold.placed\"" },
    }
}

answer! {
    /// Some events. Those of an account are in the order of their commits.
    pub(crate) struct FeedPageJson as "EventPage" in camelCase {
        events: Vec<Envelope>,
        /// Where the next page begins.
        cursor: String { example: "\"5f3a9c01.0-r0.9-0.15\"" },
        /// Whether there was nothing more.
        is_end: bool { example: "true" },
    }
}

fn events_of(page: Page) -> (Vec<Envelope>, Cursor) {
    (page.commits.into_iter().flat_map(|commit| commit.events).collect(), page.cursor)
}

/// A page of events, or all from then on to a client that accepts `text/event-stream`: each message has some events
/// and, as its id, the cursor after them.
pub(crate) async fn read_events(
    State(app): State<App>,
    EventReader(claims): EventReader,
    headers: HeaderMap,
    Parameters(mut fields): Parameters,
) -> Result<Response, Error> {
    let FeedQuery { from, types } = fields.read();
    let from = read_cursor(&mut fields, last_event_id(&headers).or(from));
    let types = types.map(|text| text.split(',').map(|kind| kind.trim().to_owned()).collect());
    let filter = read_types(&mut fields, types.unwrap_or_default());
    fields.finish()?;
    let cursor = match from {
        Some(cursor) => app.outbox.resume(&cursor).await?,
        None => app.outbox.latest().await?,
    };
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !accepts.contains("text/event-stream") {
        let page = app.outbox.page(&cursor, &filter).await?;
        let is_end = page.is_end;
        let (events, cursor) = events_of(page);
        return Ok(Json(FeedPageJson { events, cursor: cursor.to_string(), is_end }).into_response());
    }
    let place = Arc::clone(&app.feeds).try_acquire_owned().map_err(|_| Error::Shed(EVENT_STREAMS))?;
    let end = Instant::now() + STREAM_TIME_MAX.min(claims.remaining(app.clock.now()));
    let messages = stream::unfold((app, place, cursor), move |(app, place, mut cursor)| {
        let filter = filter.clone();
        async move {
            while Instant::now() < end && !app.outbox.is_closed() {
                let page = app.outbox.page(&cursor, &filter).await.ok()?;
                let is_end = page.is_end;
                let (events, next) = events_of(page);
                cursor = next;
                if !events.is_empty() {
                    let message = Message::default().event("events").id(cursor.to_string()).json_data(events).ok()?;
                    return Some((Ok::<_, Infallible>(message), (app, place, cursor)));
                }
                if is_end {
                    tokio::time::sleep(POLL_EVERY).await;
                }
            }
            None
        }
    });
    Ok(Sse::new(messages).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)).into_response())
}

/// The cursor in the field `from`.
pub(super) fn read_cursor(fields: &mut Fields, from: Option<String>) -> Option<Cursor> {
    let cursor = from.as_deref().map(str::parse);
    if let Some(Err(_)) = cursor {
        fields.refuse("from", "unknown-value", "must be a cursor of this feed, or empty to start at the beginning");
    }
    cursor?.ok()
}

/// The filter in the field `types`.
pub(super) fn read_types(fields: &mut Fields, wanted: Vec<String>) -> Filter {
    Filter::new(wanted).unwrap_or_else(|unknown| {
        fields.refuse("types", "unknown-value", format!("has no type that begins with {unknown:?}"));
        Filter::default()
    })
}

/// The JSON Schema of a type's data.
pub(crate) async fn get_schema(_: EventReader, Path(kind): Path<String>) -> Result<Json<Value>, Error> {
    let declared = types().find(|(known, _)| *known == kind);
    let (kind, declaration) = declared.ok_or(Error::NotFound)?;
    Ok(Json(data_schema(&kind, declaration)))
}
