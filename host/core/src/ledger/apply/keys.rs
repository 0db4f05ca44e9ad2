//! Idempotency keys: the first answer is recorded, and a retry gets the same one.

use super::{Run, Unmade};
use crate::domain::bank_account::CUSTOMER_STRIPE;
use crate::domain::risk::Risk;
use crate::domain::rules::RISK_ACKNOWLEDGMENT_REQUIRED;
use crate::ledger::batch::{Answer, Made, Rejection};
use crate::ledger::command::{Command, Order, Outcome, PlaceHold, Refusal};

impl Run<'_> {
    /// Executes an order, or repeats the recorded answer of its key.
    pub(super) fn answer_once(
        &mut self,
        order: &Order,
        fingerprint: [u8; 32],
        execute: impl FnOnce(&mut Self, &Order) -> Result<Made, Unmade>,
    ) -> Outcome {
        let key = order.key.as_ref().map(|key| (order.owner.clone(), key.clone()));
        if let Some(answer) = key.as_ref().and_then(|key| self.state.answers.get(key)) {
            let is_retry = answer.fingerprint == fingerprint;
            return if is_retry { outcome_of(answer.outcome.clone(), true, true) } else { Refusal::KeyReused.into() };
        }
        let outcome = match execute(self, order) {
            Ok(made) => {
                self.state.used.extend(made.transfer_id().or(made.hold_id()));
                Ok(made)
            }
            Err(Unmade::Rejected(violations)) => Err(Rejection { order_id: order.transfer_id, violations }),
            Err(Unmade::Refused(refusal)) => return refusal.into(),
        };
        let key = key.filter(|_| is_final(&outcome));
        let is_kept = key.is_some();
        if let Some(key) = key {
            if outcome.is_err() {
                if !order.may_record_refusal {
                    return Refusal::TooManyRefusals.into();
                }
                self.rest_on((order.from_account_id, CUSTOMER_STRIPE));
            }
            let answer = Answer { fingerprint, outcome: outcome.clone() };
            self.state.answers.insert(key.clone(), answer.clone());
            self.batch.answers.insert(key, answer);
        }
        outcome_of(outcome, false, is_kept)
    }
}

/// Acknowledgments: each is good for one order, which gets its id.
impl Run<'_> {
    /// An order under the id of its acknowledgment, or without an acknowledgment if an earlier order has that id.
    pub(super) fn spend(&self, mut command: Command) -> Command {
        if let Command::Transfer(order) | Command::Hold(PlaceHold { order, .. }) = &mut command
            && let Risk::Assessed { acknowledged, .. } = &mut order.risk
        {
            let is_spent = acknowledged.take_if(|id| self.state.used.contains(id)).is_some();
            order.transfer_id = acknowledged.unwrap_or(order.transfer_id);
            if is_spent {
                order.forget_shown();
            }
        }
        command
    }
}

fn outcome_of(outcome: Result<Made, Rejection>, replayed: bool, is_kept: bool) -> Outcome {
    match outcome {
        Ok(Made::Transfer(transfer)) => Outcome::Sent { transfer, replayed },
        Ok(Made::Hold(hold)) => Outcome::Held { hold, replayed },
        Err(Rejection { order_id, violations }) => {
            Outcome::Rejected { violations, replayed, kept_as: is_kept.then_some(order_id) }
        }
    }
}

/// Whether an idempotency key is bound to this outcome forever. A missing acknowledgment is not: acknowledging the risk
/// continues the same request.
fn is_final(outcome: &Result<Made, Rejection>) -> bool {
    match outcome {
        Ok(_) => true,
        Err(Rejection { violations, .. }) => {
            violations.iter().all(|violation| violation.code != RISK_ACKNOWLEDGMENT_REQUIRED)
        }
    }
}
