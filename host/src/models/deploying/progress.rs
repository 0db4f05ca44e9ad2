//! The hosts' progress with a deployment.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::db::hosts::{self, HostState, HostStatus};
use crate::domain::model::ModelKind;

/// Hex digits of a host's id shown to operators.
const HOST_ID_DIGITS: usize = 8;

/// The live hosts and one deployment.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Progress {
    pub serving: usize,
    pub loading: usize,
    /// By host, with the reason.
    pub failed: Vec<(String, String)>,
    /// A later deployment that a host follows instead.
    pub replaced_by: Option<i64>,
}

impl Progress {
    /// # Errors
    /// When the database fails.
    pub async fn read(db: &mut PgConnection, kind: ModelKind, epoch: i64) -> Result<Self, sqlx::Error> {
        Ok(Self::of(&hosts::live(db).await?, kind, epoch))
    }

    /// From what the live hosts report. A host still on an earlier deployment counts as loading.
    pub fn of(hosts: &[(Uuid, HostStatus)], kind: ModelKind, epoch: i64) -> Self {
        let mut progress = Self::default();
        for (host, status) in hosts.iter().filter(|(_, status)| status.kind == kind) {
            if status.epoch > epoch {
                progress.replaced_by = progress.replaced_by.max(Some(status.epoch));
            }
            match &status.state {
                _ if status.epoch < epoch => progress.loading += 1,
                HostState::Serving => progress.serving += 1,
                HostState::Loading => progress.loading += 1,
                HostState::Failed(reason) => progress.failed.push((short(*host), reason.clone())),
            }
        }
        progress
    }

    /// Number of live hosts.
    pub fn hosts(&self) -> usize {
        self.serving + self.loading + self.failed.len()
    }
}

/// A host's id as shown to operators.
pub fn short(host: Uuid) -> String {
    let digits = host.simple().to_string();
    digits[..HOST_ID_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;

    fn status(host: u128, epoch: i64, state: HostState) -> (Uuid, HostStatus) {
        let (kind, since) = (ModelKind::Risk, OffsetDateTime::UNIX_EPOCH);
        (Uuid::from_u128(host), HostStatus { kind, epoch, state, champion: None, since })
    }

    #[test]
    fn hosts_are_counted_by_their_state_in_this_deployment() {
        let hosts = [
            status(1 << 96, 3, HostState::Serving),
            status(2 << 96, 3, HostState::Loading),
            // It serves the previous deployment.
            status(3 << 96, 2, HostState::Serving),
            status(4 << 96, 3, HostState::Failed("no".to_owned())),
        ];
        let progress = Progress::of(&hosts, ModelKind::Risk, 3);
        let failed = vec![("00000004".to_owned(), "no".to_owned())];
        assert_eq!(progress, Progress { serving: 1, loading: 2, failed, replaced_by: None });
        assert_eq!(progress.hosts(), 4);
        assert_eq!(Progress::of(&hosts, ModelKind::Risk, 2).replaced_by, Some(3));
        assert_eq!(Progress::of(&hosts, ModelKind::Nudge, 3), Progress::default());
    }
}
