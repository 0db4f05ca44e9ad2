//! Users' own limits, instead of everybody's.

use sqlx::PgConnection;

use crate::domain::money::Money;

/// A user's own limits; none where everybody's holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of one transfer.
    pub per_transfer: Option<Money>,
    /// Of a day's transfers.
    pub per_day: Option<Money>,
}

/// A user's own limits; none when nobody knows the user.
///
/// # Errors
/// When the database fails.
pub async fn find(db: &mut PgConnection, owner: &str) -> Result<Option<Limits>, sqlx::Error> {
    let row = sqlx::query!("select per_transfer_limit, per_day_limit from app_user where owner = $1", owner);
    Ok(row.fetch_optional(db).await?.map(|row| Limits {
        per_transfer: row.per_transfer_limit.map(Money::from_minor),
        per_day: row.per_day_limit.map(Money::from_minor),
    }))
}

/// Sets a user's own limits; false when nobody knows the user. What is decided at the same moment and rests on the
/// old ones is decided again.
///
/// # Errors
/// When the database fails.
pub async fn set(db: &mut PgConnection, owner: &str, limits: Limits) -> Result<bool, sqlx::Error> {
    let set = sqlx::query!(
        "update app_user set per_transfer_limit = $2, per_day_limit = $3, version = version + 1 where owner = $1",
        owner,
        limits.per_transfer.map(Money::minor),
        limits.per_day.map(Money::minor),
    );
    Ok(set.execute(db).await?.rows_affected() == 1)
}
