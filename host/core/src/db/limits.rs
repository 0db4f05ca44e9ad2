//! Users' own limits, which replace the general ones.

use sqlx::{Connection as _, PgConnection};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::records::{self, Change, Subject};
use crate::domain::bank_account::CUSTOMER_STRIPE;
use crate::domain::money::Money;
use crate::sealing::ChainKey;
use crate::sealing::digest::{Digest, Hash};

/// Users in a statement when all are sealed.
const CHUNK: i64 = 1_000;

/// `None` where the general limit applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    pub per_transfer: Option<Money>,
    pub per_day: Option<Money>,
}

impl Limits {
    pub(crate) fn new(per_transfer: Option<i64>, per_day: Option<i64>) -> Self {
        Self { per_transfer: per_transfer.map(Money::from_minor), per_day: per_day.map(Money::from_minor) }
    }

    /// Of a user's limits or their absence, with which hosts need no look at the records.
    pub(crate) fn seal(self, key: &ChainKey, owner: &str) -> Hash {
        let mut digest = Digest::new(b"caudal limits 1");
        digest.text(owner);
        digest.optional_int(self.per_transfer.map(Money::minor));
        digest.optional_int(self.per_day.map(Money::minor));
        key.seal_digest(digest)
    }

    /// Whether this is what was sealed; logs an error if it is not.
    pub(crate) fn are_sealed(self, key: &ChainKey, owner: &str, seal: Option<&[u8]>) -> bool {
        records::is_same((Subject::Limits, owner), seal == Some(&self.seal(key, owner)[..]))
    }
}

/// Seals those of all users.
pub(crate) async fn renew_seals(db: &mut PgConnection, key: &ChainKey) -> Result<(), sqlx::Error> {
    let mut after = String::new();
    loop {
        let rows = sqlx::query!(
            r#"
            select owner, per_transfer_limit, per_day_limit from app_user where owner > $1 order by owner limit $2
            "#,
            after,
            CHUNK,
        );
        let rows = rows.fetch_all(&mut *db).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after.clone_from(&last.owner);
        let seals = rows.iter().map(|row| {
            let limits = Limits::new(row.per_transfer_limit, row.per_day_limit);
            (row.owner.clone(), limits.seal(key, &row.owner).to_vec())
        });
        let (owners, seals): (Vec<_>, Vec<_>) = seals.unzip();
        let renew = sqlx::query!(
            r#"
            update app_user u set limits_seal = n.seal
            from unnest($1::text[], $2::bytea[]) as n (owner, seal) where u.owner = n.owner
            "#,
            &owners,
            &seals,
        );
        renew.execute(&mut *db).await?;
    }
}

/// `None` for a user without an account or limits.
pub async fn find(db: &mut PgConnection, owner: &str) -> Result<Option<Limits>, sqlx::Error> {
    let row = sqlx::query!("select per_transfer_limit, per_day_limit from app_user where owner = $1", owner);
    Ok(row.fetch_optional(db).await?.map(|row| Limits::new(row.per_transfer_limit, row.per_day_limit)))
}

/// What a user sent on a day in Mexico City, as the ledger counts it.
pub async fn sent_since(db: &mut PgConnection, owner: &str, day: Date) -> Result<Money, sqlx::Error> {
    let sent = sqlx::query_scalar!(
        r#"
        select least(coalesce(sum(b.sent), 0), 9223372036854775807)::bigint as "sent!"
        from account a join account_balance b using (account_id)
        where a.owner = $1 and b.stripe = $2 and b.sent_day >= $3
        "#,
        owner,
        CUSTOMER_STRIPE,
        day,
    );
    sent.fetch_one(db).await.map(Money::from_minor)
}

/// Works before the user's first account too. A batch decided concurrently with the old limits loses the race
/// for `version` and is decided again. False if somebody set limits since the approval by which these are set.
pub async fn set(
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
        insert into app_user (owner, per_transfer_limit, per_day_limit, limits_seal, created_at)
        values ($1, $2, $3, $4, $5)
        on conflict (owner) do update
        set per_transfer_limit = excluded.per_transfer_limit, per_day_limit = excluded.per_day_limit,
            limits_seal = excluded.limits_seal, version = app_user.version + 1
        "#,
        owner,
        limits.per_transfer.map(Money::minor),
        limits.per_day.map(Money::minor),
        &limits.seal(key, owner)[..],
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
