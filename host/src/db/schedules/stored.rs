//! Rows.

use sqlx::PgConnection;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::db::records::{self, Subject};
use crate::db::transfers::read_remittance;
use crate::db::unknown_text;
use crate::domain::money::Money;
use crate::domain::schedule::{Occurrence, Outcome, Plan, Recurrence, Schedule, Status};
use crate::sealing::ChainKey;

/// A schedule that is as recorded, whose row the transaction has locked.
pub(super) struct Locked {
    pub(super) schedule: Schedule,
    pub(super) attempt_at: OffsetDateTime,
    pub(super) is_claimed: bool,
}

/// `None` if there is none, or it is not as recorded: somebody altered it.
pub(super) async fn lock(
    transaction: &mut PgConnection,
    key: &ChainKey,
    schedule_id: Uuid,
) -> Result<Option<Locked>, sqlx::Error> {
    let claim =
        sqlx::query!("select attempt_at, is_claimed from schedule where schedule_id = $1 for update", schedule_id);
    let Some(claim) = claim.fetch_optional(&mut *transaction).await? else { return Ok(None) };
    let row = sqlx::query_as!(
        Row,
        r#"
        select schedule_id, owner, creation_key, account_id, beneficiary_id, beneficiary_name, amount, recurrence,
            first_date, last_date, times, concept, numeric_reference, is_new_device, geolocation_changed, created_at,
            status, ordinal, next_date, waiting_until
        from schedule where schedule_id = $1
        "#,
        schedule_id,
    );
    let schedule = row.fetch_one(&mut *transaction).await?.read()?;
    if !records::is_sound(transaction, key, Subject::Schedule, &schedule_id.to_string()).await? {
        tracing::error!(%schedule_id, "a schedule does not match its audit record and is ignored: run `caudal verify`");
        return Ok(None);
    }
    Ok(Some(Locked { schedule, attempt_at: claim.attempt_at, is_claimed: claim.is_claimed }))
}

pub(super) struct Row {
    pub(super) schedule_id: Uuid,
    pub(super) owner: String,
    pub(super) creation_key: Option<String>,
    pub(super) account_id: Uuid,
    pub(super) beneficiary_id: Uuid,
    pub(super) beneficiary_name: String,
    pub(super) amount: i64,
    pub(super) recurrence: String,
    pub(super) first_date: Date,
    pub(super) last_date: Option<Date>,
    pub(super) times: Option<i32>,
    pub(super) concept: Option<String>,
    pub(super) numeric_reference: Option<i32>,
    pub(super) is_new_device: bool,
    pub(super) geolocation_changed: bool,
    pub(super) created_at: OffsetDateTime,
    pub(super) status: String,
    pub(super) ordinal: i32,
    pub(super) next_date: Option<Date>,
    pub(super) waiting_until: Option<OffsetDateTime>,
}

impl Row {
    pub(super) fn read(self) -> Result<Schedule, sqlx::Error> {
        let number = |number: i32| u32::try_from(number).map_err(|error| sqlx::Error::Decode(error.into()));
        let recurrence = Recurrence::parse(&self.recurrence);
        let recurrence = recurrence.ok_or_else(|| unknown_text("schedule.recurrence", &self.recurrence))?;
        let times = self.times.map(number).transpose()?;
        Ok(Schedule {
            schedule_id: self.schedule_id,
            owner: self.owner,
            creation_key: self.creation_key,
            account_id: self.account_id,
            beneficiary_id: self.beneficiary_id,
            beneficiary_name: self.beneficiary_name,
            amount: Money::from_minor(self.amount),
            plan: Plan { recurrence, first: self.first_date, last: self.last_date, times },
            remittance: read_remittance(self.concept, self.numeric_reference),
            is_new_device: self.is_new_device,
            geolocation_changed: self.geolocation_changed,
            created_at: self.created_at,
            status: Status::parse(&self.status).ok_or_else(|| unknown_text("schedule.status", &self.status))?,
            ordinal: number(self.ordinal)?,
            next_date: self.next_date,
            waiting_until: self.waiting_until,
        })
    }
}

pub(super) struct OccurrenceRow {
    pub(super) date: Date,
    pub(super) outcome: String,
    pub(super) transfer_id: Option<Uuid>,
    pub(super) problem: Option<String>,
    pub(super) recorded_at: OffsetDateTime,
}

impl OccurrenceRow {
    pub(super) fn read(self) -> Result<Occurrence, sqlx::Error> {
        let outcome = Outcome::parse(&self.outcome);
        Ok(Occurrence {
            date: self.date,
            outcome: outcome.ok_or_else(|| unknown_text("occurrence.outcome", &self.outcome))?,
            transfer_id: self.transfer_id,
            problem: self.problem,
            recorded_at: self.recorded_at,
        })
    }
}
