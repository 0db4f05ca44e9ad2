//! `/api/ledger/transactions/bulk`: many transfers in one request, each decided on its own.

use std::collections::{BTreeSet, HashMap};
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse as _;
use axum::{Extension, Json};
use futures_util::stream::FuturesOrdered;
use futures_util::{FutureExt as _, StreamExt as _, future, stream};
use tokio::time::Instant;
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::auth::claims::Claims;
use crate::db::beneficiaries;
use crate::domain::account_number::normalise;
use crate::domain::money::Money;
use crate::domain::risk::Enforcement;
use crate::domain::transfer::Transfer;
use crate::http::error::Error;
use crate::http::extract::{KEY_LENGTH_MAX, LedgerBody};
use crate::http::ledger::transactions::{SendRequest, TransactionJson};
use crate::http::problem::{Problem, ProblemJson, RequestId};
use crate::ledger::{Command, Ledger, LedgerError, Order, Outcome};
use crate::orders::{Answer, Draft, count_refusal};
use crate::schema::{Flat, TextForm, answer, request};

/// Most transfers of one request: they take a second or two, so that a request is done long before its time is over.
pub(crate) const TRANSFERS_MAX: usize = 1_000;

/// Largest body: room for [`TRANSFERS_MAX`] transfers with every field, a key of a hundred characters and indentation.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;

/// Transfers of one bulk in the ledger's queue at a time: half a batch, and an eighth of what a queue holds.
const QUEUED_MAX: usize = 64;

/// Risks of one bulk that are assessed at a time: a quarter of the host's connections to the database.
const ASSESSED_MAX: usize = 4;

/// How long a bulk waits for room in a queue that others have filled. Waiting longer could exceed the request's time.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(20);

/// Pause before a transfer is queued again: a few batches later.
const REQUEUE_EVERY: Duration = Duration::from_millis(20);

const PATH: &str = "/api/ledger/transactions/bulk";

request! {
    /// A transfer of a bulk.
    pub(crate) struct BulkTransferRequest as "BulkTransfer" in camelCase {
        /// As the header `Idempotency-Key` of a single transfer. Unique in the bulk.
        idempotency_key: String { chars_max: KEY_LENGTH_MAX, form: TextForm::Visible, example: "\"payroll-17-ana\"" },
        transfer: Flat<SendRequest>,
    }
}

request! {
    /// Transfers to make.
    pub(crate) struct BulkRequest {
        /// Transfers from one account are made in this order.
        transfers: Vec<BulkTransferRequest> { length_min: 1, length_max: TRANSFERS_MAX },
    }
}

answer! {
    /// What became of a transfer of a bulk.
    pub(crate) struct BulkResultJson as "BulkResult" in camelCase {
        idempotency_key: String { example: "\"payroll-17-ana\"" },
        /// HTTP status of the same transfer sent alone. After 429 or 503, send it again with its key, in another bulk if
        /// you like: 429 `too-many-pending` if the user has as many pending payments as is allowed.
        status: i64 { at_least: 200.0, at_most: 599.0, example: "200" },
        /// Whether this repeats the answer to an earlier request with this key.
        replayed: bool { example: "false" },
        /// Present if it was made.
        transaction: Option<TransactionJson>,
        /// Present if it was not.
        problem: Option<ProblemJson>,
    }
}

answer! {
    /// What became of each transfer of a bulk, in the order of the request.
    pub(crate) struct BulkJson as "BulkResults" {
        results: Vec<BulkResultJson>,
    }
}

/// Makes the transfers that are accepted; one that is refused affects no other but by its amount: the risk of a transfer
/// is that of everything up to it that the bulk sends the payee. A transfer that only this makes risky can be sent alone.
pub(crate) async fn create_transactions(
    State(app): State<App>,
    User(owner): User,
    Extension(claims): Extension<Arc<Claims>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    LedgerBody(mut fields): LedgerBody<BODY_BYTES_MAX>,
) -> Result<Json<BulkJson>, Error> {
    let BulkRequest { transfers } = fields.read();
    let mut keys = BTreeSet::new();
    for (at, it) in transfers.iter().enumerate() {
        if !it.idempotency_key.is_empty() && !keys.insert(&it.idempotency_key) {
            fields.refuse(&format!("transfers[{at}].idempotencyKey"), "conflict", "appears twice");
        }
    }
    fields.finish()?;
    app.rates.count_more(&owner, transfers.len().saturating_sub(1))?;
    let keys: Vec<_> = transfers.iter().map(|it| it.idempotency_key.clone()).collect();
    let drafts = transfers.into_iter().map(|BulkTransferRequest { idempotency_key, transfer: Flat(transfer) }| {
        transfer.draft(Some(idempotency_key), claims.key.clone())
    });
    let drafts: Vec<_> = drafts.collect();
    let sent_before = sent_before(&app, &owner, &drafts).await?;
    let answers = send_all(&app, &owner, drafts.into_iter().zip(sent_before)).await;
    let results = keys.into_iter().zip(answers).map(|(key, answer)| to_json(key, answer, request_id)).collect();
    Ok(Json(BulkJson { results }))
}

/// What the bulk sends each transfer's payee before it, whatever becomes of that, so that splitting an amount lowers no
/// risk. Amounts are added up by account number, since a payee may be saved more than once.
async fn sent_before(app: &App, owner: &str, drafts: &[Draft]) -> Result<Vec<Money>, Error> {
    if app.settings.risk_enforcement == Enforcement::Off {
        return Ok(vec![Money::ZERO; drafts.len()]);
    }
    let payees: Vec<_> = drafts.iter().map(|it| it.request.payment.0.to_beneficiary_id).collect();
    let mut db = app.db.acquire_for_order().await?;
    let found = beneficiaries::find_beneficiaries(&mut db, &app.key, owner, &payees).await?;
    drop(db);
    let numbers: HashMap<_, _> = found.into_iter().map(|it| (it.beneficiary_id, it.account_number)).collect();
    let mut totals = HashMap::new();
    let before = |draft: &Draft| {
        let Flat(payment) = &draft.request.payment;
        let number = numbers.get(&payment.to_beneficiary_id).map(|it| normalise(it));
        let total = totals.entry(number).or_insert(Money::ZERO);
        let after = total.checked_add(payment.amount).unwrap_or(Money::MAX);
        mem::replace(total, after)
    };
    Ok(drafts.iter().map(before).collect())
}

async fn send_all(app: &App, owner: &str, drafts: impl Iterator<Item = (Draft, Money)>) -> Vec<Answer<Transfer>> {
    let deadline = Instant::now() + ROOM_WAIT_MAX;
    let orders = stream::iter(drafts).map(|(draft, sent_before)| draft.order_after(app, owner, sent_before));
    let mut orders = orders.buffered(ASSESSED_MAX);
    let (mut answers, mut queued) = (Vec::new(), FuturesOrdered::new());
    while let Some(order) = orders.next().await {
        if queued.len() == QUEUED_MAX {
            answers.extend(queued.next().await);
        }
        queued.push_back(match order {
            Ok(order) => {
                let outcome = queue(&app.ledger, order, deadline).await;
                outcome.map(|outcome| counted(app, owner, outcome)).boxed()
            }
            Err(error) => future::ready(Answer::failed(error)).boxed(),
        });
    }
    answers.extend(queued.collect::<Vec<_>>().await);
    answers
}

fn counted(app: &App, owner: &str, outcome: Result<Outcome, LedgerError>) -> Answer<Transfer> {
    if let Ok(outcome) = &outcome {
        count_refusal(app, owner, outcome);
    }
    Answer::of_transfer(outcome)
}

type Pending<'a> = Pin<Box<dyn Future<Output = Result<Outcome, LedgerError>> + Send + 'a>>;

/// Returns once the transfer is in its queue, behind those before it.
async fn queue(ledger: &Ledger, order: Order, deadline: Instant) -> Pending<'_> {
    loop {
        let mut outcome = ledger.submit(Command::Transfer(order.clone())).boxed();
        // The first poll queues the command.
        match poll_fn(|context| Poll::Ready(outcome.as_mut().poll(context))).await {
            Poll::Pending => return outcome,
            Poll::Ready(Err(LedgerError::Full | LedgerError::Overloaded)) if Instant::now() < deadline => {
                tokio::time::sleep(REQUEUE_EVERY).await;
            }
            Poll::Ready(outcome) => return future::ready(outcome).boxed(),
        }
    }
}

fn to_json(idempotency_key: String, answer: Answer<Transfer>, request_id: Uuid) -> BulkResultJson {
    let replayed = answer.replayed;
    match answer.result {
        Ok(transfer) => {
            BulkResultJson { idempotency_key, status: 200, replayed, transaction: Some(transfer.into()), problem: None }
        }
        Err(error) => {
            let response = Error::from(error).into_response();
            let status = response.status();
            let problem = response.extensions().get::<Problem>().map(|it| it.shown(status, PATH, request_id));
            BulkResultJson { idempotency_key, status: status.as_u16().into(), replayed, transaction: None, problem }
        }
    }
}
