//! `/admin/payments`: payments that their rail has not decided, and decisions on them by hand. For operators, with a
//! token of scope `ledger:operate`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerOperator;
use crate::db::approvals::Action;
use crate::db::payments::{self, PendingPayment};
use crate::domain::money::Money;
use crate::domain::transfer::{Report, Status};
use crate::http::admin::action::{propose, see};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, PathId};
use crate::http::ledger::accounts::{CURRENCY, ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::ledger::{ByHand, Command, Outcome};
use crate::models::deploying::catalog::REASON_CHARS_MAX;
use crate::rail::decision::{self, Decision, Verdict};
use crate::schema::{answer, request};

/// Payments listed at a time: more than a person can decide on in a day.
pub(crate) const PAYMENTS_LISTED_MAX: i64 = 1_000;

answer! {
    /// A payment that its rail has not decided, or an order of another bank that no account could be credited with.
    pub(crate) struct PendingPaymentJson as "PendingPayment" in camelCase {
        transaction_id: Uuid { example: ID_EXAMPLE },
        /// Whether it goes out, or came in and is sent back.
        kind: &'static str { one_of: &["payment", "return"], example: "\"payment\"" },
        tracking_key: String { example: "\"CAUD202611218K3M5P7R9T2V4X6Z0B\"" },
        amount: Money { unit: CURRENCY, example: "1500.50" },
        rail: String { example: "\"stp\"" },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        age_seconds: i64 { example: "5400" },
        /// SPEI's business day that it was sent for; left out before it is sent.
        operating_date: Option<String> { example: "\"2026-11-23\"" },
        attempts: i64 { example: "3" },
        /// When the rail is asked next; left out if a person has to decide.
        next_attempt_at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
        /// Since when a person has to decide; left out while the host goes on asking.
        parked_at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
        last_error: Option<String> { example: "\"the order is in the state \\\"RB\\\"\"" },
    }
}

answer! {
    /// Payments that their rail has not decided: those that a person has to decide on, then the oldest, at most 1,000.
    pub(crate) struct PendingPaymentsJson as "PendingPayments" {
        payments: Vec<PendingPaymentJson>,
    }
}

request! {
    /// Why a payment is decided on by hand.
    pub(crate) struct PaymentDecisionRequest {
        /// Kept for good.
        pub(crate) reason: String { chars_max: REASON_CHARS_MAX, example: "\"settled according to STP, case 4711\"" },
    }
}

answer! {
    /// What became of a payment.
    pub(crate) struct DecidedPaymentJson as "DecidedPayment" in camelCase {
        transaction_id: Uuid { example: ID_EXAMPLE },
        status: Status { example: "\"completed\"" },
        /// False if it was so before.
        changed: bool { example: "true" },
    }
}

pub(crate) async fn list_payments(
    State(app): State<App>,
    _operator: LedgerOperator,
) -> Result<Json<PendingPaymentsJson>, Error> {
    let pending = payments::list(&mut *app.db.acquire().await?, PAYMENTS_LISTED_MAX).await?;
    let now = app.clock.now();
    Ok(Json(PendingPaymentsJson { payments: pending.into_iter().map(|it| to_json(it, now)).collect() }))
}

fn to_json(it: PendingPayment, now: OffsetDateTime) -> PendingPaymentJson {
    PendingPaymentJson {
        transaction_id: it.transfer_id,
        kind: if it.is_incoming { "return" } else { "payment" },
        tracking_key: it.tracking_key,
        amount: Money::from_minor(it.amount),
        rail: it.rail,
        created_at: it.created_at,
        age_seconds: (now - it.created_at).whole_seconds(),
        operating_date: it.operating_date.map(|date| date.to_string()),
        attempts: it.attempts.into(),
        next_attempt_at: it.parked_at.is_none().then_some(it.due_at),
        parked_at: it.parked_at,
        last_error: it.last_error,
    }
}

/// The other bank has the money.
pub(crate) async fn settle_payment(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    body: AssistBody,
) -> Result<Response, Error> {
    ask(&app, operator, id, body, Report::Settled).await
}

/// The other bank does not get the money: the sender gets it back. Of an order of another bank: it was sent back.
pub(crate) async fn refuse_payment(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    body: AssistBody,
) -> Result<Response, Error> {
    ask(&app, operator, id, body, Report::Rejected).await
}

async fn ask(
    app: &App,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
    report: Report,
) -> Result<Response, Error> {
    let PaymentDecisionRequest { reason } = fields.read();
    fields.finish()?;
    let PathId(transaction_id) = id?;
    let payment = see(app, transaction_id).await?;
    if payment.is_incoming && report == Report::Settled {
        let detail = "is an order of another bank, which can only be sent back: refuse it";
        return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "id", "not-allowed", detail));
    }
    let status = Status::parse(&payment.status).filter(|it| *it != Status::Pending);
    // Nobody should have to approve what can change nothing any more.
    if let Some(status) = status.filter(|_| app.settings.approvals.is_some()) {
        return Err(Error::PaymentEnded(status));
    }
    let action = match report {
        Report::Settled => Action::SettlePayment { transaction_id, payment },
        _ => Action::RefusePayment { transaction_id, payment },
    };
    if let Some(waiting) = propose(app, &operator.person, &action, &reason).await? {
        return Ok(waiting);
    }
    let by_hand = ByHand { actor: operator.person.name, note: reason };
    Ok(decide(app, transaction_id, report, by_hand).await?.into_response())
}

pub(super) async fn decide(
    app: &App,
    transfer_id: Uuid,
    report: Report,
    by_hand: ByHand,
) -> Result<Json<DecidedPaymentJson>, Error> {
    let by = by_hand.actor.clone();
    let decision = Decision { transfer_id, report, by_hand };
    let return_id = app.clock.new_id();
    let verdict = decision::judge(&mut *app.db.acquire().await?, decision, &app.clock, return_id).await?;
    let wanted = if report == Report::Settled { Status::Completed } else { Status::Failed };
    let report = match verdict {
        Verdict::Report(report) => report,
        Verdict::NotBefore(at) => return Err(Error::PaymentUnderWay(at)),
        Verdict::NotFound => return Err(Error::NotFound),
    };
    let (status, changed) = match app.ledger.submit(Command::Report(report)).await? {
        Outcome::StatusChanged(status) => {
            let event = if status == Status::Completed { Event::PaymentSettled } else { Event::PaymentRefused };
            audit::done(event, &by, &transfer_id);
            (status, true)
        }
        Outcome::StatusUnchanged(status) if status != wanted => return Err(Error::PaymentEnded(status)),
        Outcome::StatusUnchanged(status) => (status, false),
        other => return Err(other.into()),
    };
    Ok(Json(DecidedPaymentJson { transaction_id: transfer_id, status, changed }))
}
