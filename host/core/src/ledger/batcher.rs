//! Looks up, decides and commits batches of commands, and answers their callers.
//!
//! A batch is whatever is queued when the previous one is done; no command waits for a batch to fill. A lone
//! command is committed immediately, and the next batch accumulates while it is.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use time::OffsetDateTime;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::Instrument as _;
use uuid::Uuid;

use super::batch::{Context, Row};
use super::chain::Seal;
use super::command::{Command, Outcome};
use super::decide::decide;
use super::job::{Caller, Job, LedgerConfig, LedgerError};
use super::pace::{BATCH_LENGTH_MAX, Pace};
use super::store::proof::Head;
use super::store::{CommitError, Fate, Store};
use super::writer::{LEASE, Writer};
use crate::clock::Clock;
use crate::db::session::is_outage;
use crate::domain::bank_account::{CUSTOMER_STRIPE, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::models::Models;
use crate::telemetry::SPANS;

/// Attempts to decide and commit a batch. Each lost race means that another writer won one, so a few are enough.
const ATTEMPTS_MAX: u32 = 16;

/// Longest pause between attempts.
const BACKOFF_MAX: Duration = Duration::from_millis(50);

/// How long to try to resolve an unknown outcome: long enough for a restart of Postgres.
const RECOVERY_TIME_MAX: Duration = Duration::from_secs(20);

/// Pause between two attempts.
const RECOVERY_STEP: Duration = Duration::from_millis(500);

pub(super) struct Batcher<S> {
    /// In metrics.
    name: &'static str,
    store: S,
    models: Models,
    clock: Clock,
    config: LedgerConfig,
    holder: Uuid,
    /// `None` if the chain was lost or its head is uncertain; the next batch leases another.
    writer: Option<Writer>,
    /// Accounts at this bank that the last batch credited, and users with a limit, that other writers want too. The next
    /// batch probably needs them again, and locks them before it reads them rather than lose a race first.
    contended: BTreeSet<Row>,
    pace: Arc<Pace>,
}

impl<S: Store> Batcher<S> {
    pub(super) async fn new(
        name: &'static str,
        store: S,
        models: Models,
        clock: Clock,
        config: LedgerConfig,
    ) -> Result<Self, sqlx::Error> {
        let holder = Uuid::new_v4();
        let mut batcher = Self {
            name,
            store,
            models,
            clock,
            config,
            holder,
            writer: None,
            contended: BTreeSet::new(),
            pace: Arc::default(),
        };
        batcher.writer = Some(batcher.lease().await?);
        Ok(batcher)
    }

    pub(super) fn pace(&self) -> Arc<Pace> {
        Arc::clone(&self.pace)
    }

    /// Runs until every handle is dropped and every queued command is answered.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        let mut renewal = tokio::time::interval(Duration::from_secs(LEASE.whole_seconds().unsigned_abs() / 3));
        renewal.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut jobs = Vec::with_capacity(BATCH_LENGTH_MAX);
        loop {
            if queue.is_empty() {
                self.store.idle();
            }
            tokio::select! {
                // Renewal comes first, so that load cannot starve it.
                biased;
                _ = renewal.tick() => { self.renew().await; continue }
                received = queue.recv_many(&mut jobs, BATCH_LENGTH_MAX) => if received == 0 { break },
            }
            let (waiting, late) =
                jobs.drain(..).partition::<Vec<_>, _>(|job| job.caller.is_waiting(self.config.failover_wait));
            late.into_iter().for_each(|job| job.caller.answer(Err(LedgerError::Overloaded)));
            let (commands, callers): (Vec<_>, Vec<_>) =
                waiting.into_iter().map(|job| (job.command, job.caller)).unzip();
            if !commands.is_empty() {
                let begun = Instant::now();
                let span = tracing::debug_span!(target: SPANS, parent: None, "batch", commands = commands.len());
                for caller in &callers {
                    span.follows_from(caller.span());
                }
                self.answer(&commands, callers).instrument(span).await;
                self.pace.note(commands.len(), begun.elapsed());
            }
        }
        if let Some(writer) = self.writer {
            // A lease that cannot be released expires.
            let _ = self.store.release(&writer).await;
        }
    }

    /// Answers each caller. A command that cannot be committed does not fail the others of its batch.
    async fn answer(&mut self, commands: &[Command], callers: Vec<Caller>) {
        match self.process_catching_panics(commands).await {
            Ok(outcomes) => callers.into_iter().zip(outcomes).for_each(|(caller, outcome)| caller.answer(Ok(outcome))),
            Err(error) if commands.len() > 1 && error.one_command_may_be_at_fault() => {
                tracing::warn!(error = &error as &dyn std::error::Error, "batch refused; retrying each command alone");
                for (command, caller) in commands.iter().zip(callers) {
                    // Each may wait for a lock, so the last ones come long after their callers gave up.
                    if !caller.is_waiting(self.config.failover_wait) {
                        caller.answer(Err(LedgerError::Overloaded));
                        continue;
                    }
                    let outcome = self.process_catching_panics(std::slice::from_ref(command)).await;
                    caller.answer(outcome.and_then(|outcomes| outcomes.into_iter().next().ok_or(LedgerError::Unknown)));
                }
            }
            Err(error) => callers.into_iter().for_each(|caller| caller.answer(Err(error.clone()))),
        }
    }

    async fn process_catching_panics(&mut self, commands: &[Command]) -> Result<Vec<Outcome>, LedgerError> {
        let processed = AssertUnwindSafe(self.process(commands)).catch_unwind().await;
        processed.unwrap_or_else(|_| {
            // The commit may have happened: the next lease reads the chain's head.
            self.writer = None;
            Err(LedgerError::Panicked)
        })
    }

    /// Waits for a new primary as long as nothing is written.
    async fn process(&mut self, commands: &[Command]) -> Result<Vec<Outcome>, LedgerError> {
        let deadline = Instant::now() + self.config.failover_wait;
        loop {
            match self.decide_and_commit(commands).await {
                Err(LedgerError::Database(error) | LedgerError::Refused(error))
                    if is_outage(&error) && Instant::now() < deadline =>
                {
                    tokio::time::sleep(RECOVERY_STEP).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn decide_and_commit(&mut self, commands: &[Command]) -> Result<Vec<Outcome>, LedgerError> {
        // After a lost race: a row that many writers want could lose them all.
        let mut locked = BTreeSet::new();
        for attempt in 0..ATTEMPTS_MAX {
            if attempt > 0 && locked.is_empty() {
                tokio::time::sleep(self.backoff(attempt)).await;
            }
            let now = self.checked_now().await?;
            let writer = self.writer().await?;
            let context = Context { now, stripe: writer.stripe, terms: self.config.terms };
            if locked.is_empty() && !self.contended.is_empty() {
                locked = self.contended.iter().cloned().chain(named(commands, &writer)).collect();
            }
            let span = tracing::debug_span!(target: SPANS, "lookup");
            let mut state = self.store.lookup(commands, &writer, &context, &locked).instrument(span).await?;
            let (batch, outcomes) = decide(&self.models, &mut state, commands, &context);
            if batch.is_empty() {
                // Replays and refusals tell what was read.
                self.store.confirm().await?;
                return Ok(outcomes);
            }
            let rows: BTreeSet<_> = batch.rows().collect();
            self.contended.retain(|row| rows.contains(row));
            // Locking further rows now would break the order of locks, and two batches could wait for each other.
            if !locked.is_empty() && !rows.is_subset(&locked) {
                locked.extend(rows);
                continue;
            }
            let seal = self.config.key.seal(&batch, Uuid::new_v4(), &writer, &context);
            let begun = Instant::now();
            let span = tracing::debug_span!(target: SPANS, "commit");
            match self.store.commit(&batch, &seal, &context).instrument(span).await {
                Ok(()) => {
                    self.committed(commands, &writer, &seal, begun);
                    return Ok(outcomes);
                }
                Err(CommitError::LostRace) => {
                    self.retries("race");
                    let named: BTreeSet<_> = named(commands, &writer).collect();
                    self.contended.extend(rows.difference(&named).cloned());
                    locked = named;
                    locked.extend(rows);
                }
                Err(CommitError::LostChain) => self.lose_chain(&writer),
                Err(CommitError::Unknown(error)) => {
                    self.retries("unknown");
                    tracing::warn!(error = &error as &dyn std::error::Error, "the outcome of a commit is unknown");
                    let tombstone = self.config.key.seal_tombstone(Uuid::new_v4(), &writer, now);
                    match self.settle(seal.header.batch_id, &tombstone).await? {
                        Fate::Committed => {
                            self.committed(commands, &writer, &seal, begun);
                            return Ok(outcomes);
                        }
                        Fate::Never => self.writer = Some(writer.after(tombstone.header.seq, tombstone.hash)),
                        Fate::LostChain => self.lose_chain(&writer),
                    }
                }
                Err(CommitError::Refused(error)) => return Err(LedgerError::Refused(error.into())),
            }
        }
        Err(LedgerError::Overloaded)
    }

    /// Now, checked against the database's clock: entries and daily limits rest on it and cannot be corrected later.
    async fn checked_now(&self) -> Result<OffsetDateTime, sqlx::Error> {
        self.clock.checked(self.store.now()).await
    }

    async fn writer(&mut self) -> Result<Writer, LedgerError> {
        if let Some(writer) = self.writer {
            return Ok(writer);
        }
        let writer = self.lease().await?;
        self.writer = Some(writer);
        Ok(writer)
    }

    fn committed(&mut self, commands: &[Command], writer: &Writer, seal: &Seal, begun: Instant) {
        let (chain_id, head) = (writer.chain_id, Head { seq: seal.header.seq, hash: seal.hash });
        self.config.committed.add(chain_id, head);
        self.writer = Some(writer.after(head.seq, head.hash));
        let metrics = self.models.metrics();
        metrics.batch_commands.observe(commands.len() as f64);
        metrics.commit_seconds.observe(begun.elapsed().as_secs_f64());
        metrics.chain_seq.of([self.name]).set(head.seq);
    }

    fn retries(&self, cause: &'static str) {
        self.models.metrics().ledger_retries.of([cause]).inc();
    }

    fn lose_chain(&mut self, writer: &Writer) {
        self.retries("chain");
        tracing::warn!(chain_id = %writer.chain_id, "lost the chain to another writer; leasing a new one");
        self.writer = None;
    }

    /// Retries until the database reveals whether a batch was committed.
    async fn settle(&mut self, batch_id: Uuid, tombstone: &Seal) -> Result<Fate, LedgerError> {
        let deadline = Instant::now() + RECOVERY_TIME_MAX.max(self.config.failover_wait);
        while Instant::now() < deadline {
            match self.store.settle(batch_id, tombstone).await {
                Ok(fate) => return Ok(fate),
                Err(_) => tokio::time::sleep(RECOVERY_STEP).await,
            }
        }
        // The sequence number may or may not be in use: the next lease reads the chain's head.
        self.writer = None;
        Err(LedgerError::Unknown)
    }

    /// Leases a chain, retrying if another host created the same stripe at the same moment.
    async fn lease(&mut self) -> Result<Writer, sqlx::Error> {
        let now = self.checked_now().await?;
        let mut attempt = 0;
        loop {
            match self.store.acquire(self.holder, now).await {
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
        let renewed = match self.checked_now().await {
            Ok(now) => self.store.renew(&writer, now).await,
            Err(error) => Err(error),
        };
        match renewed {
            Ok(true) => {}
            Ok(false) => self.writer = None,
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "cannot renew the lease"),
        }
    }

    /// Exponential with full jitter, so that two writers do not collide again.
    fn backoff(&self, attempt: u32) -> Duration {
        let ceiling = Duration::from_millis(1 << attempt.min(10)).min(BACKOFF_MAX);
        ceiling.mul_f64(self.config.jitter.next())
    }
}

/// The balances that commands name, and the writer's stripes of the bank's own accounts.
fn named<'a>(commands: &'a [Command], writer: &Writer) -> impl Iterator<Item = Row> + use<'a> {
    let stripe = writer.stripe;
    let own = [FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT].into_iter().map(move |account| (account, stripe));
    commands.iter().filter_map(Command::account_id).map(|id| (id, CUSTOMER_STRIPE)).chain(own).map(Row::Balance)
}
