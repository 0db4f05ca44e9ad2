//! What a host does about deployments besides following them. Each duty is a task of its own: a table that is slow or
//! locked delays neither another duty nor a rollback.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::{Notify, watch};
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::Clock;
use crate::domain::model::Digest;
use crate::models::deploying::kept;
use crate::models::deploying::references::Drift;
use crate::models::deploying::reporter::Reporter;
use crate::models::deploying::rollout::Rollouts;
use crate::models::deploying::traffic_writer::TrafficWriter;
use crate::models::deploying::withdrawal::settle;
use crate::models::serving::active::Models;
use crate::models::serving::component::LoadedComponent;
use crate::sealing::ChainKey;

/// How often each duty is done.
const EVERY: Duration = Duration::from_secs(1);

pub(super) enum Duty {
    /// Stores comparisons with challengers, and withdraws canaries that failed.
    Comparisons,
    /// Watches the champions for drift.
    Drift(Drift),
    /// Stores what the versions did.
    Traffic(TrafficWriter),
    Rollouts,
    /// Removes former champions that have been shadows for a day.
    Kept,
    /// Tells operators what serves, whenever this host has looked.
    Report(Reporter),
}

impl Duty {
    fn name(&self) -> &'static str {
        match self {
            Self::Comparisons => "comparisons",
            Self::Drift(_) => "drift",
            Self::Traffic(_) => "traffic",
            Self::Rollouts => "rollouts",
            Self::Kept => "kept",
            Self::Report(_) => "report",
        }
    }
}

pub(super) struct Upkeep {
    pub(super) db: PgPool,
    /// Records what this host registers and withdraws.
    pub(super) key: ChainKey,
    pub(super) models: Models,
    pub(super) clock: Clock,
    pub(super) approval_lifetime: Option<Duration>,
    pub(super) loaded: watch::Receiver<HashMap<Digest, LoadedComponent>>,
    /// This host has looked at the deployments.
    pub(super) looked: Notify,
}

impl Upkeep {
    pub(super) async fn attend(self: Arc<Self>, mut duty: Duty) {
        let mut every = interval(EVERY);
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_failing = false;
        loop {
            match duty {
                Duty::Report(_) => self.looked.notified().await,
                _ => drop(every.tick().await),
            }
            let done = self.perform(&mut duty).await;
            if let Err(error) = &done {
                let task = duty.name();
                self.models.metrics().model_upkeep_failures.of([task]).inc();
                if !is_failing {
                    tracing::warn!(task, %error, "cannot look after the deployments; will retry every second");
                }
            }
            is_failing = done.is_err();
        }
    }

    async fn perform(&self, duty: &mut Duty) -> Result<(), sqlx::Error> {
        let Self { db, key, models, clock, approval_lifetime, loaded, .. } = self;
        match duty {
            Duty::Comparisons => settle(db, key, models, clock).await,
            Duty::Drift(drift) => drift.follow(db, models).await,
            Duty::Traffic(writer) => {
                let loaded = loaded.borrow().clone();
                writer.store(db, &loaded, clock.now()).await
            }
            Duty::Rollouts => {
                let approval_lifetime = *approval_lifetime;
                Rollouts { key, approval_lifetime, clock, metrics: models.metrics() }.settle(db).await
            }
            Duty::Kept => kept::settle(db, key, clock).await,
            Duty::Report(reporter) => reporter.report(db, models).await,
        }
    }
}
