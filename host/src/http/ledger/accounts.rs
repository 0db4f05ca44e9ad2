//! `/api/ledger/accounts`

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::db::{self, Position};
pub(crate) use crate::domain::bank_account::CURRENCY;
use crate::domain::money::Money;
pub(crate) use crate::domain::order::{ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::http::error::Error;
use crate::http::extract::{LedgerBody, Page, PathId, Place};
use crate::http::ledger::list::{self, Item};
use crate::ledger::{Command, OpenAccount, Outcome};
use crate::schema::{TextForm, answer, request};

/// Longest account number: 18 characters of a CLABE or 34 of an IBAN, plus spaces and hyphens.
pub(crate) const ACCOUNT_NUMBER_CHARS_MAX: usize = 50;

const ACCOUNT_TYPE_CHARS_MAX: usize = 40;

/// Numbers drawn at random before the range is searched for a free one. If half of it is in use, all draws fail one
/// time in a thousand.
const DRAWS_MAX: usize = 10;

const PATH: &str = "/api/ledger/accounts";

/// Accounts of one user, but for a few that are opened at the same time: far more than anybody needs, and few enough
/// that one person cannot use up the bank's numbers.
pub(crate) const ACCOUNTS_MAX: i64 = 1_000;

request! {
    /// An account to open.
    pub(crate) struct AccountRequest in camelCase {
        /// Leave it out to be issued a CLABE. Only a sandbox accepts a typed number, unique among the user's accounts.
        account_number: Option<String> {
            chars_max: ACCOUNT_NUMBER_CHARS_MAX,
            form: TextForm::AccountNumber,
            example: "\"012180001234567897\""
        },
        account_type: String { chars_max: ACCOUNT_TYPE_CHARS_MAX, example: "\"checking\"" },
        currency: Option<String> { chars_max: CURRENCY.len(), form: TextForm::Constant(CURRENCY), example: "\"MXN\"" },
    }
}

answer! {
    /// One of the user's accounts.
    pub(crate) struct AccountJson as "Account" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        account_number: String { example: "\"012180001234567897\"" },
        account_type: String { example: "\"checking\"" },
        balance: Money { unit: CURRENCY, example: "10000.00" },
        /// The part of the balance that open holds set aside, if there are any.
        held: Option<Money> { unit: CURRENCY, example: "250.00" },
        /// True if no money may leave the account.
        frozen: Option<bool> { example: "true" },
        currency: String { one_of: &[CURRENCY], example: "\"MXN\"" },
        position: Option<Position> = _,
    }
}

impl Item for AccountJson {
    type Cursor = Place<'a'>;

    fn cursor(&self) -> Place<'a'> {
        Place(self.position.unwrap_or(Position { created_at: time::OffsetDateTime::UNIX_EPOCH, id: self.id }))
    }
}

impl From<db::accounts::Account> for AccountJson {
    fn from(account: db::accounts::Account) -> Self {
        Self {
            id: account.account_id,
            account_number: account.account_number,
            account_type: account.account_type,
            balance: account.balance,
            held: (account.held > Money::ZERO).then_some(account.held),
            frozen: account.frozen.then_some(true),
            currency: account.currency,
            position: Some(Position { created_at: account.created_at, id: account.account_id }),
        }
    }
}

/// The user's accounts with their balances, oldest first.
pub(crate) async fn list_accounts(
    State(app): State<App>,
    User(owner): User,
    page: Page<Place<'a'>>,
) -> Result<Response, Error> {
    list::answer(PATH, page, move |after: Option<Place<'a'>>, limit| {
        let (pool, owner) = (app.db.clone(), owner.clone());
        async move {
            let mut db = pool.acquire().await?;
            let accounts = db::accounts::list_accounts(&mut db, &owner, after.map(|Place(at)| at), limit).await?;
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

/// Opens an account under a number that the bank issues, or under a typed one.
pub(crate) async fn create_account(
    State(app): State<App>,
    User(owner): User,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let AccountRequest { account_number, account_type, .. } = fields.read();
    if account_number.is_some() && !app.settings.typed_numbers {
        let detail = "is accepted only with --sandbox: leave it out, and the bank assigns one";
        fields.refuse("accountNumber", "not-accepted", detail);
    }
    fields.finish()?;
    if db::accounts::count(&mut *app.db.acquire().await?, &owner, ACCOUNTS_MAX).await? >= ACCOUNTS_MAX {
        return Err(Error::TooMany(("accounts", ACCOUNTS_MAX)));
    }
    let open = OpenAccount {
        account_id: app.clock.new_id(),
        owner,
        account_number: String::new(),
        issued: None,
        account_type,
        opening_credit: app.settings.opening_credit,
        transfer_id: app.clock.new_id(),
    };
    if let Some(account_number) = account_number {
        return answer(app.ledger.submit(Command::Open(OpenAccount { account_number, ..open })).await?);
    }
    let range = app.settings.clabe_range.ok_or(Error::NoNumbers)?;
    for draw in 0..=DRAWS_MAX {
        let number = if draw < DRAWS_MAX {
            range.pick(Uuid::new_v4().as_u128())
        } else {
            let mut db = app.db.acquire().await?;
            db::accounts::first_free(&mut db, range).await?.ok_or(Error::NoNumbers)?
        };
        let open = OpenAccount { account_number: number.to_string(), issued: Some(number), ..open.clone() };
        match app.ledger.submit(Command::Open(open)).await? {
            Outcome::NumberTaken => {}
            outcome => return answer(outcome),
        }
    }
    // Others took the free numbers meanwhile.
    Err(Error::Overloaded)
}

fn answer(outcome: Outcome) -> Result<Response, Error> {
    match outcome {
        Outcome::Opened(opened) => {
            let location = format!("{PATH}/{}", opened.account_id);
            let account = AccountJson {
                id: opened.account_id,
                account_number: opened.account_number,
                account_type: opened.account_type,
                balance: opened.balance,
                held: None,
                frozen: None,
                currency: CURRENCY.to_owned(),
                position: None,
            };
            Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(account)).into_response())
        }
        other => Err(other.into()),
    }
}
