//! Feeds commands through look-up, decision and commit, and answers whoever waits.
//!
//! A batch is what waits at the moment: nobody waits for a batch to fill. A lone command is committed at
//! once, and while it is, the next batch gathers.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::batch::{Context, NoVerdict, Policy};
use super::queue::{Job, LedgerConfig, LedgerError};
use super::store::{CommitError, Fate, Postgres, Store as _};
use super::writer::{self, LEASE, Writer};
use super::{Command, Outcome, apply::apply};
use crate::clock::Clock;
use crate::domain::rules::Facts;
use crate::models::decisions::of_rules;
use crate::models::{Models, ScoreError};

/// Commands in one batch. Enough to share the wait for the disk among all who wait at a time; the first of a
/// batch waits until the last is decided, so not more.
pub const BATCH_LENGTH_MAX: usize = 128;

/// Calls of the rules in one batch that may fail. Each may take its whole deadline, and a batch is decided without
/// a pause: rules that fail so often are not asked again by this batch, and what is left of it is not decided.
const RULES_FAILURES_MAX: usize = 3;

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

pub(super) struct Batcher {
    store: Postgres,
    models: Models,
    clock: Clock,
    config: LedgerConfig,
    holder: Uuid,
    /// None after the chain was lost or its end became uncertain; the next batch leases another.
    writer: Option<Writer>,
}

impl Batcher {
    /// Leases a chain.
    pub(super) async fn new(
        store: Postgres,
        models: Models,
        clock: Clock,
        config: LedgerConfig,
    ) -> Result<Self, sqlx::Error> {
        let holder = Uuid::new_v4();
        let writer = Some(lease(&store, holder, &clock).await?);
        Ok(Self { store, models, clock, config, holder, writer })
    }

    /// Runs until every handle is gone and all that waited is answered.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        let mut renewal = tokio::time::interval(Duration::from_secs(LEASE.whole_seconds().unsigned_abs() / 3));
        let mut jobs = Vec::with_capacity(BATCH_LENGTH_MAX);
        loop {
            tokio::select! {
                taken = queue.recv_many(&mut jobs, BATCH_LENGTH_MAX) => if taken == 0 { break },
                _ = renewal.tick() => { self.renew().await; continue }
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
            let _ = self.store.within(async |db| writer::release(db, &writer).await).await;
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
                tokio::time::sleep(backoff(attempt)).await;
            }
            let mut writer = self.writer().await?;
            let now = self.clock.now();
            let context = Context { now, stripe: writer.stripe, cooling_seconds: self.config.cooling_seconds };
            let mut state = self.store.lookup(commands, &writer, &context).await?;
            // One snapshot of the rules for the whole batch: a swap takes effect between batches.
            let models = self.models.snapshot();
            let decided = Mutex::new(Vec::new());
            let failures = AtomicUsize::new(0);
            let (batch, outcomes) = {
                let decide = |facts: &Facts| {
                    if failures.load(Relaxed) >= RULES_FAILURES_MAX {
                        return Err(NoVerdict);
                    }
                    let verdict = models.decide(facts).map_err(|error| {
                        failures.fetch_add(1, Relaxed);
                        no_verdict(error)
                    })?;
                    decided.lock().unwrap_or_else(PoisonError::into_inner).push((facts.clone(), verdict.clone()));
                    Ok(verdict)
                };
                let transition = |status, event| models.transition(status, event).map_err(no_verdict);
                apply(&mut state, commands, &context, &Policy { decide: &decide, transition: &transition })
            };
            // Before anything is moved: what cannot be kept is not done.
            if let Some((log, rules)) = self.models.log().zip(models.rules.as_ref()) {
                let version = &rules.identity().version;
                let decided = decided.into_inner().unwrap_or_else(PoisonError::into_inner);
                let kept: Result<Vec<_>, _> =
                    decided.iter().map(|(facts, verdict)| of_rules(version, facts, verdict)).collect();
                log.keep(kept?).await?;
            }
            if batch.is_empty() {
                return Ok(outcomes);
            }
            let batch_id = Uuid::new_v4();
            let fate = match self.store.commit(&batch, batch_id, &writer, &context).await {
                Ok(()) => Fate::Committed,
                Err(CommitError::LostRace) => continue,
                Err(CommitError::LostChain) => Fate::LostChain,
                Err(CommitError::Unknown(error)) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a commit's outcome is unknown");
                    self.settle(batch_id, &writer).await?
                }
                Err(CommitError::Refused(error)) => return Err(LedgerError::Refused(error.into())),
            };
            if fate == Fate::LostChain {
                tracing::warn!(chain_id = %writer.chain_id, "lost the chain, leasing another");
                self.writer = None;
                continue;
            }
            writer.next_seq += 1;
            self.writer = Some(writer);
            if fate == Fate::Committed {
                return Ok(outcomes);
            }
        }
        Err(LedgerError::Overloaded)
    }

    async fn writer(&mut self) -> Result<Writer, LedgerError> {
        if let Some(writer) = self.writer {
            return Ok(writer);
        }
        let writer = lease(&self.store, self.holder, &self.clock).await?;
        self.writer = Some(writer);
        Ok(writer)
    }

    /// Asks, until the database answers, what became of an attempt.
    async fn settle(&mut self, batch_id: Uuid, writer: &Writer) -> Result<Fate, LedgerError> {
        let deadline = Instant::now() + RECOVERY_TIME_MAX;
        while Instant::now() < deadline {
            match self.store.settle(batch_id, writer, self.clock.now()).await {
                Ok(fate) => return Ok(fate),
                Err(_) => tokio::time::sleep(RECOVERY_STEP).await,
            }
        }
        // The number may be taken or not: a new lease reads the end of its chain first.
        self.writer = None;
        Err(LedgerError::Unknown)
    }

    async fn renew(&mut self) {
        let Some(writer) = self.writer else { return };
        let now = self.clock.now();
        match self.store.within(async |db| writer::renew(db, &writer, now).await).await {
            Ok(true) => {}
            Ok(false) => self.writer = None,
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "cannot renew the lease"),
        }
    }
}

fn no_verdict(error: ScoreError) -> NoVerdict {
    tracing::error!(error = &error as &dyn std::error::Error, "the transfer rules gave no usable answer");
    NoVerdict
}

/// Leases a chain; two hosts that start in the same moment may want the same new stripe.
async fn lease(store: &Postgres, holder: Uuid, clock: &Clock) -> Result<Writer, sqlx::Error> {
    let mut attempt = 0;
    loop {
        let now = clock.now();
        match store.within(async |db| writer::acquire(db, holder, now).await).await {
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() && attempt < ATTEMPTS_MAX => {
                attempt += 1;
                tokio::time::sleep(backoff(attempt)).await;
            }
            outcome => return outcome,
        }
    }
}

/// A random part of a growing pause, so that two writers do not meet again.
fn backoff(attempt: u32) -> Duration {
    let ceiling = Duration::from_millis(1 << attempt.min(10)).min(BACKOFF_MAX);
    ceiling.mul_f64(f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX))
}
