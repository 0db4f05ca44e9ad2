//! Whether the database responds and confirms what is written. However many ask, it is asked a few times a second: the
//! question takes a connection that is kept for what moves money.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgPool};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::barrier::{Barrier, Unconfirmed};
use super::durability::NoReplicas;

/// How long an answer counts: short beside the seconds between two probes of a load balancer.
const ANSWER_COUNTS: Duration = Duration::from_millis(250);

/// Longest wait for the database, as long as a request waits for a connection: one that falls silent in between must
/// not keep a load balancer waiting.
const REPLY_TIME_MAX: Duration = Duration::from_secs(5);

/// When the database was asked last, and what was wrong.
#[derive(Default)]
pub struct Pulse(Mutex<Option<(Instant, Result<(), Weakness>)>>);

/// Why a host cannot use its database.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Weakness {
    NoReplicas,
    /// It does not respond, or does not confirm.
    Silent,
}

impl From<Unconfirmed> for Weakness {
    fn from(Unconfirmed(error): Unconfirmed) -> Self {
        match error {
            sqlx::Error::Io(error) if error.get_ref().is_some_and(|it| it.is::<NoReplicas>()) => Self::NoReplicas,
            _ => Self::Silent,
        }
    }
}

impl Pulse {
    pub(crate) async fn check(&self, pool: &PgPool, barrier: &Barrier) -> Result<(), Weakness> {
        if pool.is_closed() {
            return Err(Weakness::Silent);
        }
        let mut last = self.0.lock().await;
        if let Some((at, result)) = *last
            && at.elapsed() < ANSWER_COUNTS
        {
            return result;
        }
        let asked = async {
            let view = barrier.begin();
            pool.acquire().await?.ping().await?;
            barrier.pass(view).await
        };
        let result =
            timeout(REPLY_TIME_MAX, asked).await.map_or(Err(Weakness::Silent), |it| it.map_err(Weakness::from));
        *last = Some((Instant::now(), result));
        result
    }
}
