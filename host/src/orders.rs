//! Orders of transfers, holds and captures: their risk is assessed, then the ledger decides. Requests and schedules send
//! them alike.

use std::sync::Arc;

use uuid::Uuid;

use crate::app::App;
use crate::domain::money::Money;
use crate::domain::order::{Circumstances, Payment, TransferRequest};
use crate::domain::rules::{RISK_ACKNOWLEDGMENT_REQUIRED, Violation};
use crate::domain::transfer::Transfer;
use crate::enforcement::acknowledgment::Subject;
use crate::enforcement::assessment::{self, AssessmentError, Assessor};
use crate::enforcement::enforce;
use crate::ledger::{Command, LedgerError, Order, Outcome, Refusal};
use crate::schema::Flat;

/// An order whose risk is not yet known.
pub(crate) struct Draft {
    pub(crate) key: Option<String>,
    pub(crate) request: TransferRequest,
    pub(crate) acknowledgment_token: Option<String>,
    /// The hold that it captures.
    pub(crate) hold_id: Option<Uuid>,
    /// Thumbprint of the key that the sender's token is bound to.
    pub(crate) device: Option<String>,
}

impl Draft {
    /// Assesses the risk, if that is enforced.
    pub(crate) async fn order(self, app: &App, owner: &str) -> Result<Order, NotMade> {
        self.order_after(app, owner, Money::ZERO).await
    }

    /// The same in a bulk that sends the payee this much before.
    pub(crate) async fn order_after(self, app: &App, owner: &str, sent_before: Money) -> Result<Order, NotMade> {
        let Self { key, request, acknowledgment_token, hold_id, device } = self;
        let TransferRequest { payment: Flat(payment), circumstances: Flat(circumstances), remittance } = request;
        let Payment { from_account_id, to_beneficiary_id, amount } = payment;
        let circumstances = circumstances_of(&circumstances, None, sent_before);
        let subject = Subject { owner, from: from_account_id, to: to_beneficiary_id, amount };
        let acknowledgment = (&app.acknowledgments, acknowledgment_token.as_deref());
        let enforcement = app.settings.risk_enforcement;
        let risk =
            enforce(enforcement, &assessor(app, device.as_deref(), true), &subject, circumstances, acknowledgment)
                .await;
        let (risk, risk_decisions) = risk.map_err(NotMade::Unassessed)?;
        let may_record_refusal = app.rates.may_be_refused(owner, app.clock.now());
        let (transfer_id, owner) = (app.clock.new_id(), owner.to_owned());
        Ok(Order {
            transfer_id,
            owner,
            key,
            from_account_id,
            to_beneficiary_id,
            amount,
            remittance: remittance.0.normalized(),
            risk,
            risk_decisions: Some(Arc::from(risk_decisions)),
            hold_id,
            device,
            may_record_refusal,
        })
    }
}

/// What a client says, and what else the risk depends on.
pub(crate) fn circumstances_of(
    told: &Circumstances,
    hour: Option<u8>,
    sent_before: Money,
) -> assessment::Circumstances {
    // Unusual unless the client says otherwise.
    let (is_new_device, geolocation_changed) =
        (told.is_new_device.unwrap_or(true), told.geolocation_changed.unwrap_or(true));
    assessment::Circumstances { hour, is_new_device, geolocation_changed, sent_before }
}

/// Assesses for an order, or for somebody who only asks.
pub(crate) fn assessor<'a>(app: &'a App, device: Option<&'a str>, is_order: bool) -> Assessor<'a> {
    let (db, key) = (&app.db, &app.key);
    Assessor { db, key, models: &app.models, clock: &app.clock, device, is_order, is_evidence: is_order }
}

/// What became of an order, and whether that repeats the answer to an earlier one with the same key.
pub(crate) struct Answer<T> {
    pub(crate) result: Result<T, NotMade>,
    pub(crate) replayed: bool,
    /// The id of the decisions that it rests on, if they are kept.
    pub(crate) decision: Option<Uuid>,
}

/// Why an order made nothing.
#[derive(Debug)]
pub(crate) enum NotMade {
    Unassessed(AssessmentError),
    Unanswered(LedgerError),
    Refused(Refusal),
    /// By the rules or for lack of funds.
    Rejected(Vec<Violation>),
}

/// What its sender can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy<'a> {
    /// Nothing, with this order. The code of the problem.
    None(&'a str),
    /// Acknowledge the risk.
    Acknowledgment,
    /// Repeat the order later: nothing was decided.
    Patience,
    /// The same, to learn whether it was made after all.
    Inquiry,
}

impl NotMade {
    pub(crate) fn remedy(&self) -> Remedy<'_> {
        match self {
            Self::Rejected(violations) if violations.iter().all(lacks_acknowledgment) => Remedy::Acknowledgment,
            Self::Rejected(violations) => Remedy::None(violations.first().map_or("rejected", |it| &it.code)),
            Self::Unanswered(LedgerError::Unknown | LedgerError::Panicked) => Remedy::Inquiry,
            Self::Unassessed(_)
            | Self::Unanswered(_)
            | Self::Refused(
                Refusal::RulesUnavailable
                | Refusal::RiskUnavailable
                | Refusal::TooManyRefusals
                | Refusal::TooManyPending
                | Refusal::BalanceTooLarge,
            ) => Remedy::Patience,
            Self::Refused(refusal) => Remedy::None(refusal.code()),
        }
    }
}

impl<T> Answer<T> {
    /// For an outcome that made nothing.
    pub(crate) fn not_made(outcome: Outcome) -> Self {
        let (reason, replayed, decision) = match outcome {
            Outcome::Rejected { violations, replayed, kept_as } => (NotMade::Rejected(violations), replayed, kept_as),
            Outcome::Refused(refusal) => (NotMade::Refused(refusal), false, None),
            other => {
                tracing::error!(outcome = ?other, "an order ended as another command");
                (NotMade::Unanswered(LedgerError::Panicked), false, None)
            }
        };
        Self { result: Err(reason), replayed, decision }
    }

    pub(crate) fn failed(reason: NotMade) -> Self {
        Self { result: Err(reason), replayed: false, decision: None }
    }
}

impl Answer<Transfer> {
    pub(crate) fn of_transfer(outcome: Result<Outcome, LedgerError>) -> Self {
        match outcome {
            Ok(Outcome::Sent { transfer, replayed }) => {
                Self { decision: Some(transfer.transfer_id), result: Ok(transfer), replayed }
            }
            Ok(other) => Self::not_made(other),
            Err(error) => Self::failed(NotMade::Unanswered(error)),
        }
    }
}

/// Makes a transfer.
pub(crate) async fn send(app: &App, owner: &str, draft: Draft) -> Answer<Transfer> {
    match draft.order(app, owner).await {
        Ok(order) => Answer::of_transfer(submit(app, Command::Transfer(order)).await),
        Err(reason) => Answer::failed(reason),
    }
}

/// Submits an order, and counts it if it is refused.
pub(crate) async fn submit(app: &App, command: Command) -> Result<Outcome, LedgerError> {
    let keyed = command.order().filter(|order| order.key.is_some()).map(|order| order.owner.clone());
    let outcome = app.ledger.submit(command).await?;
    if let Some(owner) = keyed {
        count_refusal(app, &owner, &outcome);
    }
    Ok(outcome)
}

/// Counts a refusal that the ledger keeps with its key.
pub(crate) fn count_refusal(app: &App, owner: &str, outcome: &Outcome) {
    if let Outcome::Rejected { violations, replayed: false, .. } = outcome
        && !violations.iter().any(lacks_acknowledgment)
    {
        app.rates.count_refusal(owner, app.clock.now());
    }
}

fn lacks_acknowledgment(violation: &Violation) -> bool {
    violation.code == RISK_ACKNOWLEDGMENT_REQUIRED
}
