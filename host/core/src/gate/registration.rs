//! Registers what the gate accepted.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::components::{self, NewComponent, Registered};
use crate::domain::model::{ModelKind, ModelVersion, PolicyClass};
use crate::gate::report::Report;
use crate::sealing::ChainKey;
use crate::wasm::digest_of;

/// Registers a component with its report and signature. Returns `None` if the report lacks its kind, version or answers.
pub(crate) async fn register(
    db: &mut PgConnection,
    key: &ChainKey,
    (bytes, signature): (&[u8], Option<&str>),
    report: &Report,
    by: &str,
    now: OffsetDateTime,
) -> Result<Option<(ModelVersion, Registered)>, sqlx::Error> {
    let Some(kind) = report.kind.as_deref().and_then(ModelKind::parse) else { return Ok(None) };
    let Some(version) = report.version.as_deref() else { return Ok(None) };
    let Some(answers) = report.answers.clone() else { return Ok(None) };
    let class = report.class.as_deref().and_then(PolicyClass::parse).unwrap_or(PolicyClass::Pure);
    let digest = digest_of(bytes);
    let model_version = ModelVersion::new(kind, version, digest);
    let report = serde_json::to_value(report).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let (model, report, answers) = (&model_version, Some(report), &*answers);
    let new =
        NewComponent { digest, kind, version, model_version: model, class, bytes, report, answers, signature, by };
    let registered = components::register(db, key, &new, now).await?;
    Ok(Some((model_version, registered)))
}
