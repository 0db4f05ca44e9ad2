//! Versions by name, as requests and answers have them.

use axum::http::StatusCode;

use crate::db::components::Component;
use crate::domain::model::{Digest, ModelKind, is_older};
use crate::http::error::Error;

/// Longest `model_version`.
pub(super) const VERSION_CHARS_MAX: usize = 100;

pub(super) fn name_of(digest: Digest, registered: &[Component]) -> Option<&str> {
    registered.iter().find(|it| it.digest == digest).map(|it| it.model_version.as_str())
}

/// The name, or the digest of what is no longer registered.
pub(super) fn named(digest: Digest, registered: &[Component]) -> String {
    name_of(digest, registered).map_or_else(|| digest.to_string(), str::to_owned)
}

/// The component that a field of a request names.
pub(super) fn find(kind: ModelKind, registered: &[Component], field: &str, version: &str) -> Result<Digest, Error> {
    let found = registered.iter().find(|it| it.kind == kind && it.model_version == version);
    let detail = format!("is not a registered {kind} component");
    found.map(|it| it.digest).ok_or_else(|| unprocessable(field, "unknown-value", &detail))
}

/// Refuses a version older than the kind's minimum release.
pub(super) fn check_release(field: &str, version: &str, minimum: Option<&str>) -> Result<(), Error> {
    let Some(minimum) = minimum.filter(|minimum| is_older(version, minimum)) else { return Ok(()) };
    let detail =
        format!("is older than the minimum release, {minimum}: deploy a newer version, or lower minimum_release");
    Err(unprocessable(field, "not-allowed", &detail))
}

pub(super) fn unprocessable(field: &str, code: &'static str, detail: &str) -> Error {
    Error::invalid(StatusCode::UNPROCESSABLE_ENTITY, field, code, detail)
}
