//! Holds responses back until what they reveal is durable.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::http::auth::{Accepted, Place};
use crate::http::error::{Error, Failure};
use crate::http::problem::Problem;
use crate::http::routes::{ASSIST, LEDGER};
use crate::telemetry;

/// Pause before a read is repeated.
const REPEAT_EVERY: Duration = Duration::from_millis(500);

/// Longest wait for a read: statements take 10 s at most, but a database that has vanished never
/// replies.
const READ_TIME_MAX: Duration = Duration::from_secs(12);

/// The paths of commands, which are posted.
static COMMANDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let operations = [&LEDGER, &ASSIST].into_iter().flat_map(|api| (api.operations)());
    operations.filter(|it| it.is_command).map(|it| it.path).collect()
});

/// Tells what was read only once it is as durable as a commit has to be; the ledger confirms commands itself. Repeats
/// reads while there is no primary.
pub(crate) async fn confirm(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if let Some(route) = request.extensions().get::<MatchedPath>() {
        telemetry::set_route(route.as_str().to_owned());
    }
    let path = request.uri().path();
    if !(path.starts_with("/api/") || path.starts_with("/admin/")) {
        return next.run(request).await;
    }
    // Taken by the user until there is an answer.
    let place = Place::default();
    request.extensions_mut().insert(place.clone());
    let is_command = is_command(&request);
    if !request.method().is_safe() {
        return run_and_confirm(&app, request, next, is_command).await;
    }
    // Only reads that may have to be repeated are worth copying.
    if app.settings.failover_wait.is_zero() {
        return in_time(run_and_confirm(&app, request, next, false)).await;
    }
    let deadline = Instant::now() + app.settings.failover_wait;
    let (mut head, _) = request.into_parts();
    head.extensions.insert(Accepted::default());
    let mut is_first = true;
    loop {
        let request = Request::from_parts(head.clone(), Body::empty());
        let response = in_time(run_and_confirm(&app, request, next.clone(), false)).await;
        let is_outage = response.extensions().get::<Problem>().is_some_and(Problem::is_outage);
        // Too much load is not an outage, and waiting would make it worse.
        let is_shed = response.extensions().get::<Failure>().is_some_and(|it| it.shed.is_some());
        if !is_outage || (is_first && is_shed) || Instant::now() >= deadline {
            return response;
        }
        is_first = false;
        tokio::time::sleep(REPEAT_EVERY).await;
    }
}

async fn in_time(read: impl Future<Output = Response>) -> Response {
    let silent = |_| Error::from(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())).into_response();
    timeout(READ_TIME_MAX, read).await.unwrap_or_else(silent)
}

fn is_command(request: &Request) -> bool {
    let route = request.extensions().get::<MatchedPath>();
    request.method() == Method::POST && route.is_some_and(|it| COMMANDS.contains(it.as_str()))
}

async fn run_and_confirm(app: &App, request: Request, next: Next, is_command: bool) -> Response {
    let (view, is_safe) = (app.barrier.begin(), request.method().is_safe());
    let response = next.run(request).await;
    let status = response.status();
    // A refused command may reveal what was read before it reached the ledger, so it is confirmed too, except for 401:
    // unauthenticated callers must not cause writes.
    let reveals = match is_command {
        true => status.is_client_error() && status != StatusCode::UNAUTHORIZED,
        false => status.is_success(),
    };
    if !reveals {
        return response;
    }
    let begun = Instant::now();
    let passed = app.barrier.pass(view).await;
    app.models.metrics().barrier_seconds.observe(begun.elapsed().as_secs_f64());
    match passed {
        Ok(()) => response,
        Err(error) if is_safe => Error::from(sqlx::Error::from(error)).into_response(),
        Err(error) => Error::from(error).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::middleware::from_fn;
    use axum::routing::any;
    use tower::ServiceExt as _;

    /// Layered like the real router.
    async fn is_answered_as_command(method: Method, path: &str) -> bool {
        let tell =
            async |request: Request, _: Next| if is_command(&request) { StatusCode::CREATED } else { StatusCode::OK };
        let reads = ["/api/ledger/holds/{id}", "/api/ledger/transactions/bulk"];
        let routes =
            COMMANDS.iter().chain(&reads).fold(Router::new(), |router, route| router.route(route, any(async || ())));
        let routes = Router::new().fallback_service(routes.layer(from_fn(tell)));
        let request = axum::http::Request::builder().method(method).uri(path).body(Body::empty());
        routes.oneshot(request.unwrap()).await.unwrap().status() == StatusCode::CREATED
    }

    #[tokio::test]
    async fn commands_are_known_by_their_routes() {
        assert!(
            COMMANDS.contains("/api/ledger/holds/{id}/capture") && COMMANDS.contains("/admin/accounts/{id}/freeze")
        );
        for route in COMMANDS.iter() {
            let path = route.replace("{id}", "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b");
            assert!(is_answered_as_command(Method::POST, &path).await, "{route}");
            assert!(!is_answered_as_command(Method::GET, &path).await, "{route}");
        }
        for path in ["/api/ledger/holds/capture", "/api/ledger/transactions/bulk", "/api/ledger/nothing"] {
            assert!(!is_answered_as_command(Method::POST, path).await, "{path}");
        }
    }
}
