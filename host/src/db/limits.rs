//! Users' own limits, which replace the general ones.

use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::records::{self, Change, Covered, Recorded, Subject};
use crate::domain::money::Money;
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// `None` where the general limit applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) per_transfer: Option<Money>,
    pub(crate) per_day: Option<Money>,
}

impl Limits {
    /// `None` for a user without limits: no row is needed for that.
    fn state(self, key: &ChainKey, owner: &str) -> Option<Hash> {
        let Self { per_transfer, per_day } = self;
        per_transfer.or(per_day)?;
        let mut digest = Subject::Limits.state();
        digest.text(owner);
        // A limit is above zero.
        [per_transfer, per_day].iter().for_each(|limit| digest.int(limit.map_or(0, Money::minor)));
        Some(key.seal_digest(digest))
    }
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
    let (action, state) = ("set", limits.state(key, owner));
    let change = Change { subject: Subject::Limits, key: owner.to_owned(), action, actor: by.to_owned(), state };
    records::append(&mut transaction, key, change, now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// The limits of every user who has any, or only of these users, beside their last record.
pub(super) async fn covered(
    db: &mut PgConnection,
    key: &ChainKey,
    only: Option<&[String]>,
    mut visit: impl FnMut(Covered),
) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select u.owner, u.per_transfer_limit, u.per_day_limit, r.seq is not null as "is_recorded!", r.state as "state?"
        from app_user u left join lateral (
            select seq, state from audit_record
            where subject = 'limits' and subject_key = u.owner order by seq desc limit 1
        ) as r on true
        where num_nonnulls(u.per_transfer_limit, u.per_day_limit) > 0 and ($1::text[] is null or u.owner = any($1))
        order by u.owner
        "#,
        only,
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        let per_transfer = row.per_transfer_limit.map(Money::from_minor);
        let limits = Limits { per_transfer, per_day: row.per_day_limit.map(Money::from_minor) };
        if let Some(state) = limits.state(key, &row.owner) {
            visit(Covered { key: row.owner, state, recorded: Recorded::new(row.is_recorded, row.state) });
        }
    }
    Ok(())
}
