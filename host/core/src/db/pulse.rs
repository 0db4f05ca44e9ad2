//! Whether the database responds, agrees on the time and confirms what is written. However many ask, it is asked a few
//! times a second: the question takes a connection that is kept for what moves money.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgPool};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::barrier::{Barrier, Unconfirmed};
use super::durability::NoReplicas;
use super::session::checked_time;
use crate::clock::{Clock, WrongClock};

/// How long an answer counts: short beside the seconds between two probes of a load balancer.
const ANSWER_COUNTS: Duration = Duration::from_millis(250);

/// Longest wait for the database, as long as a request waits for a connection: one that falls silent in between must
/// not keep a load balancer waiting.
const REPLY_TIME_MAX: Duration = Duration::from_secs(5);

/// When the database was asked last, and what was wrong.
#[derive(Default)]
pub struct Pulse(Mutex<Option<(Instant, Result<(), Weakness>)>>);

/// Why a host cannot use its database.
#[derive(Debug, Clone)]
pub enum Weakness {
    NoReplicas,
    /// The host's clock is wrong, so that it decides nothing. What to do.
    Clock(String),
    /// It does not respond, or does not confirm.
    Silent,
}

impl Weakness {
    /// What an operator has to do.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::NoReplicas => Some(NoReplicas.to_string()),
            Self::Clock(detail) => Some(detail.clone()),
            Self::Silent => None,
        }
    }
}

impl From<Unconfirmed> for Weakness {
    fn from(Unconfirmed(error): Unconfirmed) -> Self {
        let sqlx::Error::Io(error) = error else { return Self::Silent };
        match error.get_ref() {
            Some(it) if it.is::<NoReplicas>() => Self::NoReplicas,
            Some(it) if it.is::<WrongClock>() => Self::Clock(it.to_string()),
            _ => Self::Silent,
        }
    }
}

impl Pulse {
    pub async fn check(&self, pool: &PgPool, barrier: &Barrier, clock: &Clock) -> Result<(), Weakness> {
        if pool.is_closed() {
            return Err(Weakness::Silent);
        }
        let mut last = self.0.lock().await;
        if let Some((at, result)) = &*last
            && at.elapsed() < ANSWER_COUNTS
        {
            return result.clone();
        }
        let asked = async {
            let view = barrier.begin();
            let mut db = pool.acquire().await?;
            db.ping().await?;
            checked_time(&mut db, clock).await?;
            drop(db);
            barrier.pass(view).await
        };
        let result =
            timeout(REPLY_TIME_MAX, asked).await.map_or(Err(Weakness::Silent), |it| it.map_err(Weakness::from));
        *last = Some((Instant::now(), result.clone()));
        result
    }
}
