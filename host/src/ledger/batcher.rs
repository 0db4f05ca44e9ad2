//! Feeds commands through look-up, decision and commit, and answers whoever waits.
//!
//! A batch is what waits at the moment: nobody waits for a batch to fill. A lone command is committed at
//! once, and while it is, the next batch gathers.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;

use super::batch::Context;
use super::decide::decide;
use super::queue::{Job, LedgerConfig, LedgerError};
use super::store::{CommitError, Fate, Store};
use super::writer::{LEASE, Writer};
use super::{Command, Outcome};
use crate::clock::Clock;
use crate::models::Models;

/// Commands in one batch. By measuring, with 512 clients on two processors: 16 made 3,640 transfers a second, 32
/// 4,210, 64 5,060, 128 5,640, 256 6,080, medians of runs that differ by a tenth. From here on more gain little, while
/// the first of a batch waits until the last is decided.
pub const BATCH_LENGTH_MAX: usize = 128;

/// Decisions of one batch. Each lost race means that another one was won, so a few are enough.
const ATTEMPTS_MAX: u32 = 16;

/// Longest pause before deciding again.
const BACKOFF_MAX: Duration = Duration::from_millis(50);

/// How long a command may wait for its turn. Whoever sent it has given up or been told to try again
/// by then, so it is not decided any more.
const WAIT_MAX: Duration = Duration::from_secs(15);

/// How long an unknown outcome is looked for: as long as a restart of Postgres may take.
const RECOVERY_TIME_MAX: Duration = Duration::from_secs(20);

/// Pause between two looks.
const RECOVERY_STEP: Duration = Duration::from_millis(500);

pub(super) struct Batcher<S> {
    store: S,
    models: Models,
    clock: Clock,
    config: LedgerConfig,
    holder: Uuid,
    /// None after the chain was lost or its end became uncertain; the next batch leases another.
    writer: Option<Writer>,
}

impl<S: Store> Batcher<S> {
    /// Leases a chain.
    pub(super) async fn new(store: S, models: Models, clock: Clock, config: LedgerConfig) -> Result<Self, sqlx::Error> {
        let mut batcher = Self { store, models, clock, config, holder: Uuid::new_v4(), writer: None };
        batcher.writer = Some(batcher.lease().await?);
        Ok(batcher)
    }

    /// Runs until every handle is gone and all that waited is answered.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        let mut renewal = tokio::time::interval(Duration::from_secs(LEASE.whole_seconds().unsigned_abs() / 3));
        renewal.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut jobs = Vec::with_capacity(BATCH_LENGTH_MAX);
        loop {
            if queue.is_empty() {
                self.store.rest();
            }
            tokio::select! {
                // In this order: a lease is renewed also under load.
                biased;
                _ = renewal.tick() => { self.renew().await; continue }
                taken = queue.recv_many(&mut jobs, BATCH_LENGTH_MAX) => if taken == 0 { break },
            }
            let (late, timely) = jobs.drain(..).partition::<Vec<_>, _>(|job| job.taken_at.elapsed() > WAIT_MAX);
            for job in late {
                let _ = job.reply.send(Err(LedgerError::Overloaded));
            }
            let (commands, replies): (Vec<_>, Vec<_>) = timely.into_iter().map(|job| (job.command, job.reply)).unzip();
            let answers = self.answer(&commands).await;
            for (reply, answer) in replies.into_iter().zip(answers) {
                // A caller that went away changes nothing: the outcome stands.
                let _ = reply.send(answer);
            }
        }
        if let Some(writer) = self.writer {
            // A lease that cannot be given back runs out by itself.
            let _ = self.store.release(&writer).await;
        }
    }

    /// An answer for each command. What one of them makes fail does not fail its neighbours.
    async fn answer(&mut self, commands: &[Command]) -> Vec<Result<Outcome, LedgerError>> {
        match self.process_safely(commands).await {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            // Nothing of it was written: each is tried by itself.
            Err(error) if commands.len() > 1 && error.may_be_one_commands() => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a batch failed; each command is tried alone");
                let mut answers = Vec::with_capacity(commands.len());
                for command in commands {
                    let outcome = self.process_safely(std::slice::from_ref(command)).await;
                    answers.push(outcome.and_then(|outcomes| outcomes.into_iter().next().ok_or(LedgerError::Unknown)));
                }
                answers
            }
            Err(error) => vec![Err(error); commands.len()],
        }
    }

    async fn process_safely(&mut self, commands: &[Command]) -> Result<Vec<Outcome>, LedgerError> {
        let processed = AssertUnwindSafe(self.process(commands)).catch_unwind().await;
        processed.unwrap_or_else(|_| {
            // The ledger has to go on. Where the chain ends is read anew.
            self.writer = None;
            Err(LedgerError::Panicked)
        })
    }

    async fn process(&mut self, commands: &[Command]) -> Result<Vec<Outcome>, LedgerError> {
        for attempt in 0..ATTEMPTS_MAX {
            if attempt > 0 {
                tokio::time::sleep(self.backoff(attempt)).await;
            }
            let writer = self.writer().await?;
            let context = Context { now: self.clock.now(), stripe: writer.stripe, terms: self.config.terms };
            let mut state = self.store.lookup(commands, &writer, &context).await?;
            let (batch, outcomes) = decide(&self.models, &mut state, commands, &context).await?;
            if batch.is_empty() {
                return Ok(outcomes);
            }
            let seal = self.config.key.seal(&batch, Uuid::new_v4(), &writer, &context);
            match self.store.commit(&batch, &seal, &context).await {
                Ok(()) => {
                    self.writer = Some(writer.after(&seal));
                    return Ok(outcomes);
                }
                Err(CommitError::LostRace) => {}
                Err(CommitError::LostChain) => self.lose_chain(&writer),
                Err(CommitError::Unknown(error)) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a commit's outcome is unknown");
                    let tombstone = self.config.key.seal_tombstone(Uuid::new_v4(), &writer, self.clock.now());
                    match self.settle(seal.header.batch_id, &tombstone).await? {
                        Fate::Committed => {
                            self.writer = Some(writer.after(&seal));
                            return Ok(outcomes);
                        }
                        Fate::Never => self.writer = Some(writer.after(&tombstone)),
                        Fate::LostChain => self.lose_chain(&writer),
                    }
                }
                Err(CommitError::Refused(error)) => return Err(LedgerError::Refused(error.into())),
            }
        }
        Err(LedgerError::Overloaded)
    }

    async fn writer(&mut self) -> Result<Writer, LedgerError> {
        if let Some(writer) = self.writer {
            return Ok(writer);
        }
        let writer = self.lease().await?;
        self.writer = Some(writer);
        Ok(writer)
    }

    fn lose_chain(&mut self, writer: &Writer) {
        tracing::warn!(chain_id = %writer.chain_id, "lost the chain, leasing another");
        self.writer = None;
    }

    /// Asks, until the database answers, what became of an attempt.
    async fn settle(&mut self, batch_id: Uuid, tombstone: &super::chain::Seal) -> Result<Fate, LedgerError> {
        let deadline = Instant::now() + RECOVERY_TIME_MAX;
        while Instant::now() < deadline {
            match self.store.settle(batch_id, tombstone).await {
                Ok(fate) => return Ok(fate),
                Err(_) => tokio::time::sleep(RECOVERY_STEP).await,
            }
        }
        // The number may be taken or not: a new lease reads the end of its chain first.
        self.writer = None;
        Err(LedgerError::Unknown)
    }

    /// Leases a chain; two hosts that start in the same moment may want the same new stripe.
    async fn lease(&self) -> Result<Writer, sqlx::Error> {
        let mut attempt = 0;
        loop {
            match self.store.acquire(self.holder, self.clock.now()).await {
                Err(sqlx::Error::Database(error)) if error.is_unique_violation() && attempt < ATTEMPTS_MAX => {
                    attempt += 1;
                    tokio::time::sleep(self.backoff(attempt)).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn renew(&mut self) {
        let Some(writer) = self.writer else { return };
        match self.store.renew(&writer, self.clock.now()).await {
            Ok(true) => {}
            Ok(false) => self.writer = None,
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "cannot renew the lease"),
        }
    }

    /// A random part of a growing pause, so that two writers do not meet again.
    fn backoff(&self, attempt: u32) -> Duration {
        let ceiling = Duration::from_millis(1 << attempt.min(10)).min(BACKOFF_MAX);
        ceiling.mul_f64(self.config.jitter.share())
    }
}
