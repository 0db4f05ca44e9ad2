//! `/api/ledger/holds`: money set aside for a payee, then captured as a transfer or released.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::auth::claims::Claims;
use crate::db::connections::{AcquireError, Connection};
use crate::db::holds::{self as table, StoredHold};
use crate::db::{Position, transfers};
use crate::domain::hold::{Hold, Status};
use crate::domain::money::Money;
use crate::domain::order::{Circumstances, Payment, TransferRequest};
use crate::domain::remittance::Remittance;
use crate::domain::transfer::Transfer;
use crate::http::error::Error;
use crate::http::extract::{IdempotencyKey, LedgerBody, Page, PathId, Place};
use crate::http::ledger::accounts::{CURRENCY, ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::http::ledger::list::{self, Item};
use crate::http::ledger::orders::{AcknowledgmentRequest, respond};
use crate::http::ledger::transactions::TransactionJson;
use crate::ledger::{Command, Outcome, PlaceHold, Refusal, ReleaseHold};
use crate::orders::{self, Answer, Draft, NotMade};
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
        payment: Flat<Payment>,
        circumstances: Flat<Circumstances>,
        acknowledgment: Flat<AcknowledgmentRequest>,
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
        remittance: Flat<Remittance>,
        circumstances: Flat<Circumstances>,
        acknowledgment: Flat<AcknowledgmentRequest>,
    }
}

answer! {
    /// Money that is set aside for a payee.
    pub(crate) struct HoldJson as "Hold" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        payment: Flat<Payment>,
        beneficiary_name: String { example: "\"Luisa Gómez\"" },
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

fn payment_of(hold: &Hold, amount: Money) -> Payment {
    Payment { from_account_id: hold.account_id, to_beneficiary_id: hold.beneficiary_id, amount }
}

impl From<StoredHold> for HoldJson {
    fn from(StoredHold { hold, transfer_id }: StoredHold) -> Self {
        Self {
            id: hold.hold_id,
            payment: Flat(payment_of(&hold, hold.amount)),
            beneficiary_name: hold.beneficiary_name,
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
    list(PATH, app, owner, page).await
}

/// The list of a user at `path`.
pub(crate) async fn list(path: &str, app: App, owner: String, page: Page<Place<'h'>>) -> Result<Response, Error> {
    list::answer(path, page, move |after: Option<Place<'h'>>, limit| {
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
    Extension(claims): Extension<Arc<Claims>>,
    key: Result<IdempotencyKey, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let HoldRequest { payment, circumstances, acknowledgment, expires_in_seconds } = fields.read();
    fields.finish()?;
    let IdempotencyKey(key) = key?;
    let lifetime = expires_in_seconds.map_or(LIFETIME_DEFAULT, |seconds| Duration::seconds(seconds.into()));
    let request = TransferRequest { payment, circumstances, remittance: Flat(Remittance::NONE) };
    let Flat(AcknowledgmentRequest { acknowledgment_token }) = acknowledgment;
    let order = Draft { key, request, acknowledgment_token, hold_id: None, device: claims.key.clone() }
        .order(&app, &owner)
        .await?;
    let answer = match orders::submit(&app, Command::Hold(PlaceHold { order, lifetime })).await? {
        Outcome::Held { hold, replayed } => {
            let decision = Some(hold.hold_id);
            Answer { result: Ok(with_transfer(&app, &owner, hold).await?), replayed, decision }
        }
        other => Answer::not_made(other),
    };
    Ok(respond(answer, |hold| {
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
    Extension(claims): Extension<Arc<Claims>>,
    id: Result<PathId, Error>,
    key: Result<IdempotencyKey, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let CaptureRequest { amount, remittance, circumstances, acknowledgment } = fields.read();
    fields.finish()?;
    let IdempotencyKey(key) = key?;
    let PathId(id) = id?;
    let StoredHold { hold, .. } = find(app.db.acquire_for_order(), &owner, id).await?;
    let (amount, has_key) = (amount.unwrap_or(hold.amount), key.is_some());
    let payment = payment_of(&hold, amount);
    let asked = remittance.0.clone().normalized();
    let request = TransferRequest { payment: Flat(payment), circumstances, remittance };
    let Flat(AcknowledgmentRequest { acknowledgment_token }) = acknowledgment;
    let draft = Draft { key, request, acknowledgment_token, hold_id: Some(id), device: claims.key.clone() };
    let mut answer = orders::send(&app, &owner, draft).await;
    // A hold is captured once, so without a key the hold itself identifies a retry.
    let is_captured =
        matches!(&answer.result, Err(NotMade::Refused(Refusal::HoldEnded(it))) if it.status == Status::Captured);
    if !has_key && is_captured {
        let made = captured(&app, &owner, id).await?;
        let made = made.filter(|transfer| transfer.amount == amount && transfer.remittance == asked);
        answer = made.map_or(answer, |transfer| {
            let decision = Some(transfer.transfer_id);
            Answer { result: Ok(transfer), replayed: true, decision }
        });
    }
    Ok(respond(answer, |transfer| Json(TransactionJson::from(transfer)).into_response()))
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
