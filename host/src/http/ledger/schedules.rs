//! `/api/ledger/schedules`: transfers that the bank sends on their dates.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::app::App;
use crate::auth::User;
use crate::clock::mexico_city_date;
use crate::db::connections::Connection;
use crate::db::schedules::changes::{self, ScheduleError};
use crate::db::schedules::{self as table};
use crate::db::{Position, accounts, beneficiaries};
use crate::domain::order::{Circumstances, Payment, TransferRequest};
use crate::domain::remittance::Remittance;
use crate::domain::schedule::{
    AHEAD_MAX, DATE_EXAMPLE, Occurrence, Outcome, Plan, Recurrence, SCHEDULES_MAX, Schedule, Status,
};
use crate::http::error::Error;
use crate::http::extract::{IdempotencyKey, LedgerBody, Page, PathId, Place};
use crate::http::ledger::accounts::{ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::http::ledger::list::{self, Item};
use crate::http::ledger::orders::{AcknowledgmentRequest, mark, respond};
use crate::http::ledger::transactions::TransactionJson;
use crate::schedules::occurrences::{self, CLAIM};
use crate::schema::{Flat, answer, request};

const PATH: &str = "/api/ledger/schedules";

/// Occurrences that one schedule shows: a year of weeks.
const OCCURRENCES_SHOWN: i64 = 52;

request! {
    /// A transfer to send on a date, or again and again. It is sent from 9:00 in Mexico City, whose dates these are.
    /// `isNewDevice` and `geolocationChanged` count for the risk of the occurrences until one was sent.
    pub(crate) struct ScheduleRequest in camelCase {
        transfer: Flat<TransferRequest>,
        plan: Flat<Plan>,
        /// A schedule of the same user, which this one takes the place of: it is cancelled in the same commit.
        replaces: Option<Uuid> { example: ID_EXAMPLE },
    }
}

request! {
    /// Sends the occurrence that waits.
    pub(crate) struct ConfirmationRequest in camelCase {
        /// Of that occurrence.
        date: Date { example: DATE_EXAMPLE },
        circumstances: Flat<Circumstances>,
        acknowledgment: Flat<AcknowledgmentRequest>,
    }
}

request! {
    /// Does without the occurrence that waits.
    pub(crate) struct SkipRequest in camelCase {
        /// Of that occurrence.
        date: Date { example: DATE_EXAMPLE },
    }
}

answer! {
    /// A transfer that the bank sends on its dates.
    pub(crate) struct ScheduleJson as "Schedule" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        payment: Flat<Payment>,
        /// When the schedule was made.
        beneficiary_name: String { example: "\"Luisa Gómez\"" },
        remittance: Flat<Remittance>,
        plan: Flat<Plan>,
        status: Status { example: "\"active\"" },
        /// Of the next occurrence, while the schedule is active.
        next_date: Option<Date> { example: DATE_EXAMPLE },
        /// If the next occurrence waits for its owner because its risk is high: until when.
        waiting_until: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// Those that are over, newest first: the last one in a list, the last 52 of a single schedule.
        occurrences: Vec<Occurrence>,
    }
}

impl Item for ScheduleJson {
    type Cursor = Place<'s'>;

    fn cursor(&self) -> Place<'s'> {
        Place(Position { created_at: self.created_at, id: self.id })
    }
}

impl ScheduleJson {
    fn new(schedule: Schedule, occurrences: Vec<Occurrence>) -> Self {
        Self {
            id: schedule.schedule_id,
            payment: schedule.request.payment,
            beneficiary_name: schedule.beneficiary_name,
            remittance: schedule.request.remittance,
            plan: Flat(schedule.plan),
            next_date: schedule.next_date.filter(|_| schedule.status == Status::Active),
            status: schedule.status,
            waiting_until: schedule.waiting_until,
            created_at: schedule.created_at,
            occurrences,
        }
    }
}

impl From<ScheduleError> for Error {
    fn from(error: ScheduleError) -> Self {
        match error {
            ScheduleError::NotFound => Self::NotFound,
            ScheduleError::Ended(status) => Self::ScheduleEnded(status),
            ScheduleError::NotWaiting => Self::NotWaiting,
            ScheduleError::UnderWay => Self::ScheduleUnderWay,
            ScheduleError::Database(error) => error.into(),
        }
    }
}

/// The user's schedules, newest first.
pub(crate) async fn list_schedules(
    State(app): State<App>,
    User(owner): User,
    page: Page<Place<'s'>>,
) -> Result<Response, Error> {
    list::answer(PATH, page, move |after: Option<Place<'s'>>, limit| {
        let (pool, owner) = (app.db.clone(), owner.clone());
        async move {
            let mut db = pool.acquire().await?;
            let schedules = table::list_schedules(&mut db, &owner, after.map(|Place(at)| at), limit).await?;
            let ids: Vec<_> = schedules.iter().map(|it| it.schedule_id).collect();
            let mut last = table::last_occurrences(&mut db, &ids, 1).await?;
            let shown = schedules.into_iter().map(|it| {
                let occurrences = last.remove(&it.schedule_id).unwrap_or_default();
                ScheduleJson::new(it, occurrences)
            });
            Ok(shown.collect())
        }
    })
    .await
}

/// One of the user's schedules; `Location` of a new one points here.
pub(crate) async fn get_schedule(
    State(app): State<App>,
    User(owner): User,
    PathId(id): PathId,
) -> Result<Json<ScheduleJson>, Error> {
    let mut db = app.db.acquire().await?;
    find(&mut db, &owner, id).await.map(Json)
}

async fn find(db: &mut Connection, owner: &str, id: Uuid) -> Result<ScheduleJson, Error> {
    let schedule = table::find_schedule(db, owner, id).await?.ok_or(Error::NotFound)?;
    let mut occurrences = table::last_occurrences(db, &[id], OCCURRENCES_SHOWN).await?;
    Ok(ScheduleJson::new(schedule, occurrences.remove(&id).unwrap_or_default()))
}

/// Plans a transfer. Account and payee have to be the user's; everything else is decided when it is sent.
pub(crate) async fn create_schedule(
    State(app): State<App>,
    User(owner): User,
    key: Result<IdempotencyKey, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let ScheduleRequest { transfer: Flat(transfer), plan: Flat(plan), replaces } = fields.read();
    let ends = [("lastDate", plan.last.is_some()), ("times", plan.times.is_some())];
    for (field, is_given) in ends {
        if is_given && plan.recurrence == Recurrence::Once {
            fields.refuse(field, "out-of-range", "is for schedules that recur");
        }
    }
    if ends.iter().all(|(_, is_given)| *is_given) {
        fields.refuse("times", "out-of-range", "cannot be combined with lastDate");
    }
    if plan.last.is_some_and(|last| last < plan.first) {
        fields.refuse("lastDate", "out-of-range", "is before the first date");
    }
    fields.finish()?;
    app.rates.count_record(&owner)?;
    let IdempotencyKey(creation_key) = key?;
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let Flat(Payment { from_account_id, to_beneficiary_id, .. }) = transfer.payment;
    let mut schedule = Schedule {
        schedule_id: app.clock.new_id(),
        owner,
        creation_key,
        request: TransferRequest { remittance: Flat(transfer.remittance.0.normalized()), ..transfer },
        beneficiary_name: String::new(),
        plan,
        created_at: now,
        status: Status::Active,
        ordinal: 0,
        next_date: Some(plan.first),
        waiting_until: None,
    };
    if let Some(made) = find_made(&mut db, &schedule).await? {
        return made.map(|shown| created(shown, true));
    }
    check_first_date(plan.first, now)?;
    let account = accounts::find_account(&mut db, &schedule.owner, from_account_id).await?;
    account.ok_or(Error::AccountNotFound)?;
    let payee = beneficiaries::find_beneficiary(&mut db, &app.key, &schedule.owner, to_beneficiary_id).await?;
    schedule.beneficiary_name = payee.ok_or(Error::BeneficiaryNotFound)?.name;
    let active = table::count_active(&mut db, &schedule.owner, SCHEDULES_MAX).await?;
    if active - i64::from(replaces.is_some()) >= SCHEDULES_MAX {
        return Err(Error::TooMany(("active schedules", SCHEDULES_MAX)));
    }
    if changes::insert(&mut db, &app.key, &schedule, (active, replaces)).await? {
        return Ok(created(ScheduleJson::new(schedule, Vec::new()), false));
    }
    // Another request with the same key was faster.
    let made = find_made(&mut db, &schedule).await?.ok_or(Error::Overloaded)?;
    made.map(|shown| created(shown, true))
}

/// The schedule that an earlier request with the same idempotency key made.
async fn find_made(db: &mut Connection, wanted: &Schedule) -> Result<Option<Result<ScheduleJson, Error>>, Error> {
    let Some(key) = &wanted.creation_key else { return Ok(None) };
    let Some(made) = table::find_by_key(db, &wanted.owner, key).await? else { return Ok(None) };
    if !made.is_same_request(wanted) {
        return Ok(Some(Err(Error::KeyReused)));
    }
    find(db, &wanted.owner, made.schedule_id).await.map(Ok).map(Some)
}

/// Today's transfers are sent at once, by a transfer.
fn check_first_date(first: Date, now: OffsetDateTime) -> Result<(), Error> {
    let today = mexico_city_date(now);
    let detail = match first {
        first if first <= today => "must be after today in Mexico City; what is due today is sent at once",
        first if first > today + AHEAD_MAX => "must be within a year",
        _ => return Ok(()),
    };
    Err(Error::invalid_field("firstDate", "out-of-range", detail))
}

fn created(schedule: ScheduleJson, is_replayed: bool) -> Response {
    let location = format!("{PATH}/{}", schedule.id);
    mark((StatusCode::CREATED, [(header::LOCATION, location)], Json(schedule)).into_response(), is_replayed)
}

/// Cancels what is not yet over.
pub(crate) async fn cancel_schedule(
    State(app): State<App>,
    User(owner): User,
    PathId(id): PathId,
) -> Result<Json<ScheduleJson>, Error> {
    app.rates.count_record(&owner)?;
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    changes::cancel(&mut db, &app.key, (&owner, id), now).await?;
    find(&mut db, &owner, id).await.map(Json)
}

/// Does without the occurrence that waits.
pub(crate) async fn skip_occurrence(
    State(app): State<App>,
    User(owner): User,
    id: Result<PathId, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Json<ScheduleJson>, Error> {
    let SkipRequest { date } = fields.read();
    fields.finish()?;
    app.rates.count_record(&owner)?;
    let PathId(id) = id?;
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    changes::skip(&mut db, &app.key, (&owner, id), date, now).await?;
    occurrences::Attempt::Finished(Outcome::Skipped).count(&app);
    find(&mut db, &owner, id).await.map(Json)
}

/// Sends the occurrence that waits, as any transfer: the rules decide, and a high risk needs its acknowledgment.
pub(crate) async fn confirm_occurrence(
    State(app): State<App>,
    User(owner): User,
    id: Result<PathId, Error>,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let ConfirmationRequest { date, circumstances: Flat(circumstances), acknowledgment } = fields.read();
    fields.finish()?;
    app.rates.count_record(&owner)?;
    let PathId(id) = id?;
    let mut db = app.db.acquire().await?;
    let now = app.now(&mut db).await?;
    let claimed = changes::claim_waiting(&mut db, &app.key, (&owner, id), date, (now, now + CLAIM)).await;
    let (schedule, is_waiting) = match claimed {
        Ok(schedule) => (schedule, true),
        Err(ScheduleError::NotWaiting) => (find_sent(&mut db, &owner, id, date).await?, false),
        Err(error) => return Err(error.into()),
    };
    drop(db);
    let token = acknowledgment.0.acknowledgment_token;
    let answer = occurrences::send(&app, &schedule, date, circumstances, token).await;
    if is_waiting {
        match occurrences::record(&app, &schedule, date, &answer.result).await {
            Ok(attempt) => attempt.count(&app),
            // A host finds out what became of it when the claim is over.
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "cannot record an occurrence"),
        }
    }
    Ok(respond(answer, |transfer| Json(TransactionJson::from(transfer)).into_response()))
}

/// A schedule whose occurrence of that date was sent, so that to confirm it again repeats the ledger's answer.
async fn find_sent(db: &mut Connection, owner: &str, id: Uuid, date: Date) -> Result<Schedule, Error> {
    let schedule = table::find_schedule(db, owner, id).await?.ok_or(Error::NotFound)?;
    let over = table::last_occurrences(db, &[id], OCCURRENCES_SHOWN).await?.remove(&id).unwrap_or_default();
    let is_sent = over.iter().any(|over| over.date == date && over.outcome == Outcome::Sent);
    if is_sent { Ok(schedule) } else { Err(Error::NotWaiting) }
}
