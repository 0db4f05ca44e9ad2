//! Stored forms of values for which Postgres has no type.

use crate::domain::rules::Violation;
use crate::sealing::digest::Hash;

pub(super) fn hash_from_bytes(bytes: Vec<u8>) -> Result<Hash, sqlx::Error> {
    bytes.try_into().map_err(|_| sqlx::Error::Decode("a stored hash has the wrong length".into()))
}

pub(super) fn rejection_to_json(violations: &[Violation]) -> serde_json::Value {
    let violation = |violation: &Violation| serde_json::json!({"code": violation.code, "detail": violation.detail});
    violations.iter().map(violation).collect()
}

pub(super) fn rejection_from_json(rejection: &serde_json::Value) -> Result<Vec<Violation>, sqlx::Error> {
    let text = |violation: &serde_json::Value, field: &str| Some(violation.get(field)?.as_str()?.to_owned());
    let violation = |violation| Some(Violation { code: text(violation, "code")?, detail: text(violation, "detail")? });
    let violations: Option<Vec<_>> = rejection.as_array().and_then(|list| list.iter().map(violation).collect());
    let violations = violations.filter(|list| !list.is_empty());
    violations.ok_or_else(|| sqlx::Error::Decode("a stored rejection is malformed".into()))
}
