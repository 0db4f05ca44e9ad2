//! Payments that a rail has yet to settle. The ledger inserts and deletes them in the commit that moves the money.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::money::Money;
use crate::domain::transfer::{Payment, RailName};

/// A payment whose next attempt is due.
#[derive(Debug, Clone)]
pub(crate) struct DuePayment {
    pub(crate) payment: Payment,
    /// Number of earlier attempts.
    pub(crate) attempts: i32,
    pub(crate) from_account_id: Uuid,
}

/// Claims due payments until `until`, longest overdue first, and counts an attempt for each.
pub(crate) async fn claim(
    db: &mut PgConnection,
    rail: RailName,
    now: OffsetDateTime,
    until: OffsetDateTime,
    limit: i64,
) -> Result<Vec<DuePayment>, sqlx::Error> {
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
    let due = rows.into_iter().map(|row| DuePayment {
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

pub(crate) async fn postpone(
    db: &mut PgConnection,
    transfer_id: Uuid,
    due_at: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    sqlx::query!("update rail_payment set due_at = $2 where transfer_id = $1", transfer_id, due_at).execute(db).await?;
    Ok(())
}

/// The transfer with this tracking key, and its debited account. Transfers on us are left out: no rail carried them.
pub(crate) async fn find(db: &mut PgConnection, tracking_key: &str) -> Result<Option<(Uuid, Uuid)>, sqlx::Error> {
    let row = sqlx::query!(
        "select transfer_id, debit_account_id from transfer where spei_reference = $1 and rail <> 'on-us'",
        tracking_key,
    );
    Ok(row.fetch_optional(db).await?.map(|row| (row.transfer_id, row.debit_account_id)))
}
