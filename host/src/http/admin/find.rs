//! `/admin/find`: what a customer quotes. For operators, with a token of scope `ledger:operate`.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::auth::LedgerOperator;
use crate::auth::claims::USER_CHARS_MAX;
use crate::db::{accounts, transfers};
use crate::domain::clabe::Clabe;
use crate::http::error::Error;
use crate::http::extract::Parameters;
use crate::http::ledger::accounts::{ACCOUNTS_MAX, AccountJson};
use crate::http::ledger::transactions::TransactionJson;
use crate::schema::{answer, request};

request! {
    /// What an operator looks for.
    pub(crate) struct FindQuery {
        /// A user id, a CLABE that the bank issued, or the tracking key (clave de rastreo) of a transaction.
        text: String { chars_max: USER_CHARS_MAX, example: "\"ana\"" },
    }
}

answer! {
    /// A user, and what was found of theirs.
    pub(crate) struct FoundJson as "Found" {
        user: String { example: "\"ana\"" },
        /// All of them.
        accounts: Vec<AccountJson>,
        /// The one with that tracking key.
        transaction: Option<TransactionJson>,
    }
}

pub(crate) async fn find(
    State(app): State<App>,
    _: LedgerOperator,
    Parameters(mut fields): Parameters,
) -> Result<Json<FoundJson>, Error> {
    let FindQuery { text } = fields.read();
    fields.finish()?;
    let mut db = app.db.acquire().await?;
    let found = transfers::owner_of(&mut db, text.trim(), Clabe::read(&text)).await?;
    let (user, transfer_id) = found.ok_or(Error::NotFound)?;
    let transaction = match transfer_id {
        Some(id) => transfers::find_transfer(&mut db, &user, id).await?,
        None => None,
    };
    let accounts = accounts::list_accounts(&mut db, &user, None, ACCOUNTS_MAX).await?;
    let accounts = accounts.into_iter().map(AccountJson::from).collect();
    Ok(Json(FoundJson { user, accounts, transaction: transaction.map(TransactionJson::from) }))
}
