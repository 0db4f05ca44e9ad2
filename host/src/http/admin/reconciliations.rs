//! `/admin/reconciliations`: comparisons of operating days with the rail. `/admin/cases`: differences that a person decides
//! on. For operators, with a token of scope `ledger:operate`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerOperator;
use crate::db::approvals::Action;
use crate::db::reconciliations as table;
use crate::db::reconciliations::cases::{self, Case};
use crate::domain::schedule::DATE_EXAMPLE;
use crate::http::admin::action::propose;
use crate::http::admin::payments::{PAYMENTS_LISTED_MAX, PaymentDecisionRequest};
use crate::http::error::Error;
use crate::http::extract::{AssistBody, Parameters, PathId};
use crate::http::ledger::accounts::{ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::ledger::{ByHand, Outcome, Refusal};
use crate::models::deploying::catalog::REASON_CHARS_MAX;
use crate::rail::courier::Courier;
use crate::rail::finished_date;
use crate::rail::recovery::RecoveryError;
use crate::schema::{answer, request};

request! {
    /// The day of a comparison with the rail.
    pub(crate) struct ReconciliationRequest in camelCase {
        /// SPEI's business day; the last one that is over by default.
        operating_date: Option<Date> { example: DATE_EXAMPLE },
    }
}

answer! {
    /// The last comparison of a day with the rail.
    pub(crate) struct ReconciliationJson as "Reconciliation" in camelCase {
        operating_date: Date { example: DATE_EXAMPLE },
        /// Whether a later one is due or being made.
        due: bool { example: "false" },
        /// Left out if none was made.
        id: Option<Uuid> { example: ID_EXAMPLE },
        made_at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
        /// Orders that are alike on both sides.
        matched: i64 { example: "1200" },
        /// Those that only the rail has.
        missing_here: i64 { example: "1" },
        /// Those that only the ledger has.
        missing_there: i64 { example: "0" },
        different: i64 { example: "0" },
        /// Those that the rail lists again.
        duplicated: i64 { example: "0" },
        /// At most 20,000, with what follows from each.
        differences: Vec<Value> { example: "[]" },
    }
}

answer! {
    /// A difference that a person decides on.
    pub(crate) struct CaseJson as "Case" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        operating_date: Date { example: DATE_EXAMPLE },
        opened_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        difference: Value { example: "{}" },
    }
}

answer! {
    /// Open cases, the oldest first, at most 1,000.
    pub(crate) struct CasesJson as "Cases" {
        cases: Vec<CaseJson>,
    }
}

request! {
    /// Why a lost payment is booked, and on which account.
    pub(crate) struct BookingRequest in camelCase {
        /// Kept for good.
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"lost in the restore of 22 November\"" },
        /// The account that it left; that of the sender's number by default.
        account_id: Option<Uuid> { example: ID_EXAMPLE },
    }
}

answer! {
    /// A closed case.
    pub(crate) struct ClosedCaseJson as "ClosedCase" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        /// The transaction that the payment was booked as; left out if the case was closed without one.
        transaction_id: Option<Uuid> { example: ID_EXAMPLE },
    }
}

fn courier(app: &App) -> Result<&Courier, Error> {
    app.courier.as_ref().ok_or(Error::NotFound)
}

/// Has a host compare a day with the rail, within seconds.
pub(crate) async fn request_reconciliation(
    State(app): State<App>,
    operator: LedgerOperator,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<ReconciliationJson>, Error> {
    let ReconciliationRequest { operating_date } = fields.read();
    fields.finish()?;
    let rail = courier(&app)?.name;
    let date = operating_date.unwrap_or_else(|| finished_date(app.clock.now()));
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let by = &operator.person.name;
    table::request(&mut db, app.clock.new_id(), (rail, date), Some(by), now).await?;
    drop(db);
    audit::done(Event::ReconciliationRequested, by, &date);
    read(&app, date).await
}

/// The last comparison of a day.
pub(crate) async fn get_reconciliation(
    State(app): State<App>,
    _: LedgerOperator,
    Parameters(mut fields): Parameters,
) -> Result<Json<ReconciliationJson>, Error> {
    let ReconciliationRequest { operating_date } = fields.read();
    fields.finish()?;
    read(&app, operating_date.unwrap_or_else(|| finished_date(app.clock.now()))).await
}

async fn read(app: &App, operating_date: Date) -> Result<Json<ReconciliationJson>, Error> {
    let (report, due) = table::last(&mut *app.db.acquire().await?, courier(app)?.name, operating_date).await?;
    let (id, made_at) = report.as_ref().map(|it| (it.reconciliation_id, it.made_at)).unzip();
    let (counts, differences) = report.map(|it| (it.counts, it.differences)).unwrap_or_default();
    Ok(Json(ReconciliationJson {
        operating_date,
        due,
        id,
        made_at,
        matched: counts.matched,
        missing_here: counts.missing_here,
        missing_there: counts.missing_there,
        different: counts.different,
        duplicated: counts.duplicated,
        differences: if let Value::Array(differences) = differences { differences } else { Vec::new() },
    }))
}

pub(crate) async fn list_cases(State(app): State<App>, _: LedgerOperator) -> Result<Json<CasesJson>, Error> {
    let open = cases::list(&mut *app.db.acquire().await?, PAYMENTS_LISTED_MAX).await?;
    let open = open.into_iter().map(|it| {
        let difference = serde_json::to_value(it.difference.0).map_err(|error| Error::Internal(error.into()))?;
        Ok(CaseJson { id: it.case_id, operating_date: it.operating_date, opened_at: it.opened_at, difference })
    });
    Ok(Json(CasesJson { cases: open.collect::<Result<_, Error>>()? }))
}

/// Books a payment that the ledger lost and the rail has settled, as its case says.
pub(crate) async fn book_case(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let BookingRequest { reason, account_id } = fields.read();
    fields.finish()?;
    let PathId(case_id) = id?;
    let lost = courier(&app)?.lost(&find(&app, case_id).await?, account_id).await?;
    let account_id = lost.account_id;
    let action = Action::BookPayment { case_id, account_id, payment: lost.seen() };
    if let Some(waiting) = propose(&app, &operator.person, &action, &reason).await? {
        return Ok(waiting);
    }
    let by_hand = ByHand { actor: operator.person.name, note: reason };
    Ok(book(&app, case_id, account_id, by_hand).await?.into_response())
}

async fn find(app: &App, case_id: Uuid) -> Result<Case, Error> {
    cases::find(&mut *app.db.acquire().await?, &app.key, case_id).await?.ok_or(Error::NotFound)
}

pub(super) async fn book(
    app: &App,
    case_id: Uuid,
    account_id: Uuid,
    by_hand: ByHand,
) -> Result<Json<ClosedCaseJson>, Error> {
    let (courier, case, by) = (courier(app)?, find(app, case_id).await?, by_hand.actor.clone());
    let closed = |id| Json(ClosedCaseJson { id: case_id, transaction_id: Some(id) });
    match (&case.closed_by, case.transfer_id) {
        (Some(_), Some(id)) => return Ok(closed(id)),
        (Some(_), None) => return Err(Error::NotBookable("The case is closed.".to_owned())),
        (None, _) => {}
    }
    let lost = courier.lost(&case, Some(account_id)).await?;
    match courier.recover(&case, lost, by_hand).await? {
        Ok(id) => {
            audit::done(Event::PaymentBooked, &by, &id);
            Ok(closed(id))
        }
        Err(Outcome::Refused(Refusal::NotCovered)) => Err(Error::NotBookable(
            "The account does not cover it: credit it from the bank's own funds first, or close the case.".to_owned(),
        )),
        Err(Outcome::Refused(Refusal::KeyReused)) => Err(Error::NotBookable(
            "The ledger has a payment with this tracking key: compare the day again.".to_owned(),
        )),
        Err(outcome) => Err(outcome.into()),
    }
}

/// Closes a case without a booking.
pub(crate) async fn close_case(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<ClosedCaseJson>, Error> {
    let PaymentDecisionRequest { reason } = fields.read();
    fields.finish()?;
    let PathId(case_id) = id?;
    let by = operator.person.name;
    let case = find(&app, case_id).await?;
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    if cases::close(&mut db, &app.key, (case_id, None), (&by, &reason), now).await? {
        audit::done(Event::CaseClosed, &by, &case_id);
    }
    Ok(Json(ClosedCaseJson { id: case_id, transaction_id: case.transfer_id }))
}

impl From<RecoveryError> for Error {
    fn from(error: RecoveryError) -> Self {
        match error {
            RecoveryError::Refused(why) => Self::NotBookable(why),
            RecoveryError::Ledger(error) => error.into(),
            RecoveryError::Database(error) => error.into(),
        }
    }
}
