//! `/api/ledger/transactions/{id}/report`: "this was not me".

use axum::Json;
use axum::extract::State;
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::db::outcomes::{self, Recording};
use crate::db::transfers;
use crate::http::error::Error;
use crate::http::extract::{LedgerBody, PathId};
use crate::http::ledger::accounts::ID_EXAMPLE;
use crate::ledger::{Command, Freeze, Outcome};
use crate::schema::{answer, request};

request! {
    /// What to do besides noting that a transfer is not the user's.
    pub(crate) struct ReportRequest as "TransactionReportRequest" {
        /// Whether to freeze the account that it left. Only the bank can unfreeze it.
        freeze: bool { example: "true" },
    }
}

answer! {
    /// A transfer that its user says is not theirs.
    pub(crate) struct ReportedJson as "ReportedTransaction" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        /// False if that was known before.
        changed: bool { example: "true" },
        /// Whether this request froze the account, or found it frozen; false if it did not ask for that.
        frozen: bool { example: "true" },
    }
}

/// Notes that the user did not make one of their transfers, and freezes its account if asked. Nothing is given back.
pub(crate) async fn report_transaction(
    State(app): State<App>,
    User(owner): User,
    id: Result<PathId, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Json<ReportedJson>, Error> {
    let ReportRequest { freeze } = fields.read();
    fields.finish()?;
    app.rates.count_record(&owner)?;
    let PathId(id) = id?;
    let mut db = app.db.acquire().await?;
    let transfer = transfers::find_transfer(&mut db, &owner, id).await?.ok_or(Error::NotFound)?;
    drop(db);
    // First, since money may be leaving; repeating the request then does the rest.
    let frozen = if freeze { self::freeze(&app, &owner, (transfer.from_account_id, id)).await? } else { false };
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let recording = Recording { first_id: app.clock.new_id(), by: &owner, now };
    let changed = outcomes::report(&mut db, &app.key, id, recording).await?;
    Ok(Json(ReportedJson { id, changed, frozen }))
}

async fn freeze(app: &App, owner: &str, (account_id, transfer_id): (Uuid, Uuid)) -> Result<bool, Error> {
    let reason = format!("its owner did not make transaction {transfer_id}");
    let command = Freeze { account_id, frozen: true, actor: owner.to_owned(), reason };
    match app.ledger.submit(Command::Freeze(command)).await? {
        Outcome::Frozen { frozen, .. } => Ok(frozen),
        other => Err(other.into()),
    }
}
