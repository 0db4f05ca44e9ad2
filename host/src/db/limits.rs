//! Users' own limits, which replace the general ones.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::records::{self, Change, Subject};
use crate::domain::money::Money;
use crate::sealing::ChainKey;

/// `None` where the general limit applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) per_transfer: Option<Money>,
    pub(crate) per_day: Option<Money>,
}

/// Whether a user's limits, or their absence, are as the last record says.
pub(crate) fn are_recorded(key: &ChainKey, owner: &str, content: Option<&str>, recorded: Option<&[u8]>) -> bool {
    records::is_recorded(key, (Subject::Limits, owner), content, recorded)
}

/// `None` for a user without an account or limits.
pub(crate) async fn find(db: &mut PgConnection, owner: &str) -> Result<Option<Limits>, sqlx::Error> {
    let row = sqlx::query!("select per_transfer_limit, per_day_limit from app_user where owner = $1", owner);
    Ok(row.fetch_optional(db).await?.map(|row| Limits {
        per_transfer: row.per_transfer_limit.map(Money::from_minor),
        per_day: row.per_day_limit.map(Money::from_minor),
    }))
}

/// Works before the user's first account too. A batch decided concurrently with the old limits loses the race
/// for `version` and is decided again. False if somebody set limits since the approval by which these are set.
pub(crate) async fn set(
    db: &mut PgConnection,
    key: &ChainKey,
    owner: &str,
    limits: Limits,
    (by, approval_id): (&str, Option<Uuid>),
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let set = sqlx::query!(
        r#"
        insert into app_user (owner, per_transfer_limit, per_day_limit, created_at) values ($1, $2, $3, $4)
        on conflict (owner) do update
        set per_transfer_limit = excluded.per_transfer_limit, per_day_limit = excluded.per_day_limit,
            version = app_user.version + 1
        "#,
        owner,
        limits.per_transfer.map(Money::minor),
        limits.per_day.map(Money::minor),
        now,
    );
    set.execute(&mut *transaction).await?;
    // From here on, other changes of these limits wait for this transaction.
    let is_late = sqlx::query_scalar!(
        r#"
        select exists (
            select from audit_record where subject = 'limits' and subject_key = $1 and action <> $3 and seq > (
                select max(seq) from audit_record
                where subject = 'approval' and subject_key = $2::uuid::text and action = 'approve'
            )
        ) as "is!"
        "#,
        owner,
        approval_id,
        records::RESEAL,
    );
    if is_late.fetch_one(&mut *transaction).await? {
        return Ok(false);
    }
    records::append(&mut transaction, key, Change::new(Subject::Limits, owner, "set", by), now).await?;
    transaction.commit().await?;
    Ok(true)
}
