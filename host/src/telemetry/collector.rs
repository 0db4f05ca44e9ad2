//! Requests to the collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, ensure};
use http_body_util::Full;
use hyper::Request;
use hyper::header::CONTENT_TYPE;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::metrics::v1::{ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource as ResourceMessage;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use prost::Message;
use time::OffsetDateTime;
use tokio::runtime::Handle;

use super::metrics::{Period, metrics};
use crate::client::Client;
use crate::clock::Clock;

/// A client of the collector, with the attributes of this process.
#[derive(Clone)]
pub(super) struct Collector {
    client: Arc<Client>,
    url: String,
    /// Spans are sent from a thread that does not belong to it.
    runtime: Handle,
    resource: Arc<ResourceAttributesWithSchema>,
    started_at: OffsetDateTime,
    /// Whether the last request failed: an outage is one line in the log.
    is_failing: Arc<AtomicBool>,
}

impl Collector {
    pub(super) fn new(client: Client, url: &str, resource: &Resource, runtime: Handle) -> Self {
        Self {
            client: Arc::new(client),
            url: url.trim_end_matches('/').to_owned(),
            runtime,
            resource: Arc::new(resource.into()),
            started_at: Clock::system().now(),
            is_failing: Arc::default(),
        }
    }

    /// Sends the metrics of this moment, given as OpenMetrics text.
    pub(super) async fn send_metrics(&self, text: &str) {
        let period = Period { from: self.started_at, to: Clock::system().now() };
        let scope = InstrumentationScope { name: "caudal".to_owned(), ..InstrumentationScope::default() };
        let message = ExportMetricsServiceRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(ResourceMessage {
                    attributes: self.resource.attributes.0.clone(),
                    ..ResourceMessage::default()
                }),
                scope_metrics: vec![ScopeMetrics {
                    scope: Some(scope),
                    metrics: metrics(text, period),
                    ..ScopeMetrics::default()
                }],
                ..ResourceMetrics::default()
            }],
        };
        self.send("/v1/metrics", &message).await;
    }

    /// Returns once they are sent, on whichever thread; whether that succeeded is in the log.
    pub(super) async fn send_spans(&self, spans: Vec<SpanData>) {
        let this = self.clone();
        let sent = self.runtime.spawn(async move {
            let resource_spans = group_spans_by_resource_and_scope(spans, &this.resource);
            this.send("/v1/traces", &ExportTraceServiceRequest { resource_spans }).await;
        });
        // Fails only while the process ends.
        let _ = sent.await;
    }

    async fn send(&self, path: &str, message: &impl Message) {
        match self.post(path, message).await {
            Err(error) if !self.is_failing.swap(true, Ordering::Relaxed) => {
                tracing::warn!(
                    error = &*error as &dyn std::error::Error,
                    path,
                    "the collector at --otlp-url is not accepting data"
                );
            }
            Ok(()) if self.is_failing.swap(false, Ordering::Relaxed) => {
                tracing::info!(path, "the collector at --otlp-url is accepting data again");
            }
            _ => {}
        }
    }

    async fn post(&self, path: &str, message: &impl Message) -> Result<()> {
        let request = Request::post(format!("{}{path}", self.url))
            .header(CONTENT_TYPE, "application/x-protobuf")
            .body(Full::new(message.encode_to_vec().into()))
            .context("the address is malformed")?;
        let reply = self.client.exchange(request).await?;
        ensure!(reply.status.is_success(), "it answers with status {}", reply.status);
        Ok(())
    }
}
