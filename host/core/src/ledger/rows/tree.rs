//! The Merkle tree over a batch's rows: one over each table's, and one over these.

use uuid::Uuid;

use super::codec::Row;
use super::{Digests, Rows, TABLES, TransferRow};
use crate::sealing::digest::Hash;
use crate::sealing::merkle;

/// The place of `transfer` among the tables.
const TRANSFERS: usize = 1;

impl Rows {
    pub(in crate::ledger) fn digests(&self) -> Digests {
        [
            root(&self.accounts),
            root(&self.transfers),
            root(&self.statuses),
            root(&self.entries),
            root(&self.keys),
            root(&self.holds),
            root(&self.hold_ends),
            root(&self.account_events),
        ]
    }

    /// Proves that a transfer is among the rows.
    pub fn prove(&self, transfer_id: Uuid) -> Option<Inclusion> {
        let place = self.transfers.binary_search_by_key(&transfer_id, |row| row.transfer_id).ok()?;
        let below = merkle::path(&leaves(&self.transfers), place);
        let path = [below, merkle::path(&self.digests(), TRANSFERS)].concat();
        Some(Inclusion { transfer: self.transfers[place].clone(), place, transfers: self.transfers.len(), path })
    }
}

fn leaves<R: Row>(rows: &[R]) -> Vec<Hash> {
    rows.iter().map(Row::leaf).collect()
}

fn root<R: Row>(rows: &[R]) -> Hash {
    merkle::root(&leaves(rows))
}

/// Proves that a batch wrote a transfer, to anybody who trusts the root of the batch's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inclusion {
    pub(crate) transfer: TransferRow,
    /// Among so many transfers of the batch.
    place: usize,
    transfers: usize,
    /// Within the table, then among the tables.
    path: Vec<Hash>,
}

impl Inclusion {
    /// The root of the rows of a batch that wrote the transfer: to be compared with the one in its header.
    pub fn root(&self) -> Option<Hash> {
        let mut path = self.path.iter().copied();
        let table = merkle::climb(self.transfer.leaf(), (self.place, self.transfers), &mut path)?;
        let root = merkle::climb(table, (TRANSFERS, TABLES), &mut path)?;
        path.next().is_none().then_some(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Money;
    use crate::domain::rules::Verdict;
    use crate::ledger::apply::apply;
    use crate::ledger::batch::{AccountFacts, Balance, Context, Policy, State, Terms};
    use crate::ledger::{CUSTOMER_STRIPE, Command, FUNDING_ACCOUNT, Fund};
    use time::OffsetDateTime;

    /// Of a batch with so many credits of an account.
    fn rows(credits: u128) -> Rows {
        let (account_id, now) = (Uuid::from_u128(1), OffsetDateTime::UNIX_EPOCH);
        let mut state = State::default();
        for (id, owner, stripe) in [(account_id, Some("ana".to_owned()), CUSTOMER_STRIPE), (FUNDING_ACCOUNT, None, 0)] {
            state.accounts.insert(id, AccountFacts { owner, number: "1".to_owned(), is_issued: false });
            state.balances.insert((id, stripe), Balance::empty(Money::from_minor(-1_000)));
        }
        let fund = |id| Fund { transfer_id: Uuid::from_u128(id), account_id, amount: Money::from_minor(1) };
        let commands: Vec<_> = (0..credits).map(|number| Command::Fund(fund(100 + number))).collect();
        let policy = Policy { decide: &|_, _, _| Ok(Verdict::Accepted), transition: &|_, _| Ok(None) };
        let context = Context { now, stripe: 0, terms: Terms::OPEN };
        let (batch, _) = apply(&mut state, &commands, &context, &policy);
        Rows::of(&batch, Uuid::nil(), 0, now)
    }

    #[test]
    fn each_transfer_of_a_batch_is_proven_and_no_other() {
        for credits in [1, 2, 3, 5, 64, 100] {
            let rows = rows(credits);
            let sealed = merkle::root(&rows.digests());
            for row in &rows.transfers {
                let proof = rows.prove(row.transfer_id).unwrap();
                assert_eq!((&proof.transfer, proof.root()), (row, Some(sealed)));
                assert!(proof.path.len() <= 7 + 3, "{}", proof.path.len());
                let mut another = proof.clone();
                another.transfer.amount += 1;
                assert_ne!(another.root(), Some(sealed));
                let mut longer = proof.clone();
                longer.path.push(sealed);
                assert_eq!(longer.root(), None);
                let settled = TransferRow { status: super::super::Unsealed("failed".to_owned()), ..row.clone() };
                assert_eq!(
                    Inclusion { transfer: settled, ..proof }.root(),
                    Some(sealed),
                    "transfer_event has the status"
                );
            }
            assert_eq!(rows.prove(Uuid::from_u128(7)), None);
        }
    }
}
