//! Sinks: the bank's own systems that events are delivered to.

use time::OffsetDateTime;
use uuid::Uuid;

use super::order::{ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::schema::answer;

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
    /// What an operator does to a sink.
    Order {
        /// Nothing is delivered from now on, and nothing is skipped.
        Pause = "pause",
        Resume = "resume",
        /// What it did not accept is sent at once, or everything after a cursor again.
        Resend = "resend",
        /// With what it did not accept.
        Remove = "remove",
    }
}

answer! {
    /// A system that gets events, and how far it is.
    pub struct Sink in camelCase {
        pub id: Uuid { example: ID_EXAMPLE },
        pub kind: String { one_of: Kind::TEXTS, example: "\"webhook\"" },
        pub url: String { example: "\"https://events.example.com/caudal\"" },
        /// Types of events, or what types begin with; empty for all.
        pub types: Vec<String> { example: "[\"mx.caudal.transfer\"]" },
        pub is_paused: bool { example: "false" },
        pub created_by: String { example: "\"eva\"" },
        pub created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// Everything before it was delivered or is undelivered.
        pub cursor: String { example: "\"5f3a9c01.0-r0.9-0.15\"" },
        /// Events that it did not accept, and later ones that wait for them.
        pub undelivered: i64 { example: "0" },
        /// When the oldest of them happened.
        pub oldest_undelivered_at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
    }
}

answer! {
    /// An event that a sink did not accept, or that waits for an earlier one.
    pub struct Undelivered as "UndeliveredEvent" in camelCase {
        pub id: String { example: "\"0-15-0\"" },
        pub kind: String { named: "type", example: "\"mx.caudal.transfer.completed\"" },
        /// What keeps its order, accounts as a rule.
        pub keys: Vec<String> { example: "[\"0198f1c2-5a2b-7c3d-8e4f-5a6b7c8d9e0f\"]" },
        pub time: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// 0 if it only waits for an earlier one.
        pub attempts: i64 { example: "3" },
        pub last_error: Option<String> { example: "\"answered 503 Service Unavailable\"" },
        /// In the order in which they are to arrive; 0 if it has none yet.
        pub number: i64 = 0,
        /// Of its chain, and the number in it.
        pub stripe: i16 = 0,
        pub seq: i64 = 0,
        pub is_due: bool = true,
    }
}
