//! `/api/ledger/risk-context`: the risk of a transfer, scored from the sender's history.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::app::App;
use crate::clock::timestamp;
use crate::domain::risk::Enforcement;
use crate::enforcement::acknowledgment::Subject;
use crate::enforcement::assessment::{AssessmentError, Assessor, Circumstances};
use crate::enforcement::{Outcome, enforce};
use crate::auth::User;
use crate::http::error::Error;
use crate::http::extract::Parameters;
use crate::ledger::Risk;
use crate::scoring::{RiskJson, RiskRequestJson};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RiskContextJson {
    request: RiskRequestJson,
    assessment: RiskJson,
    /// Present unless risk enforcement is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledgment_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledgment_expires_at: Option<String>,
}

/// Counts completed transfers by the payee's account number. Unless the client says otherwise, the hour is
/// the current one in Mexico City, and device and location are the usual ones.
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
    let circumstances = Circumstances { hour, is_new_device, geolocation_changed };
    let (request, assessment) = assessor(&app).assess(&subject, circumstances).await?;
    let enforced = app.settings.risk_enforcement != Enforcement::Off;
    let token = enforced.then(|| app.acknowledgments.issue(&subject, assessment.level(), app.clock.now()));
    let (acknowledgment_token, expiry) = token.unzip();
    Ok(Json(RiskContextJson {
        request: RiskRequestJson::new(&request, Some(owner)),
        assessment,
        acknowledgment_token,
        acknowledgment_expires_at: expiry.map(timestamp),
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
    Ok(match enforce(enforcement, &assessor(app), subject, circumstances, acknowledgment).await? {
        Outcome::NotEnforced => Risk::NotEnforced,
        Outcome::Assessed { level, acknowledged } => Risk::Assessed { level, acknowledged },
        Outcome::Unavailable => Risk::Unavailable,
    })
}

fn assessor(app: &App) -> Assessor<'_> {
    Assessor { db: &app.db, models: &app.models, clock: &app.clock }
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
