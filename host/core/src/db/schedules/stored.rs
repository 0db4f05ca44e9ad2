//! Rows.

use sqlx::PgConnection;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::db::records::{self, Subject};
use crate::db::unknown_text;
use crate::domain::schedule::{Plan, Recurrence, Schedule, Status};
use crate::schema::parse;
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
    if !records::is_sound(transaction, key, Subject::Schedule, &schedule_id.to_string()).await? {
        tracing::error!(%schedule_id, "a schedule does not match its audit record and is ignored: run `caudal verify`");
        return Ok(None);
    }
    let schedule = find(transaction, schedule_id).await?;
    Ok(schedule.map(|schedule| Locked { schedule, attempt_at: claim.attempt_at, is_claimed: claim.is_claimed }))
}

pub(super) async fn find(db: &mut PgConnection, schedule_id: Uuid) -> Result<Option<Schedule>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select schedule_id, owner, creation_key, request::text as "request!", beneficiary_name, recurrence, first_date,
            last_date, times, created_at, status, ordinal, next_date, waiting_until
        from schedule where schedule_id = $1
        "#,
        schedule_id,
    );
    row.fetch_optional(db).await?.map(Row::read).transpose()
}

pub(super) struct Row {
    pub(super) schedule_id: Uuid,
    pub(super) owner: String,
    pub(super) creation_key: Option<String>,
    pub(super) request: String,
    pub(super) beneficiary_name: String,
    pub(super) recurrence: String,
    pub(super) first_date: Date,
    pub(super) last_date: Option<Date>,
    pub(super) times: Option<i32>,
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
            request: parse(self.request).map_err(|error| sqlx::Error::Decode(error.into()))?,
            beneficiary_name: self.beneficiary_name,
            plan: Plan { recurrence, first: self.first_date, last: self.last_date, times },
            created_at: self.created_at,
            status: Status::parse(&self.status).ok_or_else(|| unknown_text("schedule.status", &self.status))?,
            ordinal: number(self.ordinal)?,
            next_date: self.next_date,
            waiting_until: self.waiting_until,
        })
    }
}
