//! `/api/ledger/transactions`

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::clock::timestamp;
use crate::db::Position;
use crate::db::transfers as table;
use crate::domain::transfer::Transfer;
use crate::enforcement::acknowledgment::{Subject, TOKEN_CHARS_MAX};
use crate::enforcement::assessment::Circumstances;
use crate::http::error::Error;
use crate::http::extract::{IdempotencyKey, LedgerBody, Page};
use crate::http::ledger::list::{self, Item};
use crate::http::ledger::number::MoneyNumber;
use crate::http::ledger::risk_context::risk_of;
use crate::ledger::{Command, Order, Outcome};

/// Marks the repeated answer to an idempotency key's first request.
const REPLAYED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("idempotency-replayed"), HeaderValue::from_static("true"));

const PATH: &str = "/api/ledger/transactions";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TransactionJson {
    id: Uuid,
    from_account_id: Uuid,
    to_beneficiary_id: Option<Uuid>,
    beneficiary_name: Option<String>,
    amount: MoneyNumber,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    spei_reference: Option<String>,
    created_at: String,
    #[serde(skip)]
    position: Position,
}

impl Item for TransactionJson {
    type Cursor = Position;

    fn cursor(&self) -> Position {
        self.position
    }
}

impl From<Transfer> for TransactionJson {
    fn from(transfer: Transfer) -> Self {
        Self {
            id: transfer.transfer_id,
            from_account_id: transfer.from_account_id,
            to_beneficiary_id: transfer.to_beneficiary_id,
            beneficiary_name: transfer.beneficiary_name,
            amount: MoneyNumber(transfer.amount),
            status: transfer.status.as_str(),
            spei_reference: transfer.spei_reference,
            created_at: timestamp(transfer.created_at),
            position: Position { created_at: transfer.created_at, id: transfer.transfer_id },
        }
    }
}

/// The user's transfers, newest first.
pub(crate) async fn list_transactions(
    State(app): State<App>,
    User(owner): User,
    page: Page,
) -> Result<Response, Error> {
    list::answer(PATH, page, move |after, limit| {
        let (pool, owner) = (app.db.clone(), owner.clone());
        async move {
            let mut db = pool.acquire().await?;
            let transfers = table::list_transfers(&mut db, &owner, after, limit).await?;
            Ok(transfers.into_iter().map(TransactionJson::from).collect())
        }
    })
    .await
}

/// Sends a transfer. Checks run in this order: token, size, syntax, idempotency key, account, payee, rules, funds.
/// The ledger makes all from the key on.
pub(crate) async fn create_transaction(
    State(app): State<App>,
    User(owner): User,
    key: Result<IdempotencyKey, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let from_account_id = fields.uuid("fromAccountId");
    let to_beneficiary_id = fields.uuid("toBeneficiaryId");
    let amount = fields.amount("amount");
    let circumstances = Circumstances {
        hour: None,
        // Unusual unless the client says otherwise.
        is_new_device: fields.optional_boolean("isNewDevice").unwrap_or(true),
        geolocation_changed: fields.optional_boolean("geolocationChanged").unwrap_or(true),
    };
    let token = fields.optional_text("acknowledgmentToken", TOKEN_CHARS_MAX);
    fields.finish()?;
    let IdempotencyKey(key) = key?;

    let subject = Subject { owner: &owner, from: from_account_id, to: to_beneficiary_id, amount };
    let risk = risk_of(&app, &subject, circumstances, token.as_deref()).await?;
    let order = Order { transfer_id: app.clock.new_id(), owner, key, from_account_id, to_beneficiary_id, amount, risk };
    let (mut response, replayed) = match app.ledger.submit(Command::Transfer(order)).await? {
        Outcome::Sent { transfer, replayed } => (Json(TransactionJson::from(transfer)).into_response(), replayed),
        Outcome::Rejected { violations, replayed } => (Error::Rejected(violations).into_response(), replayed),
        Outcome::AccountNotFound => return Err(Error::AccountNotFound),
        Outcome::BeneficiaryNotFound => return Err(Error::BeneficiaryNotFound),
        Outcome::KeyReused => return Err(Error::KeyReused),
        Outcome::RulesUnavailable | Outcome::RiskUnavailable => return Err(Error::RulesUnavailable),
        other => return Err(Error::Internal(anyhow::anyhow!("a transfer ended as {other:?}"))),
    };
    response.headers_mut().extend(replayed.then_some(REPLAYED));
    Ok(response)
}
