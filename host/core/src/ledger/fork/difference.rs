//! Compares a batch that was decided again with the recorded one.

use serde::Serialize;
use uuid::Uuid;

use super::plan::{Keys, Recorded};
use crate::decision::kept::{self, Salt};
use crate::ledger::batch::{Batch, Context};
use crate::ledger::rows::{
    AccountEventRow, AccountRow, EntryRow, HoldEndRow, HoldRow, KeyRow, Row as _, Rows, StatusRow, TABLES, TransferRow,
};
use crate::ledger::writer::Writer;

/// The first batch that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub chain_id: Uuid,
    pub seq: i64,
    pub what: String,
}

impl Difference {
    pub(super) fn new(recorded: &Recorded, what: String) -> Self {
        Self { chain_id: recorded.seal.header.chain_id, seq: recorded.seal.header.seq, what }
    }
}

/// A batch that was decided again.
pub(super) struct Made {
    pub(super) batch: Batch,
    pub(super) context: Context,
    pub(super) writer: Writer,
    /// The first command that did not take its recorded course.
    pub(super) changed: Option<String>,
}

impl Made {
    /// What differs, once it is sealed; hashes only with the key of their chain.
    pub(super) fn difference(self, recorded: &Recorded, keys: &Keys) -> Option<String> {
        if self.changed.is_some() {
            return self.changed;
        }
        let (stored, key) = (&recorded.seal, keys.of(recorded.seal.header.chain_id));
        let sealing = key.unwrap_or(keys.present());
        let mut made = sealing.seal(&self.batch, stored.header.batch_id, &self.writer, &self.context);
        let is_gone = stored.kept.is_empty() && stored.header.decisions != kept::root(&[], Salt::default());
        if is_gone {
            // They were old, and were deleted.
            made.header.decisions = stored.header.decisions;
        } else if key.is_none() {
            let salt = kept::decode(&stored.kept).map(|(_, salt)| salt).unwrap_or_default();
            made.header.decisions = kept::root(&self.batch.decisions, salt);
        }
        made.hash = sealing.hash(&made.header);
        // A status is covered by its own row, and changes.
        for (row, stored) in made.rows.transfers.iter_mut().zip(&stored.rows.transfers) {
            row.status = stored.status.clone();
        }
        for (row, stored) in made.rows.holds.iter_mut().zip(&stored.rows.holds) {
            row.status = stored.status.clone();
        }
        let digests = made.header.digests.iter().zip(&stored.header.digests).map(|(made, stored)| made == stored);
        let tables = same_rows(&made.rows, &stored.rows).into_iter().zip(digests);
        let rows = tables.filter(|((_, same), same_digest)| !(*same && *same_digest));
        let rows = rows.map(|((name, _), _)| format!("{name} rows")).collect::<Vec<_>>();
        let (new, old) = (&made.header, &stored.header);
        let fields = [
            ("commands", new.commands == old.commands),
            ("counts", new.counts == old.counts),
            ("moment", new.moment == old.moment),
            ("transfer ids", new.transfer_ids == old.transfer_ids),
            ("decisions", new.decisions == old.decisions),
        ];
        let fields = fields.into_iter().filter(|(_, same)| !same).map(|(name, _)| name.to_owned());
        let parts: Vec<_> = rows.into_iter().chain(fields).collect();
        if !parts.is_empty() {
            return Some(format!("it differs in its {}", parts.join(", ")));
        }
        let is_altered = key.is_some() && made.hash != stored.hash;
        is_altered.then(|| "it differs in its hash: it was altered after it was sealed".to_owned())
    }
}

fn same_rows(made: &Rows, stored: &Rows) -> [(&'static str, bool); TABLES] {
    [
        (AccountRow::table(), made.accounts == stored.accounts),
        (TransferRow::table(), made.transfers == stored.transfers),
        (StatusRow::table(), made.statuses == stored.statuses),
        (EntryRow::table(), made.entries == stored.entries),
        (KeyRow::table(), made.keys == stored.keys),
        (HoldRow::table(), made.holds == stored.holds),
        (HoldEndRow::table(), made.hold_ends == stored.hold_ends),
        (AccountEventRow::table(), made.account_events == stored.account_events),
    ]
}
