//! `/api/ledger/holds`: money set aside for a payee, then captured as a transfer or released.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::db::connections::{AcquireError, Connection};
use crate::db::holds::{self as table, StoredHold};
use crate::db::{Position, transfers};
use crate::domain::hold::{Hold, Status};
use crate::domain::money::Money;
use crate::domain::transfer::Transfer;
use crate::http::error::Error;
use crate::http::extract::{IdempotencyKey, LedgerBody, Page, PathId, Place};
use crate::http::ledger::accounts::{CURRENCY, ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::http::ledger::list::{self, Item};
use crate::http::ledger::orders::{self, Answer, CircumstancesRequest, Draft};
use crate::http::ledger::transactions::{OrderRequest, RemittanceRequest, TransactionJson};
use crate::ledger::{Command, Outcome, PlaceHold, ReleaseHold};
use crate::schema::{Flat, answer, request};

/// As long as card networks usually keep an authorisation.
const LIFETIME_DEFAULT: Duration = Duration::days(7);

/// As long as card networks keep the longest authorisation, that of a hotel or a rental car. Money that is set aside
/// for longer belongs in another account.
const LIFETIME_MAX: Duration = Duration::days(30);

const PATH: &str = "/api/ledger/holds";

request! {
    /// Money to set aside for a transfer.
    pub(crate) struct HoldRequest in camelCase {
        order: Flat<OrderRequest>,
        /// Defaults to seven days.
        expires_in_seconds: Option<u32> {
            at_least: 1.0, at_most: LIFETIME_MAX.whole_seconds() as f64, example: "604800"
        },
    }
}

request! {
    /// A transfer of the money that is held.
    pub(crate) struct CaptureRequest in camelCase {
        /// At most what is held, which is the default. The rest is released.
        amount: Option<Money> { positive: true, unit: CURRENCY, example: "1500.50" },
        remittance: Flat<RemittanceRequest>,
        circumstances: Flat<CircumstancesRequest>,
    }
}

answer! {
    /// Money that is set aside for a payee.
    pub(crate) struct HoldJson as "Hold" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        from_account_id: Uuid { example: ID_EXAMPLE },
        to_beneficiary_id: Uuid { example: ID_EXAMPLE },
        beneficiary_name: String { example: "\"Luisa Gómez\"" },
        amount: Money { unit: CURRENCY, example: "1500.50" },
        status: Status { example: "\"placed\"" },
        expires_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// The transfer that captured it.
        transfer_id: Option<Uuid> { example: ID_EXAMPLE },
    }
}

impl Item for HoldJson {
    type Cursor = Place<'h'>;

    fn cursor(&self) -> Place<'h'> {
        Place(Position { created_at: self.created_at, id: self.id })
    }
}

impl From<StoredHold> for HoldJson {
    fn from(StoredHold { hold, transfer_id }: StoredHold) -> Self {
        Self {
            id: hold.hold_id,
            from_account_id: hold.account_id,
            to_beneficiary_id: hold.beneficiary_id,
            beneficiary_name: hold.beneficiary_name,
            amount: hold.amount,
            status: hold.status,
            expires_at: hold.expires_at,
            created_at: hold.created_at,
            transfer_id,
        }
    }
}

/// The user's holds, newest first.
pub(crate) async fn list_holds(
    State(app): State<App>,
    User(owner): User,
    page: Page<Place<'h'>>,
) -> Result<Response, Error> {
    list::answer(PATH, page, move |after: Option<Place<'h'>>, limit| {
        let (pool, owner) = (app.db.clone(), owner.clone());
        async move {
            let mut db = pool.acquire().await?;
            let holds = table::list_holds(&mut db, &owner, after.map(|Place(at)| at), limit).await?;
            Ok(holds.into_iter().map(HoldJson::from).collect())
        }
    })
    .await
}

/// One of the user's holds; `Location` of a new one points here.
pub(crate) async fn get_hold(
    State(app): State<App>,
    User(owner): User,
    PathId(id): PathId,
) -> Result<Json<HoldJson>, Error> {
    Ok(Json(find(app.db.acquire(), &owner, id).await?.into()))
}

async fn find(
    connection: impl Future<Output = Result<Connection, AcquireError>>,
    owner: &str,
    id: Uuid,
) -> Result<StoredHold, Error> {
    table::find_hold(&mut *connection.await?, owner, id).await?.ok_or(Error::NotFound)
}

/// Sets money aside. The checks are those of a transfer; the rules decide again when it is captured.
pub(crate) async fn create_hold(
    State(app): State<App>,
    User(owner): User,
    key: Result<IdempotencyKey, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let HoldRequest { order: Flat(order), expires_in_seconds } = fields.read();
    fields.finish()?;
    let IdempotencyKey(key) = key?;
    let lifetime = expires_in_seconds.map_or(LIFETIME_DEFAULT, |seconds| Duration::seconds(seconds.into()));
    let order = order.draft(key).order(&app, &owner).await?;
    let answer = match orders::submit(&app, Command::Hold(PlaceHold { order, lifetime })).await? {
        Outcome::Held { hold, replayed } => Answer { result: Ok(with_transfer(&app, &owner, hold).await?), replayed },
        other => Answer::refused(other),
    };
    Ok(answer.respond(|hold| {
        let location = format!("{PATH}/{}", hold.id);
        (StatusCode::CREATED, [(header::LOCATION, location)], Json(hold)).into_response()
    }))
}

/// A hold that was captured since its key was first used has a transfer.
async fn with_transfer(app: &App, owner: &str, hold: Hold) -> Result<HoldJson, Error> {
    if hold.status != Status::Captured {
        return Ok(StoredHold { hold, transfer_id: None }.into());
    }
    let view = app.barrier.begin();
    let stored = find(app.db.acquire_for_order(), owner, hold.hold_id).await?;
    app.barrier.pass(view).await?;
    Ok(stored.into())
}

/// Transfers what is held, or a part of it, and releases the rest.
pub(crate) async fn capture_hold(
    State(app): State<App>,
    User(owner): User,
    id: Result<PathId, Error>,
    key: Result<IdempotencyKey, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let CaptureRequest { amount, remittance: Flat(remittance), circumstances: Flat(circumstances) } = fields.read();
    fields.finish()?;
    let IdempotencyKey(key) = key?;
    let PathId(id) = id?;
    let StoredHold { hold, .. } = find(app.db.acquire_for_order(), &owner, id).await?;
    let (amount, has_key) = (amount.unwrap_or(hold.amount), key.is_some());
    let (from_account_id, to_beneficiary_id) = (hold.account_id, hold.beneficiary_id);
    let remittance = remittance.read();
    let told = remittance.clone();
    let draft = Draft { key, from_account_id, to_beneficiary_id, amount, remittance, circumstances, hold_id: Some(id) };
    let mut answer = orders::send(&app, draft.order(&app, &owner).await?).await;
    // A hold is captured once, so without a key the hold itself identifies a retry.
    if !has_key && matches!(answer.result, Err(Error::HoldEnded(Status::Captured))) {
        let made = captured(&app, &owner, id).await?;
        let made = made.filter(|transfer| transfer.amount == amount && transfer.remittance == told);
        answer = made.map_or(answer, |transfer| Answer { result: Ok(transfer), replayed: true });
    }
    Ok(answer.respond(|transfer| Json(TransactionJson::from(transfer)).into_response()))
}

/// The transfer that captured a hold.
async fn captured(app: &App, owner: &str, id: Uuid) -> Result<Option<Transfer>, Error> {
    let view = app.barrier.begin();
    let StoredHold { transfer_id, .. } = find(app.db.acquire_for_order(), owner, id).await?;
    let Some(transfer_id) = transfer_id else { return Ok(None) };
    let mut db = app.db.acquire_for_order().await?;
    let transfer = transfers::find_transfer(&mut db, owner, transfer_id).await?;
    drop(db);
    app.barrier.pass(view).await?;
    Ok(transfer)
}

/// Releases what is held.
pub(crate) async fn void_hold(
    State(app): State<App>,
    User(owner): User,
    PathId(hold_id): PathId,
) -> Result<Json<HoldJson>, Error> {
    let StoredHold { hold, .. } = find(app.db.acquire_for_order(), &owner, hold_id).await?;
    let release = ReleaseHold { hold_id, account_id: hold.account_id, owner: Some(owner) };
    match app.ledger.submit(Command::Release(release)).await? {
        Outcome::Released(hold) => Ok(Json(StoredHold { hold, transfer_id: None }.into())),
        other => Err(other.into()),
    }
}
