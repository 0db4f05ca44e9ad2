//! Reports to operators what this host serves.

use std::time::{Duration, Instant};

use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::db::hosts::{self, Host, HostState, HostStatus};
use crate::db::session::within;
use crate::domain::model::ModelKind;
use crate::models::deploying::loading::DATABASE_TIME_MAX;
use crate::models::serving::active::Models;

/// How often an unchanged status is repeated: a few times before the host counts as gone.
const REPORT_EVERY: Duration = Duration::from_secs(2);

/// How long a stopping host may take to remove its status.
const LEAVE_TIME_MAX: Duration = Duration::from_secs(1);

/// Removes the status of a host that stops. If that fails, operators see it for a few more seconds.
pub(super) async fn leave(db: &PgPool, host: Uuid) {
    let leave = async { hosts::leave(&mut *db.acquire().await?, host).await };
    if !matches!(tokio::time::timeout(LEAVE_TIME_MAX, leave).await, Ok(Ok(()))) {
        tracing::debug!("cannot remove the status of this host");
    }
}

pub(super) struct Reporter {
    pub(super) host: Host,
    started_at: OffsetDateTime,
    /// The last report, and when it was sent.
    reported: Option<(Vec<HostStatus>, Instant)>,
}

impl Reporter {
    pub(super) fn new(started_at: OffsetDateTime) -> Self {
        // As Linux has it; elsewhere the id has to do.
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = Host { id: Uuid::new_v4(), machine: machine.trim().to_owned() };
        Self { host, started_at, reported: None }
    }

    /// Reports if something changed or the last report is getting old.
    pub(super) async fn report(&mut self, db: &PgPool, models: &Models) -> Result<(), sqlx::Error> {
        let statuses: Vec<_> = ModelKind::ALL.iter().map(|kind| self.status(*kind, models)).collect();
        let is_fresh = |(last, at): &(Vec<_>, Instant)| *last == statuses && at.elapsed() < REPORT_EVERY;
        if self.reported.as_ref().is_some_and(is_fresh) {
            return Ok(());
        }
        let host = &self.host;
        within(db.acquire().await?, DATABASE_TIME_MAX, async |db| hosts::report(db, host, &statuses).await).await?;
        self.reported = Some((statuses, Instant::now()));
        Ok(())
    }

    fn status(&self, kind: ModelKind, models: &Models) -> HostStatus {
        let (epoch, state, since) = (0, HostState::Serving, self.started_at);
        let status = models.status(kind).unwrap_or(HostStatus { kind, epoch, state, champion: None, since });
        let champion = models.snapshot().identity(kind).map(|identity| identity.digest);
        HostStatus { champion, ..status }
    }
}
