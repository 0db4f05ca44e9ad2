//! `/admin/reviews`: transfers that wait until a person decides, because the rules require it. For operators, with a token
//! of scope `ledger:operate`. An operator claims one and then decides; others may take it over after a while.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerOperator;
use crate::db::outcomes::Recording;
use crate::db::reviews::{self, Review};
use crate::domain::money::Money;
use crate::domain::outcome::OutcomeKind;
use crate::domain::review::ReviewDecision;
use crate::http::admin::payments::PAYMENTS_LISTED_MAX;
use crate::http::error::Error;
use crate::http::extract::{AssistBody, PathId};
use crate::http::ledger::accounts::{CURRENCY, ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::ledger::store;
use crate::ledger::{ByHand, Command, Outcome, PaymentReport};
use crate::models::deploying::catalog::REASON_CHARS_MAX;
use crate::schema::{answer, request};

answer! {
    /// A transfer whose money is held until a person decides.
    pub(crate) struct ReviewJson as "Review" in camelCase {
        transaction_id: Uuid { example: ID_EXAMPLE },
        /// The user who sent it.
        payer: String { example: "\"ana\"" },
        amount: Money { unit: CURRENCY, example: "1500.50" },
        payee: String { example: "\"Luis Pérez\"" },
        payee_bank: String { example: "\"BBVA\"" },
        payee_number: String { example: "\"012180004643051249\"" },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        age_seconds: i64 { example: "5400" },
        /// Who looks at it; left out if nobody does. Others may claim it an hour later.
        claimed_by: Option<String> { example: "\"ops\"" },
        claimed_at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
        /// Left out before it is decided. If it is there, the decision was not recorded as an outcome: repeat it.
        decision: Option<ReviewDecision> { example: "\"release\"" },
    }
}

answer! {
    /// Transfers that wait for a person, the oldest first, at most 1,000.
    pub(crate) struct ReviewsJson as "Reviews" {
        reviews: Vec<ReviewJson>,
    }
}

request! {
    /// What a person decides on a transfer, and why.
    pub(crate) struct ReviewDecisionRequest in camelCase {
        decision: ReviewDecision { example: "\"release\"" },
        /// Kept for good.
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"the customer confirmed it by phone\"" },
        /// Of a refusal: whether the customer ordered it, deceived. Otherwise somebody else did.
        is_scam: Option<bool> { example: "false" },
    }
}

answer! {
    /// What became of a review.
    pub(crate) struct DecidedReviewJson as "DecidedReview" in camelCase {
        transaction_id: Uuid { example: ID_EXAMPLE },
        decision: ReviewDecision { example: "\"release\"" },
        /// As which it is recorded.
        outcome: OutcomeKind { example: "\"false_alarm\"" },
    }
}

pub(crate) async fn list_reviews(
    State(app): State<App>,
    _operator: LedgerOperator,
) -> Result<Json<ReviewsJson>, Error> {
    let waiting = reviews::list(&mut *app.db.acquire().await?, None, PAYMENTS_LISTED_MAX).await?;
    let now = app.clock.now();
    let reviews = waiting.into_iter().map(|it| to_json(it, now)).collect::<Result<_, _>>()?;
    Ok(Json(ReviewsJson { reviews }))
}

fn to_json(it: Review, now: OffsetDateTime) -> Result<ReviewJson, Error> {
    Ok(ReviewJson {
        decision: it.decision()?,
        transaction_id: it.transfer_id,
        payer: it.owner,
        amount: Money::from_minor(it.amount),
        payee: it.payee_name,
        payee_bank: it.payee_bank,
        payee_number: it.payee_number,
        created_at: it.created_at,
        age_seconds: (now - it.created_at).whole_seconds(),
        claimed_by: it.claimed_by,
        claimed_at: it.claimed_at,
    })
}

async fn find(db: &mut PgConnection, transfer_id: Uuid) -> Result<Review, Error> {
    if let Some(review) = reviews::list(db, Some(transfer_id), 1).await?.pop() {
        return Ok(review);
    }
    Err(if reviews::was_required(db, transfer_id).await? { Error::ReviewEnded } else { Error::NotFound })
}

pub(crate) async fn claim_review(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
) -> Result<Json<ReviewJson>, Error> {
    let PathId(transfer_id) = id?;
    let by = person(operator)?;
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let is_theirs = reviews::claim(&mut db, transfer_id, &by, now).await?;
    let review = find(&mut db, transfer_id).await?;
    if !is_theirs {
        return Err(Error::ReviewNotClaimed);
    }
    audit::done(Event::ReviewClaimed, &by, &transfer_id);
    Ok(Json(to_json(review, now)?))
}

pub(crate) async fn decide_review(
    State(app): State<App>,
    operator: LedgerOperator,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<DecidedReviewJson>, Error> {
    let ReviewDecisionRequest { decision, reason, is_scam } = fields.read();
    fields.finish()?;
    let is_scam = is_scam.unwrap_or_default();
    if is_scam && decision == ReviewDecision::Release {
        let detail = "is of a refusal only";
        return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "isScam", "not-allowed", detail));
    }
    let PathId(transfer_id) = id?;
    let by = person(operator)?;
    let review = find(&mut *app.db.acquire().await?, transfer_id).await?;
    if review.claimed_by.as_ref() != Some(&by) {
        return Err(Error::ReviewNotClaimed);
    }
    match review.decision()? {
        None => enter(&app, &review, decision, ByHand { actor: by.clone(), note: reason }).await?,
        // The ledger has it, and a host stopped before it was recorded as an outcome.
        Some(made) if made == decision => {
            if !is_entered(&app, &review, decision).await? {
                return Err(Error::ReviewAltered);
            }
            audited(decision, &by, transfer_id);
        }
        Some(_) => return Err(Error::ReviewEnded),
    }
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let recording = Recording { first_id: app.clock.new_id(), by: &by, now };
    if !reviews::end(&mut db, &app.key, transfer_id, (decision, is_scam), recording).await? {
        return Err(Error::ReviewEnded);
    }
    Ok(Json(DecidedReviewJson { transaction_id: transfer_id, decision, outcome: decision.outcome(is_scam) }))
}

/// The rules ask for a person.
fn person(LedgerOperator { person, .. }: LedgerOperator) -> Result<String, Error> {
    if person.is_machine { Err(Error::NoPerson) } else { Ok(person.name) }
}

/// Whether the ledger entered the decision that the database shows, which somebody else may have written.
async fn is_entered(app: &App, review: &Review, decision: ReviewDecision) -> Result<bool, Error> {
    let Some(batch) = review.batch() else { return Ok(false) };
    let mut db = app.db.acquire().await?;
    let second = store::second_status(&mut db, &app.key, batch, review.transfer_id).await?;
    Ok(second.map(ReviewDecision::of) == Some(decision))
}

/// Money that may be at another bank does not return.
async fn check_rail(app: &App, review: &Review) -> Result<(), Error> {
    let Some(courier) = app.courier.as_ref().filter(|_| review.payee_account_id.is_none()) else { return Ok(()) };
    let payment = reviews::payment(&mut *app.db.acquire().await?, review.transfer_id).await?;
    match courier.has(&payment.ok_or(Error::ReviewEnded)?).await {
        Ok(false) => Ok(()),
        Ok(true) => Err(Error::ReviewSent),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "the rail does not say whether it has a payment");
            Err(Error::RailSilent)
        }
    }
}

fn audited(decision: ReviewDecision, by: &str, transfer_id: Uuid) {
    let event = match decision {
        ReviewDecision::Release => Event::ReviewReleased,
        ReviewDecision::Refuse => Event::ReviewRefused,
    };
    audit::done(event, by, &transfer_id);
}

async fn enter(app: &App, review: &Review, decision: ReviewDecision, by_hand: ByHand) -> Result<(), Error> {
    if decision == ReviewDecision::Refuse {
        check_rail(app, review).await?;
    }
    let (by, transfer_id) = (by_hand.actor.clone(), review.transfer_id);
    let report = PaymentReport {
        transfer_id,
        account_id: review.account_id,
        payee_account_id: review.payee_account_id,
        report: decision.report(),
        reason: None,
        return_id: app.clock.new_id(),
        by_hand: Some(by_hand),
    };
    match app.ledger.submit(Command::Report(report)).await? {
        Outcome::StatusChanged(_) => {
            audited(decision, &by, transfer_id);
            Ok(())
        }
        Outcome::StatusUnchanged(_) => Err(Error::ReviewEnded),
        Outcome::TransferNotFound => Err(Error::ReviewAltered),
        other => Err(other.into()),
    }
}
