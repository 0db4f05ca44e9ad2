//! Payments at a rail: those to settle, which the ledger inserts and deletes in the commit that moves the money, and
//! what has to be remembered about each that was handed over.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::transfers::read_remittance;
use crate::domain::money::Money;
use crate::domain::transfer::{Payment, RailName, Status};

/// A payment that its rail is to be asked about.
#[derive(Debug, Clone)]
pub(crate) struct DuePayment {
    pub(crate) payment: Payment,
    /// Number of earlier attempts.
    pub(crate) attempts: i32,
    /// Whether the claim fixed the operating date, so that nothing was sent for it yet.
    pub(crate) is_new_date: bool,
    pub(crate) from_account_id: Uuid,
}

/// Claims due payments until `until`, longest overdue first, and counts an attempt for each. Those that were never
/// handed over get the operating date `today` for good.
pub(crate) async fn claim(
    db: &mut PgConnection,
    rail: RailName,
    (now, until): (OffsetDateTime, OffsetDateTime),
    today: Date,
    limit: i64,
) -> Result<Vec<DuePayment>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        with due as (
            select transfer_id from rail_payment where rail = $1 and due_at <= $2 and parked_at is null
            order by due_at limit $4 for update skip locked
        ), claimed as (
            update rail_payment p set due_at = $3, attempts = attempts + 1
            from due where p.transfer_id = due.transfer_id
            returning p.transfer_id, p.attempts
        ), dated as (
            insert into rail_order (transfer_id, rail, operating_date) select transfer_id, $1, $5 from due
            on conflict do nothing
            returning transfer_id
        )
        select c.attempts, t.transfer_id, t.debit_account_id, t.amount, t.created_at,
            t.spei_reference as "tracking_key!", t.beneficiary_name as "payee_name!", t.beneficiary_bank as "payee_bank!",
            t.beneficiary_account_number as "payee_number!", case when a.issued is not null then a.number_key end as sender_number,
            u.holder_name as "sender_name?", t.concept, t.numeric_reference,
            coalesce(o.operating_date, $5) as "operating_date!", d.transfer_id is not null as "is_new_date!"
        from claimed c join transfer t using (transfer_id) join account a on a.account_id = t.debit_account_id
        left join app_user u on u.owner = t.owner left join rail_order o using (transfer_id) left join dated d using (transfer_id)
        "#,
        rail.as_str(),
        now,
        until,
        limit,
        today,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(DuePayment::from).collect())
}

/// Claims payments that a notice made due, as [`claim`] does.
pub(crate) async fn claim_inquiries(
    db: &mut PgConnection,
    rail: RailName,
    (now, until): (OffsetDateTime, OffsetDateTime),
    limit: i64,
) -> Result<Vec<DuePayment>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        with due as (
            select transfer_id from rail_order where rail = $1 and inquire_at <= $2
            order by inquire_at limit $4 for update skip locked
        ), claimed as (
            update rail_order o set inquire_at = $3, inquired_at = $2, inquiries = inquiries + 1
            from due where o.transfer_id = due.transfer_id
            returning o.transfer_id, o.inquiries as attempts, o.operating_date
        )
        select c.attempts, t.transfer_id, t.debit_account_id, t.amount, t.created_at,
            t.spei_reference as "tracking_key!", t.beneficiary_name as "payee_name!", t.beneficiary_bank as "payee_bank!",
            t.beneficiary_account_number as "payee_number!", case when a.issued is not null then a.number_key end as sender_number,
            u.holder_name as "sender_name?", t.concept, t.numeric_reference,
            c.operating_date as "operating_date!", false as "is_new_date!"
        from claimed c join transfer t using (transfer_id) join account a on a.account_id = t.debit_account_id
        left join app_user u on u.owner = t.owner
        "#,
        rail.as_str(),
        now,
        until,
        limit,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(DuePayment::from).collect())
}

/// Makes an attempt due at `due_at`, after one that failed with `error`, if it did.
pub(crate) async fn postpone(
    db: &mut PgConnection,
    transfer_id: Uuid,
    due_at: OffsetDateTime,
    error: Option<&str>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update rail_payment set due_at = $2, last_error = $3 where transfer_id = $1",
        transfer_id,
        due_at,
        error,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Ends the attempts, because a person has to decide.
pub(crate) async fn park(
    db: &mut PgConnection,
    transfer_id: Uuid,
    now: OffsetDateTime,
    error: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update rail_payment set parked_at = $2, last_error = $3 where transfer_id = $1 and parked_at is null",
        transfer_id,
        now,
        error,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Forgets the operating date of a payment that was not sent.
pub(crate) async fn forget_date(db: &mut PgConnection, transfer_id: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from rail_order where transfer_id = $1", transfer_id).execute(db).await?;
    Ok(())
}

/// A transfer that a notice is about.
pub(crate) struct Noticed {
    pub(crate) transfer_id: Uuid,
    /// The debited account.
    pub(crate) account_id: Uuid,
    pub(crate) status: Status,
    pub(crate) created_at: OffsetDateTime,
}

/// The transfer with this tracking key, if this rail carries it.
pub(crate) async fn find(
    db: &mut PgConnection,
    rail: RailName,
    tracking_key: &str,
) -> Result<Option<Noticed>, sqlx::Error> {
    let row = sqlx::query!(
        "select transfer_id, debit_account_id, status, created_at from transfer where spei_reference = $1 and rail = $2",
        tracking_key,
        rail.as_str(),
    );
    let Some(row) = row.fetch_optional(db).await? else { return Ok(None) };
    Ok(Some(Noticed {
        transfer_id: row.transfer_id,
        account_id: row.debit_account_id,
        status: Status::parse(&row.status).ok_or_else(|| super::unknown_text("transfer.status", &row.status))?,
        created_at: row.created_at,
    }))
}

/// Makes an inquiry due now, or `pause` after the one before. A pending payment without an order was never sent, so
/// there is nothing to ask; a settled one without is older than `rail_order`, and was sent for `date`.
pub(crate) async fn request_inquiry(
    db: &mut PgConnection,
    rail: RailName,
    noticed: &Noticed,
    date: Date,
    now: OffsetDateTime,
    pause: Duration,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        insert into rail_order as o (transfer_id, rail, operating_date, inquire_at)
        select $1, $2, $3, $4 where $6 or exists (select from rail_order where transfer_id = $1)
        on conflict (transfer_id) do update set inquire_at = greatest($4, o.inquired_at + make_interval(secs => $5))
        -- Nothing is written while one is due as early.
        where o.inquire_at is null or o.inquire_at > greatest($4, o.inquired_at + make_interval(secs => $5))
        "#,
        noticed.transfer_id,
        rail.as_str(),
        date,
        now,
        pause.as_secs_f64(),
        noticed.status != Status::Pending,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Ends the inquiry that was claimed until `until`, or makes it due again after `pause`. An inquiry requested by a
/// later notice stays due. So does one whose claim has expired, since a notice after that would have found it due and
/// written nothing; the clock is read under the row lock so that no notice slips in between.
pub(crate) async fn end_inquiry(
    db: &mut PgConnection,
    transfer_id: Uuid,
    until: OffsetDateTime,
    clock: impl FnOnce() -> OffsetDateTime,
    pause: Option<Duration>,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let claim = sqlx::query_scalar!(
        "select transfer_id from rail_order where transfer_id = $1 and inquire_at = $2 for update",
        transfer_id,
        until,
    );
    let is_claimed = claim.fetch_optional(&mut *transaction).await?.is_some();
    let now = clock();
    if is_claimed && now < until {
        sqlx::query!(
            r#"
            update rail_order
            set inquire_at = $2, inquiries = case when $2::timestamptz is null then 0 else inquiries end
            where transfer_id = $1
            "#,
            transfer_id,
            pause.map(|pause| now + pause),
        )
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await
}

/// Payments that have been pending since before `since`.
#[derive(Debug)]
pub(crate) struct Overdue {
    pub(crate) count: i64,
    /// How many of them a person has to decide on.
    pub(crate) parked: i64,
    pub(crate) oldest: Option<OffsetDateTime>,
}

pub(crate) async fn overdue(db: &mut PgConnection, since: OffsetDateTime) -> Result<Overdue, sqlx::Error> {
    let overdue = sqlx::query_as!(
        Overdue,
        r#"
        select count(*) as "count!", count(parked_at) as "parked!", min(created_at) as oldest
        from rail_payment join transfer using (transfer_id) where created_at < $1
        "#,
        since,
    );
    overdue.fetch_one(db).await
}

/// A payment that its rail has not decided.
#[derive(Debug)]
pub(crate) struct PendingPayment {
    pub(crate) transfer_id: Uuid,
    pub(crate) tracking_key: String,
    pub(crate) amount: i64,
    pub(crate) rail: String,
    pub(crate) created_at: OffsetDateTime,
    /// `None` if it was never handed over.
    pub(crate) operating_date: Option<Date>,
    pub(crate) attempts: i32,
    pub(crate) due_at: OffsetDateTime,
    pub(crate) parked_at: Option<OffsetDateTime>,
    pub(crate) last_error: Option<String>,
}

/// Those to decide on first, then the oldest.
pub(crate) async fn list(db: &mut PgConnection, limit: i64) -> Result<Vec<PendingPayment>, sqlx::Error> {
    let rows = sqlx::query_as!(
        PendingPayment,
        r#"
        select transfer_id, t.spei_reference as "tracking_key!", t.amount, p.rail, t.created_at,
            o.operating_date as "operating_date?", p.attempts, p.due_at, p.parked_at, p.last_error
        from rail_payment p join transfer t using (transfer_id) left join rail_order o using (transfer_id)
        order by p.parked_at is null, t.created_at, transfer_id
        limit $1
        "#,
        limit,
    );
    rows.fetch_all(db).await
}

/// The debited account of a transfer that a rail carries, or carried.
pub(crate) async fn account_of(db: &mut PgConnection, transfer_id: Uuid) -> Result<Option<Uuid>, sqlx::Error> {
    let account = sqlx::query_scalar!(
        "select debit_account_id from transfer where transfer_id = $1 and rail in ('simulated', 'stp')",
        transfer_id,
    );
    account.fetch_optional(db).await
}

/// Ends the attempts on an operator's word, if they have not ended. Since when they have; `None` if the payment is not
/// pending.
pub(crate) async fn stop(
    db: &mut PgConnection,
    transfer_id: Uuid,
    now: OffsetDateTime,
) -> Result<Option<OffsetDateTime>, sqlx::Error> {
    let since = sqlx::query_scalar!(
        r#"
        update rail_payment set parked_at = coalesce(parked_at, $2) where transfer_id = $1 returning parked_at as "at!"
        "#,
        transfer_id,
        now,
    );
    since.fetch_optional(db).await
}

struct Row {
    attempts: i32,
    transfer_id: Uuid,
    debit_account_id: Uuid,
    amount: i64,
    created_at: OffsetDateTime,
    tracking_key: String,
    payee_name: String,
    payee_bank: String,
    payee_number: String,
    sender_number: Option<String>,
    sender_name: Option<String>,
    concept: Option<String>,
    numeric_reference: Option<i32>,
    operating_date: Date,
    is_new_date: bool,
}

impl From<Row> for DuePayment {
    fn from(row: Row) -> Self {
        Self {
            payment: Payment {
                transfer_id: row.transfer_id,
                tracking_key: row.tracking_key,
                amount: Money::from_minor(row.amount),
                created_at: row.created_at,
                operating_date: row.operating_date,
                sender_number: row.sender_number,
                sender_name: row.sender_name,
                payee_name: row.payee_name,
                payee_number: row.payee_number,
                payee_bank: row.payee_bank,
                remittance: read_remittance(row.concept, row.numeric_reference),
            },
            attempts: row.attempts - 1,
            is_new_date: row.is_new_date,
            from_account_id: row.debit_account_id,
        }
    }
}
