//! `/admin/users/{user}/limits` and `/holder`: what the bank decides about a user. For operators, with a token of scope
//! `ledger:operate`.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use uuid::Uuid;

use crate::app::App;
use crate::audit::{self, Event};
use crate::auth::LedgerOperator;
use crate::auth::claims::USER_CHARS_MAX;
use crate::db::approvals::{Action, OwnLimits};
use crate::db::holders::{self, NAME_CHARS_MAX};
use crate::db::limits::{self, Limits};
use crate::domain::money::Money;
use crate::http::admin::action::{amount, propose};
use crate::http::error::Error;
use crate::http::extract::AssistBody;
use crate::http::ledger::accounts::CURRENCY;
use crate::models::deploying::catalog::REASON_CHARS_MAX;
use crate::schema::{answer, request};

answer! {
    /// A user's own limits. Where one is left out, the host's applies.
    pub(crate) struct LimitsJson as "Limits" in camelCase {
        per_transfer: Option<Money> { unit: CURRENCY, example: "5000.00" },
        per_day: Option<Money> { unit: CURRENCY, example: "20000.00" },
    }
}

request! {
    /// A user's own limits, all of them. Where one is left out, the host's applies.
    pub(crate) struct LimitsRequest in camelCase {
        per_day: Option<Money> { positive: true, unit: CURRENCY, example: "20000.00" },
        per_transfer: Option<Money> { positive: true, unit: CURRENCY, example: "5000.00" },
        /// Kept if a second operator has to approve it.
        reason: String { chars_max: REASON_CHARS_MAX, example: "\"asked for at the branch\"" },
    }
}

answer! {
    /// The name under which a user's payments go out.
    pub(crate) struct HolderJson as "Holder" {
        /// Left out if the bank has verified none.
        name: Option<String> { example: "\"Ana López Ruiz\"" },
    }
}

request! {
    /// A name that the bank has verified.
    pub(crate) struct HolderRequest {
        name: String { chars_max: NAME_CHARS_MAX, example: "\"Ana López Ruiz\"" },
    }
}

/// Works before the user's first account too. Repeating an approval does not undo what somebody set after it.
pub(super) async fn set_limits(
    limits: OwnLimits,
    app: &App,
    user: String,
    (by, approval_id): (&str, Option<Uuid>),
) -> Result<Json<LimitsJson>, Error> {
    let money = |text: Option<String>| text.map(|text| amount(&text)).transpose();
    let set = Limits { per_transfer: money(limits.per_transfer)?, per_day: money(limits.per_day)? };
    let mut db = app.db.acquire().await?;
    let before = limits::find(&mut db, &user).await?;
    if before == Some(set) || !limits::set(&mut db, &app.key, &user, set, (by, approval_id), app.clock.now()).await? {
        return Ok(Json(to_json(before)));
    }
    audit::done(Event::LimitsChanged, by, &"");
    Ok(Json(to_json(Some(set))))
}

pub(super) fn to_json(limits: Option<Limits>) -> LimitsJson {
    let Limits { per_transfer, per_day } = limits.unwrap_or(Limits { per_transfer: None, per_day: None });
    LimitsJson { per_transfer, per_day }
}

pub(crate) async fn get_limits(
    State(app): State<App>,
    _: LedgerOperator,
    Path(user): Path<String>,
) -> Result<Json<LimitsJson>, Error> {
    Ok(Json(to_json(limits::find(&mut *app.db.acquire().await?, &user).await?)))
}

/// They apply from the user's next transfer on.
pub(crate) async fn put_limits(
    State(app): State<App>,
    operator: LedgerOperator,
    Path(user): Path<String>,
    AssistBody(mut fields): AssistBody,
) -> Result<Response, Error> {
    let LimitsRequest { per_day, per_transfer, reason } = fields.read();
    fields.finish()?;
    check_user(&user)?;
    let set = Limits { per_transfer, per_day };
    let before = limits::find(&mut *app.db.acquire().await?, &user).await?;
    // No limit of one's own may be a high one too: the host may have none.
    let is_high = |limit: Option<Money>| {
        app.settings.approvals.is_some_and(|policy| limit.is_none_or(|limit| limit > policy.limit))
    };
    let takes_two = before != Some(set) && (is_high(per_transfer) || is_high(per_day));
    if takes_two {
        let action =
            Action::SetLimits { user: user.clone(), before: before.unwrap_or_default().into(), limits: set.into() };
        if let Some(waiting) = propose(&app, &operator.person, &action, &reason).await? {
            return Ok(waiting);
        }
    }
    Ok(set_limits(set.into(), &app, user, (&operator.person.name, None)).await?.into_response())
}

pub(crate) async fn get_holder(
    State(app): State<App>,
    _: LedgerOperator,
    Path(user): Path<String>,
) -> Result<Json<HolderJson>, Error> {
    Ok(Json(HolderJson { name: holders::find(&mut *app.db.acquire().await?, &user).await? }))
}

pub(crate) async fn put_holder(
    State(app): State<App>,
    operator: LedgerOperator,
    Path(user): Path<String>,
    AssistBody(mut fields): AssistBody,
) -> Result<Json<HolderJson>, Error> {
    let HolderRequest { name } = fields.read();
    fields.finish()?;
    check_user(&user)?;
    let mut db = app.db.acquire().await?;
    if holders::find(&mut db, &user).await?.as_ref() != Some(&name) {
        holders::set(&mut db, &app.key, &user, &name, &operator.person.name, app.clock.now()).await?;
        audit::done(Event::HolderNamed, &operator.person.name, &"");
    }
    Ok(Json(HolderJson { name: Some(name) }))
}

/// No token could name this user.
pub(super) fn check_user(user: &str) -> Result<(), Error> {
    if user.trim().is_empty() || user.chars().count() > USER_CHARS_MAX || user.contains('\0') {
        let detail = "must have 1 to 255 characters and not be blank";
        return Err(Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, "user", "wrong-type", detail));
    }
    Ok(())
}
