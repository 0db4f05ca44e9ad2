//! `caudal sinks`.

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::token::Admin;

/// Where events are delivered.
#[derive(Debug, Subcommand)]
pub enum Sinks {
    /// Add a sink, and print its secret; it is printed only once
    #[command(after_help = "For example: caudal sinks add webhook https://events.example.com/caudal --types \
                            mx.caudal.transfer,mx.caudal.hold. A user of NATS has the sink's id as its name and the \
                            secret as its password.")]
    Add {
        /// `webhook`, or `nats` for a stream of JetStream
        kind: String,
        /// For example `https://events.example.com/caudal` or `tls://nats.example.com:4222`
        #[arg(id = "destination", value_name = "URL")]
        url: String,
        /// Types of events, or prefixes of types [default: all]
        #[arg(long, value_delimiter = ',')]
        types: Vec<String>,
        /// Cursor to start after; 0 is the beginning [default: from now on]
        #[arg(long)]
        from: Option<String>,
        #[command(flatten)]
        admin: Admin,
    },
    /// List sinks, their progress, and how many events they did not accept
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// List the events that a sink did not accept, and those that wait for them
    Undelivered {
        /// As `list` prints it
        id: Uuid,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        admin: Admin,
    },
    /// Deliver nothing to a sink until it is resumed
    Pause(SinkOrder),
    /// Deliver to a sink again, from where it was paused
    Resume(SinkOrder),
    /// Retry what a sink did not accept, or deliver everything after a cursor again
    Resend {
        #[command(flatten)]
        order: SinkOrder,
        /// Cursor after which everything is delivered again; 0 is the beginning
        #[arg(long)]
        from: Option<String>,
    },
    /// Remove a sink, with what it did not accept
    Remove(SinkOrder),
}

#[derive(Debug, Args)]
pub struct SinkOrder {
    /// As `list` prints it
    pub id: Uuid,
    #[command(flatten)]
    pub admin: Admin,
}
