//! Whether the database responds. However many ask, it is asked a few times a second: the question takes a connection that
//! is kept for what moves money.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgPool};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long an answer counts: short beside the seconds between two probes of a load balancer.
const ANSWER_COUNTS: Duration = Duration::from_millis(250);

/// Longest wait for the database, as long as a request waits for a connection: one that falls silent in between must
/// not keep a load balancer waiting.
const REPLY_TIME_MAX: Duration = Duration::from_secs(5);

/// When the database was asked last, and whether it responded.
#[derive(Default)]
pub struct Pulse(Mutex<Option<(Instant, bool)>>);

impl Pulse {
    pub(crate) async fn responds(&self, pool: &PgPool) -> bool {
        if pool.is_closed() {
            return false;
        }
        let mut last = self.0.lock().await;
        if let Some((at, responds)) = *last
            && at.elapsed() < ANSWER_COUNTS
        {
            return responds;
        }
        let ping = async { pool.acquire().await?.ping().await };
        let responds = timeout(REPLY_TIME_MAX, ping).await.is_ok_and(|pinged| pinged.is_ok());
        *last = Some((Instant::now(), responds));
        responds
    }
}
