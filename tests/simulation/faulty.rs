//! The model behind an unreliable connection: replies are lost, statements arrive late, the server is unavailable,
//! transactions are rolled back, and hosts crash in between.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal::domain::clabe::Clabe;
use caudal::domain::hold;
use caudal::ledger::batch::{Batch, Context, Row, State};
use caudal::ledger::chain::Seal;
use caudal::ledger::store::{CommitError, Fate, Store};
use caudal::ledger::tables::loads;
use caudal::ledger::writer::Writer;
use caudal::ledger::{CUSTOMER_STRIPE, Command};
use time::OffsetDateTime;
use tokio::time::sleep;
use uuid::Uuid;

use crate::chance::Chance;
use crate::locks::{Guards, Locked, Locks};
use crate::tables::{Model, Tables};

/// Longest time of a statement that is not late.
const STATEMENT_TIME_MAX: Duration = Duration::from_millis(4);
/// Longest delay of a statement that its sender has given up.
const DELAY_MAX: Duration = Duration::from_millis(900);

/// A deliberate bug, which the simulation must detect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// Drops constraints of the database.
    Constraints(&'static [&'static str]),
    /// Does not find recorded answers.
    NoReplay,
    /// Treats a commit without a reply as one that did not happen.
    NoSettling,
    /// Looks up whether a commit happened without preventing it from happening later.
    NoTombstone,
    /// Treats a lost race as a commit.
    NoRetry,
    /// Does not find that a hold has ended, nor does the database.
    NoEnds,
    /// Takes typed account numbers for issued ones.
    TypedNumbers,
    /// Does not lock after a lost race.
    NoLocks,
    /// Locks in no particular order.
    UnorderedLocks,
    /// A commit locks users before balances.
    UsersFirst,
}

impl Chance {
    pub(crate) fn duration(&self, max: Duration) -> Duration {
        max.mul_f64(self.fraction())
    }

    pub(crate) async fn pause(&self, max: Duration) {
        sleep(self.duration(max)).await;
    }
}

/// A batcher's view of the store.
pub(crate) struct Faulty {
    pub(crate) model: Model,
    pub(crate) chance: Chance,
    /// Whether faults happen.
    pub(crate) is_faulty: Arc<AtomicBool>,
    /// Whether the server is unavailable.
    pub(crate) is_down: Arc<AtomicBool>,
    pub(crate) mutation: Option<Mutation>,
    locks: Locks,
    /// Held for the batch that was looked up with them.
    guards: Mutex<Guards>,
}

/// A clone has the same server, and a connection of its own.
impl Clone for Faulty {
    fn clone(&self) -> Self {
        Self {
            model: self.model.clone(),
            chance: self.chance.clone(),
            is_faulty: Arc::clone(&self.is_faulty),
            is_down: Arc::clone(&self.is_down),
            mutation: self.mutation,
            locks: self.locks.clone(),
            guards: Mutex::default(),
        }
    }
}

impl Faulty {
    /// Without faults, until `is_faulty` is set.
    pub(crate) fn new(model: Model, chance: Chance, mutation: Option<Mutation>) -> Self {
        let (is_faulty, is_down) = (Arc::default(), Arc::default());
        Self { model, chance, is_faulty, is_down, mutation, locks: Locks::default(), guards: Mutex::default() }
    }

    fn happens(&self, permille: usize) -> bool {
        self.is_faulty.load(Relaxed) && self.chance.happens(permille)
    }

    /// The network between host and server.
    async fn connect(&self) -> Result<(), sqlx::Error> {
        self.chance.pause(STATEMENT_TIME_MAX).await;
        if self.is_down.load(Relaxed) || self.happens(8) { Err(broken()) } else { Ok(()) }
    }

    fn take_guards(&self) -> Guards {
        std::mem::take(&mut *self.guards.lock().unwrap())
    }

    async fn lock(&self, locked: &BTreeSet<Row>) {
        let mut keys: Vec<_> = locked.iter().cloned().map(Locked::Row).collect();
        match self.mutation {
            Some(Mutation::NoLocks) => keys.clear(),
            Some(Mutation::UnorderedLocks) if self.chance.happens(500) => keys.reverse(),
            _ => {}
        }
        let mut guards = Guards::new();
        for key in keys {
            self.locks.extend(&mut guards, [key]).await;
            self.chance.pause(STATEMENT_TIME_MAX / 4).await;
        }
        *self.guards.lock().unwrap() = guards;
    }

    fn write(&self, batch: &Batch, seal: &Seal) -> Result<(), CommitError> {
        self.model.commit(batch, seal).map_err(CommitError::from)
    }
}

fn broken() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into())
}

impl Store for Faulty {
    async fn lookup(
        &self,
        commands: &[Command],
        writer: &Writer,
        context: &Context,
        locked: &BTreeSet<Row>,
    ) -> Result<State, sqlx::Error> {
        drop(self.take_guards());
        self.lock(locked).await;
        let mut state = State::default();
        for load in loads::<Tables>() {
            self.connect().await?;
            load(&self.model.tables(), commands, writer, context, &mut state);
        }
        match self.mutation {
            Some(Mutation::NoReplay) => state.answers.clear(),
            Some(Mutation::NoEnds) => state.holds.values_mut().for_each(|it| it.hold.status = hold::Status::Placed),
            Some(Mutation::TypedNumbers) => {
                let accounts = state.accounts.clone().into_iter().chain(self.model.tables().accounts.clone());
                for (id, facts) in accounts {
                    state.issued.extend(Clabe::read(&facts.number).map(|clabe| (clabe, id)));
                    let key = (id, CUSTOMER_STRIPE);
                    if let Some(balance) = self.model.tables().balances.get(&key) {
                        state.balances.entry(key).or_insert(*balance);
                    }
                }
            }
            _ => {}
        }
        Ok(state)
    }

    async fn commit(&self, batch: &Batch, seal: &Seal, _: &Context) -> Result<(), CommitError> {
        let unknown = match self.mutation {
            Some(Mutation::NoSettling) => |_| CommitError::LostRace,
            _ => CommitError::Unknown,
        };
        let mut guards = self.take_guards();
        // Without a connection nothing was sent.
        self.connect().await.map_err(CommitError::Refused)?;
        if self.happens(15) {
            // A deadlock or a serialization failure.
            return Err(CommitError::LostRace);
        }
        if self.happens(10) {
            // The statement was lost.
            return Err(unknown(broken()));
        }
        let late = self.happens(15);
        let (store, batch, seal) = (self.clone(), batch.clone(), seal.clone());
        // The server finishes the statement even if the host crashes.
        let statement = tokio::spawn(async move {
            if late {
                sleep(store.chance.duration(DELAY_MAX)).await;
            }
            let mut locked = Locked::by(&batch);
            if store.mutation == Some(Mutation::UsersFirst) {
                locked.sort_by_key(|it| !matches!(it, Locked::Row(Row::User(_))));
            }
            for key in locked {
                store.locks.extend(&mut guards, [key]).await;
                store.chance.pause(STATEMENT_TIME_MAX / 16).await;
            }
            store.write(&batch, &seal)
        });
        if late {
            // The connection broke while the statement was on its way.
            return Err(unknown(broken()));
        }
        let written = statement.await.unwrap();
        self.chance.pause(STATEMENT_TIME_MAX).await;
        if self.happens(15) {
            return Err(unknown(broken()));
        }
        match (written, self.mutation) {
            (Err(CommitError::LostRace), Some(Mutation::NoRetry)) => Ok(()),
            (written, _) => written,
        }
    }

    async fn settle(&self, batch_id: Uuid, tombstone: &Seal) -> Result<Fate, sqlx::Error> {
        self.connect().await?;
        let fate = if self.mutation == Some(Mutation::NoTombstone) {
            let tables = self.model.tables();
            let place = (tombstone.header.chain_id, tombstone.header.seq);
            match tables.batches.get(&place).map(|seal| seal.header.batch_id) {
                Some(found) if found == batch_id => Fate::Committed,
                // The sequence number is free: the next attempt takes it.
                None => return Ok(Fate::LostChain),
                Some(_) => Fate::LostChain,
            }
        } else {
            self.model.settle(batch_id, tombstone)
        };
        self.chance.pause(STATEMENT_TIME_MAX).await;
        if self.happens(100) { Err(broken()) } else { Ok(fate) }
    }

    async fn confirm(&self) -> Result<(), sqlx::Error> {
        drop(self.take_guards());
        self.connect().await
    }

    /// Clocks are fixed here, so hosts never ask.
    async fn now(&self) -> Result<OffsetDateTime, sqlx::Error> {
        Ok(OffsetDateTime::UNIX_EPOCH)
    }

    async fn acquire(&self, holder: Uuid, now: OffsetDateTime) -> Result<Writer, sqlx::Error> {
        self.connect().await?;
        Ok(self.model.acquire(holder, now))
    }

    async fn renew(&self, writer: &Writer, now: OffsetDateTime) -> Result<bool, sqlx::Error> {
        self.connect().await?;
        Ok(self.model.renew(writer, now))
    }

    async fn release(&self, writer: &Writer) -> Result<(), sqlx::Error> {
        self.connect().await?;
        self.model.release(writer);
        Ok(())
    }

    fn idle(&self) {
        drop(self.take_guards());
    }
}
