//! Users' own limits, which override the general ones.

use sqlx::PgConnection;

use crate::domain::money::Money;

/// `None` where the general limit applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) per_transfer: Option<Money>,
    pub(crate) per_day: Option<Money>,
}

/// `None` if the user has no account.
pub(crate) async fn find(db: &mut PgConnection, owner: &str) -> Result<Option<Limits>, sqlx::Error> {
    let row = sqlx::query!("select per_transfer_limit, per_day_limit from app_user where owner = $1", owner);
    Ok(row.fetch_optional(db).await?.map(|row| Limits {
        per_transfer: row.per_transfer_limit.map(Money::from_minor),
        per_day: row.per_day_limit.map(Money::from_minor),
    }))
}

/// False if the user has no account. A concurrent decision that relied on the old limits loses its race and is made again.
pub(crate) async fn set(db: &mut PgConnection, owner: &str, limits: Limits) -> Result<bool, sqlx::Error> {
    let set = sqlx::query!(
        "update app_user set per_transfer_limit = $2, per_day_limit = $3, version = version + 1 where owner = $1",
        owner,
        limits.per_transfer.map(Money::minor),
        limits.per_day.map(Money::minor),
    );
    Ok(set.execute(db).await?.rows_affected() == 1)
}
