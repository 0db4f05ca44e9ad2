//! What operators do to the registry, however they ask: register what the gate accepted, and change
//! what serves. Not for putting it into service: [`super::swap`] follows on every host.

use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use time::OffsetDateTime;

use super::Embedded;
use super::gate::Report;
use crate::db::components::{self, Change, NewComponent, Registered};
use crate::domain::model::{Digest, ModelKind, ModelVersion};

/// Longest reason of a change, in characters.
pub const REASON_CHARS_MAX: usize = 500;

/// The identity of bytes.
pub fn digest_of(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// What hosts like this one serve of a kind when nothing was ever deployed.
pub fn built_in(kind: ModelKind) -> Option<Digest> {
    let embedded = Embedded::ALL.into_iter().find(|it| it.kind == kind && it.by_default)?;
    Some(digest_of(embedded.bytes))
}

/// Registers a component with what the gate found; none when the report names no kind and version.
///
/// # Errors
/// When the database fails.
pub async fn register(
    db: &mut PgConnection,
    bytes: &[u8],
    report: &Report,
    by: &str,
    now: OffsetDateTime,
) -> Result<Option<(ModelVersion, Registered)>, sqlx::Error> {
    let Some(kind) = report.kind.as_deref().and_then(ModelKind::parse) else { return Ok(None) };
    let Some(version) = report.version.as_deref() else { return Ok(None) };
    let digest = digest_of(bytes);
    let model_version = ModelVersion::new(kind, version, digest);
    let report = serde_json::to_value(report).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let new = NewComponent { digest, kind, version, model_version: &model_version, bytes, report: Some(report), by };
    let registered = components::register(db, &new, now).await?;
    Ok(Some((model_version, registered)))
}

/// Lets a registered component serve, given the epoch that the one who changes it has seen. Gives the
/// new epoch, or none when that was not the present one.
///
/// # Errors
/// When the database fails.
pub async fn deploy(
    db: &mut PgConnection,
    (kind, champion): (ModelKind, Digest),
    seen_epoch: i64,
    (reason, by): (&str, &str),
    now: OffsetDateTime,
) -> Result<Option<i64>, sqlx::Error> {
    let default_previous = built_in(kind).unwrap_or(champion);
    components::deploy(db, &Change { kind, seen_epoch, champion, default_previous, reason, by }, now).await
}
