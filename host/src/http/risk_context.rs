//! `/api/ledger/risk-context`: the risk request that the ledger's own history makes, scored.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::assistance::score_risk;
use super::auth::User;
use super::error::Error;
use super::extract::Parameters;
use super::scoring::{RiskJson, RiskRequestJson};
use crate::app::App;
use crate::clock::mexico_city_hour;
use crate::db::{accounts, beneficiaries, transfers};
use crate::domain::account_number::normalise;
use crate::domain::risk;

/// What the history says and how it scores.
#[derive(Serialize)]
pub(super) struct RiskContextJson {
    request: RiskRequestJson,
    assessment: RiskJson,
}

/// Computes the request from completed transfers, by the payee's account number, and scores it.
/// The hour is Mexico City's and device and place are the usual ones unless the client says more.
pub(super) async fn get_risk_context(
    State(app): State<App>,
    User(owner): User,
    Parameters(mut fields): Parameters,
) -> Result<Json<RiskContextJson>, Error> {
    let from_account_id = fields.uuid("fromAccountId");
    let to_beneficiary_id = fields.uuid("toBeneficiaryId");
    let amount = fields.amount("amount");
    let hour = fields.optional_integer("hourOfDay", 0, 23);
    let is_new_device = fields.optional_boolean("isNewDevice").unwrap_or(false);
    let geolocation_changed = fields.optional_boolean("geolocationChanged").unwrap_or(false);
    fields.finish()?;

    let mut db = app.db.acquire().await?;
    accounts::find_account(&mut db, &owner, from_account_id).await?.ok_or(Error::AccountNotFound)?;
    let payee = beneficiaries::find_beneficiary(&mut db, &owner, to_beneficiary_id).await?;
    let payee = payee.ok_or(Error::BeneficiaryNotFound)?;
    let history = transfers::find_history(&mut db, &owner, &normalise(&payee.account_number)).await?;
    drop(db);

    let now = app.clock.now();
    let hour_of_day = hour.and_then(|hour| u8::try_from(hour).ok()).unwrap_or_else(|| mexico_city_hour(now));
    let saved_minutes = (now - payee.created_at).whole_minutes().clamp(0, i64::from(u32::MAX));
    let request = risk::Request {
        amount: amount.to_f64(),
        is_new_beneficiary: history.count_to_payee == 0,
        hour_of_day,
        num_past_transactions: history.count,
        avg_transaction_amount: history.average,
        max_transaction_amount: history.maximum,
        num_transactions_to_beneficiary: history.count_to_payee,
        is_new_device,
        geolocation_changed,
        beneficiary_saved_minutes: u32::try_from(saved_minutes).ok(),
    };
    let assessment = score_risk(&app, &request, Some(owner.clone())).await?;
    Ok(Json(RiskContextJson { request: RiskRequestJson::new(&request, Some(owner)), assessment }))
}
