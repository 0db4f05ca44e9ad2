//! A user's transfers, and their history as the risk scorer sees it.

use sqlx::PgConnection;

use super::{Position, unknown_text};
use crate::domain::money::Money;
use crate::domain::transfer::{Status, Transfer};

/// Newest first, after `position`.
pub(crate) async fn list_transfers(
    db: &mut PgConnection,
    owner: &str,
    position: Option<Position>,
    limit: i64,
) -> Result<Vec<Transfer>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select transfer_id, debit_account_id, beneficiary_id, beneficiary_name, amount, status, spei_reference,
            created_at
        from transfer
        where owner = $1 and kind = 'spei'
            and (created_at, transfer_id) < (
                coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
            )
        order by created_at desc, transfer_id desc
        limit $4
        "#,
        owner,
        position.map(|position| position.created_at),
        position.map(|position| position.id),
        limit,
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Transfer {
                transfer_id: row.transfer_id,
                from_account_id: row.debit_account_id,
                to_beneficiary_id: row.beneficiary_id,
                beneficiary_name: row.beneficiary_name,
                amount: Money::from_minor(row.amount),
                status: parse_status(&row.status)?,
                spei_reference: row.spei_reference,
                created_at: row.created_at,
            })
        })
        .collect()
}

pub(crate) fn parse_status(text: &str) -> Result<Status, sqlx::Error> {
    Status::parse(text).ok_or_else(|| unknown_text("transfer.status", text))
}

/// A summary of a user's completed transfers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct History {
    pub(crate) count: u32,
    /// In MXN; 0 without transfers.
    pub(crate) average: f64,
    /// In MXN; 0 without transfers.
    pub(crate) maximum: f64,
    pub(crate) count_to_payee: u32,
}

/// `payee_key` is the payee's normalised account number, so that deleting and re-saving a beneficiary makes
/// no difference.
pub(crate) async fn find_history(db: &mut PgConnection, owner: &str, payee_key: &str) -> Result<History, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select count(*) as "count!", coalesce(sum(amount), 0)::float8 as "sum!", coalesce(max(amount), 0) as "max!",
            count(*) filter (where payee_key = $2) as "count_to_payee!"
        from transfer
        where owner = $1 and kind = 'spei' and status = 'completed'
        "#,
        owner,
        payee_key,
    )
    .fetch_one(db)
    .await?;
    let count = u32::try_from(row.count).unwrap_or(u32::MAX);
    Ok(History {
        count,
        average: if count == 0 { 0.0 } else { row.sum / f64::from(count) / 100.0 },
        maximum: Money::from_minor(row.max).to_f64(),
        count_to_payee: u32::try_from(row.count_to_payee).unwrap_or(u32::MAX),
    })
}
