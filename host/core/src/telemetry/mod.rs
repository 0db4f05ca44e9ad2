//! Traces for an OpenTelemetry collector, by OTLP over HTTP.
//!
//! Only spans with the target [`SPANS`] are traced, and none has an attribute that a client chose. Without a collector
//! they cost nothing.

mod collector;
mod lines;
mod spans;

use std::time::Duration;

use anyhow::{Context as _, Result};
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tokio::runtime::Handle;
use tracing::{Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;
use uuid::Uuid;

use crate::client::{Client, Transport};
use collector::Collector;
pub use lines::{Lines, in_request, set_route};
pub use spans::{SPANS, answered, request_span};

/// Longest time for one request to the collector, and at the end for the spans that are left.
const SEND_TIME_MAX: Duration = Duration::from_secs(5);

/// How to reach a collector.
///
/// # Errors
/// If nothing must be sent to this address.
pub fn transport(url: &str) -> Result<Transport> {
    Transport::of(url)
        .filter(|_| !url.contains('?'))
        .context("--otlp-url needs an https:// address, or an http:// address of this machine, without a query")
}

/// Sends to a collector.
pub struct Telemetry {
    provider: SdkTracerProvider,
}

impl Telemetry {
    /// To the collector at `url`; of the traces that begin here, `percent` of a hundred.
    pub fn new(url: &str, percent: u8, runtime: Handle) -> Result<Self> {
        let transport = transport(url)?;
        // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES add to it.
        let resource = Resource::builder()
            .with_attributes([
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
                KeyValue::new("service.instance.id", Uuid::new_v4().to_string()),
            ])
            .build();
        let client = Client::new(transport, SEND_TIME_MAX)?;
        let collector = Collector::new(client, url, &resource, runtime);
        let ratio = Sampler::TraceIdRatioBased(f64::from(percent) / 100.0);
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            .with_sampler(Sampler::ParentBased(Box::new(ratio)))
            .with_batch_exporter(spans::Exporter(collector))
            .build();
        Ok(Self { provider })
    }

    /// Records spans, for the subscriber of the process.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + use<S> {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("caudal"))
            .with_level(false)
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(Targets::new().with_target(SPANS, Level::DEBUG))
    }

    /// Sends the last spans.
    pub async fn finish(self) {
        let flush = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(SEND_TIME_MAX));
        if !matches!(flush.await, Ok(Ok(()))) {
            tracing::warn!("the collector did not get the last spans");
        }
    }
}
