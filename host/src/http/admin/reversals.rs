//! `/admin/transactions/{id}/reverse`: gives the money of a completed transaction back, once, as a credit of its own.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerOperator;
use crate::db::approvals::Action;
use crate::db::transfers::{self, Completed};
use crate::domain::transfer::{Report, Status};
use crate::http::admin::action::{propose, see};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, PathId};
use crate::http::ledger::accounts::ID_EXAMPLE;
use crate::ledger::{ByHand, Command, Outcome, PaymentReport};
use crate::models::deploying::catalog::REASON_CHARS_MAX;
use crate::schema::{answer, request};

request! {
    /// Why a transaction is reversed.
    pub(crate) struct ReversalRequest {
        /// Kept for good.
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"sent twice by mistake, case 4711\"" },
    }
}

answer! {
    /// A reversed transaction.
    pub(crate) struct ReversedJson as "Reversed" in camelCase {
        transaction_id: Uuid { example: ID_EXAMPLE },
        /// The credit that gave the money back.
        reversal_id: Uuid { example: ID_EXAMPLE },
        /// False if it was reversed or returned before.
        changed: bool { example: "true" },
    }
}

/// The money comes from where it went: from the payee's account at this bank, or else from the bank's account for SPEI.
pub(crate) async fn reverse(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let ReversalRequest { reason } = fields.read();
    fields.finish()?;
    let PathId(transaction_id) = id?;
    find(&app, transaction_id).await?;
    let reversal_id = app.clock.new_id();
    let action = Action::Reverse { transaction_id, payment: see(&app, transaction_id).await?, reversal_id };
    if let Some(waiting) = propose(&app, &operator.person, &action, &reason).await? {
        return Ok(waiting);
    }
    let by_hand = ByHand { actor: operator.person.name, note: reason };
    Ok(carry_out(&app, transaction_id, reversal_id, by_hand).await?.into_response())
}

async fn find(app: &App, transaction_id: Uuid) -> Result<Completed, Error> {
    let found = transfers::find_to_reverse(&mut *app.db.acquire().await?, transaction_id).await?;
    match found.ok_or(Error::NotFound)? {
        (Status::Completed, completed) => Ok(completed),
        (status, _) => Err(Error::NotReversible(status)),
    }
}

pub(super) async fn carry_out(
    app: &App,
    transaction_id: Uuid,
    reversal_id: Uuid,
    by_hand: ByHand,
) -> Result<Json<ReversedJson>, Error> {
    let Completed { account_id, payee_account_id, .. } = find(app, transaction_id).await?;
    let by = by_hand.actor.clone();
    let report = PaymentReport {
        transfer_id: transaction_id,
        account_id,
        payee_account_id,
        report: Report::Returned,
        reason: None,
        return_id: reversal_id,
        by_hand: Some(by_hand),
    };
    let (reversal_id, changed) = match app.ledger.submit(Command::Report(report)).await? {
        Outcome::Returned => {
            audit::done(Event::TransactionReversed, &by, &transaction_id);
            (reversal_id, true)
        }
        Outcome::StatusUnchanged(_) => {
            let earlier = find(app, transaction_id).await?.returned_by;
            (earlier.ok_or(Error::NotReversible(Status::Completed))?, false)
        }
        other => return Err(other.into()),
    };
    Ok(Json(ReversedJson { transaction_id, reversal_id, changed }))
}
