//! The last step of every response: the time limit, the problem body, headers, the request's id and a log line.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::app::App;
use crate::auth::network;
use crate::http::body::Arriving;
use crate::http::error::{ALL, Error, Failure};
use crate::http::limits::{BODY_BYTES_MAX, REQUEST_TIME_MAX};
use crate::http::problem::{Problem, RequestId};
use crate::metrics::Metrics;

/// Pause before a read is repeated.
const REPEAT_EVERY: Duration = Duration::from_millis(500);

/// Routes whose success follows a confirmed commit. A bulk is not among them: its success also reports refusals, so it is
/// confirmed like a read.
const COMMANDS: [&str; 7] = [
    "/api/ledger/accounts",
    "/api/ledger/transactions",
    "/api/ledger/holds",
    "/api/ledger/holds/{id}/capture",
    "/api/ledger/holds/{id}/void",
    "/admin/accounts/{id}/freeze",
    "/admin/accounts/{id}/unfreeze",
];

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// For every response that has no other policy: most are about one user.
const DEFAULTS: [(HeaderName, HeaderValue); 2] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

/// Counts the answers of a listener.
#[derive(Clone)]
pub(crate) struct Answers {
    listener: &'static str,
    metrics: Metrics,
}

impl Answers {
    pub(crate) fn new(listener: &'static str, metrics: Metrics) -> Self {
        // Shown before they happen, so that an alert sees the first.
        ALL.iter().for_each(|kind| drop(metrics.problems.of([kind.status.as_str(), kind.code])));
        metrics.expect_shedding();
        Self { listener, metrics }
    }

    fn count(&self, response: &Response) {
        let class = match response.status().as_u16() {
            ..400 => "2xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        self.metrics.answers.of([self.listener, class]).inc();
        if let Some(Failure { kind, refusal, shed }) = response.extensions().get() {
            self.metrics.problems.of([kind.status.as_str(), kind.code]).inc();
            if let Some(labels) = refusal {
                self.metrics.refusals.of(*labels).inc();
            }
            if let Some(stage) = shed {
                self.metrics.shed.of([stage]).inc();
            }
        }
    }
}

pub(crate) async fn finish(State(answers): State<Answers>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let (expects, body) = (head.headers.contains_key(header::EXPECT), Arriving::new(body));
    let request_id = Uuid::new_v4().to_string();
    head.extensions.insert(RequestId(request_id.clone()));
    let path = head.uri.path().to_owned();
    // At error level, so that log lines name their request whatever the filter. By its route: a path may be anything.
    let route = tracing::field::Empty;
    let span = tracing::error_span!("request", method = %head.method, route, request_id);
    let request = Request::from_parts(head, body.view());
    async {
        let answer = tokio::time::timeout(REQUEST_TIME_MAX, next.run(request)).await;
        let mut response = answer.unwrap_or_else(|_| timed_out(&path, &body).into_response());
        describe_problem(&mut response, &path, &request_id);
        answers.count(&response);
        if response.status() == StatusCode::UNAUTHORIZED {
            // The router adds it to existing paths only; without a token, that would reveal which exist.
            response.headers_mut().remove(header::ALLOW);
        }
        for (name, value) in DEFAULTS {
            response.headers_mut().entry(name).or_insert(value);
        }
        body.settle(expects, &mut response).await;
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            response.headers_mut().insert("x-request-id", value);
        }
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    }
    .instrument(span)
    .await
}

fn timed_out(path: &str, body: &Arriving) -> Error {
    match body.has_ended() {
        false => Error::BodyTooSlow,
        true if path.starts_with("/api/ledger/") => Error::TimedOut,
        true => Error::NoAnswer,
    }
}

/// Writes the body of a failure. A failure with a JSON body is a health report; any other without a
/// [`Problem`] comes from the framework.
fn describe_problem(response: &mut Response, path: &str, request_id: &str) {
    let status = response.status();
    let is_report = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_report || !(status.is_client_error() || status.is_server_error()) {
        return;
    }
    if response.extensions().get::<Problem>().is_none() {
        let described = framework_error(status).into_response();
        response.extensions_mut().extend(described.extensions().clone());
    }
    let problem = response.extensions().get::<Problem>().cloned();
    let Some(problem) = problem else { return };
    *response.body_mut() = problem.to_json(status, path, request_id).into();
    response.headers_mut().insert(header::CONTENT_TYPE, PROBLEM_JSON);
    response.headers_mut().remove(header::CONTENT_LENGTH);
}

fn framework_error(status: StatusCode) -> Error {
    match status {
        StatusCode::NOT_FOUND => Error::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => Error::MethodNotAllowed,
        StatusCode::PAYLOAD_TOO_LARGE => Error::PayloadTooLarge(BODY_BYTES_MAX),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Error::NotJson,
        status if status.is_client_error() => Error::MalformedJson("The request cannot be parsed.".to_owned()),
        status => Error::Internal(anyhow::anyhow!("a response with status {status} has no problem")),
    }
}

/// Tells what was read only once it is as durable as a commit has to be; the ledger confirms commands itself. Repeats
/// reads while there is no primary.
pub(crate) async fn confirm(State(app): State<App>, request: Request, next: Next) -> Response {
    if let Some(route) = request.extensions().get::<MatchedPath>() {
        tracing::Span::current().record("route", route.as_str());
    }
    let path = request.uri().path();
    if !(path.starts_with("/api/") || path.starts_with("/admin/")) {
        return next.run(request).await;
    }
    let is_command = is_command(&request);
    // Only reads that may have to be repeated are worth copying.
    if !request.method().is_safe() || app.settings.failover_wait.is_zero() {
        return run_and_confirm(&app, request, next, is_command).await;
    }
    let deadline = Instant::now() + app.settings.failover_wait;
    let (head, _) = request.into_parts();
    let mut is_first = true;
    loop {
        let request = Request::from_parts(head.clone(), Body::empty());
        let response = run_and_confirm(&app, request, next.clone(), false).await;
        let is_outage = response.extensions().get::<Problem>().is_some_and(Problem::is_outage);
        // Too much load is no outage, and waiting would make it worse.
        let is_shed = response.extensions().get::<Failure>().is_some_and(|it| it.shed.is_some());
        if !is_outage || (is_first && is_shed) || Instant::now() >= deadline {
            return response;
        }
        is_first = false;
        tokio::time::sleep(REPEAT_EVERY).await;
    }
}

fn is_command(request: &Request) -> bool {
    let route = request.extensions().get::<MatchedPath>();
    request.method() == Method::POST && route.is_some_and(|it| COMMANDS.contains(&it.as_str()))
}

async fn run_and_confirm(app: &App, request: Request, next: Next, is_command: bool) -> Response {
    let view = app.barrier.begin();
    let response = next.run(request).await;
    let status = response.status();
    // A command may be refused for what was read before it reached the ledger. Strangers must not cause writes.
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
        Err(error) => Error::from(error).into_response(),
    }
}

/// Counts requests by the address of whoever asks. Whether the process is alive can always be asked.
pub(crate) async fn count_address(State(app): State<App>, request: Request, next: Next) -> Response {
    let forwarded = request.headers().get_all("x-forwarded-for").iter().filter_map(|it| it.to_str().ok());
    let forwarded: Vec<_> = forwarded.collect();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let origin = peer.and_then(|peer| network::origin(peer, &forwarded, &app.settings.trusted_proxies));
    let counted = origin.map_or(Ok(()), |address| app.rates.count_address(address));
    match counted {
        Err(error) if request.uri().path() != "/livez" => Error::from(error).into_response(),
        _ => next.run(request).await,
    }
}

/// An internal service without tokens answers only under its own names, which stops DNS rebinding: a web page
/// that points its own name at this address gets 421.
pub(crate) async fn check_host(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next().and_then(|value| value.to_str().ok()).or(request.uri().host());
    let known = host.is_some_and(|host| {
        let name = without_port(host).to_ascii_lowercase();
        app.settings.assist_hosts.contains(&name)
    });
    // With two names it would be ambiguous which one counts.
    let allowed = known && hosts.next().is_none();
    if allowed { next.run(request).await } else { Error::HostNotAllowed.into_response() }
}

/// Whether the request names the loopback address rather than a name rebound to it.
pub(crate) fn is_local_name(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter().filter_map(|value| value.to_str().ok());
    let is_local = |host: &str| ["localhost", "127.0.0.1", "[::1]"].contains(&without_port(host));
    hosts.next().is_some_and(is_local) && hosts.next().is_none()
}

/// `localhost:8081` and `[::1]:8081` without the port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::middleware::{from_fn, from_fn_with_state};
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
        let sources = include_str!("mod.rs");
        for route in COMMANDS {
            assert!(sources.contains(&format!(".route(\"{route}\"")), "{route}");
            let path = route.replace("{id}", "01a1fcb3-e9cf-73f9-ab1b-77a2f661b45b");
            assert!(is_answered_as_command(Method::POST, &path).await, "{route}");
            assert!(!is_answered_as_command(Method::GET, &path).await, "{route}");
        }
        for path in ["/api/ledger/holds/capture", "/api/ledger/transactions/bulk", "/api/ledger/nothing"] {
            assert!(!is_answered_as_command(Method::POST, path).await, "{path}");
        }
    }

    /// Waits for ever, after reading the request's body.
    async fn asked(path: &str, body: Body) -> String {
        let forever = async |_: axum::body::Bytes| std::future::pending::<()>().await;
        let routes =
            Router::new().fallback(forever).layer(from_fn_with_state(Answers::new("test", Metrics::default()), finish));
        let request = axum::http::Request::builder().method(Method::POST).uri(path).body(body).unwrap();
        let response = routes.oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        let bytes = axum::body::to_bytes(response.into_body(), BODY_BYTES_MAX).await.unwrap();
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()["detail"].as_str().unwrap().to_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_takes_too_long_speaks_of_its_own_request() {
        let slow = || Body::from_stream(futures_util::stream::pending::<Result<axum::body::Bytes, std::io::Error>>());
        for path in ["/ai/risk", "/api/ledger/transactions", "/admin/replay"] {
            assert!(asked(path, slow()).await.starts_with("Its body did not arrive in time"), "{path}");
        }
        assert!(asked("/api/ledger/transactions", Body::empty()).await.contains("Idempotency-Key"));
        for path in ["/ai/risk", "/admin/replay", "/api/profile/accessibility"] {
            let detail = asked(path, Body::from("{}")).await;
            assert!(!detail.contains("transfer") && !detail.contains("Idempotency-Key"), "{path}: {detail}");
        }
    }

    #[test]
    fn ports_are_removed_from_names_and_addresses() {
        for (host, name) in
            [("localhost:8081", "localhost"), ("localhost", "localhost"), ("[::1]:8081", "[::1]"), ("[::1]", "[::1]")]
        {
            assert_eq!(without_port(host), name);
        }
    }
}
