//! What operators can ask for that may take a second person, and how it waits for one.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::scope::{LEDGER_OPERATE, MODELS_ADMIN, RULES_ADMIN};
use crate::db::approvals::{self, Action};
use crate::db::payments::{self, SeenPayment};
use crate::domain::approval::{Approval, Person, State};
use crate::domain::model::{Digest, ModelKind};
use crate::domain::money::Money;
use crate::http::error::Error;
use crate::http::ledger::accounts::{ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::schema::answer;

/// Approvals listed at a time, the newest: more than operators propose in months.
pub(super) const APPROVALS_LISTED_MAX: i64 = 1_000;

/// Actions of one person that may wait: operators decide on a few a day, and a list of a thousand must have room for
/// those of others.
const PENDING_OF_PERSON_MAX: usize = 100;

/// An amount in an action.
pub(super) fn amount(text: &str) -> Result<Money, Error> {
    Money::parse_amount(text).map_err(|error| Error::Internal(error.into()))
}

pub(super) fn parse(json: &str) -> Result<Action, Error> {
    serde_json::from_str(json).map_err(|error| Error::Internal(error.into()))
}

/// The scope that both people need.
pub(super) fn scope_of(action: &Action) -> &'static str {
    match action {
        Action::Deploy { kind, .. } if kind == ModelKind::TransferRules.as_str() => RULES_ADMIN,
        Action::Deploy { .. } | Action::StartRollout { .. } => MODELS_ADMIN,
        _ => LEDGER_OPERATE,
    }
}

/// A payment that an action is about.
pub(super) async fn see(app: &App, transaction_id: Uuid) -> Result<SeenPayment, Error> {
    payments::see(&mut *app.db.acquire().await?, transaction_id).await?.ok_or(Error::NotFound)
}

/// Stores an action for a second person and answers that it waits; `None` if one person is enough.
pub(super) async fn propose(app: &App, by: &Person, action: &Action, reason: &str) -> Result<Option<Response>, Error> {
    let Some(policy) = app.settings.approvals else { return Ok(None) };
    if by.is_machine {
        return Err(Error::NoPerson);
    }
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let is_own = |it: &Approval| it.proposed_by == *by && it.state(now) == State::Pending;
    if approvals::list(&mut db, APPROVALS_LISTED_MAX).await?.iter().filter(|it| is_own(it)).count()
        >= PENDING_OF_PERSON_MAX
    {
        return Err(Error::TooManyRequests("proposals"));
    }
    let proposal = (app.clock.new_id(), action, reason);
    let proposed = approvals::propose(&mut db, &app.key, proposal, by, (now, policy.lifetime)).await?;
    audit::done(Event::ActionProposed, &by.name, &proposed.approval_id);
    let location = format!("/admin/approvals/{}", proposed.approval_id);
    Ok(Some((StatusCode::ACCEPTED, [(header::LOCATION, location)], Json(to_json(proposed, now)?)).into_response()))
}

answer! {
    /// An action that takes two operators.
    pub(crate) struct ApprovalJson as "Approval" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        /// What is to be done, as it was proposed.
        action: Value { example: "{}" },
        /// SHA-256 of the action and the reason. An approval repeats it, so that people approve what they read.
        digest: String { example: "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"" },
        reason: String { example: "\"better recall\"" },
        state: State { example: "\"pending\"" },
        proposed_by: String { example: "\"ops\"" },
        proposed_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        expires_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// Who approved or withdrew it; left out while nobody has.
        decided_by: Option<String> { example: "\"risk-officer\"" },
        decided_at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
        /// When it was carried out; left out if it was not.
        executed_at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
    }
}

pub(super) fn digest_of(it: &Approval) -> String {
    Digest(Sha256::digest(format!("{}\n{}", it.action, it.reason)).into()).to_string()
}

pub(super) fn to_json(it: Approval, now: OffsetDateTime) -> Result<ApprovalJson, Error> {
    Ok(ApprovalJson {
        id: it.approval_id,
        action: serde_json::from_str(&it.action).map_err(|error| Error::Internal(error.into()))?,
        digest: digest_of(&it),
        state: it.state(now),
        reason: it.reason,
        proposed_by: it.proposed_by.name,
        proposed_at: it.proposed_at,
        expires_at: it.expires_at,
        decided_at: it.decision.as_ref().map(|it| it.at),
        decided_by: it.decision.map(|it| it.by.name),
        executed_at: it.executed_at,
    })
}
