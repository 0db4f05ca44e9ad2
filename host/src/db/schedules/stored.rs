//! Rows, and the state that audit records keep of them.

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::db::records::{self, Covered, Recorded, Subject};
use crate::db::transfers::read_remittance;
use crate::db::unknown_text;
use crate::domain::money::Money;
use crate::domain::schedule::{Occurrence, Outcome, Plan, Recurrence, Schedule, Status};
use crate::sealing::ChainKey;
use crate::sealing::digest::{Digest, Hash};

/// Of a schedule with all of its occurrences that are over, the first one first.
pub(super) fn state(key: &ChainKey, it: &Schedule, occurrences: &[Occurrence]) -> Hash {
    let optional_date = |digest: &mut Digest, date: Option<Date>| {
        digest.optional_text(date.map(|date| date.to_string()).as_deref());
    };
    let mut digest = Subject::Schedule.state();
    digest.uuid(it.schedule_id);
    digest.text(&it.owner);
    digest.optional_text(it.creation_key.as_deref());
    digest.uuid(it.account_id);
    digest.uuid(it.beneficiary_id);
    digest.text(&it.beneficiary_name);
    digest.int(it.amount.minor());
    digest.text(it.plan.recurrence.as_str());
    optional_date(&mut digest, Some(it.plan.first));
    optional_date(&mut digest, it.plan.last);
    digest.int(it.plan.times.map_or(0, i64::from));
    digest.optional_text(it.remittance.concept.as_deref());
    digest.optional_int(it.remittance.reference.map(i64::from));
    digest.int(it.is_new_device.into());
    digest.int(it.geolocation_changed.into());
    digest.time(it.created_at);
    digest.text(it.status.as_str());
    digest.int(it.ordinal.into());
    optional_date(&mut digest, it.next_date);
    digest.int(it.waiting_until.is_some().into());
    it.waiting_until.iter().for_each(|until| digest.time(*until));
    for over in occurrences {
        optional_date(&mut digest, Some(over.date));
        digest.text(over.outcome.as_str());
        digest.optional_uuid(over.transfer_id);
        digest.optional_text(over.problem.as_deref());
        digest.time(over.recorded_at);
    }
    key.seal_digest(digest)
}

/// A schedule that is as recorded, whose row the transaction has locked.
pub(super) struct Locked {
    pub(super) schedule: Schedule,
    /// Those that are over, the first one first.
    pub(super) occurrences: Vec<Occurrence>,
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
    let rows = sqlx::query_as!(
        OccurrenceRow,
        "select date, outcome, transfer_id, problem, recorded_at from occurrence where schedule_id = $1 order by ordinal",
        schedule_id,
    );
    let rows = rows.fetch_all(&mut *transaction).await?;
    let occurrences: Vec<_> = rows.into_iter().map(OccurrenceRow::read).collect::<Result<_, _>>()?;
    let record = records::find(transaction, key, Subject::Schedule, &schedule_id.to_string()).await?;
    if record.and_then(|record| record.state).as_deref() != Some(&state(key, &schedule, &occurrences)[..]) {
        tracing::error!(%schedule_id, "a schedule does not match its audit record and is ignored: run `caudal verify`");
        return Ok(None);
    }
    Ok(Some(Locked { schedule, occurrences, attempt_at: claim.attempt_at, is_claimed: claim.is_claimed }))
}

/// Every schedule, or only these, beside its last record.
pub(in crate::db) async fn covered(
    db: &mut PgConnection,
    key: &ChainKey,
    only: Option<&[Uuid]>,
    mut visit: impl FnMut(Covered),
) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select s.*, o.ordinals, o.dates, o.outcomes, o.transfer_ids as "transfer_ids: Vec<Option<Uuid>>",
            o.problems as "problems: Vec<Option<String>>", o.recorded, r.seq is not null as "is_recorded!",
            r.state as "state?"
        from schedule s
        left join lateral (
            select array_agg(ordinal order by ordinal) as ordinals, array_agg(date order by ordinal) as dates,
                array_agg(outcome order by ordinal) as outcomes, array_agg(transfer_id order by ordinal) as transfer_ids,
                array_agg(problem order by ordinal) as problems, array_agg(recorded_at order by ordinal) as recorded
            from occurrence where schedule_id = s.schedule_id
        ) as o on true
        left join lateral (
            select seq, state from audit_record
            where subject = 'schedule' and subject_key = s.schedule_id::text order by seq desc limit 1
        ) as r on true
        where $1::uuid[] is null or s.schedule_id = any($1)
        order by s.schedule_id
        "#,
        only,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let recorded = Recorded::new(row.is_recorded, row.state);
        let id = row.schedule_id;
        let mut occurrences = Vec::new();
        let parts = row.dates.unwrap_or_default().into_iter().zip(row.outcomes.unwrap_or_default());
        let parts = parts.zip(row.transfer_ids.unwrap_or_default()).zip(row.problems.unwrap_or_default());
        for ((((date, outcome), transfer_id), problem), recorded_at) in parts.zip(row.recorded.unwrap_or_default()) {
            occurrences.push(OccurrenceRow { date, outcome, transfer_id, problem, recorded_at }.read());
        }
        let is_in_order = row.ordinals.unwrap_or_default().into_iter().eq(0..row.ordinal);
        let schedule = Row {
            schedule_id: row.schedule_id,
            owner: row.owner,
            creation_key: row.creation_key,
            account_id: row.account_id,
            beneficiary_id: row.beneficiary_id,
            beneficiary_name: row.beneficiary_name,
            amount: row.amount,
            recurrence: row.recurrence,
            first_date: row.first_date,
            last_date: row.last_date,
            times: row.times,
            concept: row.concept,
            numeric_reference: row.numeric_reference,
            is_new_device: row.is_new_device,
            geolocation_changed: row.geolocation_changed,
            created_at: row.created_at,
            status: row.status,
            ordinal: row.ordinal,
            next_date: row.next_date,
            waiting_until: row.waiting_until,
        };
        // What cannot even be read was altered, and is found like anything else.
        let readable = occurrences.into_iter().collect::<Result<Vec<_>, _>>().ok().filter(|_| is_in_order);
        let readable = readable.zip(schedule.read().ok());
        let state = readable.map_or([0; 32], |(occurrences, schedule)| state(key, &schedule, &occurrences));
        visit(Covered { key: id.to_string(), state, recorded });
    }
    Ok(())
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
