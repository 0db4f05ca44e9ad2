//! A listener's routes, and what every request goes through before and after them.
//!
//! Scores skip the router and its middleware: a score takes ten microseconds, and each layer would add one.
//! A score is answered on the thread of its connection, everything else by the service's own runtime. A request
//! with side effects runs to completion even if its client disconnects.

use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tower::{Service, ServiceExt as _};
use uuid::Uuid;

use crate::app::Settings;
use crate::http::answers::Answers;
use crate::http::assistance::scores::Scores;
use crate::http::body::Arriving;
use crate::http::error::Error;
use crate::http::finish::finish;
use crate::http::host;
use crate::http::limits::{REFUSED_PAUSE, REQUEST_TIME_MAX};
use crate::http::operation::Callers;
use crate::http::problem::RequestId;
use crate::telemetry;

/// The API of a listener. Cheap to clone.
#[derive(Clone)]
pub struct Endpoint(Arc<Inner>);

struct Inner {
    routes: Router,
    scores: Scores,
    callers: Callers,
    settings: Arc<Settings>,
    answers: Answers,
    /// Of the service; connections may be served by others.
    runtime: Handle,
}

impl Endpoint {
    /// In the runtime of the service.
    pub(super) fn new(
        (routes, scores): (Router, Scores),
        callers: Callers,
        settings: Arc<Settings>,
        answers: Answers,
    ) -> Self {
        Self(Arc::new(Inner { routes, scores, callers, settings, answers, runtime: Handle::current() }))
    }
}

impl Service<Request> for Endpoint {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let inner = Arc::clone(&self.0);
        let is_score = inner.scores.find(request.method(), request.uri().path()).is_some();
        let is_safe = request.method().is_safe();
        if is_score || (is_safe && Handle::current().id() == inner.runtime.id()) {
            return Box::pin(async move { Ok(inner.answer(request).await) });
        }
        // Other requests use the database pool, whose connections are driven by the service's runtime. One that changes
        // something runs to completion even if its caller leaves, so that it is logged and counted.
        let answer = inner.runtime.clone().spawn(async move { inner.answer(request).await });
        let aborting = is_safe.then(|| AbortOnDrop(answer.abort_handle()));
        Box::pin(async move {
            let answer = answer.await;
            drop(aborting);
            Ok(answer.unwrap_or_else(|error| Error::Internal(error.into()).into_response()))
        })
    }
}

/// Aborts a task whose caller has left.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Inner {
    async fn answer(&self, request: Request) -> Response {
        let (mut head, body) = request.into_parts();
        let body = Arriving::new(body);
        let id = Uuid::new_v4();
        let span = telemetry::request_span(&head, self.answers.listener, id, self.callers == Callers::Internal);
        let (method, uri) = (head.method.clone(), head.uri.clone());
        let expects = head.headers.contains_key(header::EXPECT);
        let work = async {
            let mut response = if self.callers == Callers::Internal && !host::is_allowed(&head, &self.settings) {
                Error::HostNotAllowed.into_response()
            } else if let Some(score) = self.scores.find(&method, uri.path()) {
                guard(&uri, &body, score(Request::from_parts(head, body.view()))).await
            } else {
                head.extensions.insert(RequestId(id));
                let routed = self.routes.clone().oneshot(Request::from_parts(head, body.view()));
                guard(&uri, &body, routed.map(|Ok(response)| response)).await
            };
            finish(&mut response, uri.path(), id);
            self.answers.count(&response);
            body.settle(expects, &mut response).await;
            if self.callers == Callers::Public && response.status() == StatusCode::TOO_MANY_REQUESTS {
                sleep(REFUSED_PAUSE).await;
            }
            tracing::debug!(status = response.status().as_u16(), "answered");
            response
        };
        let response = telemetry::in_request(method.clone(), id, span.clone(), work).await;
        telemetry::answered(&span, response.status());
        response
    }
}

/// Within the time for a request; a panic is an internal error.
async fn guard(uri: &Uri, body: &Arriving, work: impl Future<Output = Response>) -> Response {
    match timeout(REQUEST_TIME_MAX, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => Error::Internal(anyhow::anyhow!("a handler panicked")).into_response(),
        Err(_) => timed_out(uri.path(), body).into_response(),
    }
}

fn timed_out(path: &str, body: &Arriving) -> Error {
    match body.has_ended() {
        false => Error::BodyTooSlow,
        true if path.starts_with("/api/ledger/") => Error::TimedOut,
        true => Error::NoAnswer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::Method;

    use crate::http::limits::BODY_BYTES_MAX;

    /// Waits for ever, after reading the request's body.
    async fn asked(path: &str, body: Body) -> String {
        let forever = async |_: axum::body::Bytes| std::future::pending::<()>().await;
        let routes = Router::new().fallback(forever);
        let body = Arriving::new(body);
        let request = Request::builder().method(Method::POST).uri(path).body(body.view()).unwrap();
        let routed = routes.oneshot(request).map(|Ok(response)| response);
        let mut response = guard(&path.parse().unwrap(), &body, routed).await;
        finish(&mut response, path, Uuid::nil());
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

    #[tokio::test]
    async fn a_panic_is_answered() {
        let routes = Router::new().fallback(async || -> () { panic!("on purpose") });
        let routed = routes.oneshot(Request::new(Body::empty())).map(|Ok(response)| response);
        let response = guard(&Uri::default(), &Arriving::new(Body::empty()), routed).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
