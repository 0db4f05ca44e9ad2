//! A failed request's body: RFC 9457 problem+json.
//!
//! An [`Error`](super::error::Error) becomes a response that carries its [`Problem`]. `finish` writes the
//! body, because only there the request's path and id are known.

use std::borrow::Cow;

use axum::http::StatusCode;
use uuid::Uuid;

use crate::domain::rules::{RISK_ACKNOWLEDGMENT_REQUIRED, Violation};
use crate::schema::{FieldError, answer};

/// A failed request's problem+json, except for the request's path and id.
#[derive(Debug, Clone)]
pub struct Problem {
    pub(crate) code: Cow<'static, str>,
    pub(crate) title: &'static str,
    pub(crate) detail: Cow<'static, str>,
    pub(crate) errors: Vec<FieldError>,
}

answer! {
    /// Why a request failed, as in RFC 9457.
    pub(crate) struct ProblemJson as "Problem" in camelCase {
        kind: String { named: "type", example: "\"urn:caudal:problem:validation-failed\"" },
        title: &'static str { example: "\"The request is not valid\"" },
        status: i64 { at_least: 400.0, at_most: 599.0, example: "400" },
        detail: String { example: "\"amount: is required.\"" },
        /// Path of the request.
        instance: String { example: "\"/api/ledger/transactions\"" },
        /// Machine-readable.
        code: String { example: "\"validation-failed\"" },
        /// Every invalid field.
        errors: Option<Vec<FieldError>>,
        /// Identifies the request in logs.
        request_id: String { example: "\"0198f1c2-5a2b-4c3d-8e4f-5a6b7c8d9e0f\"" },
    }
}

/// The id of a request, which its handler finds among the extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestId(pub(crate) Uuid);

impl Problem {
    /// Whether a read may succeed once there is a primary again.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(&*self.code, "database-unavailable" | "overloaded")
    }

    /// The problem document of a response, or of one item of a bulk.
    pub(crate) fn shown(&self, status: StatusCode, instance: &str, id: Uuid) -> ProblemJson {
        ProblemJson {
            kind: format!("urn:caudal:problem:{}", self.code),
            title: self.title,
            status: status.as_u16().into(),
            detail: self.detail.clone().into_owned(),
            instance: instance.to_owned(),
            code: self.code.clone().into_owned(),
            errors: (!self.errors.is_empty()).then(|| self.errors.clone()),
            request_id: id.to_string(),
        }
    }

    pub(crate) fn to_json(&self, status: StatusCode, instance: &str, id: Uuid) -> Vec<u8> {
        // Strings and numbers only: cannot fail. An empty body would still carry the status.
        serde_json::to_vec(&self.shown(status, instance, id)).unwrap_or_default()
    }
}

/// How to satisfy the rule about risk, which the rules themselves cannot know.
const HOW_TO_ACKNOWLEDGE: &str = "Show the risk context of this transfer, asked with the same isNewDevice and \
    geolocationChanged, which count as true if they are left out, and send its acknowledgmentToken.";

/// What a violation says, and what to do about it.
pub(crate) fn detail_of(violation: &Violation) -> String {
    let Violation { code, detail } = violation;
    if code == RISK_ACKNOWLEDGMENT_REQUIRED { format!("{detail} {HOW_TO_ACKNOWLEDGE}") } else { detail.clone() }
}

/// Each violation names the field that a client would change to satisfy the rule.
pub(crate) fn error_of(violation: Violation) -> FieldError {
    let detail = detail_of(&violation);
    let field = match violation.code.as_str() {
        "same-account" | "unknown-account" | "beneficiary-cooling" => "toBeneficiaryId",
        RISK_ACKNOWLEDGMENT_REQUIRED => "acknowledgmentToken",
        _ => "amount",
    };
    FieldError { field: field.to_owned(), code: violation.code.into(), detail }
}

/// Summarises field errors in one sentence.
pub(crate) fn summary(errors: &[FieldError]) -> String {
    match errors {
        [error] if error.field.is_empty() => format!("{}.", error.detail),
        [error] => format!("{}: {}.", error.field, error.detail),
        errors => format!("{} fields are not valid.", errors.len()),
    }
}
