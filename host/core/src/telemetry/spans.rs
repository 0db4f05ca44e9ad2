//! Spans: of requests, and their way to the collector.

use std::fmt;

use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::TraceContextExt as _;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use uuid::Uuid;

use super::collector::Collector;

/// Target of the spans that are traced.
pub const SPANS: &str = "caudal::spans";

/// Sends finished spans.
pub(super) struct Exporter(pub(super) Collector);

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exporter")
    }
}

impl SpanExporter for Exporter {
    async fn export(&self, spans: Vec<SpanData>) -> OTelSdkResult {
        self.0.send_spans(spans).await;
        Ok(())
    }
}

/// The span of a request; a caller's trace goes on in it if the caller is trusted.
pub fn request_span(head: &Parts, listener: &'static str, id: Uuid, is_trusted: bool) -> Span {
    let span = tracing::debug_span!(
        target: SPANS,
        "request",
        listener,
        request_id = %id,
        otel.name = known(&head.method),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = known(&head.method),
        http.route = Empty,
        http.response.status_code = Empty,
    );
    if !span.is_disabled() && is_trusted {
        // Fails only for a span that has begun.
        let _ = span.set_parent(TraceContextPropagator::new().extract(&Headers(&head.headers)));
    }
    span
}

/// A method, or what OpenTelemetry calls those that a client may have made up.
fn known(method: &Method) -> &str {
    const KNOWN: [Method; 7] =
        [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::HEAD, Method::OPTIONS, Method::PATCH];
    if KNOWN.contains(method) { method.as_str() } else { "_OTHER" }
}

/// Names the route of a request.
pub(super) fn set_route(span: &Span, method: &Method, route: &str) {
    span.record("http.route", route);
    // The field otel.name counts only until a span begins.
    span.context().span().update_name(format!("{} {route}", known(method)));
}

pub fn answered(span: &Span, status: StatusCode) {
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|name| name.as_str()).collect()
    }
}
