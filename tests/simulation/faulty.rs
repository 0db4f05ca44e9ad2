//! The model behind a bad line: replies get lost, statements arrive late, the server is away, transactions are
//! rolled back, and hosts die in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use caudal::ledger::Command;
use caudal::ledger::batch::{Batch, Context, State};
use caudal::ledger::chain::Seal;
use caudal::ledger::store::{CommitError, Fate, Store};
use caudal::ledger::writer::Writer;
use time::OffsetDateTime;
use tokio::time::sleep;
use uuid::Uuid;

use crate::chance::Chance;
use crate::tables::{LOADS, Model};

/// How long one statement takes at most, when it is not late.
const STATEMENT: Duration = Duration::from_millis(4);
/// How late a statement may arrive whose sender has given it up.
const LATE: Duration = Duration::from_millis(900);

/// A rule of the ledger that is broken on purpose, to see that the simulation notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// Constraints of the database are gone.
    Constraints(&'static [&'static str]),
    /// Keys that were answered are not found.
    NoReplay,
    /// A commit without a reply is taken for one that did not happen.
    NoSettling,
    /// Whether a commit happened is looked up, and nothing keeps it from happening afterwards.
    NoTombstone,
    /// A lost race is taken for a commit.
    NoRetry,
}

impl Chance {
    /// Up to so long.
    pub(crate) fn time(&self, most: Duration) -> Duration {
        most.mul_f64(self.share())
    }

    /// Lets others go first, for up to so long.
    pub(crate) async fn pause(&self, most: Duration) {
        sleep(self.time(most)).await;
    }
}

/// A host's view of the store.
#[derive(Clone)]
pub(crate) struct Faulty {
    pub(crate) model: Model,
    pub(crate) chance: Chance,
    /// Whether anything goes wrong.
    pub(crate) troubled: Arc<AtomicBool>,
    /// Whether the server is away.
    pub(crate) away: Arc<AtomicBool>,
    pub(crate) mutation: Option<Mutation>,
}

impl Faulty {
    fn happens(&self, permille: usize) -> bool {
        self.troubled.load(Relaxed) && self.chance.happens(permille)
    }

    /// The way to the server.
    async fn reach(&self) -> Result<(), sqlx::Error> {
        self.chance.pause(STATEMENT).await;
        if self.away.load(Relaxed) || self.happens(8) { Err(broken()) } else { Ok(()) }
    }

    fn write(&self, batch: &Batch, seal: &Seal) -> Result<(), CommitError> {
        self.model.commit(batch, seal).map_err(CommitError::from)
    }
}

fn broken() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into())
}

impl Store for Faulty {
    async fn lookup(&self, commands: &[Command], writer: &Writer, context: &Context) -> Result<State, sqlx::Error> {
        let mut state = State::default();
        for load in LOADS {
            self.reach().await?;
            load(&self.model.tables(), commands, writer, context, &mut state);
        }
        if self.mutation == Some(Mutation::NoReplay) {
            state.answers.clear();
        }
        Ok(state)
    }

    async fn commit(&self, batch: &Batch, seal: &Seal, _: &Context) -> Result<(), CommitError> {
        let unknown = match self.mutation {
            Some(Mutation::NoSettling) => |_| CommitError::LostRace,
            _ => CommitError::Unknown,
        };
        // Without a connection nothing was sent.
        self.reach().await.map_err(CommitError::Refused)?;
        if self.happens(15) {
            // A deadlock or a serialization failure: rolled back, and told so.
            return Err(CommitError::LostRace);
        }
        if self.happens(10) {
            // It never arrived, and nobody says so.
            return Err(unknown(broken()));
        }
        let late = self.happens(15);
        let (store, batch, seal) = (self.clone(), batch.clone(), seal.clone());
        // The server goes on also when the host dies.
        let statement = tokio::spawn(async move {
            if late {
                sleep(store.chance.time(LATE)).await;
            }
            store.write(&batch, &seal)
        });
        if late {
            // The line broke while the statement was on its way.
            return Err(unknown(broken()));
        }
        let written = statement.await.unwrap();
        self.chance.pause(STATEMENT).await;
        if self.happens(15) {
            return Err(unknown(broken()));
        }
        match (written, self.mutation) {
            (Err(CommitError::LostRace), Some(Mutation::NoRetry)) => Ok(()),
            (written, _) => written,
        }
    }

    async fn settle(&self, batch_id: Uuid, tombstone: &Seal) -> Result<Fate, sqlx::Error> {
        self.reach().await?;
        let fate = if self.mutation == Some(Mutation::NoTombstone) {
            let tables = self.model.tables();
            let place = (tombstone.header.chain_id, tombstone.header.seq);
            match tables.batches.get(&place).map(|seal| seal.header.batch_id) {
                Some(found) if found == batch_id => Fate::Committed,
                // The number is free: the next attempt takes it.
                None => return Ok(Fate::LostChain),
                Some(_) => Fate::LostChain,
            }
        } else {
            self.model.settle(batch_id, tombstone)
        };
        self.chance.pause(STATEMENT).await;
        if self.happens(100) { Err(broken()) } else { Ok(fate) }
    }

    async fn acquire(&self, holder: Uuid, now: OffsetDateTime) -> Result<Writer, sqlx::Error> {
        self.reach().await?;
        Ok(self.model.acquire(holder, now))
    }

    async fn renew(&self, writer: &Writer, now: OffsetDateTime) -> Result<bool, sqlx::Error> {
        self.reach().await?;
        Ok(self.model.renew(writer, now))
    }

    async fn release(&self, writer: &Writer) -> Result<(), sqlx::Error> {
        self.reach().await?;
        self.model.release(writer);
        Ok(())
    }

    fn rest(&self) {}
}
