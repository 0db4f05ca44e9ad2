//! Holds are placed, captured by a transfer, and released.

use time::Duration;
use uuid::Uuid;

use super::{Run, Unmade};
use crate::domain::bank_account::CUSTOMER_STRIPE;
use crate::domain::hold::{Hold, OwnedHold, Status};
use crate::domain::money::Money;
use crate::ledger::batch::{Balance, HoldEnd, Made};
use crate::ledger::command::{Order, Outcome, PlaceHold, Refusal, ReleaseHold};
use crate::ledger::fingerprint;

impl Run<'_> {
    pub(super) fn hold(&mut self, place: &PlaceHold) -> Outcome {
        let fingerprint = fingerprint::of_hold(place);
        self.answer_once(&place.order, fingerprint, |run, order| Ok(Made::Hold(run.place(order, place.lifetime)?)))
    }

    /// The rules decide now and again when the hold is captured, since only a transfer counts towards the day's total, and
    /// is reviewed by a person.
    fn place(&mut self, order: &Order, lifetime: Duration) -> Result<Hold, Unmade> {
        self.decide(order, Money::ZERO)?;
        let key = (order.from_account_id, CUSTOMER_STRIPE);
        let balance = *self.state.balances.get(&key).ok_or(Refusal::AccountNotFound)?;
        let held = balance.held.checked_add(order.amount).ok_or(Refusal::BalanceTooLarge)?;
        self.change(key, balance, Balance { held, ..balance });
        let hold = Hold {
            hold_id: order.transfer_id,
            account_id: order.from_account_id,
            beneficiary_id: order.to_beneficiary_id,
            beneficiary_name: self.state.payees[&order.to_beneficiary_id].name.clone(),
            amount: order.amount,
            status: Status::Placed,
            expires_at: self.context.now.saturating_add(lifetime),
            created_at: self.context.now,
        };
        self.batch.holds.push(OwnedHold { owner: order.owner.clone(), hold: hold.clone() });
        Ok(hold)
    }

    /// The hold that an order captures, if it names one.
    pub(super) fn hold_to_capture(&self, order: &Order) -> Result<Option<Hold>, Unmade> {
        let Some(hold_id) = order.hold_id else { return Ok(None) };
        let is_meant = |it: &&OwnedHold| {
            it.owner == order.owner
                && it.hold.account_id == order.from_account_id
                && it.hold.beneficiary_id == order.to_beneficiary_id
        };
        let hold = self.state.holds.get(&hold_id).filter(is_meant).ok_or(Refusal::HoldNotFound)?.hold.clone();
        if hold.status != Status::Placed || hold.expires_at <= self.context.now {
            return Err(Refusal::HoldEnded(Box::new(hold)).into());
        }
        if order.amount > hold.amount {
            return Err(Refusal::HoldExceeded(Box::new(hold)).into());
        }
        Ok(Some(hold))
    }

    /// Releases the whole hold; the transfer may take less.
    pub(super) fn capture(&mut self, hold: &Hold, transfer_id: Uuid) {
        self.end(hold, Status::Captured, Some(transfer_id));
    }

    /// A hold that was released stays released: a repetition changes nothing.
    pub(super) fn release(&mut self, release: &ReleaseHold) -> Outcome {
        let is_meant = |it: &&OwnedHold| {
            it.hold.account_id == release.account_id && release.owner.as_ref().is_none_or(|owner| *owner == it.owner)
        };
        let Some(OwnedHold { hold, .. }) = self.state.holds.get(&release.hold_id).filter(is_meant).cloned() else {
            return Refusal::HoldNotFound.into();
        };
        let status = if release.owner.is_some() { Status::Voided } else { Status::Expired };
        match hold.status {
            Status::Placed if status == Status::Expired && hold.expires_at > self.context.now => Outcome::HoldNotDue,
            Status::Placed => Outcome::Released(self.end(&hold, status, None)),
            before if before == status => Outcome::Released(hold),
            _ => Refusal::HoldEnded(Box::new(hold)).into(),
        }
    }

    fn end(&mut self, hold: &Hold, status: Status, transfer_id: Option<Uuid>) -> Hold {
        let key = (hold.account_id, CUSTOMER_STRIPE);
        if let Some(&balance) = self.state.balances.get(&key) {
            let held = balance.held.checked_sub(hold.amount).unwrap_or_default();
            self.change(key, balance, Balance { held, ..balance });
        }
        let end = HoldEnd { account_id: hold.account_id, amount: hold.amount, status, transfer_id };
        self.batch.hold_ends.insert(hold.hold_id, end);
        let ended = Hold { status, ..hold.clone() };
        if let Some(owned) = self.state.holds.get_mut(&hold.hold_id) {
            owned.hold = ended.clone();
        }
        ended
    }
}
