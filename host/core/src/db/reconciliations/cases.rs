//! Differences from a rail that a person decides on, and payments that are booked from them.

use sqlx::{Connection as _, PgConnection};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::difference::Difference;
use crate::db::records::{self, Change, Subject};
use crate::domain::transfer::RailName;
use crate::sealing::ChainKey;

/// A difference that a person decides on.
#[derive(Debug)]
pub struct Case {
    pub case_id: Uuid,
    pub rail: String,
    pub operating_date: Date,
    pub difference: sqlx::types::Json<Difference>,
    pub opened_at: OffsetDateTime,
    pub closed_by: Option<String>,
    /// The transfer that it was booked as.
    pub transfer_id: Option<Uuid>,
}

/// The open ones, the oldest first.
pub async fn list(db: &mut PgConnection, limit: i64) -> Result<Vec<Case>, sqlx::Error> {
    let cases = sqlx::query_as!(
        Case,
        r#"
        select case_id, rail, operating_date, difference as "difference: _", opened_at, closed_by, transfer_id
        from payment_case where closed_at is null order by opened_at, case_id limit $1
        "#,
        limit,
    );
    cases.fetch_all(db).await
}

/// `None` if there is none, or it is not as recorded: somebody altered it.
pub async fn find(db: &mut PgConnection, key: &ChainKey, case_id: Uuid) -> Result<Option<Case>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let case = sqlx::query_as!(
        Case,
        r#"
        select case_id, rail, operating_date, difference as "difference: _", opened_at, closed_by, transfer_id
        from payment_case where case_id = $1 for share
        "#,
        case_id,
    );
    let Some(case) = case.fetch_optional(&mut *transaction).await? else { return Ok(None) };
    let is_sound = records::is_sound(&mut transaction, key, Subject::PaymentCase, &case_id.to_string()).await?;
    transaction.commit().await?;
    Ok(Some(case).filter(|_| records::is_same((Subject::PaymentCase, "a case"), is_sound)))
}

/// Closes a case, which was booked as a transfer, if it was. False if it was closed before.
pub async fn close(
    db: &mut PgConnection,
    key: &ChainKey,
    (case_id, transfer_id): (Uuid, Option<Uuid>),
    (by, note): (&str, &str),
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let closed = sqlx::query!(
        r#"
        update payment_case set closed_at = $2, closed_by = $3, note = $4, transfer_id = $5
        where case_id = $1 and closed_at is null
        "#,
        case_id,
        now,
        by,
        note,
        transfer_id,
    );
    if closed.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let action = if transfer_id.is_some() { "book" } else { "close" };
    records::append(&mut transaction, key, Change::new(Subject::PaymentCase, case_id, action, by), now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// The customer's account with this number, which the bank issued.
pub async fn account_with(db: &mut PgConnection, issued: i64) -> Result<Option<Uuid>, sqlx::Error> {
    sqlx::query_scalar!("select account_id from account where issued = $1", issued).fetch_optional(db).await
}

/// The beneficiary with this number of an account's owner: id, name and bank.
pub async fn beneficiary_with(
    db: &mut PgConnection,
    account_id: Uuid,
    number: &str,
) -> Result<Option<(Uuid, String, String)>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select b.beneficiary_id, b.name, b.bank_name from account a join beneficiary b using (owner)
        where a.account_id = $1 and regexp_replace(b.account_number, '[\s-]', '', 'g') = $2
        order by b.created_at limit 1
        "#,
        account_id,
        number,
    );
    Ok(row.fetch_optional(db).await?.map(|row| (row.beneficiary_id, row.name, row.bank_name)))
}

/// Whose a booked payment is.
pub(crate) struct Sender {
    pub(crate) owner: String,
    pub(crate) account_id: Uuid,
    /// If the bank issued it.
    pub(crate) number: Option<String>,
    pub(crate) created_at: OffsetDateTime,
}

pub(crate) async fn sender(db: &mut PgConnection, transfer_id: Uuid) -> Result<Option<Sender>, sqlx::Error> {
    let sender = sqlx::query_as!(
        Sender,
        r#"
        select t.owner, a.account_id, case when a.issued is not null then a.number_key end as number, t.created_at
        from transfer t join account a on a.account_id = t.debit_account_id where transfer_id = $1
        "#,
        transfer_id,
    );
    sender.fetch_optional(db).await
}

/// Notes that a payment which was booked by hand was handed over on a day, so that notices about it are followed up.
pub(crate) async fn remember_order(
    db: &mut PgConnection,
    transfer_id: Uuid,
    (rail, date): (RailName, Date),
    seal: &[u8],
) -> Result<(), sqlx::Error> {
    let insert = sqlx::query!(
        "insert into rail_order (transfer_id, rail, operating_date, seal) values ($1, $2, $3, $4) on conflict do nothing",
        transfer_id,
        rail.as_str(),
        date,
        seal,
    );
    insert.execute(db).await.map(drop)
}
