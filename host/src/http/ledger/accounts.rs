//! `/api/ledger/accounts`

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::db::{self, Position};
use crate::http::error::Error;
use crate::http::extract::{LedgerBody, Page, PathId};
use crate::http::ledger::list::{self, Item};
use crate::http::ledger::number::MoneyNumber;
use crate::ledger::{Command, OpenAccount, Outcome};

/// Longest account number: 18 characters of a CLABE or 34 of an IBAN, plus spaces and hyphens.
pub(crate) const ACCOUNT_NUMBER_CHARS_MAX: usize = 50;

const ACCOUNT_TYPE_CHARS_MAX: usize = 40;

/// The only currency of SPEI.
pub(crate) const CURRENCY: &str = "MXN";

const PATH: &str = "/api/ledger/accounts";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccountJson {
    id: Uuid,
    account_number: String,
    account_type: String,
    balance: MoneyNumber,
    currency: String,
    #[serde(skip)]
    position: Option<Position>,
}

impl Item for AccountJson {
    type Cursor = Position;

    fn cursor(&self) -> Position {
        self.position.unwrap_or(Position { created_at: time::OffsetDateTime::UNIX_EPOCH, id: self.id })
    }
}

impl From<db::accounts::Account> for AccountJson {
    fn from(account: db::accounts::Account) -> Self {
        Self {
            id: account.account_id,
            account_number: account.account_number,
            account_type: account.account_type,
            balance: MoneyNumber(account.balance),
            currency: account.currency,
            position: Some(Position { created_at: account.created_at, id: account.account_id }),
        }
    }
}

/// The user's accounts with their balances, oldest first.
pub(crate) async fn list_accounts(State(app): State<App>, User(owner): User, page: Page) -> Result<Response, Error> {
    list::answer(PATH, page, move |after, limit| {
        let (pool, owner) = (app.db.clone(), owner.clone());
        async move {
            let mut db = pool.acquire().await?;
            let accounts = db::accounts::list_accounts(&mut db, &owner, after, limit).await?;
            Ok(accounts.into_iter().map(AccountJson::from).collect())
        }
    })
    .await
}

/// One of the user's accounts; `Location` of a created account points here.
pub(crate) async fn get_account(
    State(app): State<App>,
    User(owner): User,
    PathId(id): PathId,
) -> Result<Json<AccountJson>, Error> {
    let mut db = app.db.acquire().await?;
    let account = db::accounts::find_account(&mut db, &owner, id).await?.ok_or(Error::NotFound)?;
    Ok(Json(account.into()))
}

pub(crate) async fn create_account(
    State(app): State<App>,
    User(owner): User,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let account_number = fields.account_number("accountNumber", ACCOUNT_NUMBER_CHARS_MAX);
    let account_type = fields.text("accountType", ACCOUNT_TYPE_CHARS_MAX);
    if fields.optional_text("currency", CURRENCY.len()).is_some_and(|currency| currency != CURRENCY) {
        fields.refuse("currency", "unknown-value", "must be MXN");
    }
    fields.finish()?;

    let open = OpenAccount {
        account_id: app.clock.new_id(),
        owner,
        account_number,
        account_type,
        opening_credit: app.settings.opening_credit,
        transfer_id: app.clock.new_id(),
    };
    match app.ledger.submit(Command::Open(open)).await? {
        Outcome::Opened(opened) => {
            let location = format!("{PATH}/{}", opened.account_id);
            let account = AccountJson {
                id: opened.account_id,
                account_number: opened.account_number,
                account_type: opened.account_type,
                balance: MoneyNumber(opened.balance),
                currency: CURRENCY.to_owned(),
                position: None,
            };
            Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(account)).into_response())
        }
        Outcome::AccountExists => Err(Error::AccountExists),
        other => Err(Error::Internal(anyhow::anyhow!("opening an account ended as {other:?}"))),
    }
}
