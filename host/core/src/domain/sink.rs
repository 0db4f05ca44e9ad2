//! Sinks: the bank's own systems that events are delivered to.

use time::OffsetDateTime;
use uuid::Uuid;

super::text_enum! {
    /// How a sink takes events.
    Kind {
        /// An HTTP request for each, signed as Standard Webhooks prescribes.
        Webhook = "webhook",
        /// A stream of NATS JetStream.
        Nats = "nats",
    }
}

super::text_enum! {
    State {
        Active = "active",
        /// By an operator: nothing is delivered, and nothing is skipped.
        Paused = "paused",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sink {
    pub sink_id: Uuid,
    pub kind: Kind,
    pub url: String,
    /// Types of events, or what types begin with; empty for all.
    pub types: Vec<String>,
    pub state: State,
    pub created_by: String,
    pub created_at: OffsetDateTime,
}
