//! Sheds load: refuses requests that would wait too long, when they arrive and before their bodies are read.
//!
//! Transfers wait for a batcher, reads for a connection to the database. A longer queue serves nobody more; it only
//! makes everybody wait. What is refused has done nothing. Operators are not refused.
//!
//! Scores wait for a processor, and are not refused: to answer 503 takes about half the time of a score, so a host
//! that refuses what it cannot serve has little time left to serve. The limit on connections bounds how long they wait.

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::db::connections::AcquireError;
use crate::http::error::Error;
use crate::http::limits::stage;
use crate::metrics::Metrics;

/// Paths whose `POST` is refused on arrival, before its body is read, when it would wait for long in every queue of the
/// ledger. The queue itself refuses other commands of users; a bulk waits for room.
const REFUSED_EARLY: [&str; 3] = ["/api/ledger/transactions", "/api/ledger/holds", "/api/ledger/accounts"];

/// Shows the stages before anything is refused, so that an alert sees the first.
pub(super) fn expect(metrics: &Metrics) {
    stage::ALL.iter().for_each(|stage| drop(metrics.shed.of([stage])));
}

pub(super) async fn shed(State(app): State<App>, request: Request, next: Next) -> Response {
    match overloaded(&app, request.method(), request.uri().path()) {
        Some(stage) => Error::Shed(stage).into_response(),
        None => next.run(request).await,
    }
}

/// What the request would wait for too long.
fn overloaded(app: &App, method: &Method, path: &str) -> Option<&'static str> {
    let may_be_refused = method == Method::POST && REFUSED_EARLY.contains(&path);
    (may_be_refused && app.ledger.is_busy()).then_some(stage::LEDGER)
}

impl From<AcquireError> for Error {
    fn from(error: AcquireError) -> Self {
        match error {
            AcquireError::Busy => Self::Shed(stage::DATABASE),
            // Handlers that change something take one connection, before they do.
            AcquireError::Database(sqlx::Error::PoolTimedOut) => Self::Overloaded,
            AcquireError::Database(error) => error.into(),
        }
    }
}
