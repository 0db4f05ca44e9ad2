//! `/api/ledger/transactions`

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::auth::claims::Claims;
use crate::db::Position;
use crate::db::transfers as table;
use crate::domain::money::Money;
use crate::domain::order::TransferRequest;
use crate::domain::transfer::{Status, Transfer};
use crate::http::error::Error;
use crate::http::extract::{IdempotencyKey, LedgerBody, Page, PathId, Place};
use crate::http::ledger::accounts::{CURRENCY, ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::http::ledger::list::{self, Item};
use crate::http::ledger::orders::{AcknowledgmentRequest, respond};
use crate::orders::{self, Draft};
use crate::schema::{Flat, answer, request};

const PATH: &str = "/api/ledger/transactions";

request! {
    /// A transfer to make.
    pub(crate) struct SendRequest as "TransferRequest" in camelCase {
        transfer: Flat<TransferRequest>,
        acknowledgment: Flat<AcknowledgmentRequest>,
    }
}

impl SendRequest {
    pub(crate) fn draft(self, key: Option<String>, device: Option<String>) -> Draft {
        let Self { transfer: Flat(request), acknowledgment: Flat(acknowledgment) } = self;
        let AcknowledgmentRequest { acknowledgment_token } = acknowledgment;
        Draft { key, request, acknowledgment_token, hold_id: None, device }
    }
}

answer! {
    /// A transfer.
    pub(crate) struct TransactionJson as "Transaction" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        from_account_id: Uuid { example: ID_EXAMPLE },
        /// As sent, even if the beneficiary was deleted since.
        to_beneficiary_id: Option<Uuid> { nullable: true, example: ID_EXAMPLE },
        beneficiary_name: Option<String> { nullable: true, example: "\"Luisa Gómez\"" },
        /// As it was at the time of the transfer, like the name.
        beneficiary_account_number: Option<String> { example: "\"012180004643051249\"" },
        beneficiary_bank: Option<String> { example: "\"BBVA\"" },
        amount: Money { unit: CURRENCY, example: "1500.50" },
        status: Status { example: "\"completed\"" },
        spei_reference: Option<String> { example: "\"CAUD202611218K3M5P7R9T2V4X6Z0B\"" },
        /// Concepto de pago, as the user typed it.
        concept: Option<String> { example: "\"Renta de noviembre\"" },
        /// Referencia numérica.
        numeric_reference: Option<u32> { example: "202611" },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        position: Position = _,
    }
}

impl Item for TransactionJson {
    type Cursor = Place<'t'>;

    fn cursor(&self) -> Place<'t'> {
        Place(self.position)
    }
}

impl From<Transfer> for TransactionJson {
    fn from(transfer: Transfer) -> Self {
        let (number, bank) = transfer.payee.map(|payee| (payee.number, payee.bank)).unzip();
        Self {
            id: transfer.transfer_id,
            from_account_id: transfer.from_account_id,
            to_beneficiary_id: transfer.to_beneficiary_id,
            beneficiary_name: transfer.beneficiary_name,
            beneficiary_account_number: number,
            beneficiary_bank: bank.filter(|bank| !bank.is_empty()),
            amount: transfer.amount,
            status: transfer.status,
            spei_reference: transfer.spei_reference,
            concept: transfer.remittance.concept,
            numeric_reference: transfer.remittance.reference,
            created_at: transfer.created_at,
            position: Position { created_at: transfer.created_at, id: transfer.transfer_id },
        }
    }
}

/// The user's transfers, newest first.
pub(crate) async fn list_transactions(
    State(app): State<App>,
    User(owner): User,
    page: Page<Place<'t'>>,
) -> Result<Response, Error> {
    list(PATH, app, owner, page).await
}

/// The list of a user at `path`.
pub(crate) async fn list(path: &str, app: App, owner: String, page: Page<Place<'t'>>) -> Result<Response, Error> {
    list::answer(path, page, move |after: Option<Place<'t'>>, limit| {
        let (pool, owner) = (app.db.clone(), owner.clone());
        async move {
            let mut db = pool.acquire().await?;
            let transfers = table::list_transfers(&mut db, &owner, after.map(|Place(at)| at), limit).await?;
            Ok(transfers.into_iter().map(TransactionJson::from).collect())
        }
    })
    .await
}

/// One of the user's transfers, with its present status.
pub(crate) async fn get_transaction(
    State(app): State<App>,
    User(owner): User,
    PathId(id): PathId,
) -> Result<Json<TransactionJson>, Error> {
    let mut db = app.db.acquire().await?;
    let transfer = table::find_transfer(&mut db, &owner, id).await?;
    transfer.map(|transfer| Json(transfer.into())).ok_or(Error::NotFound)
}

/// Sends a transfer. Checks run in this order: token, size, syntax, idempotency key, account, payee, rules,
/// funds. From the key on, they are the ledger's.
pub(crate) async fn create_transaction(
    State(app): State<App>,
    User(owner): User,
    Extension(claims): Extension<Arc<Claims>>,
    key: Result<IdempotencyKey, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let request: SendRequest = fields.read();
    fields.finish()?;
    let IdempotencyKey(key) = key?;
    let answer = orders::send(&app, &owner, request.draft(key, claims.key.clone())).await;
    Ok(respond(answer, |transfer| Json(TransactionJson::from(transfer)).into_response()))
}
