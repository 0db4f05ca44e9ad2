//! Scores batches of rows on every processor.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use anyhow::{Context as _, Result};

use super::input::{Batch, Row};
use super::output::Lines;
use crate::config::RowFormat;
use crate::domain::accessibility::Language;
use crate::schema::{FieldError, Fields};
use crate::scoring::{Envelope, Kind, Scored, Scorer};
use crate::wasm::ScoreError;

/// Batches that each thread may have at once: one to score, and one so that it need not wait for the next.
const BATCHES_EACH: usize = 2;

/// How rows are read and answers written.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) language: Language,
    pub(super) format: RowFormat,
}

/// What became of a batch.
pub(super) struct Answered {
    /// Of the scored rows, as it is written.
    pub(super) text: Vec<u8>,
    /// By line, in order.
    pub(super) outcomes: Vec<(u64, RowOutcome)>,
    /// Bytes of the input up to the end of the batch.
    pub(super) read: u64,
}

pub(super) enum RowOutcome {
    Scored,
    Rejected(Vec<FieldError>),
    Failed(ScoreError),
}

/// Threads that take batches in turn, so that their answers can be taken in order. They end when this is dropped.
pub(super) struct Scorers(Vec<(SyncSender<Batch>, Receiver<Result<Answered>>)>);

impl Scorers {
    /// One for each processor.
    pub(super) fn start<'scope, K: Kind>(
        scope: &'scope Scope<'scope, '_>,
        scorer: &'scope Scorer<K>,
        form: Form,
    ) -> Self {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let threads = (0..count).map(|_| {
            let (sender, batches) = sync_channel(BATCHES_EACH);
            let (answers, receiver) = sync_channel(BATCHES_EACH);
            scope.spawn(move || {
                // Nobody receives any longer once the run has failed.
                batches.into_iter().try_for_each(|batch| answers.send(answer::<K>(scorer, form, batch)))
            });
            (sender, receiver)
        });
        Self(threads.collect())
    }

    /// Batches that may be sent before the answer to the first of them is taken.
    pub(super) fn ahead(&self) -> usize {
        BATCHES_EACH * self.0.len()
    }

    pub(super) fn send(&self, number: usize, batch: Batch) -> Result<()> {
        self.0[number % self.0.len()].0.send(batch).ok().context("a thread has ended")
    }

    pub(super) fn answer(&self, number: usize) -> Result<Answered> {
        self.0[number % self.0.len()].1.recv().context("a thread has ended")?
    }
}

/// Scores the rows that are valid, all in one instance.
fn answer<K: Kind>(scorer: &Scorer<K>, form: Form, Batch { rows, read }: Batch) -> Result<Answered> {
    let rows: Vec<_> =
        rows.into_iter().map(|Row { line, fields }| (line, envelope::<K>(fields, form.language))).collect();
    let requests: Vec<_> =
        rows.iter().filter_map(|(_, row)| row.as_ref().ok()).map(|row| row.request.clone()).collect();
    let version = &scorer.identity().version;
    let (mut lines, mut answers) = (Lines::new(form.format), assess::<K>(scorer, &requests).into_iter());
    let mut outcomes = Vec::with_capacity(rows.len());
    for (line, row) in rows {
        let outcome = match row {
            Err(faults) => RowOutcome::Rejected(faults),
            Ok(row) => match answers.next().context("a row was not scored")? {
                Ok(assessment) => {
                    lines.add::<K>(line, &K::response(row, Scored { assessment, version: version.clone() }))?;
                    RowOutcome::Scored
                }
                Err(error) => RowOutcome::Failed(error),
            },
        };
        outcomes.push((line, outcome));
    }
    Ok(Answered { text: lines.finish()?, outcomes, read })
}

pub(super) fn assess<K: Kind>(scorer: &Scorer<K>, requests: &[K::Request]) -> Vec<Result<K::Assessment, ScoreError>> {
    // One row may have failed the whole batch: score the rows one by one.
    scorer.assess_batch(requests).unwrap_or_else(|_| requests.iter().map(|request| scorer.assess(request)).collect())
}

pub(super) type Read<K> = Result<Envelope<<K as Kind>::Request>, Vec<FieldError>>;

pub(super) fn envelope<K: Kind>(fields: Result<Fields, Vec<FieldError>>, language: Language) -> Read<K> {
    let mut fields = fields?;
    let row = Envelope::read::<K>(&mut fields, language);
    let faults = fields.into_faults();
    if faults.is_empty() { Ok(row) } else { Err(faults) }
}
