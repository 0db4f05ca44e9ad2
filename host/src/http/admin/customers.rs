//! `/admin/customers`: looks up a customer. `/admin/users/{user}/transactions`, `/beneficiaries` and `/holds`, and
//! `/admin/accounts/{id}/statement`: what else an operator may read of one. With a token of scope `ledger:read`. Each
//! look-up is on record before it is answered.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerReader;
use crate::auth::claims::USER_CHARS_MAX;
use crate::db::customers::{self as table, FreezeEvent, Quoted, QuotedPayment};
use crate::db::{accounts, holders, limits};
use crate::domain::clabe::Clabe;
use crate::domain::money::Money;
use crate::domain::transfer::Status;
use crate::http::admin::users::{self, LimitsJson, check_user};
use crate::http::error::Error;
use crate::http::extract::{Cursor, Page, Parameters, PathId, Place};
use crate::http::ledger::accounts::{
    ACCOUNT_NUMBER_CHARS_MAX, ACCOUNTS_MAX, AccountJson, CURRENCY, ID_EXAMPLE, INSTANT_EXAMPLE,
};
use crate::http::ledger::beneficiaries::{self, ListedPlace};
use crate::http::ledger::{holds, statement, transactions};
use crate::schema::{Fields, TextForm, answer, request};

/// Times that a customer's accounts were frozen or unfrozen, the newest: more than a screen shows.
const FREEZES_MAX: i64 = 100;

/// Items of a page unless the request says otherwise: what a screen shows.
const PAGE_LENGTH: u32 = 20;

/// SPEI's tracking keys have up to 30 letters and digits; as many spaces and hyphens may be typed between them.
const TRACKING_KEY_CHARS_MAX: usize = 60;

request! {
    /// What a customer is looked up by: exactly one of these.
    pub(crate) struct CustomerQuery in camelCase {
        /// As in tokens.
        user: Option<String> { chars_max: USER_CHARS_MAX, form: TextForm::NotBlank, example: "\"ana\"" },
        /// A CLABE that the bank issued. Spaces and hyphens do not matter.
        account_number: Option<String> {
            chars_max: ACCOUNT_NUMBER_CHARS_MAX, form: TextForm::AccountNumber, example: "\"646180110400000007\""
        },
        /// Clave de rastreo. Spaces and hyphens do not matter.
        tracking_key: Option<String> {
            chars_max: TRACKING_KEY_CHARS_MAX, form: TextForm::NotBlank, example: "\"CAUD202611218K3M5P7R9T2V4X6Z0B\""
        },
    }
}

answer! {
    /// A customer whom an operator looked up.
    pub(crate) struct CustomerJson as "Customer" in camelCase {
        user: String { example: "\"ana\"" },
        /// The verified name, if the bank has one.
        holder: Option<String> { example: "\"Ana López Ruiz\"" },
        /// All of them, oldest first.
        accounts: Vec<AccountJson>,
        limits: LimitsJson,
        /// When accounts were frozen and unfrozen, newest first, at most 100.
        freezes: Vec<FreezeEventJson>,
        /// Those with the tracking key that was looked up.
        payments: Vec<QuotedPaymentJson>,
    }
}

answer! {
    /// That an account was frozen or unfrozen.
    pub(crate) struct FreezeEventJson as "FreezeEvent" in camelCase {
        account_id: Uuid { example: ID_EXAMPLE },
        event: String { one_of: &["frozen", "unfrozen"], example: "\"frozen\"" },
        by: String { example: "\"eva\"" },
        reason: String { example: "\"reported as stolen, case 4711\"" },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

answer! {
    /// A payment of a customer.
    pub(crate) struct QuotedPaymentJson as "QuotedPayment" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        kind: &'static str { named: "type", one_of: &["transfer", "received"], example: "\"transfer\"" },
        /// The customer's.
        account_id: Uuid { example: ID_EXAMPLE },
        amount: Money { unit: CURRENCY, example: "1500.50" },
        status: Status { example: "\"completed\"" },
        /// Of the payee, or of the payer if it was received.
        name: Option<String> { example: "\"Luisa Gómez\"" },
        spei_reference: String { example: "\"CAUD202611218K3M5P7R9T2V4X6Z0B\"" },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

impl From<FreezeEvent> for FreezeEventJson {
    fn from(it: FreezeEvent) -> Self {
        Self { account_id: it.account_id, event: it.event, by: it.actor, reason: it.reason, created_at: it.created_at }
    }
}

impl From<QuotedPayment> for QuotedPaymentJson {
    fn from(it: QuotedPayment) -> Self {
        Self {
            id: it.transfer_id,
            kind: if it.kind == "received" { "received" } else { "transfer" },
            account_id: it.account_id,
            amount: it.amount,
            status: it.status,
            name: it.name,
            spei_reference: it.tracking_key,
            created_at: it.created_at,
        }
    }
}

/// What was quoted, in its normal form, and what it is called in the records.
fn read(fields: &mut Fields) -> Option<(Quoted, &'static str)> {
    let CustomerQuery { user, account_number, tracking_key } = fields.read();
    let quoted: Vec<_> = ["user", "accountNumber", "trackingKey"].into_iter().filter(|name| fields.has(name)).collect();
    match quoted[..] {
        [] => fields.refuse("user", "required", "is required, or accountNumber or trackingKey in its place"),
        [_] => {}
        [_, second, ..] => fields.refuse(second, "conflict", "is not allowed here: look up by only one of these"),
    }
    if let Some(number) = account_number {
        let number = Clabe::read(&number);
        if number.is_none() {
            let detail = "must be a CLABE: 18 digits, of which the last is a check digit";
            fields.refuse("accountNumber", "clabe-check-digit", detail);
        }
        return number.map(|number| (Quoted::Number(number), "account-number"));
    }
    if let Some(key) = tracking_key {
        let key: String = key.chars().filter(|it| !it.is_whitespace() && *it != '-').collect();
        if !(1..=30).contains(&key.len()) || !key.bytes().all(|it| it.is_ascii_alphanumeric()) {
            fields.refuse("trackingKey", "wrong-type", "must be 1 to 30 letters and digits");
        }
        return Some((Quoted::TrackingKey(key), "tracking-key"));
    }
    user.map(|user| (Quoted::User(user), "user"))
}

/// Finds a customer, and records that `data` of theirs is read.
async fn look_up(app: &App, operator: &LedgerReader, quoted: &Quoted, data: &'static str) -> Result<String, Error> {
    let mut db = app.db.acquire().await?;
    let found = table::find(&mut db, quoted).await?;
    let sought = match quoted {
        Quoted::User(text) | Quoted::TrackingKey(text) => text.clone(),
        Quoted::Number(number) => number.to_string(),
        Quoted::Account(id) => id.to_string(),
    };
    let what = (found.as_ref().unwrap_or(&sought).as_str(), if found.is_some() { data } else { "not-found" });
    table::record(&mut db, &app.key, what, &operator.person.name, app.clock.now()).await?;
    audit::done(Event::CustomerLookedUp, &operator.person.name, &what.1);
    found.ok_or(Error::CustomerNotFound)
}

pub(crate) async fn find_customer(
    State(app): State<App>,
    operator: LedgerReader,
    Parameters(mut fields): Parameters,
) -> Result<Json<CustomerJson>, Error> {
    let quoted = read(&mut fields);
    fields.finish()?;
    let (quoted, data) = quoted.ok_or(Error::CustomerNotFound)?;
    let user = look_up(&app, &operator, &quoted, data).await?;
    let mut db = app.db.acquire().await?;
    let payments = match &quoted {
        Quoted::TrackingKey(key) => table::list_payments(&mut db, &user, key).await?,
        _ => Vec::new(),
    };
    let accounts = accounts::list_accounts(&mut db, &user, None, ACCOUNTS_MAX).await?;
    let freezes = table::list_freezes(&mut db, &user, FREEZES_MAX).await?;
    Ok(Json(CustomerJson {
        holder: holders::find(&mut db, &user).await?,
        accounts: accounts.into_iter().map(AccountJson::from).collect(),
        limits: users::to_json(limits::find(&mut db, &user).await?),
        freezes: freezes.into_iter().map(FreezeEventJson::from).collect(),
        payments: payments.into_iter().map(QuotedPaymentJson::from).collect(),
        user,
    }))
}

/// A page, and not the whole list, which the customer gets.
fn bounded<C: Cursor>(page: Page<C>) -> Page<C> {
    Page { limit: Some(page.limit.unwrap_or(PAGE_LENGTH)), ..page }
}

async fn look_up_user(app: &App, operator: &LedgerReader, user: String, data: &'static str) -> Result<String, Error> {
    check_user(&user)?;
    look_up(app, operator, &Quoted::User(user), data).await
}

pub(crate) async fn list_transactions(
    State(app): State<App>,
    operator: LedgerReader,
    (Path(user), uri): (Path<String>, Uri),
    page: Page<Place<'t'>>,
) -> Result<Response, Error> {
    let user = look_up_user(&app, &operator, user, "transactions").await?;
    transactions::list(uri.path(), app, user, bounded(page)).await
}

pub(crate) async fn list_beneficiaries(
    State(app): State<App>,
    operator: LedgerReader,
    (Path(user), uri): (Path<String>, Uri),
    page: Page<ListedPlace>,
) -> Result<Response, Error> {
    let user = look_up_user(&app, &operator, user, "beneficiaries").await?;
    beneficiaries::list(uri.path(), app, user, bounded(page)).await
}

pub(crate) async fn list_holds(
    State(app): State<App>,
    operator: LedgerReader,
    (Path(user), uri): (Path<String>, Uri),
    page: Page<Place<'h'>>,
) -> Result<Response, Error> {
    let user = look_up_user(&app, &operator, user, "holds").await?;
    holds::list(uri.path(), app, user, bounded(page)).await
}

/// As the customer gets it.
pub(crate) async fn get_statement(
    State(app): State<App>,
    operator: LedgerReader,
    id: Result<PathId, Error>,
    headers: HeaderMap,
    Parameters(mut fields): Parameters,
) -> Result<Response, Error> {
    let wanted = statement::read(&app, &mut fields);
    fields.finish()?;
    let PathId(account_id) = id?;
    let owner = look_up(&app, &operator, &Quoted::Account(account_id), "statement").await?;
    statement::answer(app, &owner, account_id, wanted, &headers).await
}
