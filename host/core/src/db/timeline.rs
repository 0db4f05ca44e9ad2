//! Which promotion a server's history follows.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::PgConnection;

use super::durability::unavailable;

pub(super) const REPLACED: &str = "this Postgres was the primary, and another one is now";

/// The newest timeline that this process has seen on any server: every promotion begins one. An old primary that still
/// answers is on a lower timeline, and what it shows may have been lost.
#[derive(Debug, Clone, Default)]
pub struct Timeline(Arc<Newest>);

#[derive(Debug, Default)]
struct Newest {
    number: AtomicU32,
    /// When it was first seen; `None` for the first one.
    seen_at: Mutex<Option<Instant>>,
}

impl Timeline {
    /// Refuses a connection to a replica or to an old primary.
    pub async fn check(&self, db: &mut PgConnection) -> Result<(), sqlx::Error> {
        // Fails on a replica.
        let number = sqlx::query_scalar!(r#"select left(pg_walfile_name(pg_current_wal_lsn()), 8) as "number!""#);
        let number = number.fetch_one(db).await?;
        let number = u32::from_str_radix(&number, 16).map_err(|error| sqlx::Error::Decode(error.into()))?;
        self.note(number);
        if self.is_newest(number) { Ok(()) } else { Err(unavailable(REPLACED)) }
    }

    /// Takes note of a timeline that a server is on.
    pub(super) fn note(&self, number: u32) {
        let mut seen_at = self.0.seen_at.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = self.0.number.fetch_max(number, SeqCst);
        if (1..number).contains(&earlier) {
            *seen_at = Some(Instant::now());
        }
    }

    pub(super) fn is_newest(&self, number: u32) -> bool {
        self.view() == View(number)
    }

    pub(crate) fn view(&self) -> View {
        View(self.0.number.load(SeqCst))
    }

    /// Whether a connection of this age was opened on the newest timeline.
    pub fn is_current(&self, age: Duration) -> bool {
        let seen_at = self.0.seen_at.lock().unwrap_or_else(PoisonError::into_inner);
        seen_at.is_none_or(|seen_at| age <= seen_at.elapsed())
    }
}

/// The newest timeline when a read or a write began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View(u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promotion_ends_older_connections_and_views() {
        let (timeline, age) = (Timeline::default(), Duration::from_secs(1));
        timeline.note(3);
        assert!(timeline.is_current(age), "nothing is older than the first one");
        let view = timeline.view();
        timeline.note(2);
        assert_eq!(timeline.view(), view);
        timeline.note(4);
        assert!(timeline.is_newest(4) && !timeline.is_newest(3) && timeline.view() != view);
        assert!(!timeline.is_current(age) && timeline.is_current(Duration::ZERO));
    }
}
