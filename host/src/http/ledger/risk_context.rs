//! `/api/ledger/risk-context`: the risk of a transfer, scored from the sender's history.

use axum::Json;
use axum::extract::State;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::domain::money::Money;
use crate::domain::risk::{self, Enforcement, Risk};
use crate::enforcement::acknowledgment::Subject;
use crate::enforcement::assessment::{AssessmentError, Assessor, Circumstances};
use crate::enforcement::enforce;
use crate::http::error::Error;
use crate::http::extract::Parameters;
use crate::http::ledger::accounts::{CURRENCY, ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::schema::{answer, request};
use crate::scoring::{RiskAnswer, RiskRequest};

/// As JSON.
pub(super) const TOKEN_EXAMPLE: &str = "\"medium.1793000000.0198f1c25a2b7c3d8e4f0123456789ab.\
    9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"";

request! {
    /// A planned transfer.
    pub(crate) struct RiskContextQuery in camelCase {
        from_account_id: Uuid { example: ID_EXAMPLE },
        to_beneficiary_id: Uuid { example: ID_EXAMPLE },
        amount: Money { positive: true, unit: CURRENCY, example: "1500.50" },
        /// Defaults to the current hour in Mexico City.
        hour_of_day: Option<u8> { at_most: risk::HOUR_MAX, example: "14" },
        /// Whether the device is new or unrecognized. Defaults to true, as in the transfer: say the same in both.
        is_new_device: Option<bool> { example: "false" },
        /// Whether the location differs from the user's usual one. Defaults to true, as in the transfer.
        geolocation_changed: Option<bool> { example: "false" },
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

/// Counts completed transfers by the payee's account number. Unless the client says otherwise, the hour is
/// the current one in Mexico City, and device and location are unusual, as for the transfer itself.
pub(crate) async fn get_risk_context(
    State(app): State<App>,
    User(owner): User,
    Parameters(mut fields): Parameters,
) -> Result<Json<RiskContextJson>, Error> {
    let query: RiskContextQuery = fields.read();
    fields.finish()?;

    let subject =
        Subject { owner: &owner, from: query.from_account_id, to: query.to_beneficiary_id, amount: query.amount };
    let circumstances = Circumstances {
        hour: query.hour_of_day,
        is_new_device: query.is_new_device.unwrap_or(true),
        geolocation_changed: query.geolocation_changed.unwrap_or(true),
        sent_before: Money::ZERO,
    };
    let enforced = app.settings.risk_enforcement != Enforcement::Off;
    // What is only asked has no consequence, so what orders are scored by must not go by it.
    let assessor = Assessor { is_evidence: !enforced, ..assessor(&app, false) };
    let (request, assessment) = assessor.assess(&subject, circumstances).await?;
    let token = enforced.then(|| {
        let (transfer_id, now) = (app.clock.new_id(), app.clock.now());
        app.acknowledgments.issue(&subject, assessment.level(), transfer_id, now)
    });
    let (acknowledgment_token, acknowledgment_expires_at) = token.unzip();
    Ok(Json(RiskContextJson {
        request: RiskRequest::new(&request, Some(owner)),
        assessment,
        acknowledgment_token,
        acknowledgment_expires_at,
    }))
}

/// Assesses the risk of an order for the ledger.
pub(crate) async fn risk_of(
    app: &App,
    subject: &Subject<'_>,
    circumstances: Circumstances,
    token: Option<&str>,
) -> Result<Risk, Error> {
    let enforcement = app.settings.risk_enforcement;
    let acknowledgment = (&app.acknowledgments, token);
    Ok(enforce(enforcement, &assessor(app, true), subject, circumstances, acknowledgment).await?)
}

fn assessor(app: &App, is_order: bool) -> Assessor<'_> {
    Assessor { db: &app.db, key: &app.key, models: &app.models, clock: &app.clock, is_order, is_evidence: is_order }
}

impl From<AssessmentError> for Error {
    fn from(error: AssessmentError) -> Self {
        match error {
            AssessmentError::AccountNotFound => Self::AccountNotFound,
            AssessmentError::BeneficiaryNotFound => Self::BeneficiaryNotFound,
            AssessmentError::Database(error) => error.into(),
            AssessmentError::Response(error) => error.into(),
        }
    }
}
