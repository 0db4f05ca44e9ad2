//! Registered components and what is deployed of each kind.

use sqlx::PgConnection;
use sqlx::postgres::{PgListener, PgPool};
use time::OffsetDateTime;

use super::unknown_text;
use crate::domain::model::{Digest, ModelKind, ModelVersion};

/// What tells hosts of a change. They look for themselves from time to time too.
const CHANNEL: &str = "caudal_deployment";

/// A component to register.
#[derive(Debug)]
pub struct NewComponent<'a> {
    /// Of the bytes.
    pub digest: Digest,
    /// What it is for.
    pub kind: ModelKind,
    /// Semantic version, as it says.
    pub version: &'a str,
    /// As shown with each answer.
    pub model_version: &'a ModelVersion,
    /// The component.
    pub bytes: &'a [u8],
    /// What the gate found, as JSON; none for what a host was built with.
    pub report: Option<serde_json::Value>,
    /// Who registers it.
    pub by: &'a str,
}

/// What became of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registered {
    /// It is new.
    New,
    /// The same bytes were there already.
    Known,
    /// The version names other bytes.
    VersionTaken,
}

/// Registers a component, unless its bytes are known or its version is taken.
///
/// # Errors
/// When the database fails.
pub async fn register(
    db: &mut PgConnection,
    new: &NewComponent<'_>,
    now: OffsetDateTime,
) -> Result<Registered, sqlx::Error> {
    let inserted = sqlx::query!(
        r#"
        insert into component (sha256, kind, version, model_version, bytes, report, registered_by, registered_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict do nothing
        "#,
        &new.digest.0[..],
        new.kind.as_str(),
        new.version,
        new.model_version.as_str(),
        new.bytes,
        new.report,
        new.by,
        now,
    )
    .execute(&mut *db)
    .await?;
    if inserted.rows_affected() == 1 {
        return Ok(Registered::New);
    }
    let known = is_registered(db, new.digest).await?;
    Ok(if known { Registered::Known } else { Registered::VersionTaken })
}

/// Whether these bytes are registered.
///
/// # Errors
/// When the database fails.
pub async fn is_registered(db: &mut PgConnection, digest: Digest) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(r#"select exists (select from component where sha256 = $1) as "known!""#, &digest.0[..],)
        .fetch_one(db)
        .await
}

/// A registered component, without its bytes.
#[derive(Debug, Clone)]
pub struct Component {
    /// Of the bytes.
    pub digest: Digest,
    /// What it is for.
    pub kind: ModelKind,
    /// As shown with each answer.
    pub model_version: String,
    /// Length of the component.
    pub size: i32,
    /// Whether a host was built with it.
    pub is_embedded: bool,
    /// Who registered it.
    pub registered_by: String,
    /// When.
    pub registered_at: OffsetDateTime,
}

/// All components, by kind and then newest first.
///
/// # Errors
/// When the database fails.
pub async fn list(db: &mut PgConnection) -> Result<Vec<Component>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select sha256, kind, model_version, octet_length(bytes) as "size!", report is null as "is_embedded!",
               registered_by, registered_at
        from component order by kind, registered_at desc, model_version
        "#,
    )
    .fetch_all(db)
    .await?;
    let component = rows.into_iter().map(|row| {
        Ok(Component {
            digest: digest_of(&row.sha256)?,
            kind: kind_of(&row.kind)?,
            model_version: row.model_version,
            size: row.size,
            is_embedded: row.is_embedded,
            registered_by: row.registered_by,
            registered_at: row.registered_at,
        })
    });
    component.collect()
}

/// The bytes of a component.
///
/// # Errors
/// When the database fails.
pub async fn bytes_of(db: &mut PgConnection, digest: Digest) -> Result<Option<Vec<u8>>, sqlx::Error> {
    sqlx::query_scalar!("select bytes from component where sha256 = $1", &digest.0[..]).fetch_optional(db).await
}

/// What the gate found of a component.
///
/// # Errors
/// When the database fails.
pub async fn report_of(db: &mut PgConnection, digest: Digest) -> Result<Option<serde_json::Value>, sqlx::Error> {
    let report = sqlx::query_scalar!("select report from component where sha256 = $1", &digest.0[..]);
    Ok(report.fetch_optional(db).await?.flatten())
}

/// What serves of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deployment {
    /// Which kind.
    pub kind: ModelKind,
    /// Counts its changes.
    pub epoch: i64,
    /// What serves.
    pub champion: Digest,
    /// What a rollback returns to.
    pub previous: Digest,
}

/// What is deployed of every kind that an operator ever deployed.
///
/// # Errors
/// When the database fails.
pub async fn deployments(db: &mut PgConnection) -> Result<Vec<Deployment>, sqlx::Error> {
    let rows =
        sqlx::query!("select kind, epoch, champion, previous from deployment order by kind").fetch_all(db).await?;
    let deployment = rows.into_iter().map(|row| {
        Ok(Deployment {
            kind: kind_of(&row.kind)?,
            epoch: row.epoch,
            champion: digest_of(&row.champion)?,
            previous: digest_of(&row.previous)?,
        })
    });
    deployment.collect()
}

/// What is deployed of a kind; none when no operator ever deployed it.
///
/// # Errors
/// When the database fails.
pub async fn deployment_of(db: &mut PgConnection, kind: ModelKind) -> Result<Option<Deployment>, sqlx::Error> {
    Ok(deployments(db).await?.into_iter().find(|it| it.kind == kind))
}

/// A change of what serves.
#[derive(Debug)]
pub struct Change<'a> {
    /// Which kind.
    pub kind: ModelKind,
    /// What the one who changes it has seen: 0 when nothing was deployed.
    pub seen_epoch: i64,
    /// What will serve.
    pub champion: Digest,
    /// What serves now where nothing was deployed; else the champion so far is kept.
    pub default_previous: Digest,
    /// Why.
    pub reason: &'a str,
    /// Who.
    pub by: &'a str,
}

/// Changes what serves, keeps the change, and tells every host. Gives the new epoch, or none when
/// somebody else changed it meanwhile.
///
/// # Errors
/// When the database fails, or the champion is not registered.
pub async fn deploy(
    db: &mut PgConnection,
    change: &Change<'_>,
    now: OffsetDateTime,
) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        with changed as (
            insert into deployment as d (kind, epoch, champion, previous, reason, changed_by, changed_at)
            select $1, $2::bigint + 1, $3, $4, $5, $6, $7
            where $2::bigint = 0 or exists (select from deployment where kind = $1)
            on conflict (kind) do update
                set epoch = excluded.epoch, champion = excluded.champion, previous = d.champion,
                    reason = excluded.reason, changed_by = excluded.changed_by, changed_at = excluded.changed_at
                where d.epoch = $2::bigint
            returning kind, epoch, champion, previous, reason, changed_by, changed_at
        ), kept as (
            insert into deployment_history select * from changed
        )
        select epoch as "epoch!" from changed, lateral (select pg_notify($8, kind)) as told
        "#,
        change.kind.as_str(),
        change.seen_epoch,
        &change.champion.0[..],
        &change.default_previous.0[..],
        change.reason,
        change.by,
        now,
        CHANNEL,
    )
    .fetch_optional(db)
    .await
}

/// Hears of changes. Its connection is taken from the pool for good.
///
/// # Errors
/// When the database fails.
pub async fn listen(pool: &PgPool) -> Result<PgListener, sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

fn digest_of(bytes: &[u8]) -> Result<Digest, sqlx::Error> {
    let digest = bytes.try_into().map_err(|_| sqlx::Error::Decode("a sha256 has another length".into()))?;
    Ok(Digest(digest))
}

fn kind_of(text: &str) -> Result<ModelKind, sqlx::Error> {
    ModelKind::parse(text).ok_or_else(|| unknown_text("kind", text))
}
