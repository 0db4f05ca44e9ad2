//! What all hosts keep to: settings that the owner of the tables has made, and whether commits wait for replicas. Audit
//! records cover both. Hosts may add what is missing and change nothing.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::records::{self, Change, Subject};
use crate::sealing::ChainKey;

/// The part with the settings.
const SETTINGS: &str = "settings";

/// The part that is there once hosts have waited for replicas.
const REPLICAS: &str = "replicas";

/// The actor of what a host records by itself.
const HOST: &str = "host";

/// A part of the policy.
#[derive(Debug, Clone)]
pub struct Part {
    part: String,
    pub content: String,
    pub changed_by: String,
    pub changed_at: OffsetDateTime,
}

async fn part(db: &mut PgConnection, name: &str) -> Result<Option<Part>, sqlx::Error> {
    let part = sqlx::query_as!(Part, "select part, content, changed_by, changed_at from policy where part = $1", name);
    part.fetch_optional(db).await
}

/// The settings, as far as they can be trusted: see [`is_authentic`]. `None` before the first.
pub async fn settings(db: &mut PgConnection) -> Result<Option<Part>, sqlx::Error> {
    part(db, SETTINGS).await
}

/// Whether commits have to reach replicas, as far as that can be trusted.
pub async fn is_replicated(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    Ok(part(db, REPLICAS).await?.is_some())
}

/// Whether the policy is the one that was recorded last, if any was.
pub async fn is_authentic(db: &mut PgConnection, key: &ChainKey) -> Result<bool, sqlx::Error> {
    for name in [SETTINGS, REPLICAS] {
        if !records::is_sound(db, key, Subject::Policy, name).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sets the settings, which takes the owner of the tables.
pub async fn set(
    db: &mut PgConnection,
    key: &ChainKey,
    (settings, by): (&str, &str),
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let set = sqlx::query_as!(
        Part,
        r#"
        insert into policy (part, content, changed_by, changed_at) values ($1, $2, $3, $4)
        on conflict (part) do update
        set content = excluded.content, changed_by = excluded.changed_by, changed_at = excluded.changed_at
        returning part, content, changed_by, changed_at
        "#,
        SETTINGS,
        settings,
        by,
        now,
    );
    let part = set.fetch_one(&mut *transaction).await?;
    record(&mut transaction, key, &part).await?;
    transaction.commit().await
}

/// From now on, commits have to reach replicas.
pub async fn replicate(db: &mut PgConnection, key: &ChainKey, now: OffsetDateTime) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let replicated = sqlx::query_as!(
        Part,
        r#"
        insert into policy (part, content, changed_by, changed_at) values ($1, 'replicated', $2, $3)
        on conflict do nothing returning part, content, changed_by, changed_at
        "#,
        REPLICAS,
        HOST,
        now,
    );
    let Some(part) = replicated.fetch_optional(&mut *transaction).await? else { return Ok(()) };
    record(&mut transaction, key, &part).await?;
    transaction.commit().await
}

async fn record(db: &mut PgConnection, key: &ChainKey, part: &Part) -> Result<(), sqlx::Error> {
    let change = Change::new(Subject::Policy, &part.part, "set", &part.changed_by);
    records::append(db, key, change, part.changed_at).await
}
