//! Rail reports: a pending transfer settles or fails; a settled one is returned, by its rail or by an operator. Before that, a
//! person may have to release or refuse it.

use super::Run;
use crate::clock::mexico_city_date;
use crate::domain::bank_account::{CUSTOMER_STRIPE, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::domain::money::Money;
use crate::domain::transfer::{Kind, RailEvent, RailName, Report, Status};
use crate::ledger::batch::{Balance, Move, ReportedTransfer};
use crate::ledger::command::{Outcome, PaymentReport, Refusal};

impl Run<'_> {
    /// Reports may be duplicated, late or out of order. Only a pending transfer changes status, if both the
    /// rules and [`Status::may_become`] allow it; only a completed one can be returned, once.
    pub(super) fn report(&mut self, report: &PaymentReport) -> Outcome {
        let transfer = self.state.transfers.get(&report.transfer_id);
        let is_meant = |it: &&ReportedTransfer| {
            (it.account_id, it.payee_account_id) == (report.account_id, report.payee_account_id)
        };
        let Some(transfer) = transfer.filter(is_meant).cloned() else {
            return Outcome::TransferNotFound;
        };
        let moment = transfer.moment;
        let before = self.batch.changes();
        let outcome = match (transfer.status, report.report) {
            // A batch gives a transfer one status, and a released one may be reported on by the next.
            (Status::Pending, _) if self.batch.moves.contains_key(&report.transfer_id) => {
                Outcome::StatusUnchanged(Status::Pending)
            }
            (status, Report::Released | Report::Refused) if transfer.under_review.is_none() => {
                Outcome::StatusUnchanged(status)
            }
            (_, Report::Released) => self.release_payment(report, transfer),
            (_, Report::Refused) => self.finish(report, transfer, RailEvent::Rejected),
            // No rail has it yet.
            (status, _) if transfer.under_review.is_some() => Outcome::StatusUnchanged(status),
            // What could not be credited is only ever sent back.
            (status, Report::Settled) if transfer.kind == Kind::Received => Outcome::StatusUnchanged(status),
            (Status::Pending, Report::Settled) => self.finish(report, transfer, RailEvent::Settled),
            // A return that overtakes the settlement is a rejection.
            (Status::Pending, Report::Rejected | Report::Returned) => {
                self.finish(report, transfer, RailEvent::Rejected)
            }
            (Status::Completed, Report::Returned) if !transfer.returned && transfer.kind == Kind::Spei => {
                self.return_money(report, transfer)
            }
            (status, _) => Outcome::StatusUnchanged(status),
        };
        if self.batch.changes() > before {
            // A settlement changes no balance of its transfer's account.
            self.batch.moment = self.batch.moment.max(moment);
        }
        outcome
    }

    /// Lets a transfer that was under review go on, as it would have when it was made.
    fn release_payment(&mut self, report: &PaymentReport, transfer: ReportedTransfer) -> Outcome {
        if transfer.under_review.is_some_and(RailName::is_instant) {
            return self.finish(report, transfer, RailEvent::Settled);
        }
        self.give_status(report, transfer, Status::Pending)
    }

    fn finish(&mut self, report: &PaymentReport, transfer: ReportedTransfer, event: RailEvent) -> Outcome {
        let next = match (self.policy.transition)(transfer.status, event) {
            Ok(Some(next)) if transfer.status.may_become(next) => next,
            Ok(_) => return Outcome::StatusUnchanged(transfer.status),
            Err(_) => return Refusal::RulesUnavailable.into(),
        };
        // Money follows what happened at the other bank: rules cannot swap settlement and rejection.
        if transfer.status.after(event) != Some(next) {
            return Refusal::RulesUnavailable.into();
        }
        let stripe = self.context.stripe;
        let leaves = next == Status::Completed || transfer.kind == Kind::Received;
        let credit = match transfer.payee_account_id {
            _ if !leaves => (transfer.account_id, CUSTOMER_STRIPE),
            Some(payee) => (payee, CUSTOMER_STRIPE),
            None => (SPEI_ACCOUNT, stripe),
        };
        if self.post(report.transfer_id, (IN_TRANSIT_ACCOUNT, stripe), credit, transfer.amount).is_none() {
            return Refusal::BalanceTooLarge.into();
        }
        if next == Status::Failed && transfer.kind == Kind::Spei {
            self.deduct_from_day(&transfer);
        }
        self.give_status(report, transfer, next)
    }

    fn give_status(&mut self, report: &PaymentReport, transfer: ReportedTransfer, next: Status) -> Outcome {
        let reason = report.reason.filter(|_| next == Status::Failed);
        let by_hand = report.by_hand.clone();
        self.batch.moves.insert(report.transfer_id, Move { status: next, ordinal: transfer.statuses, reason, by_hand });
        let statuses = transfer.statuses + 1;
        let moved = ReportedTransfer { status: next, statuses, under_review: None, ..transfer };
        self.state.transfers.insert(report.transfer_id, moved);
        Outcome::StatusChanged(next)
    }

    fn return_money(&mut self, report: &PaymentReport, transfer: ReportedTransfer) -> Outcome {
        let payee = report.payee_account_id.map(|id| (id, CUSTOMER_STRIPE));
        if let Some(payee) = payee {
            match self.state.balances.get(&payee) {
                Some(balance) if balance.frozen => return Refusal::AccountFrozen.into(),
                Some(balance) if balance.available() >= transfer.amount => {}
                _ => return Refusal::NotCovered.into(),
            }
        }
        let debit = payee.unwrap_or((SPEI_ACCOUNT, self.context.stripe));
        if self.post(report.return_id, debit, (transfer.account_id, CUSTOMER_STRIPE), transfer.amount).is_none() {
            return Refusal::BalanceTooLarge.into();
        }
        let owner = transfer.owner.clone();
        self.credit(Kind::Return, report.return_id, owner, transfer.account_id, transfer.amount, Some(report));
        self.state.transfers.insert(report.transfer_id, ReportedTransfer { returned: true, ..transfer });
        Outcome::Returned
    }

    /// Deducts a rejected transfer from the totals of the day on which it was sent.
    fn deduct_from_day(&mut self, transfer: &ReportedTransfer) {
        let deduct = |sent: Money| sent.checked_sub(transfer.amount).unwrap_or_default().max(Money::ZERO);
        let key = (transfer.account_id, CUSTOMER_STRIPE);
        let day = mexico_city_date(transfer.created_at);
        let Some(&balance) = self.state.balances.get(&key).filter(|balance| balance.sent_day == day) else { return };
        self.change(key, balance, Balance { sent: deduct(balance.sent), ..balance });
        if day == mexico_city_date(self.context.now)
            && let Some(user) = self.state.users.get_mut(&transfer.owner)
        {
            user.day_total = deduct(user.day_total);
        }
    }
}
