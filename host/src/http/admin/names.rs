//! Versions by name, as requests have them.

use axum::http::StatusCode;

use crate::domain::model::{Digest, is_older};
use crate::http::error::Error;
use crate::models::deploying::catalog::Catalog;

/// Longest `model_version`.
pub(super) const VERSION_CHARS_MAX: usize = 100;

/// The component that a field of a request names.
pub(super) fn find(catalog: &Catalog, field: &str, version: &str) -> Result<Digest, Error> {
    let kind = catalog.deployed.kind;
    let found = catalog.registered.iter().find(|it| it.kind == kind && it.model_version == version);
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
