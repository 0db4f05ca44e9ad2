//! Payments that their rail has not decided yet. The ledger writes and deletes them together with the money.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::money::Money;
use crate::domain::transfer::RailName;

/// A payment as a rail needs it.
#[derive(Debug, Clone)]
pub struct Payment {
    /// The transfer.
    pub transfer_id: Uuid,
    /// Clave de rastreo: what both sides call the payment.
    pub tracking_key: String,
    /// How much.
    pub amount: Money,
    /// When the transfer was made.
    pub created_at: OffsetDateTime,
    /// Number of the debited account, as its owner gave it.
    pub sender_number: String,
    /// Who sends.
    pub sender: String,
    /// As the user gave it.
    pub payee_name: String,
    /// As the user gave it; may be no CLABE at all.
    pub payee_number: String,
    /// As the user gave it.
    pub payee_bank: String,
}

/// A payment to look after.
#[derive(Debug, Clone)]
pub struct Due {
    /// As the rail needs it.
    pub payment: Payment,
    /// How often it was looked after before.
    pub attempts: i32,
    /// The debited account.
    pub from_account_id: Uuid,
}

/// Takes on payments of a rail that are due, the longest due first, so that nobody else does until `until`. An
/// attempt is counted.
///
/// # Errors
/// When the database fails.
pub async fn claim(
    db: &mut PgConnection,
    rail: RailName,
    now: OffsetDateTime,
    until: OffsetDateTime,
    limit: i64,
) -> Result<Vec<Due>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with due as (
            select transfer_id from rail_payment where rail = $1 and due_at <= $2
            order by due_at limit $4 for update skip locked
        ), claimed as (
            update rail_payment p set due_at = $3, attempts = attempts + 1
            from due where p.transfer_id = due.transfer_id
            returning p.transfer_id, p.attempts
        )
        select c.attempts, t.transfer_id, t.owner, t.debit_account_id, t.amount, t.created_at,
            t.spei_reference as "tracking_key!", t.beneficiary_name as "payee_name!", t.beneficiary_bank as "payee_bank!",
            t.beneficiary_account_number as "payee_number!", a.account_number as sender_number
        from claimed c join transfer t using (transfer_id) join account a on a.account_id = t.debit_account_id
        "#,
        rail.as_str(),
        now,
        until,
        limit,
    )
    .fetch_all(db)
    .await?;
    let due = rows.into_iter().map(|row| Due {
        payment: Payment {
            transfer_id: row.transfer_id,
            tracking_key: row.tracking_key,
            amount: Money::from_minor(row.amount),
            created_at: row.created_at,
            sender_number: row.sender_number,
            sender: row.owner,
            payee_name: row.payee_name,
            payee_number: row.payee_number,
            payee_bank: row.payee_bank,
        },
        attempts: row.attempts - 1,
        from_account_id: row.debit_account_id,
    });
    Ok(due.collect())
}

/// Lets a payment be due again at another time.
///
/// # Errors
/// When the database fails.
pub async fn postpone(db: &mut PgConnection, transfer_id: Uuid, due_at: OffsetDateTime) -> Result<(), sqlx::Error> {
    sqlx::query!("update rail_payment set due_at = $2 where transfer_id = $1", transfer_id, due_at).execute(db).await?;
    Ok(())
}

/// The transfer that a rail calls `tracking_key`, and its debited account.
///
/// # Errors
/// When the database fails.
pub async fn find(db: &mut PgConnection, tracking_key: &str) -> Result<Option<(Uuid, Uuid)>, sqlx::Error> {
    let row =
        sqlx::query!("select transfer_id, debit_account_id from transfer where spei_reference = $1", tracking_key);
    Ok(row.fetch_optional(db).await?.map(|row| (row.transfer_id, row.debit_account_id)))
}
