//! What transfers, holds and captures share: the order that they give the ledger, and what became of it.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use uuid::Uuid;

use crate::app::App;
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::domain::rules::RISK_ACKNOWLEDGMENT_REQUIRED;
use crate::domain::transfer::Transfer;
use crate::enforcement::acknowledgment::{Subject, TOKEN_CHARS_MAX};
use crate::enforcement::assessment::Circumstances;
use crate::http::error::Error;
use crate::http::ledger::risk_context::{TOKEN_EXAMPLE, risk_of};
use crate::ledger::{Command, LedgerError, Order, Outcome};
use crate::schema::request;

/// Marks a response that repeats the first one to its key.
const REPLAYED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("idempotency-replayed"), HeaderValue::from_static("true"));

request! {
    /// What only the client knows about a transfer's risk.
    pub(crate) struct CircumstancesRequest as "Circumstances" in camelCase {
        /// Defaults to true, as in the risk context.
        is_new_device: Option<bool> { example: "false" },
        /// Defaults to true, as in the risk context.
        geolocation_changed: Option<bool> { example: "false" },
        /// From the risk context, to record that the user saw the risk. Required if it is high and enforced. Good for
        /// one transfer or hold.
        acknowledgment_token: Option<String> { chars_max: TOKEN_CHARS_MAX, example: TOKEN_EXAMPLE },
    }
}

impl CircumstancesRequest {
    /// Nobody is there to say more, or to acknowledge anything.
    pub(crate) fn without_client(is_new_device: bool, geolocation_changed: bool) -> Self {
        let (is_new_device, geolocation_changed) = (Some(is_new_device), Some(geolocation_changed));
        Self { is_new_device, geolocation_changed, acknowledgment_token: None }
    }
}

/// An order whose risk is not yet known.
pub(crate) struct Draft {
    pub(crate) key: Option<String>,
    pub(crate) from_account_id: Uuid,
    pub(crate) to_beneficiary_id: Uuid,
    pub(crate) amount: Money,
    pub(crate) remittance: Remittance,
    pub(crate) circumstances: CircumstancesRequest,
    /// The hold that it captures.
    pub(crate) hold_id: Option<Uuid>,
}

impl Draft {
    /// Assesses the risk, if that is enforced.
    pub(crate) async fn order(self, app: &App, owner: &str) -> Result<Order, Error> {
        self.order_after(app, owner, Money::ZERO).await
    }

    /// The same in a bulk that sends the payee this much before.
    pub(crate) async fn order_after(self, app: &App, owner: &str, sent_before: Money) -> Result<Order, Error> {
        let Self { key, from_account_id, to_beneficiary_id, amount, remittance, hold_id, .. } = self;
        let circumstances = Circumstances {
            hour: None,
            // Unusual unless the client says otherwise.
            is_new_device: self.circumstances.is_new_device.unwrap_or(true),
            geolocation_changed: self.circumstances.geolocation_changed.unwrap_or(true),
            sent_before,
        };
        let token = self.circumstances.acknowledgment_token;
        let subject = Subject { owner, from: from_account_id, to: to_beneficiary_id, amount };
        let risk = risk_of(app, &subject, circumstances, token.as_deref()).await?;
        let may_record_refusal = app.rates.may_be_refused(owner, app.clock.now());
        let (transfer_id, owner) = (app.clock.new_id(), owner.to_owned());
        Ok(Order {
            transfer_id,
            owner,
            key,
            from_account_id,
            to_beneficiary_id,
            amount,
            remittance,
            risk,
            hold_id,
            may_record_refusal,
        })
    }
}

/// What became of a request, and whether that repeats the answer to an earlier one with the same key.
pub(crate) struct Answer<T> {
    pub(crate) result: Result<T, Error>,
    pub(crate) replayed: bool,
}

impl<T> Answer<T> {
    /// For an outcome that made nothing.
    pub(crate) fn refused(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Rejected { violations, replayed } => Self { result: Err(Error::Rejected(violations)), replayed },
            outcome => Self::failed(outcome),
        }
    }

    pub(crate) fn failed(error: impl Into<Error>) -> Self {
        Self { result: Err(error.into()), replayed: false }
    }

    pub(crate) fn respond(self, success: impl FnOnce(T) -> Response) -> Response {
        let mut response = self.result.map_or_else(|error| error.into_response(), success);
        response.headers_mut().extend(self.replayed.then_some(REPLAYED));
        response
    }
}

impl Answer<Transfer> {
    pub(crate) fn of_transfer(outcome: Result<Outcome, LedgerError>) -> Self {
        match outcome {
            Ok(Outcome::Sent { transfer, replayed }) => Self { result: Ok(transfer), replayed },
            Ok(other) => Self::refused(other),
            Err(error) => Self::failed(error),
        }
    }
}

/// Makes a transfer.
pub(crate) async fn send(app: &App, order: Order) -> Answer<Transfer> {
    Answer::of_transfer(submit(app, Command::Transfer(order)).await)
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
    if let Outcome::Rejected { violations, replayed: false } = outcome
        && violations.iter().all(|violation| violation.code != RISK_ACKNOWLEDGMENT_REQUIRED)
    {
        app.rates.count_refusal(owner, app.clock.now());
    }
}
