//! `/api/ledger/events`: changes of the user's transfers, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use crate::app::App;
use crate::auth::User;
use crate::auth::claims::Claims;
use crate::http::error::Error;
use crate::http::extract::Parameters;
use crate::outbox::{CURSOR_CHARS_MAX, Cursor, Listener, TransferEvent};
use crate::schema::request;

/// Longest time a stream stays open. The client then reconnects, and its token is checked again.
pub(crate) const STREAM_TIME_MAX: Duration = Duration::from_secs(15 * 60);

/// Interval of comment lines, which keep proxies from closing the connection as idle.
pub(crate) const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

request! {
    /// Where to start.
    pub(crate) struct EventsQuery {
        /// The id of the last message received. Empty: from the beginning. Omitted: from now on.
        from: Option<String> { chars_max: CURSOR_CHARS_MAX, example: "\"\"" },
    }
}

/// That of the last message, which a browser's EventSource sends when it reconnects.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Option<String> {
    headers.get("last-event-id").map(|value| value.to_str().unwrap_or("-").to_owned())
}

/// The user's events after `Last-Event-ID` or `from`, by default from now on. Each message has the events of
/// one commit and, as its id, the cursor to resume from. The stream ends when the token expires.
pub(crate) async fn stream_events(
    State(app): State<App>,
    User(owner): User,
    Extension(claims): Extension<Arc<Claims>>,
    headers: HeaderMap,
    Parameters(mut fields): Parameters,
) -> Result<Response, Error> {
    let from = last_event_id(&headers).or_else(|| fields.read::<EventsQuery>().from);
    let cursor = from.as_deref().and_then(|text| text.parse::<Cursor>().ok());
    if from.is_some() && cursor.is_none() {
        fields.refuse("from", "unknown-value", "must be the id of a message, or empty to start at the beginning");
    }
    fields.finish()?;
    let listener = app.outbox.listen(owner, cursor).await?;
    let end = tokio::time::Instant::now() + STREAM_TIME_MAX.min(claims.remaining(app.clock.now()));
    let messages = stream::unfold(listener, move |mut listener: Listener| async move {
        let (events, cursor) = tokio::time::timeout_at(end, listener.next()).await.ok()??;
        let events: Vec<_> = events.into_iter().map(TransferEvent::from).collect();
        let message = Message::default().event("transfers").id(cursor.to_string()).json_data(events).ok()?;
        Some((Ok::<_, Infallible>(message), listener))
    });
    Ok(Sse::new(messages).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)).into_response())
}
