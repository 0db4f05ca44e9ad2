//! What a rail's report does to a transfer: it settles, its money goes back, or it came back later.

use super::super::batch::{Balance, Move, Sent};
use super::super::{CUSTOMER_STRIPE, IN_TRANSIT_ACCOUNT, Outcome, PaymentReport, SPEI_ACCOUNT};
use super::Run;
use crate::clock::mexico_city_date;
use crate::domain::transfer::{Kind, RailEvent, Report, Status};

impl Run<'_> {
    /// Reports come twice, late and in any order. Only a pending transfer moves, by the rules' word and
    /// within what [`Status::may_become`] allows; only a completed one comes back, once.
    pub(super) fn report(&mut self, report: &PaymentReport) -> Outcome {
        let sent = self.state.transfers.get(&report.transfer_id).filter(|sent| sent.account_id == report.account_id);
        let Some(sent) = sent.cloned() else { return Outcome::TransferNotFound };
        match (sent.status, report.report) {
            (Status::Pending, Report::Settled) => self.end(report, sent, RailEvent::Settled),
            // What never settled here has not come back but was refused.
            (Status::Pending, Report::Rejected | Report::Returned) => self.end(report, sent, RailEvent::Rejected),
            (Status::Completed, Report::Returned) if !sent.returned => self.bring_back(report, sent),
            (status, _) => Outcome::Unmoved(status),
        }
    }

    fn end(&mut self, report: &PaymentReport, sent: Sent, event: RailEvent) -> Outcome {
        let next = match (self.policy.transition)(sent.status, event) {
            Ok(Some(next)) if sent.status.may_become(next) => next,
            Ok(_) => return Outcome::Unmoved(sent.status),
            Err(_) => return Outcome::RulesUnavailable,
        };
        // Money follows what happened at the other bank; rules that turn one into the other are not followed.
        let expected = if event == RailEvent::Settled { Status::Completed } else { Status::Failed };
        if next != expected {
            return Outcome::RulesUnavailable;
        }
        let account = (sent.account_id, CUSTOMER_STRIPE);
        let stripe = self.context.stripe;
        let to = if next == Status::Completed { (SPEI_ACCOUNT, stripe) } else { account };
        if self.post(report.transfer_id, (IN_TRANSIT_ACCOUNT, stripe), to, sent.amount).is_none() {
            return Outcome::BalanceTooLarge;
        }
        if next == Status::Failed {
            self.take_off_day(&sent);
        }
        let reason = report.reason.filter(|_| next == Status::Failed);
        self.batch.moves.insert(report.transfer_id, Move { status: next, ordinal: sent.statuses, reason });
        let moved = Sent { status: next, statuses: sent.statuses + 1, ..sent };
        self.state.transfers.insert(report.transfer_id, moved);
        Outcome::Moved(next)
    }

    fn bring_back(&mut self, report: &PaymentReport, sent: Sent) -> Outcome {
        let from = (SPEI_ACCOUNT, self.context.stripe);
        if self.post(report.return_id, from, (sent.account_id, CUSTOMER_STRIPE), sent.amount).is_none() {
            return Outcome::BalanceTooLarge;
        }
        self.credit(Kind::Return, report.return_id, sent.owner.clone(), sent.account_id, sent.amount);
        if let Some(credit) = self.batch.transfers.last_mut() {
            credit.returns = Some(report.transfer_id);
            credit.reason = report.reason;
        }
        self.state.transfers.insert(report.transfer_id, Sent { returned: true, ..sent });
        Outcome::Returned
    }

    /// What was refused does not count towards the day on which it was sent.
    fn take_off_day(&mut self, sent: &Sent) {
        let key = (sent.account_id, CUSTOMER_STRIPE);
        let day = mexico_city_date(sent.created_at);
        if let Some(&balance) = self.state.balances.get(&key).filter(|balance| balance.sent_day == day) {
            let left = balance.sent.checked_sub(sent.amount).unwrap_or_default().max(Default::default());
            self.change(key, balance.version, Balance { sent: left, ..balance });
            if let Some(user) =
                self.state.users.get_mut(&sent.owner).filter(|_| day == mexico_city_date(self.context.now))
            {
                let left = user.day_total.checked_sub(sent.amount).unwrap_or_default();
                user.day_total = left.max(Default::default());
            }
        }
    }
}
