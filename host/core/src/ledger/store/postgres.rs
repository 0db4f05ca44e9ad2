//! The store in Postgres.

use std::collections::BTreeSet;
use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::connection::Connection;
use super::contract::{CommitError, Fate, Store};
use super::{commit, fate, key, lease, lock, lookup, retired};
use crate::db::barrier::{Barrier, write_barrier};
use crate::db::durability::Durability;
use crate::db::timeline::{Timeline, View};
use crate::ledger::batch::{Batch, Context, Row, State};
use crate::ledger::chain::{ChainKey, Seal};
use crate::ledger::command::Command;
use crate::ledger::writer::Writer;

/// Each clone has its own connection, so each batcher gets a clone.
#[derive(Debug, Clone)]
pub struct Postgres {
    connection: Connection,
    key: ChainKey,
    barrier: Barrier,
    decision_time_max: Duration,
}

/// Longest time between a look-up and the commit that rests on it, by the server's clock: longer than both may take,
/// far shorter than the claim on a schedule, after which its owner may cancel.
const DECISION_TIME_MAX: Duration = Duration::from_secs(30);

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
    #[error("this ledger's hashes were made with another key: configure the key that the other hosts use")]
    OtherKey,
    #[error(
        "this key was retired with `caudal rotate-key`: configure the key that replaced it; the retired one serves for \
         `caudal verify --retired-ledger-key-file` only"
    )]
    RetiredKey,
}

impl Postgres {
    /// For a ledger whose key has already been checked.
    pub fn new(pool: PgPool, key: ChainKey) -> Self {
        let barrier = Barrier::new(pool.clone(), Durability::Local, Timeline::default());
        let connection = Connection::new(pool, Timeline::default());
        Self { connection, key, barrier, decision_time_max: DECISION_TIME_MAX }
    }

    /// For tests: another limit than `DECISION_TIME_MAX`.
    #[must_use]
    pub fn with_decision_time(self, decision_time_max: Duration) -> Self {
        Self { decision_time_max, ..self }
    }

    /// Confirms what it writes and tells. The barrier is that of the pool.
    #[must_use]
    pub fn with_barrier(self, barrier: Barrier) -> Self {
        Self { connection: self.connection.on(barrier.timeline().clone()), barrier, ..self }
    }

    /// Binds the ledger to a key, or checks that it is bound to this key.
    ///
    /// # Errors
    /// When the ledger is bound to another key, or the database fails.
    pub async fn open(pool: PgPool, key: &ChainKey, now: OffsetDateTime) -> Result<Self, OpenError> {
        let ours = key.fingerprint();
        let mut db = pool.acquire().await?;
        if key::bind(&mut db, &ours, now).await? != ours {
            return Err(refused(&mut db, &ours).await?);
        }
        drop(db);
        Ok(Self::new(pool, key.clone()))
    }

    /// Checks that the ledger is not bound to another key.
    ///
    /// # Errors
    /// When it is, or the database fails.
    pub async fn check(pool: &PgPool, key: &ChainKey) -> Result<(), OpenError> {
        let (mut db, ours) = (pool.acquire().await?, key.fingerprint());
        match key::bound(&mut db).await? {
            Some(bound) if bound != ours => Err(refused(&mut db, &ours).await?),
            _ => Ok(()),
        }
    }

    async fn run<T>(
        &self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        self.connection.run(self.connection.get().await?, work).await
    }

    /// Runs a write that is confirmed, like everything that was read since `view`, when it succeeds.
    async fn write<T>(
        &self,
        view: View,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let write = self.run(async |db| {
            self.barrier.durability().check_replicas(db).await?;
            work(db).await
        });
        self.barrier.confirmed_since(view, write).await
    }
}

/// Why a key is refused that the ledger is not bound to.
async fn refused(db: &mut PgConnection, fingerprint: &[u8]) -> Result<OpenError, sqlx::Error> {
    let is_retired = retired::is_retired(db, fingerprint).await?;
    Ok(if is_retired { OpenError::RetiredKey } else { OpenError::OtherKey })
}

impl Store for Postgres {
    async fn lookup(
        &self,
        commands: &[Command],
        writer: &Writer,
        context: &Context,
        locked: &BTreeSet<Row>,
    ) -> Result<State, sqlx::Error> {
        drop(self.connection.take_begun());
        self.connection.look_up_since(self.barrier.begin());
        let load = async |db: &mut PgConnection| {
            self.barrier.durability().check_replicas(db).await?;
            lock::rows(db, locked.iter().cloned()).await?;
            lookup::load(db, &self.key, commands, writer, context).await
        };
        let (state, at) = if locked.is_empty() { self.run(load).await? } else { self.connection.begin(load).await? };
        self.connection.looked_up(at);
        Ok(state)
    }

    async fn commit(&self, batch: &Batch, seal: &Seal, context: &Context) -> Result<(), CommitError> {
        // Its transaction may have begun with the look-up.
        let view = self.connection.looked_up_since();
        let commit_by = self.connection.looked_up_at().map(|at| at + self.decision_time_max);
        let write = async |db: &mut PgConnection| commit::write(db, &self.key, (batch, seal), context, commit_by).await;
        let written = match self.connection.take_begun() {
            Some(transaction) => self.barrier.confirmed_since(view, Connection::commit(transaction, write)).await,
            None => {
                // Without a connection, nothing was written.
                let db = self.connection.get().await.map_err(CommitError::Refused)?;
                self.barrier.confirmed_since(view, self.connection.run(db, write)).await
            }
        };
        written.map_err(fate::classify)
    }

    async fn settle(&self, batch_id: Uuid, tombstone: &Seal) -> Result<Fate, sqlx::Error> {
        self.write(self.barrier.begin(), async |db| fate::settle(db, batch_id, tombstone).await).await
    }

    async fn confirm(&self) -> Result<(), sqlx::Error> {
        drop(self.connection.take_begun());
        match self.barrier.durability() {
            Durability::Local => Ok(()),
            Durability::Replicated => {
                self.write(self.connection.looked_up_since(), async |db| write_barrier(db).await).await
            }
        }
    }

    async fn now(&self) -> Result<OffsetDateTime, sqlx::Error> {
        self.run(async |db| sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#).fetch_one(db).await).await
    }

    async fn acquire(&self, holder: Uuid, now: OffsetDateTime) -> Result<Writer, sqlx::Error> {
        self.write(self.barrier.begin(), async |db| lease::acquire(db, &self.key, holder, now).await).await
    }

    async fn renew(&self, writer: &Writer, now: OffsetDateTime) -> Result<bool, sqlx::Error> {
        self.write(self.barrier.begin(), async |db| lease::renew(db, writer, now).await).await
    }

    async fn release(&self, writer: &Writer) -> Result<(), sqlx::Error> {
        self.write(self.barrier.begin(), async |db| lease::release(db, writer).await).await
    }

    fn idle(&self) {
        self.connection.release();
    }
}
