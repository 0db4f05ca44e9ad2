//! A failed request's body: RFC 9457 problem+json.
//!
//! An [`Error`](super::error::Error) becomes a response that carries its [`Problem`]. `finish` writes the
//! body, because only there the request's path and id are known.

use std::borrow::Cow;

use axum::http::StatusCode;
use serde::Serialize;

use crate::domain::rules::Violation;
use crate::schema::FieldError;

/// A failed request's problem+json, but for the request's path and id.
#[derive(Debug, Clone)]
pub struct Problem {
    pub(crate) code: Cow<'static, str>,
    pub(crate) title: &'static str,
    pub(crate) detail: Cow<'static, str>,
    pub(crate) errors: Vec<FieldError>,
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    instance: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [FieldError],
    #[serde(rename = "requestId")]
    request_id: &'a str,
}

impl Problem {
    pub(crate) fn to_json(&self, status: StatusCode, instance: &str, request_id: &str) -> Vec<u8> {
        let body = Body {
            kind: format!("urn:caudal:problem:{}", self.code),
            title: self.title,
            status: status.as_u16(),
            detail: &self.detail,
            instance,
            code: &self.code,
            errors: &self.errors,
            request_id,
        };
        // Strings and numbers only: cannot fail. An empty body would still carry the status.
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

/// Each violation names the field that a client would change to satisfy the rule.
impl From<Violation> for FieldError {
    fn from(violation: Violation) -> Self {
        let field = match violation.code.as_str() {
            "same-account" | "beneficiary-cooling" => "toBeneficiaryId",
            "risk-acknowledgment-required" => "acknowledgmentToken",
            _ => "amount",
        };
        Self { field: field.to_owned(), code: violation.code.into(), detail: violation.detail }
    }
}

/// One sentence about all of them.
pub(crate) fn summary(errors: &[FieldError]) -> String {
    match errors {
        [error] if error.field.is_empty() => format!("{}.", error.detail),
        [error] => format!("{}: {}.", error.field, error.detail),
        errors => format!("{} fields are not valid.", errors.len()),
    }
}
