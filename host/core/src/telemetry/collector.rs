//! Requests to the collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, ensure};
use http_body_util::Full;
use hyper::Request;
use hyper::header::CONTENT_TYPE;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use prost::Message as _;
use tokio::runtime::Handle;

use crate::client::Client;

/// A client of the collector, with the attributes of this process.
#[derive(Clone)]
pub(super) struct Collector {
    client: Arc<Client>,
    url: String,
    /// Spans come from a thread that does not belong to it.
    runtime: Handle,
    resource: Arc<ResourceAttributesWithSchema>,
    /// Whether the last request failed: an outage is one line in the log.
    is_failing: Arc<AtomicBool>,
}

impl Collector {
    pub(super) fn new(client: Client, url: &str, resource: &Resource, runtime: Handle) -> Self {
        Self {
            client: Arc::new(client),
            url: format!("{}/v1/traces", url.trim_end_matches('/')),
            runtime,
            resource: Arc::new(resource.into()),
            is_failing: Arc::default(),
        }
    }

    /// Returns once they are sent, on whichever thread; whether that succeeded is in the log.
    pub(super) async fn send_spans(&self, spans: Vec<SpanData>) {
        let this = self.clone();
        let sent = self.runtime.spawn(async move {
            let resource_spans = group_spans_by_resource_and_scope(spans, &this.resource);
            this.send(&ExportTraceServiceRequest { resource_spans }).await;
        });
        // Fails only while the process ends.
        let _ = sent.await;
    }

    async fn send(&self, spans: &ExportTraceServiceRequest) {
        match self.post(spans).await {
            Err(error) if !self.is_failing.swap(true, Ordering::Relaxed) => {
                let error = &*error as &dyn std::error::Error;
                tracing::warn!(error, "the collector at --otlp-url is not accepting data");
            }
            Ok(()) if self.is_failing.swap(false, Ordering::Relaxed) => {
                tracing::info!("the collector at --otlp-url is accepting data again");
            }
            _ => {}
        }
    }

    async fn post(&self, spans: &ExportTraceServiceRequest) -> Result<()> {
        let request = Request::post(&self.url)
            .header(CONTENT_TYPE, "application/x-protobuf")
            .body(Full::new(spans.encode_to_vec().into()))
            .context("the address is malformed")?;
        let reply = self.client.exchange(request).await?;
        ensure!(reply.status.is_success(), "it answers with status {}", reply.status);
        Ok(())
    }
}
