//! Inquiries about payments that were handed over: after a notice, and when their days are over.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::{ATTEMPTS_MAX, DuePayment, Row};
use crate::clock::Clock;
use crate::db::session::database_time;
use crate::domain::transfer::{RailName, Status};
use crate::sealing::ChainKey;

/// Claims payments about which an inquiry is due, as [`claim`](super::claim) does. Notices do not wait for reviews of a whole day.
pub(crate) async fn claim(
    db: &mut PgConnection,
    (rail, key): (RailName, &ChainKey),
    (fixed_at, length): (Option<OffsetDateTime>, Duration),
    limit: i64,
) -> Result<Vec<DuePayment>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        with clock as materialized (
            select coalesce($2, clock_timestamp()) as now
        ), due as (
            select transfer_id from rail_order where rail = $1 and inquire_at <= (select now from clock)
            order by inquire_at desc limit $4 for update skip locked
        ), claimed as (
            update rail_order o
            set inquire_at = now + make_interval(secs => $3), inquired_at = now, inquiries = least(inquiries, $5) + 1
            from due, clock where o.transfer_id = due.transfer_id
            returning o.transfer_id, o.inquiries as attempts, o.operating_date, o.inquire_at as until,
                o.seal
        )
        select c.attempts, c.until as "until!", c.seal, t.transfer_id, t.owner, t.rail as "rail!",
            t.debit_account_id, t.amount, t.created_at,
            t.spei_reference as "tracking_key!", t.beneficiary_name as "payee_name!", t.beneficiary_bank as "payee_bank!",
            t.beneficiary_account_number as "payee_number!", case when a.issued is not null then a.number_key end as sender_number,
            u.holder_name as "sender_name?", case when u.holder_name is not null then
                jsonb_build_object('owner', u.owner, 'holder_name', u.holder_name)::text
            end as name_content, (
                select state from audit_record where subject = 'holder' and subject_key = t.owner order by seq desc limit 1
            ) as name_recorded, t.concept, t.numeric_reference,
            c.operating_date as "operating_date!", true as "was_sent!", false as "is_restored!",
            t.status = 'completed' as "is_settled!"
        from claimed c join transfer t using (transfer_id) join account a on a.account_id = t.debit_account_id
        left join app_user u on u.owner = t.owner
        "#,
        rail.as_str(),
        fixed_at,
        length.as_secs_f64(),
        limit,
        ATTEMPTS_MAX,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| row.read(key)).collect())
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
        "select transfer_id, debit_account_id, status, created_at from transfer where spei_reference = $1 and rail = $2 and kind = 'spei'",
        tracking_key,
        rail.as_str(),
    );
    let Some(row) = row.fetch_optional(db).await? else { return Ok(None) };
    Ok(Some(Noticed {
        transfer_id: row.transfer_id,
        account_id: row.debit_account_id,
        status: Status::parse(&row.status).ok_or_else(|| crate::db::unknown_text("transfer.status", &row.status))?,
        created_at: row.created_at,
    }))
}

/// Makes an inquiry due now, or `pause` after the one before. A pending payment without an order was never sent, so
/// there is nothing to ask; a settled one without was settled by hand, and is asked about under `date`.
pub(crate) async fn request(
    db: &mut PgConnection,
    noticed: &Noticed,
    (rail, date): (RailName, Date),
    fixed_at: Option<OffsetDateTime>,
    pause: Duration,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        with clock as materialized (
            select coalesce($4, clock_timestamp()) as now
        )
        insert into rail_order as o (transfer_id, rail, operating_date, inquire_at)
        select $1, $2, $3, now from clock where $6 or exists (select from rail_order where transfer_id = $1)
        on conflict (transfer_id) do update
        set inquire_at = greatest(excluded.inquire_at, o.inquired_at + make_interval(secs => $5))
        -- Nothing is written while one is due as early.
        where o.inquire_at is null or o.inquire_at > greatest(excluded.inquire_at, o.inquired_at + make_interval(secs => $5))
        "#,
        noticed.transfer_id,
        rail.as_str(),
        date,
        fixed_at,
        pause.as_secs_f64(),
        noticed.status != Status::Pending,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Ends a claimed inquiry, and makes the next one due. An inquiry requested by a later notice stays due. So does one
/// whose claim has expired, since a notice after that would have found it due and written nothing; the clock is read
/// under the row lock so that no notice slips in between.
pub(crate) async fn end(
    db: &mut PgConnection,
    DuePayment { payment, until, .. }: &DuePayment,
    clock: &Clock,
    (next, is_done): (Option<OffsetDateTime>, bool),
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let claim = sqlx::query_scalar!(
        "select transfer_id from rail_order where transfer_id = $1 and inquire_at = $2 for update",
        payment.transfer_id,
        until,
    );
    let is_claimed = claim.fetch_optional(&mut *transaction).await?.is_some();
    if is_claimed && database_time(&mut transaction, clock).await? < *until {
        sqlx::query!(
            r#"
            update rail_order set inquire_at = $2, inquiries = case when $3 then 0 else inquiries end
            where transfer_id = $1
            "#,
            payment.transfer_id,
            next,
            is_done,
        )
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await
}
