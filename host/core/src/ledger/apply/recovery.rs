//! Payments that a restored ledger has lost and their rail has settled: an operator books them, and a retry of the lost
//! request gets the booked transfer.

use super::Run;
use crate::domain::bank_account::{CUSTOMER_STRIPE, SPEI_ACCOUNT};
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::domain::transfer::{Kind, PayeeAccount, Status, Transfer};
use crate::ledger::batch::{Answer, Made, NewTransfer};
use crate::ledger::command::{LostPayee, Order, Outcome, Recover, Refusal};
use crate::ledger::tracking::{recovered_key, recovered_key_of};

/// Of the answer that waits for a retry, whose own fingerprint is unknown.
const NO_FINGERPRINT: [u8; 32] = [0; 32];

impl Run<'_> {
    /// The rules are not asked, since the money has left. It counts towards what the account sends today, but exceeds no
    /// limit.
    pub(super) fn recover(&mut self, recover: &Recover) -> Outcome {
        let Recover { transfer_id, account_id, tracking_key, amount, rail, payee, by_hand } = recover.clone();
        let Some(owner) = self.state.accounts.get(&account_id).and_then(|account| account.owner.clone()) else {
            return Refusal::AccountNotFound.into();
        };
        if self.state.used.contains(&transfer_id) {
            return Outcome::IdTaken;
        }
        let mut made = self.batch.transfers.iter().filter_map(|new| new.transfer.spei_reference.as_ref());
        if self.state.tracked.contains(&tracking_key) || made.any(|key| *key == tracking_key) {
            return Refusal::KeyReused.into();
        }
        let debit = (account_id, CUSTOMER_STRIPE);
        match self.state.balances.get(&debit) {
            Some(balance) if balance.frozen => return Refusal::AccountFrozen.into(),
            Some(balance) if balance.available() >= amount && amount > Money::ZERO => {}
            _ => return Refusal::NotCovered.into(),
        }
        if self.send_out(transfer_id, debit, ((SPEI_ACCOUNT, self.context.stripe), false), amount).is_none() {
            return Refusal::BalanceTooLarge.into();
        }
        let LostPayee { beneficiary_id, name, bank, number } = payee;
        let transfer = Transfer {
            transfer_id,
            from_account_id: account_id,
            to_beneficiary_id: Some(beneficiary_id),
            beneficiary_name: Some(name),
            payee: Some(PayeeAccount { number, bank }),
            amount,
            status: Status::Completed,
            spei_reference: Some(tracking_key.clone()),
            remittance: Remittance::NONE,
            created_at: self.context.now,
        };
        if let Some(key) = recovered_key(&tracking_key) {
            let outcome = Ok(Made::Transfer(transfer.clone()));
            let answer = Answer { fingerprint: NO_FINGERPRINT, outcome };
            self.state.answers.insert((owner.clone(), key.clone()), answer.clone());
            self.batch.answers.insert((owner.clone(), key), answer);
        }
        self.state.used.insert(transfer_id);
        self.batch.transfers.push(NewTransfer {
            kind: Kind::Spei,
            owner,
            credit_account_id: SPEI_ACCOUNT,
            sender_number: None,
            reviewed: false,
            rail: Some(rail),
            returns: None,
            reason: None,
            by_hand: Some(by_hand),
            turn: 0,
            device: None,
            order: None,
            transfer: transfer.clone(),
        });
        Outcome::Recovered(transfer)
    }

    /// Binds the idempotency key of an order to the payment that was recovered for it, if one was.
    pub(super) fn bind_recovered(&mut self, order: &Order, fingerprint: &[u8; 32]) {
        let Some(key) = &order.key else { return };
        let name = (order.owner.clone(), key.clone());
        if self.state.answers.contains_key(&name) {
            return;
        }
        let recovered = recovered_key_of(order);
        let found = recovered.and_then(|key| self.state.answers.get(&(order.owner.clone(), key)));
        let Some(outcome) = found.map(|answer| answer.outcome.clone()) else { return };
        let answer = Answer { fingerprint: *fingerprint, outcome };
        self.state.answers.insert(name.clone(), answer.clone());
        // A command without its payee cannot be stored; the retry is answered all the same.
        if self.read(order).is_some() {
            self.rest_on((order.from_account_id, CUSTOMER_STRIPE));
            self.batch.answers.insert(name, answer);
        }
    }
}
