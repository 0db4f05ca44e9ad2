//! Scores the risk of a transfer from its sender's history.

use crate::clock::{Clock, mexico_city_hour};
use crate::db::connections::{AcquireError, Connections};
use crate::db::recent::Parties;
use crate::db::{accounts, beneficiaries, recent, transfers};
use crate::decision::{Decision, Deployed, RiskOutcome};
use crate::domain::account_number::normalise;
use crate::domain::model::ModelKind;
use crate::domain::money::Money;
use crate::domain::risk::{Assessment, Request};
use crate::enforcement::acknowledgment::Subject;
use crate::models::serving::answer::Asker;
use crate::models::{Models, ScoreError};
use crate::scoring::{Risk, Scored};
use crate::sealing::ChainKey;

/// Facts that only the client knows, or its request.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances {
    /// Hour of the day in Mexico City; the current one by default.
    pub hour: Option<u8>,
    pub is_new_device: bool,
    pub geolocation_changed: bool,
    /// To the same payee, which the history does not show: a transfer is as risky as one of both amounts.
    pub sent_before: Money,
}

/// Why a transfer was not assessed.
#[derive(Debug, thiserror::Error)]
pub enum AssessmentError {
    #[error("the sender has no such account")]
    AccountNotFound,
    #[error("the sender has no such beneficiary")]
    BeneficiaryNotFound,
    #[error(transparent)]
    Database(#[from] AcquireError),
    #[error(transparent)]
    Score(#[from] ScoreError),
    /// It has no opinion, which is a decision all the same.
    #[error("the model abstained")]
    Abstained(&'static str, Box<Decision>),
}

/// A transfer's risk.
pub struct Assessed {
    pub request: Request,
    pub scored: Scored<Assessment>,
    by: Deployed,
    observed: &'static [&'static str],
}

impl Assessed {
    /// The decision to be kept with what comes of an order.
    pub fn decision(&self) -> Decision {
        Decision::on_risk(self.by, &self.request, self.observed, &RiskOutcome::of(&self.scored.assessment))
    }
}

pub struct Assessor<'a> {
    pub db: &'a Connections,
    pub key: &'a ChainKey,
    pub models: &'a Models,
    pub clock: &'a Clock,
    /// Thumbprint of the key that the sender's token is bound to: whether it is new is then known, whatever the client says.
    pub device: Option<&'a str>,
    /// Whether it is for an order, and not only asked.
    pub is_order: bool,
    /// Whether rollouts of models may go by the assessment.
    pub is_evidence: bool,
}

impl From<sqlx::Error> for AssessmentError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Assessor<'_> {
    /// Builds the risk request from the sender's completed transfers, and scores it.
    ///
    /// # Errors
    /// See [`AssessmentError`].
    pub async fn assess(
        &self,
        Subject { owner, from, to, amount }: &Subject<'_>,
        circumstances: Circumstances,
    ) -> Result<Assessed, AssessmentError> {
        let acquired = if self.is_order { self.db.acquire_for_order().await } else { self.db.acquire().await };
        let mut db = acquired?;
        accounts::find_account(&mut db, owner, *from).await?.ok_or(AssessmentError::AccountNotFound)?;
        let payee = beneficiaries::find_beneficiary(&mut db, self.key, owner, *to).await?;
        let payee = payee.ok_or(AssessmentError::BeneficiaryNotFound)?;
        let payee_key = normalise(&payee.account_number);
        let history = transfers::find_history(&mut db, owner, &payee_key).await?;
        let now = self.clock.now();
        let saved_minutes = (now - payee.created_at).whole_minutes().clamp(0, i64::from(u32::MAX));
        let request = Request {
            amount: amount.checked_add(circumstances.sent_before).unwrap_or(Money::MAX).to_f64(),
            is_new_beneficiary: history.count_to_payee == 0,
            hour_of_day: circumstances.hour.unwrap_or_else(|| mexico_city_hour(now)),
            num_past_transactions: history.count,
            avg_transaction_amount: history.average,
            max_transaction_amount: history.maximum,
            num_transactions_to_beneficiary: history.count_to_payee,
            is_new_device: circumstances.is_new_device,
            geolocation_changed: circumstances.geolocation_changed,
            beneficiary_saved_minutes: u32::try_from(saved_minutes).ok(),
            ..Request::default()
        };
        let parties =
            Parties { owner, payee_number: &payee.account_number, payee_key: &payee_key, device: self.device };
        let request = recent::add(&mut db, &parties, request, now).await?;
        drop(db);
        let observed: &'static [&'static str] = match (circumstances.hour, self.device) {
            (None, Some(_)) => &["hour_of_day", "is_new_device"],
            (None, None) => &["hour_of_day"],
            (Some(_), Some(_)) => &["is_new_device"],
            (Some(_), None) => &[],
        };
        let snapshot = self.models.snapshot();
        let asker = Asker { user: Some(owner), is_evidence: self.is_evidence };
        match snapshot.assess::<Risk>(&request, asker).await {
            Ok((scored, by)) => Ok(Assessed { request, scored, by, observed }),
            Err(ScoreError::Abstained(reason)) => {
                let by = snapshot.deployed(ModelKind::Risk).ok_or(ScoreError::Missing)?;
                let outcome = RiskOutcome::abstained(reason);
                let decision = Decision::on_risk(by, &request, observed, &outcome);
                Err(AssessmentError::Abstained(reason, Box::new(decision)))
            }
            Err(error) => Err(error.into()),
        }
    }
}
