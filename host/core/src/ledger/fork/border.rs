//! Which batches come after a time.
//!
//! A host reads its clock before it waits for what another one is still writing, so a batch may be dated a little before one that
//! it rests on. It comes after the time all the same.

use std::collections::HashSet;

use time::OffsetDateTime;
use uuid::Uuid;

use super::plan::Recorded;
use crate::domain::bank_account::{FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::ledger::command::Command;

pub(super) enum Border {
    /// Everything comes after it.
    Crossed,
    /// Nothing does.
    Never,
    At {
        at: OffsetDateTime,
        /// What the batches after it touch.
        beyond: HashSet<Uuid>,
    },
}

impl Border {
    pub(super) fn at(at: OffsetDateTime) -> Self {
        Self::At { at, beyond: HashSet::new() }
    }

    pub(super) fn is_crossed(&mut self, created_at: OffsetDateTime, touched: &[Uuid]) -> bool {
        match self {
            Self::Crossed => true,
            Self::Never => false,
            Self::At { at, beyond } => {
                let is_crossed = created_at >= *at || touched.iter().any(|id| beyond.contains(id));
                if is_crossed {
                    beyond.extend(touched);
                }
                is_crossed
            }
        }
    }
}

/// The chain, for the bank's own accounts, customers' accounts, and what a rail reports on.
pub(super) fn touched(recorded: &Recorded, commands: &[Command]) -> Vec<Uuid> {
    let own = [FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT];
    let entered = recorded.seal.rows.entries.iter().map(|entry| entry.account_id).filter(|id| !own.contains(id));
    let named = commands.iter().flat_map(|command| [command.account_id(), command.payee_account_id()]).flatten();
    let reported = commands.iter().filter_map(|command| match command {
        Command::Report(report) => Some(report.transfer_id),
        Command::Receive(receive) => Some(receive.order.transfer_id()),
        _ => None,
    });
    [recorded.seal.header.chain_id].into_iter().chain(entered).chain(named).chain(reported).collect()
}
