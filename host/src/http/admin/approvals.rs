//! `/admin/approvals`: actions that wait for a second operator, and what became of them.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use super::action::{APPROVALS_LISTED_MAX, ApprovalJson, digest_of, parse, scope_of, to_json};
use super::deployment::deploy_approved;
use super::start::start_approved;
use super::users::set_limits;
use super::versions::kind_of;
use super::{accounts, payments, reconciliations, reversals};
use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::{Approver, AuthError};
use crate::db::approvals::{self, Action, Step};
use crate::domain::approval::{Approval, Refusal};
use crate::domain::transfer::Report;
use crate::http::error::Error;
use crate::http::extract::{AssistBody, PathId};
use crate::ledger::ByHand;
use crate::schema::{answer, request};

/// Digits of a SHA-256 in hex.
const DIGEST_CHARS: usize = 64;

answer! {
    /// Actions that take two operators, newest first.
    pub(crate) struct ApprovalsJson as "Approvals" {
        approvals: Vec<ApprovalJson>,
        /// Actions that this host cannot read, and left out: those of another release.
        unreadable: i64 { example: "0" },
    }
}

request! {
    /// The approval of one action.
    pub(crate) struct ApproveRequest {
        /// That of the action that you read.
        digest: String { chars_max: DIGEST_CHARS, example: "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"" },
    }
}

/// Those that the token's scopes allow to decide on.
pub(crate) async fn list_approvals(State(app): State<App>, approver: Approver) -> Result<Json<ApprovalsJson>, Error> {
    let all = approvals::list(&mut *app.db.acquire().await?, APPROVALS_LISTED_MAX).await?;
    let now = app.clock.now();
    let mut approvals = Vec::new();
    let mut unreadable = 0;
    for it in all {
        match parse(&it.action) {
            Ok(action) if approver.has(scope_of(&action)) => approvals.push(to_json(it, now)?),
            Ok(_) => {}
            Err(_) => unreadable += 1,
        }
    }
    Ok(Json(ApprovalsJson { approvals, unreadable }))
}

pub(crate) async fn get_approval(
    State(app): State<App>,
    approver: Approver,
    id: Result<PathId, Error>,
) -> Result<Json<ApprovalJson>, Error> {
    let (it, _) = find(&app, &approver, id?).await?;
    to_json(it, app.clock.now()).map(Json)
}

async fn find(app: &App, approver: &Approver, PathId(id): PathId) -> Result<(Approval, Action), Error> {
    let found = approvals::find(&mut *app.db.acquire().await?, &app.key, id).await?;
    let found = found.ok_or(Error::NotFound)?;
    let action = parse(&found.action)?;
    if approver.has(scope_of(&action)) {
        Ok((found, action))
    } else {
        Err(AuthError::ScopeMissing(scope_of(&action)).into())
    }
}

/// Approves an action and carries it out. The answer is the action's own. Approving again goes on with an action whose
/// outcome is unknown.
pub(crate) async fn approve(
    State(app): State<App>,
    approver: Approver,
    id: Result<PathId, Error>,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let ApproveRequest { digest } = fields.read();
    fields.finish()?;
    let (before, action) = find(&app, &approver, id?).await?;
    if digest_of(&before) != digest {
        let detail = "is not that of the action: read it again";
        return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "digest", "not-allowed", detail));
    }
    if approver.person.is_machine {
        return Err(Error::NoPerson);
    }
    let now = app.now(&mut *app.db.acquire().await?).await?;
    let approved = before.approve(approver.person.clone(), now)?;
    let is_first = before.decision.is_none();
    let step = if is_first { Step::Approve } else { Step::Resume };
    // Confirmed before anything happens, so that a failover cannot forget who is at it.
    let claimed = save(&app, &before, &approved, (step, &approver)).await?.ok_or(Error::ApprovalUnderWay)?;
    audit::done(Event::ActionApproved, &approver.person.name, &claimed.approval_id);
    let (after, step, result) = match perform(action, &app, &claimed).await {
        Ok(answer) => {
            let executed = Approval { executed_at: Some(app.clock.now()), ..claimed.clone() };
            (executed, Step::Execute, Ok(answer))
        }
        // An earlier attempt, whose outcome is unknown, may have changed something.
        Err(refusal) if is_first && !refusal.is_temporary() => (claimed.refused(), Step::Refuse, Err(refusal)),
        Err(error) => return Err(if error.is_temporary() { unknown(&error) } else { error }),
    };
    // If the claim has expired and another request took it over, that request records the outcome.
    save(&app, &claimed, &after, (step, &approver)).await.map_err(|error| unknown(&error))?;
    result
}

/// What an error means once the action may have been carried out.
fn unknown(error: &Error) -> Error {
    error.log();
    Error::ExecutionUnknown
}

/// Withdraws an action that was not carried out.
pub(crate) async fn withdraw(
    State(app): State<App>,
    approver: Approver,
    id: Result<PathId, Error>,
) -> Result<Json<ApprovalJson>, Error> {
    let (before, _) = find(&app, &approver, id?).await?;
    let now = app.now(&mut *app.db.acquire().await?).await?;
    let withdrawn = before.withdraw(approver.person.clone(), now)?;
    let saved = save(&app, &before, &withdrawn, (Step::Withdraw, &approver)).await?;
    let withdrawn = saved.ok_or(Error::ApprovalUnderWay)?;
    audit::done(Event::ActionWithdrawn, &approver.person.name, &withdrawn.approval_id);
    to_json(withdrawn, now).map(Json)
}

/// `None` if somebody else was faster.
async fn save(
    app: &App,
    before: &Approval,
    after: &Approval,
    (step, approver): (Step, &Approver),
) -> Result<Option<Approval>, Error> {
    let view = app.barrier.begin();
    let mut db = app.db.acquire().await?;
    let save = approvals::save(&mut db, &app.key, Some(before), after, (step, &approver.person), app.clock.now());
    Ok(app.barrier.confirmed_since(view, save).await?)
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::SamePerson => Self::SamePerson,
            Refusal::Ended(state) => Self::ApprovalEnded(state),
            Refusal::UnderWay => Self::ApprovalUnderWay,
        }
    }
}

/// Carries an action out. Repeating it changes nothing more.
async fn perform(action: Action, app: &App, approval: &Approval) -> Result<Response, Error> {
    let (by, reason) = (&*approval.people(), &*approval.reason);
    let by_hand = || ByHand { actor: by.to_owned(), note: reason.to_owned() };
    Ok(match action {
        Action::Deploy { kind, versions } => deploy_approved(&versions, app, kind_of(&kind)?, (reason, by)).await?,
        Action::StartRollout { kind, rollout } => {
            start_approved(&rollout, app, kind_of(&kind)?, (reason, &approval.proposed_by, by)).await?
        }
        Action::SettlePayment { transaction_id, .. } => {
            payments::decide(app, transaction_id, Report::Settled, by_hand()).await?.into_response()
        }
        Action::RefusePayment { transaction_id, .. } => {
            payments::decide(app, transaction_id, Report::Rejected, by_hand()).await?.into_response()
        }
        Action::Reverse { transaction_id, reversal_id, .. } => {
            reversals::carry_out(app, transaction_id, reversal_id, by_hand()).await?.into_response()
        }
        Action::BookPayment { case_id, account_id, .. } => {
            reconciliations::book(app, case_id, account_id, by_hand()).await?.into_response()
        }
        Action::Fund { account_id, amount, transaction_id, .. } => {
            accounts::credit(app, account_id, &amount, transaction_id, by).await?.into_response()
        }
        Action::SetLimits { user, limits, .. } => {
            set_limits(limits, app, user, (by, Some(approval.approval_id))).await?.into_response()
        }
    })
}
