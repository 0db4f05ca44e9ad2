//! `/admin/accounts/{id}/freeze` and `/unfreeze`: stops the money that leaves an account. For operators, with a token of
//! scope `ledger:operate`.

use axum::Json;
use axum::extract::State;
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerOperator;
use crate::http::error::Error;
use crate::http::extract::{AssistBody, PathId};
use crate::http::ledger::accounts::ID_EXAMPLE;
use crate::ledger::{Command, Freeze, Outcome};
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
    let command = Freeze { account_id, frozen, actor: operator.actor.subject.clone(), reason };
    match app.ledger.submit(Command::Freeze(command)).await? {
        Outcome::Frozen { frozen, changed } => {
            let event = if frozen { Event::AccountFrozen } else { Event::AccountUnfrozen };
            audit::done(event, &operator.actor, &account_id);
            Ok(Json(FrozenJson { account_id, frozen, changed }))
        }
        Outcome::AccountNotFound => Err(Error::NotFound),
        other => Err(Error::Internal(anyhow::anyhow!("freezing an account ended as {other:?}"))),
    }
}
