//! Registered components.

use sqlx::PgConnection;
use time::OffsetDateTime;

use super::unknown_text;
use crate::domain::model::{Digest, ModelKind, ModelVersion, PolicyClass};

#[derive(Debug)]
pub struct NewComponent<'a> {
    pub digest: Digest,
    pub kind: ModelKind,
    /// The component's own semantic version.
    pub version: &'a str,
    pub model_version: &'a ModelVersion,
    pub class: PolicyClass,
    pub bytes: &'a [u8],
    /// The gate's report as JSON; `None` for a component embedded in a host.
    pub report: Option<serde_json::Value>,
    /// The operator who registered it.
    pub by: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registered {
    New,
    /// The same bytes are already registered.
    Known,
    /// Other bytes are registered under this version.
    VersionTaken,
}

pub async fn register(
    db: &mut PgConnection,
    new: &NewComponent<'_>,
    now: OffsetDateTime,
) -> Result<Registered, sqlx::Error> {
    let inserted = sqlx::query!(
        r#"
        insert into component
            (sha256, kind, version, model_version, class, bytes, report, registered_by, registered_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        on conflict do nothing
        "#,
        &new.digest.0[..],
        new.kind.as_str(),
        new.version,
        new.model_version.as_str(),
        new.class.as_str(),
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

pub async fn is_registered(db: &mut PgConnection, digest: Digest) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(r#"select exists (select from component where sha256 = $1) as "known!""#, &digest.0[..],)
        .fetch_one(db)
        .await
}

/// A registered component, without its bytes.
#[derive(Debug, Clone)]
pub struct Component {
    pub digest: Digest,
    pub kind: ModelKind,
    pub model_version: String,
    pub class: PolicyClass,
    /// In bytes.
    pub size: i32,
    /// Whether it is built into a host rather than pushed by an operator.
    pub is_embedded: bool,
    pub registered_by: String,
    pub registered_at: OffsetDateTime,
}

/// By kind, newest first.
pub async fn list(db: &mut PgConnection) -> Result<Vec<Component>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select sha256, kind, model_version, class, octet_length(bytes) as "size!", report is null as "is_embedded!",
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
            class: PolicyClass::parse(&row.class).ok_or_else(|| unknown_text("class", &row.class))?,
            size: row.size,
            is_embedded: row.is_embedded,
            registered_by: row.registered_by,
            registered_at: row.registered_at,
        })
    });
    component.collect()
}

pub async fn bytes_of(db: &mut PgConnection, digest: Digest) -> Result<Option<Vec<u8>>, sqlx::Error> {
    sqlx::query_scalar!("select bytes from component where sha256 = $1", &digest.0[..]).fetch_optional(db).await
}

pub async fn by_version(
    db: &mut PgConnection,
    model_version: &str,
) -> Result<Option<(ModelKind, Vec<u8>)>, sqlx::Error> {
    let row = sqlx::query!("select kind, bytes from component where model_version = $1", model_version);
    row.fetch_optional(db).await?.map(|row| Ok((kind_of(&row.kind)?, row.bytes))).transpose()
}

/// The gate's report; `None` for an embedded or unknown component.
pub async fn report_of(db: &mut PgConnection, digest: Digest) -> Result<Option<serde_json::Value>, sqlx::Error> {
    let report = sqlx::query_scalar!("select report from component where sha256 = $1", &digest.0[..]);
    Ok(report.fetch_optional(db).await?.flatten())
}

pub(super) fn digest_of(bytes: &[u8]) -> Result<Digest, sqlx::Error> {
    let digest = bytes.try_into().map_err(|_| sqlx::Error::Decode("a stored SHA-256 has the wrong length".into()))?;
    Ok(Digest(digest))
}

pub(super) fn kind_of(text: &str) -> Result<ModelKind, sqlx::Error> {
    ModelKind::parse(text).ok_or_else(|| unknown_text("kind", text))
}
