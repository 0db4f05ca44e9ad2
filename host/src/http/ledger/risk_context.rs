//! `/api/ledger/risk-context`: the risk request that the ledger's own history makes, scored. Transfers are scored
//! by it too, where risk is enforced.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::app::{App, RiskEnforcement};
use crate::clock::{mexico_city_hour, timestamp};
use crate::db::{accounts, beneficiaries, transfers};
use crate::domain::account_number::normalise;
use crate::domain::risk;
use crate::enforcement::acknowledgment::Subject;
use crate::http::assistance::scores::score_risk;
use crate::http::auth::User;
use crate::http::error::Error;
use crate::http::extract::Parameters;
use crate::ledger::Risk;
use crate::scoring::risk::{RiskJson, RiskRequestJson};

/// What the history says and how it scores.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RiskContextJson {
    request: RiskRequestJson,
    assessment: RiskJson,
    /// Says that this risk was seen; where risk plays a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledgment_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledgment_expires_at: Option<String>,
}

/// What only the client can tell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances {
    /// Hour of the day, when it is not the present one.
    pub(crate) hour: Option<u8>,
    pub(crate) is_new_device: bool,
    pub(crate) geolocation_changed: bool,
}

/// Computes the request from completed transfers, by the payee's account number, and scores it.
/// The hour is Mexico City's and device and place are the usual ones unless the client says more.
pub(crate) async fn get_risk_context(
    State(app): State<App>,
    User(owner): User,
    Parameters(mut fields): Parameters,
) -> Result<Json<RiskContextJson>, Error> {
    let (from, to, amount) = (fields.uuid("fromAccountId"), fields.uuid("toBeneficiaryId"), fields.amount("amount"));
    let hour = fields.optional_integer("hourOfDay", 0, 23).and_then(|hour| u8::try_from(hour).ok());
    let is_new_device = fields.optional_boolean("isNewDevice").unwrap_or(false);
    let geolocation_changed = fields.optional_boolean("geolocationChanged").unwrap_or(false);
    fields.finish()?;

    let subject = Subject { owner: &owner, from, to, amount };
    let (request, assessment) =
        assess(&app, &subject, Circumstances { hour, is_new_device, geolocation_changed }).await?;
    let enforced = app.settings.risk_enforcement != RiskEnforcement::Off;
    let token = enforced.then(|| app.acknowledgments.give(&subject, assessment.level(), app.clock.now()));
    let (acknowledgment_token, until) = token.unzip();
    Ok(Json(RiskContextJson {
        request: RiskRequestJson::new(&request, Some(owner)),
        assessment,
        acknowledgment_token,
        acknowledgment_expires_at: until.map(timestamp),
    }))
}

/// What the rules are told about the risk of a transfer that was asked for.
pub(crate) async fn risk_of(
    app: &App,
    subject: &Subject<'_>,
    circumstances: Circumstances,
    token: Option<&str>,
) -> Result<Risk, Error> {
    let enforcement = app.settings.risk_enforcement;
    if enforcement == RiskEnforcement::Off {
        return Ok(Risk::NotEnforced);
    }
    let level = match assess(app, subject, circumstances).await {
        Ok((_, assessment)) => assessment.level(),
        // The ledger says so itself, unless it has answered this request before.
        Err(Error::AccountNotFound | Error::BeneficiaryNotFound) => return Ok(Risk::NotEnforced),
        Err(Error::ModelUnavailable(_)) if enforcement == RiskEnforcement::Enforce => return Ok(Risk::Unavailable),
        Err(Error::ModelUnavailable(_)) => return Ok(Risk::NotEnforced),
        Err(error) => return Err(error),
    };
    let acknowledged = token.is_some_and(|token| app.acknowledgments.holds(token, subject, level, app.clock.now()));
    if enforcement == RiskEnforcement::Enforce {
        return Ok(Risk::Assessed { level, acknowledged });
    }
    tracing::info!(%level, acknowledged, "risk of a transfer, which is not enforced");
    Ok(Risk::NotEnforced)
}

async fn assess(
    app: &App,
    Subject { owner, from, to, amount }: &Subject<'_>,
    circumstances: Circumstances,
) -> Result<(risk::Request, RiskJson), Error> {
    let mut db = app.db.acquire().await?;
    accounts::find_account(&mut db, owner, *from).await?.ok_or(Error::AccountNotFound)?;
    let payee = beneficiaries::find_beneficiary(&mut db, owner, *to).await?.ok_or(Error::BeneficiaryNotFound)?;
    let history = transfers::find_history(&mut db, owner, &normalise(&payee.account_number)).await?;
    drop(db);

    let now = app.clock.now();
    let saved_minutes = (now - payee.created_at).whole_minutes().clamp(0, i64::from(u32::MAX));
    let request = risk::Request {
        amount: amount.to_f64(),
        is_new_beneficiary: history.count_to_payee == 0,
        hour_of_day: circumstances.hour.unwrap_or_else(|| mexico_city_hour(now)),
        num_past_transactions: history.count,
        avg_transaction_amount: history.average,
        max_transaction_amount: history.maximum,
        num_transactions_to_beneficiary: history.count_to_payee,
        is_new_device: circumstances.is_new_device,
        geolocation_changed: circumstances.geolocation_changed,
        beneficiary_saved_minutes: u32::try_from(saved_minutes).ok(),
    };
    let assessment = score_risk(app, &request, Some((*owner).to_owned())).await?;
    Ok((request, assessment))
}
