//! Sheds load: refuses requests that would wait too long, when they arrive and before their bodies are read.
//!
//! Ready tasks wait for a processor, transfers for a batcher, reads for a connection to the database. A longer queue serves
//! nobody more; it only makes everybody wait. What is refused has done nothing. Operators, and who asks whether the host is
//! well, are not refused.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::runtime::Handle;

use crate::app::App;
use crate::db::connections::AcquireError;
use crate::http::error::Error;
use crate::http::limits::stage;
use crate::metrics::Metrics;

/// Tasks that are ready to run and wait in the runtime's shared queue. It fills only when a worker's own queue of 256 is
/// full, so some hundred connections have sent requests that nobody has looked at: about 30 ms of work, where a score takes
/// 80 µs.
const READY_TASKS_MAX: usize = 128;

/// While more are ready, one request in this many is refused. A refusal takes a third of the time of a score, so to refuse all
/// would be to do little else, as long as clients keep asking.
const REFUSED_OF: usize = 2;

/// Requests that came while too many tasks were ready.
static LATE: AtomicUsize = AtomicUsize::new(0);

/// Beginnings of the paths that are never refused here.
const SPARED: [&str; 7] = ["/livez", "/readyz", "/metrics", "/ai/health", "/admin/", "/console", "/rails/"];

/// Paths whose `POST` is a command for the ledger. A bulk waits for room by itself.
const COMMANDS: [&str; 3] = ["/api/ledger/transactions", "/api/ledger/holds", "/api/ledger/accounts"];

impl Metrics {
    /// Shows the stages before anything is refused, so that an alert sees the first.
    pub(super) fn expect_shedding(&self) {
        stage::ALL.iter().for_each(|stage| drop(self.shed.of([stage])));
    }
}

pub(super) async fn shed(State(app): State<App>, request: Request, next: Next) -> Response {
    match overloaded(&app, request.method(), request.uri().path()) {
        Some(stage) => Error::Shed(stage).into_response(),
        None => next.run(request).await,
    }
}

/// What the request would wait for too long.
fn overloaded(app: &App, method: &Method, path: &str) -> Option<&'static str> {
    if SPARED.iter().any(|spared| path.starts_with(spared)) {
        return None;
    }
    let is_behind = Handle::current().metrics().global_queue_depth() > READY_TASKS_MAX;
    if is_behind && LATE.fetch_add(1, Relaxed).is_multiple_of(REFUSED_OF) {
        return Some(stage::PROCESSORS);
    }
    let is_command = method == Method::POST && COMMANDS.contains(&path);
    (is_command && app.ledger.is_busy()).then_some(stage::LEDGER)
}

impl From<AcquireError> for Error {
    fn from(error: AcquireError) -> Self {
        match error {
            AcquireError::Busy => Self::Shed(stage::DATABASE),
            AcquireError::Database(error) => error.into(),
        }
    }
}
