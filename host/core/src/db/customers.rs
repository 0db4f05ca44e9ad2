//! Customers as operators look them up, and the records of who did.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::records::{self, Change, Subject};
use super::transfers::parse_status;
use crate::domain::clabe::Clabe;
use crate::domain::money::Money;
use crate::domain::transfer::Status;
use crate::sealing::ChainKey;

/// What a customer is looked up by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quoted {
    User(String),
    /// A number that the bank issued. One that a user typed may be anybody's.
    Number(Clabe),
    /// Clave de rastreo. That of a transfer of this bank is found in any case.
    TrackingKey(String),
    Account(Uuid),
}

/// A payment with the tracking key that was quoted.
#[derive(Debug, Clone)]
pub struct QuotedPayment {
    pub transfer_id: Uuid,
    pub kind: String,
    /// The customer's.
    pub account_id: Uuid,
    pub amount: Money,
    pub status: Status,
    /// Of the payee, or of the payer of an order that was received.
    pub name: Option<String>,
    pub tracking_key: String,
    pub created_at: OffsetDateTime,
}

/// That an account was frozen or unfrozen.
#[derive(Debug, Clone)]
pub struct FreezeEvent {
    pub account_id: Uuid,
    pub event: String,
    pub actor: String,
    pub reason: String,
    pub created_at: OffsetDateTime,
}

/// The user id of the customer.
pub async fn find(db: &mut PgConnection, quoted: &Quoted) -> Result<Option<String>, sqlx::Error> {
    let (mut user, mut number, mut tracking_key, mut account_id) = (None, None, None, None);
    match quoted {
        Quoted::User(it) => user = Some(it),
        Quoted::Number(it) => number = Some(it.body()),
        Quoted::TrackingKey(it) => tracking_key = Some(it),
        Quoted::Account(it) => account_id = Some(*it),
    }
    let owner = sqlx::query_scalar!(
        r#"
        select owner as "owner!" from account
        where owner is not null and (owner = $1 or issued = $2 or account_id = $3)
        union all select owner from transfer where spei_reference = upper($4) and kind = 'spei'
        union all select owner from transfer where spei_reference = $4 and kind = 'received' and owner <> ''
        limit 1
        "#,
        user,
        number,
        account_id,
        tracking_key,
    );
    owner.fetch_optional(db).await
}

/// A customer's payments with a tracking key.
pub async fn list_payments(
    db: &mut PgConnection,
    owner: &str,
    tracking_key: &str,
) -> Result<Vec<QuotedPayment>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select transfer_id, kind, amount, status, created_at, spei_reference as "tracking_key!",
            case kind when 'received' then credit_account_id else debit_account_id end as "account_id!",
            case kind when 'received' then payer_name else beneficiary_name end as name
        from transfer
        where owner = $2 and (spei_reference = upper($1) and kind = 'spei' or spei_reference = $1 and kind = 'received')
        "#,
        tracking_key,
        owner,
    );
    let payments = rows.fetch_all(db).await?.into_iter().map(|row| {
        Ok(QuotedPayment {
            transfer_id: row.transfer_id,
            kind: row.kind,
            account_id: row.account_id,
            amount: Money::from_minor(row.amount),
            status: parse_status(&row.status)?,
            name: row.name,
            tracking_key: row.tracking_key,
            created_at: row.created_at,
        })
    });
    payments.collect()
}

/// Newest first.
pub async fn list_freezes(db: &mut PgConnection, owner: &str, limit: i64) -> Result<Vec<FreezeEvent>, sqlx::Error> {
    let events = sqlx::query_as!(
        FreezeEvent,
        r#"
        select e.account_id, e.event, e.actor, e.reason, e.created_at
        from account_event e join account using (account_id)
        where owner = $1
        order by e.created_at desc, e.account_id, e.ordinal desc
        limit $2
        "#,
        owner,
        limit,
    );
    events.fetch_all(db).await
}

/// Records that an operator is about to read `data` of a customer, or that a look-up found nobody.
///
/// # Errors
/// When the database fails.
pub async fn record(
    db: &mut PgConnection,
    key: &ChainKey,
    (customer, data): (&str, &'static str),
    by: &str,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    records::append(&mut transaction, key, Change::new(Subject::LookUp, customer, data, by), now).await?;
    transaction.commit().await
}
