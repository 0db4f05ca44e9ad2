//! Orders of other banks: credited to the account with the number, or kept in transit until they are sent back.

use super::Run;
use crate::domain::bank_account::{CUSTOMER_STRIPE, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::domain::clabe::Clabe;
use crate::domain::transfer::{Kind, Reason, Status, Transfer};
use crate::ledger::batch::NewTransfer;
use crate::ledger::command::{Outcome, Receive, Refusal};

/// After the payments of all owners, which other workers claim.
const TURN: i32 = i32::MAX;

impl Run<'_> {
    /// Only a number that the bank issued leads to an account: two users may have typed the same one. A frozen account
    /// receives. Money that no account can take is never refused here, since the rail has it for this bank already.
    pub(super) fn receive(&mut self, Receive { rail, order }: &Receive) -> Outcome {
        let transfer_id = order.transfer_id();
        if self.state.used.contains(&transfer_id) {
            let known = self.state.received.get(&transfer_id);
            return Outcome::Received { is_new: false, is_same: known.is_some_and(|it| it.moves_the_same_as(order)) };
        }
        let stripe = self.context.stripe;
        let issued = Clabe::read(&order.payee_number).and_then(|clabe| self.state.issued.get(&clabe));
        let account = issued.map(|id| (*id, CUSTOMER_STRIPE));
        let reason = match account {
            None => Some(Reason::NO_SUCH_ACCOUNT),
            Some(account) if !self.has_room(account, order.amount) => Some(Reason::OVER_LIMIT),
            Some(_) => None,
        };
        let credit = account.filter(|_| reason.is_none()).unwrap_or((IN_TRANSIT_ACCOUNT, stripe));
        if self.post(transfer_id, (SPEI_ACCOUNT, stripe), credit, order.amount).is_none() {
            return Refusal::BalanceTooLarge.into();
        }
        let owner = self.state.accounts.get(&credit.0).and_then(|account| account.owner.clone());
        self.state.used.insert(transfer_id);
        self.state.received.insert(transfer_id, order.clone());
        self.batch.transfers.push(NewTransfer {
            kind: Kind::Received,
            owner: owner.unwrap_or_default(),
            credit_account_id: credit.0,
            sender_number: None,
            reviewed: false,
            rail: Some(*rail),
            returns: None,
            reason,
            by_hand: None,
            turn: TURN,
            device: None,
            order: Some(order.clone()),
            transfer: Transfer {
                transfer_id,
                from_account_id: SPEI_ACCOUNT,
                to_beneficiary_id: None,
                beneficiary_name: None,
                payee: None,
                amount: order.amount,
                status: if reason.is_some() { Status::Pending } else { Status::Completed },
                spei_reference: Some(order.tracking_key.clone()),
                remittance: order.remittance.clone(),
                created_at: self.context.now,
            },
        });
        Outcome::Received { is_new: true, is_same: true }
    }
}
