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
use crate::domain::money::Money;
use crate::domain::schedule::{
    AHEAD_MAX, Occurrence, Outcome, Plan, Recurrence, SCHEDULES_MAX, Schedule, Status, TIMES_MAX,
};
use crate::http::error::Error;
use crate::http::extract::{IdempotencyKey, LedgerBody, Page, PathId, Place};
use crate::http::ledger::accounts::{CURRENCY, ID_EXAMPLE, INSTANT_EXAMPLE};
use crate::http::ledger::list::{self, Item};
use crate::http::ledger::occurrences::{self, CLAIM};
use crate::http::ledger::orders::{Answer, CircumstancesRequest};
use crate::http::ledger::transactions::{RemittanceRequest, TransactionJson};
use crate::schema::{Flat, answer, request};

const PATH: &str = "/api/ledger/schedules";

/// Occurrences that one schedule shows: a year of weeks.
const OCCURRENCES_SHOWN: i64 = 52;

const DATE_EXAMPLE: &str = "\"2026-12-01\"";

request! {
    /// A transfer to send on a date, or again and again. It is sent from 9:00 in Mexico City, whose dates these are.
    pub(crate) struct ScheduleRequest in camelCase {
        from_account_id: Uuid { example: ID_EXAMPLE },
        to_beneficiary_id: Uuid { example: ID_EXAMPLE },
        /// Exact: at most two decimals by value.
        amount: Money { positive: true, unit: CURRENCY, example: "1500.50" },
        /// Of each occurrence.
        remittance: Flat<RemittanceRequest>,
        /// `monthly` is on the day of the first date, or on the last day of a month that is too short.
        recurrence: Recurrence { example: "\"monthly\"" },
        /// After today, within a year.
        first_date: Date { example: DATE_EXAMPLE },
        /// No occurrence is later. Only one of `lastDate` and `times`, and neither with `once`.
        last_date: Option<Date> { example: "\"2027-12-01\"" },
        /// How many occurrences there are.
        times: Option<u32> { at_least: 1.0, at_most: TIMES_MAX as f64 },
        /// Defaults to true. Counts for the risk of the occurrences until one was sent.
        is_new_device: Option<bool> { example: "false" },
        /// As `isNewDevice`.
        geolocation_changed: Option<bool> { example: "false" },
    }
}

request! {
    /// Sends the occurrence that waits.
    pub(crate) struct ConfirmationRequest in camelCase {
        /// Of that occurrence.
        date: Date { example: DATE_EXAMPLE },
        circumstances: Flat<CircumstancesRequest>,
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
    /// An occurrence that is over.
    pub(crate) struct OccurrenceJson as "Occurrence" in camelCase {
        date: Date { example: DATE_EXAMPLE },
        outcome: Outcome { example: "\"sent\"" },
        /// The transfer, if it was sent.
        transaction_id: Option<Uuid> { example: ID_EXAMPLE },
        /// The code of the problem for which it was refused.
        problem: Option<String> { example: "\"insufficient-funds\"" },
        recorded_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

answer! {
    /// A transfer that the bank sends on its dates.
    pub(crate) struct ScheduleJson as "Schedule" in camelCase {
        id: Uuid { example: ID_EXAMPLE },
        from_account_id: Uuid { example: ID_EXAMPLE },
        to_beneficiary_id: Uuid { example: ID_EXAMPLE },
        /// When the schedule was made.
        beneficiary_name: String { example: "\"Luisa Gómez\"" },
        amount: Money { unit: CURRENCY, example: "1500.50" },
        concept: Option<String> { example: "\"Renta de noviembre\"" },
        numeric_reference: Option<u32> { example: "202611" },
        recurrence: Recurrence { example: "\"monthly\"" },
        first_date: Date { example: DATE_EXAMPLE },
        last_date: Option<Date> { example: "\"2027-12-01\"" },
        times: Option<u32>,
        status: Status { example: "\"active\"" },
        /// Of the next occurrence, while the schedule is active.
        next_date: Option<Date> { example: DATE_EXAMPLE },
        /// If the next occurrence waits for its owner because its risk is high: until when.
        waiting_until: Option<OffsetDateTime> { example: INSTANT_EXAMPLE },
        created_at: OffsetDateTime { example: INSTANT_EXAMPLE },
        /// Those that are over, newest first: the last one in a list, the last 52 of a single schedule.
        occurrences: Vec<OccurrenceJson>,
    }
}

impl Item for ScheduleJson {
    type Cursor = Place<'s'>;

    fn cursor(&self) -> Place<'s'> {
        Place(Position { created_at: self.created_at, id: self.id })
    }
}

impl From<Occurrence> for OccurrenceJson {
    fn from(over: Occurrence) -> Self {
        let Occurrence { date, outcome, transfer_id, problem, recorded_at } = over;
        Self { date, outcome, transaction_id: transfer_id, problem, recorded_at }
    }
}

impl ScheduleJson {
    fn new(schedule: Schedule, occurrences: Vec<Occurrence>) -> Self {
        Self {
            id: schedule.schedule_id,
            from_account_id: schedule.account_id,
            to_beneficiary_id: schedule.beneficiary_id,
            beneficiary_name: schedule.beneficiary_name,
            amount: schedule.amount,
            concept: schedule.remittance.concept,
            numeric_reference: schedule.remittance.reference,
            recurrence: schedule.plan.recurrence,
            first_date: schedule.plan.first,
            last_date: schedule.plan.last,
            times: schedule.plan.times,
            next_date: schedule.next_date.filter(|_| schedule.status == Status::Active),
            status: schedule.status,
            waiting_until: schedule.waiting_until,
            created_at: schedule.created_at,
            occurrences: occurrences.into_iter().map(OccurrenceJson::from).collect(),
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
    let request: ScheduleRequest = fields.read();
    let plan = Plan {
        recurrence: request.recurrence,
        first: request.first_date,
        last: request.last_date,
        times: request.times,
    };
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
    let mut schedule = Schedule {
        schedule_id: app.clock.new_id(),
        owner,
        creation_key,
        account_id: request.from_account_id,
        beneficiary_id: request.to_beneficiary_id,
        beneficiary_name: String::new(),
        amount: request.amount,
        plan,
        remittance: request.remittance.0.read(),
        // Unusual unless the client says otherwise.
        is_new_device: request.is_new_device.unwrap_or(true),
        geolocation_changed: request.geolocation_changed.unwrap_or(true),
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
    let account = accounts::find_account(&mut db, &schedule.owner, schedule.account_id).await?;
    account.ok_or(Error::AccountNotFound)?;
    let payee = beneficiaries::find_beneficiary(&mut db, &app.key, &schedule.owner, schedule.beneficiary_id).await?;
    schedule.beneficiary_name = payee.ok_or(Error::BeneficiaryNotFound)?.name;
    let active = table::count_active(&mut db, &schedule.owner, SCHEDULES_MAX).await?;
    if active >= SCHEDULES_MAX {
        return Err(Error::TooMany(("active schedules", SCHEDULES_MAX)));
    }
    if changes::insert(&mut db, &app.key, &schedule, active).await? {
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
    let answer = Answer { result: Ok(schedule), replayed: is_replayed };
    answer.respond(|schedule| (StatusCode::CREATED, [(header::LOCATION, location)], Json(schedule)).into_response())
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
    let ConfirmationRequest { date, circumstances: Flat(circumstances) } = fields.read();
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
    let answer = occurrences::send(&app, &schedule, date, circumstances).await;
    if is_waiting {
        match occurrences::record(&app, &schedule, date, &answer.result).await {
            Ok(attempt) => attempt.count(&app),
            // A host finds out what became of it when the claim is over.
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "cannot record an occurrence"),
        }
    }
    Ok(answer.respond(|transfer| Json(TransactionJson::from(transfer)).into_response()))
}

/// A schedule whose occurrence of that date was sent, so that to confirm it again repeats the ledger's answer.
async fn find_sent(db: &mut Connection, owner: &str, id: Uuid, date: Date) -> Result<Schedule, Error> {
    let schedule = table::find_schedule(db, owner, id).await?.ok_or(Error::NotFound)?;
    let over = table::last_occurrences(db, &[id], OCCURRENCES_SHOWN).await?.remove(&id).unwrap_or_default();
    let is_sent = over.iter().any(|over| over.date == date && over.outcome == Outcome::Sent);
    if is_sent { Ok(schedule) } else { Err(Error::NotWaiting) }
}
