//! `/admin/accounts/{id}/freeze` and `/unfreeze`: stops the money that leaves an account. `/fund`: credits one. For
//! operators, with a token of scope `ledger:operate`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerOperator;
use crate::db::accounts::see;
use crate::db::approvals::Action;
use crate::db::funding;
use crate::domain::money::{INVALID_AMOUNT, Money};
use crate::http::admin::action::{self, propose};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, PathId};
use crate::http::ledger::accounts::{CURRENCY, ID_EXAMPLE};
use crate::ledger::{Command, Freeze, Fund, Outcome, Refusal};
use crate::models::deploying::catalog::REASON_CHARS_MAX;
use crate::schema::{answer, request};

request! {
    /// Why an account is frozen or unfrozen.
    pub(crate) struct FreezeRequest {
        /// Kept for good.
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"reported as stolen, case 4711\"" },
    }
}

answer! {
    /// Whether an account is frozen.
    pub(crate) struct FrozenJson as "Frozen" in camelCase {
        account_id: Uuid { example: ID_EXAMPLE },
        frozen: bool { example: "true" },
        /// False if it was so before.
        changed: bool { example: "true" },
    }
}

/// From now on no money leaves the account. It still receives money.
pub(crate) async fn freeze(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    body: AssistBody,
) -> Result<Json<FrozenJson>, Error> {
    set(&app, operator, id, body, true).await
}

/// Money may leave the account again.
pub(crate) async fn unfreeze(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    body: AssistBody,
) -> Result<Json<FrozenJson>, Error> {
    set(&app, operator, id, body, false).await
}

async fn set(
    app: &App,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
    frozen: bool,
) -> Result<Json<FrozenJson>, Error> {
    let FreezeRequest { reason } = fields.read();
    fields.finish()?;
    let PathId(account_id) = id?;
    let by = operator.person.name;
    let command = Freeze { account_id, frozen, actor: by.clone(), reason };
    match app.ledger.submit(Command::Freeze(command)).await? {
        Outcome::Frozen { frozen, changed } => {
            let event = if frozen { Event::AccountFrozen } else { Event::AccountUnfrozen };
            audit::done(event, &by, &account_id);
            Ok(Json(FrozenJson { account_id, frozen, changed }))
        }
        Outcome::Refused(Refusal::AccountNotFound) => Err(Error::NotFound),
        other => Err(other.into()),
    }
}

request! {
    /// A credit from the bank's own funds.
    pub(crate) struct FundRequest in camelCase {
        amount: Money { positive: true, unit: CURRENCY, example: "1500.50" },
        /// Kept if a second operator has to approve it.
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"refund of a fee, case 4711\"" },
        /// Id of the new transaction, a UUID of the caller's choice. Repeating the request with it credits nothing
        /// more.
        transaction_id: Uuid { example: ID_EXAMPLE },
    }
}

answer! {
    /// A credit from the bank's own funds.
    pub(crate) struct FundedJson as "Funded" in camelCase {
        account_id: Uuid { example: ID_EXAMPLE },
        transaction_id: Uuid { example: ID_EXAMPLE },
        amount: Money { unit: CURRENCY, example: "1500.50" },
        /// False if it was credited before.
        changed: bool { example: "true" },
        /// The new balance; left out if it was credited before.
        balance: Option<Money> { unit: CURRENCY, example: "11500.50" },
    }
}

/// Credits an account from the bank's own funds.
pub(crate) async fn fund(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let FundRequest { amount, reason, transaction_id } = fields.read();
    fields.finish()?;
    let PathId(account_id) = id?;
    let amount = amount.to_string();
    let account = see(&mut *app.db.acquire().await?, account_id).await?.ok_or(Error::NotFound)?;
    let action = Action::Fund { account_id, account, amount: amount.clone(), transaction_id };
    if let Some(waiting) = propose(&app, &operator.person, &action, &reason).await? {
        return Ok(waiting);
    }
    Ok(credit(&app, account_id, &amount, transaction_id, &operator.person.name).await?.into_response())
}

pub(super) async fn credit(
    app: &App,
    account_id: Uuid,
    amount: &str,
    transaction_id: Uuid,
    by: &str,
) -> Result<Json<FundedJson>, Error> {
    let amount = action::amount(amount)?;
    let mut db = app.db.acquire().await?;
    let answer = |balance: Option<Money>| {
        Json(FundedJson { account_id, transaction_id, amount, changed: balance.is_some(), balance })
    };
    let repeated = |made| {
        if made == (account_id, amount) {
            return Ok(answer(None));
        }
        let (field, detail) = ("transactionId", "is that of another transaction");
        Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, field, "not-allowed", detail))
    };
    if let Some(made) = funding::find(&mut db, transaction_id).await? {
        return repeated(made);
    }
    // The batch that moves the money has no column for the operator, so the intent is on record before it.
    funding::record(&mut db, &app.key, (transaction_id, account_id, amount), by, app.clock.now()).await?;
    drop(db);
    match app.ledger.submit(Command::Fund(Fund { transfer_id: transaction_id, account_id, amount })).await? {
        Outcome::Funded(balance) => {
            audit::done(Event::AccountFunded, by, &account_id);
            Ok(answer(Some(balance)))
        }
        // By a request at the same moment.
        Outcome::IdTaken => {
            let made = funding::find(&mut *app.db.acquire().await?, transaction_id).await?;
            made.map_or(Err(Error::OutcomeUnknown), repeated)
        }
        Outcome::Refused(Refusal::AccountNotFound) => Err(Error::NotFound),
        Outcome::Refused(Refusal::BalanceTooLarge) => {
            let detail = "would make the balance larger than the largest amount";
            Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "amount", INVALID_AMOUNT, detail))
        }
        other => Err(other.into()),
    }
}
