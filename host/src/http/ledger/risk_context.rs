//! `/api/ledger/risk-context`: the risk of a transfer, scored from the sender's history.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::User;
use crate::auth::claims::Claims;
use crate::domain::money::Money;
use crate::domain::order::{Circumstances, Payment};
use crate::domain::risk::{self, Enforcement};
use crate::enforcement::acknowledgment::Subject;
use crate::enforcement::assessment::{Assessed, Assessor};
use crate::http::error::Error;
use crate::http::extract::Parameters;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::orders::{assessor, circumstances_of};
use crate::schema::{Flat, answer, request};
use crate::scoring::{RiskAnswer, RiskRequest};

/// As JSON.
pub(super) const TOKEN_EXAMPLE: &str = "\"AZjxwlordXyNjk8BI0VniavxlqhxUP-Ew2-kE2Fd7gRnNWV6_JoGkQ\"";

request! {
    /// A planned transfer.
    pub(crate) struct RiskContextQuery in camelCase {
        payment: Flat<Payment>,
        /// Defaults to the current hour in Mexico City.
        hour_of_day: Option<u8> { at_most: risk::HOUR_MAX, example: "14" },
        circumstances: Flat<Circumstances>,
    }
}

answer! {
    /// The scored request and its assessment.
    pub(crate) struct RiskContextJson as "RiskContext" in camelCase {
        request: RiskRequest,
        assessment: RiskAnswer,
        /// Sent with one transfer to record that the user saw this risk. Absent if risk enforcement is off.
        acknowledgment_token: Option<String> { example: TOKEN_EXAMPLE },
        acknowledgment_expires_at: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
    }
}

/// What a sender may see: of the payee's own dealings nothing.
fn told(request: risk::Request) -> risk::Request {
    risk::Request { payee_senders_24h: None, payee_received_24h: None, payee_minutes_to_sending: None, ..request }
}

/// Counts completed transfers by the payee's account number. Unless the client says otherwise, the hour is
/// the current one in Mexico City, and device and location are unusual, as for the transfer itself.
pub(crate) async fn get_risk_context(
    State(app): State<App>,
    User(owner): User,
    Extension(claims): Extension<Arc<Claims>>,
    Parameters(mut fields): Parameters,
) -> Result<Json<RiskContextJson>, Error> {
    let RiskContextQuery { payment: Flat(payment), hour_of_day, circumstances: Flat(circumstances) } = fields.read();
    fields.finish()?;

    let Payment { from_account_id: from, to_beneficiary_id: to, amount } = payment;
    let subject = Subject { owner: &owner, from, to, amount };
    let circumstances = circumstances_of(&circumstances, hour_of_day, Money::ZERO);
    let are_orders_scored = app.settings.risk_enforcement != Enforcement::Off;
    // A query costs its sender nothing, so where orders are scored only they are evidence.
    let assessor = Assessor { is_evidence: !are_orders_scored, ..assessor(&app, claims.key.as_deref(), false) };
    let assessed = assessor.assess(&subject, circumstances).await?;
    let token = are_orders_scored.then(|| {
        let (transfer_id, now) = (app.clock.new_id(), app.clock.now());
        app.acknowledgments.issue(&subject, assessed.decision(), transfer_id, now)
    });
    let (acknowledgment_token, acknowledgment_expires_at) = token.flatten().unzip();
    let Assessed { request, scored, .. } = assessed;
    Ok(Json(RiskContextJson {
        request: RiskRequest::new(&told(request), Some(owner.clone())),
        assessment: RiskAnswer::new(Some(owner), scored),
        acknowledgment_token,
        acknowledgment_expires_at,
    }))
}
