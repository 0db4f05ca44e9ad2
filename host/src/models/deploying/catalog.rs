//! What operators do to the registry, however they ask: register what the gate accepted, and change
//! what serves. Not for putting it into service: [`crate::models::deploying::swap`] follows on every host.

use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::db::components::{self, NewComponent, Registered};
use crate::db::deployments::{self, Canary, Change, Deployment};
use crate::domain::model::{Digest, ModelKind, ModelVersion, PolicyClass};
use crate::gate::report::Report;
use crate::models::Embedded;

/// Longest reason of a change, in characters.
pub const REASON_CHARS_MAX: usize = 500;

/// Challengers that are only compared: each is one more call for every request.
pub const SHADOWS_MAX: usize = 4;

/// Of a hundred compared answers, how many of a canary may be of another class, unless an operator says
/// otherwise.
pub const MAX_FLIP_PERCENT: u8 = 10;

/// Who withdraws canaries.
pub const AUTOMATIC: &str = "automatic";

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
    let class = report.class.as_deref().and_then(PolicyClass::parse).unwrap_or(PolicyClass::Pure);
    let digest = digest_of(bytes);
    let model_version = ModelVersion::new(kind, version, digest);
    let report = serde_json::to_value(report).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let new =
        NewComponent { digest, kind, version, model_version: &model_version, class, bytes, report: Some(report), by };
    let registered = components::register(db, &new, now).await?;
    Ok(Some((model_version, registered)))
}

/// What an operator wants to serve of a kind.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Which kind.
    pub kind: ModelKind,
    /// Answers.
    pub champion: Digest,
    /// Answers some users.
    pub canary: Option<Canary>,
    /// Are only compared.
    pub shadows: Vec<Digest>,
    /// Whether the version before answers when the champion fails.
    pub stands_in: bool,
}

impl Wanted {
    /// What a rollback makes: the version before, and nobody beside it. The one that is left does not stand
    /// in for it.
    pub fn rollback(kind: ModelKind, champion: Digest) -> Self {
        Self { kind, champion, canary: None, shadows: Vec::new(), stands_in: false }
    }

    /// What is wrong with it: the field and why.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.kind == ModelKind::TransferRules && (self.canary.is_some() || !self.shadows.is_empty()) {
            let field = if self.canary.is_some() { "canary" } else { "shadows" };
            return Err((field, "has to be left out: transfer rules change for everybody at once"));
        }
        if self.shadows.len() > SHADOWS_MAX {
            return Err(("shadows", "has more than four versions"));
        }
        let mut all = vec![self.champion];
        if let Some(canary) = self.canary {
            if !(1..=99).contains(&canary.percent) {
                return Err(("canary.percent", "has to be from 1 to 99"));
            }
            if !(1..=100).contains(&canary.max_flip_percent) {
                return Err(("canary.max_flip_percent", "has to be from 1 to 100"));
            }
            if canary.digest == self.champion {
                return Err(("canary.version", "is the champion already"));
            }
            all.push(canary.digest);
        }
        for shadow in &self.shadows {
            if all.contains(shadow) {
                return Err(("shadows", "names a version that has another part already"));
            }
            all.push(*shadow);
        }
        Ok(())
    }
}

impl From<&Deployment> for Wanted {
    fn from(deployment: &Deployment) -> Self {
        let Deployment { kind, champion, canary, .. } = *deployment;
        Self { kind, champion, canary, shadows: deployment.shadows.clone(), stands_in: deployment.stands_in }
    }
}

/// Lets registered components serve, given the epoch that the one who changes it has seen. Gives the new
/// epoch, or none when that was not the present one.
///
/// # Errors
/// When the database fails.
pub async fn deploy(
    db: &mut PgConnection,
    wanted: &Wanted,
    seen_epoch: i64,
    (reason, by): (&str, &str),
    now: OffsetDateTime,
) -> Result<Option<i64>, sqlx::Error> {
    let Wanted { kind, champion, canary, ref shadows, stands_in } = *wanted;
    let default_previous = built_in(kind).unwrap_or(champion);
    deployments::deploy(
        db,
        &Change { kind, seen_epoch, champion, default_previous, canary, shadows, stands_in, reason, by },
        now,
    )
    .await
}
