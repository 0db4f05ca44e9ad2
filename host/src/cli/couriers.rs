//! Starts the courier of the rail that is configured.

use std::sync::Arc;

use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::config::{Rail, RailKind};
use crate::domain::transfer::RailName;
use crate::ledger::Ledger;
use crate::rail::courier::{Courier, PUSHES_MAX};
use crate::rail::simulated::{Behaviour, Simulated};

/// The rail of new transfers.
pub(super) fn name(rail: &Rail) -> RailName {
    match rail.kind {
        RailKind::Instant => RailName::Instant,
        RailKind::Simulated => RailName::Simulated,
    }
}

/// Starts a courier for the rail, unless it needs none.
pub(super) fn start(rail: &Rail, db: &PgPool, ledger: &Ledger, clock: &Clock) -> Option<JoinHandle<()>> {
    let (pushes, news) = mpsc::channel(PUSHES_MAX);
    let way = match rail.kind {
        RailKind::Instant => return None,
        RailKind::Simulated => Arc::new(Simulated::new(behaviour(rail), pushes)),
    };
    let courier = Courier { db: db.clone(), ledger: ledger.clone(), rail: way, name: name(rail), clock: clock.clone() };
    Some(tokio::spawn(courier.run(news)))
}

fn behaviour(rail: &Rail) -> Behaviour {
    Behaviour {
        delay: rail.simulated_delay,
        rejected: rail.simulated_rejected,
        returned: rail.simulated_returned,
        ..Behaviour::ORDINARY
    }
}
