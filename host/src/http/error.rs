//! The one error type of the HTTP layer and the one shape of its answers: RFC 9457 problem+json.
//!
//! Inner layers know nothing of statuses. An [`Error`] becomes a response that carries its
//! [`Problem`]; `finish` writes the body, since only there the request's path and id are known, and
//! there too an empty 404 or 405 of the framework gets the same shape.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::domain::money::INVALID_AMOUNT;
use crate::domain::rules::Violation;
use crate::gate::report::COMPONENT_BYTES_MAX;
use crate::ledger::LedgerError;
use crate::models::ScoreError;
use crate::models::decisions::NotKept;
use crate::models::publishing::published::NotPublishable;
use crate::schema::{FieldError, Invalid};

/// Seconds after which a client may try again when the server is busy or a part of it is down.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// Why a request has no successful answer.
#[derive(Debug)]
pub enum Error {
    /// No bearer token.
    TokenMissing,
    /// A bearer token that is not valid now.
    TokenInvalid,
    /// The token lacks this scope.
    ScopeMissing(&'static str),
    /// No such resource, or another user's.
    NotFound,
    /// The path exists, the method does not.
    MethodNotAllowed,
    /// The body is not `application/json`.
    UnsupportedMediaType,
    /// The body is larger than [`BODY_BYTES_MAX`](super::BODY_BYTES_MAX).
    PayloadTooLarge,
    /// The `Host` is not one that this listener answers to.
    HostNotAllowed,
    /// The body is not JSON, or broke off.
    MalformedJson(String),
    /// Fields are missing, of the wrong type or out of range; the status depends on the API.
    Invalid(StatusCode, Vec<FieldError>),
    /// The debited account does not exist or is another user's.
    AccountNotFound,
    /// The beneficiary does not exist or is another user's.
    BeneficiaryNotFound,
    /// The owner already has an account with that number.
    AccountExists,
    /// The rules or the balance refuse the transfer; at least one violation.
    Rejected {
        /// The gravest first.
        violations: Vec<Violation>,
        /// Answered from its idempotency key.
        replayed: bool,
    },
    /// The idempotency key was used for another transfer.
    KeyReused,
    /// More to do than can be taken.
    Overloaded,
    /// The request took longer than [`REQUEST_TIME_MAX`](super::REQUEST_TIME_MAX).
    TimedOut,
    /// A component gave no usable answer.
    ModelUnavailable(ScoreError),
    /// This host has to keep decisions, and could not.
    DecisionNotKept,
    /// The body is not `application/wasm`.
    NotWasm,
    /// The component is larger than the gate takes.
    ComponentTooLarge,
    /// The gate refuses the component; each reason.
    ComponentRefused(Vec<FieldError>),
    /// The version names another component.
    VersionTaken,
    /// Nothing was deployed, so there is nothing to return to.
    NothingDeployed,
    /// A change without `If-Match`.
    IfMatchMissing,
    /// What serves is not what `If-Match` says.
    Stale,
    /// What is active cannot run in a page.
    NotPublishable(NotPublishable),
    /// The rules component or the scorer that it needs gave no usable answer; logged where it happened.
    RulesUnavailable,
    /// The database is away.
    DatabaseUnavailable(Arc<sqlx::Error>),
    /// A commit's outcome is not known yet.
    OutcomeUnknown,
    /// A fault of ours.
    Internal(anyhow::Error),
}

/// What a problem+json body says, before the request's path and id are added.
#[derive(Debug, Clone)]
pub struct Problem {
    code: Cow<'static, str>,
    title: &'static str,
    detail: Cow<'static, str>,
    errors: Vec<FieldError>,
}

/// The body.
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
    /// The body for the request that it answers.
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

impl Error {
    /// One field is wrong.
    pub fn invalid(status: StatusCode, field: &str, code: &'static str, detail: &str) -> Self {
        Self::Invalid(status, one_error(field, code, detail))
    }

    /// One field of a ledger request is wrong: 400.
    pub fn invalid_field(field: &str, code: &'static str, detail: &str) -> Self {
        Self::invalid(StatusCode::BAD_REQUEST, field, code, detail)
    }

    /// Status, code and title: the whole table.
    fn kind(&self) -> (StatusCode, Cow<'static, str>, &'static str) {
        use StatusCode as S;
        let (status, code, title) = match self {
            Self::TokenMissing => (S::UNAUTHORIZED, "unauthorized", "A bearer token is required"),
            Self::TokenInvalid => (S::UNAUTHORIZED, "unauthorized", "The bearer token is not valid"),
            Self::ScopeMissing(_) => (S::FORBIDDEN, "insufficient-scope", "The token does not allow this"),
            Self::NotWasm => (S::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body must be WebAssembly"),
            Self::ComponentTooLarge => (S::PAYLOAD_TOO_LARGE, "payload-too-large", "The component is too large"),
            Self::ComponentRefused(_) => {
                (S::UNPROCESSABLE_ENTITY, "component-refused", "The gate refuses the component")
            }
            Self::VersionTaken => (S::CONFLICT, "version-taken", "The version names another component"),
            Self::NothingDeployed => (S::CONFLICT, "nothing-deployed", "There is nothing to roll back"),
            Self::IfMatchMissing => (S::PRECONDITION_REQUIRED, "if-match-required", "If-Match is required"),
            Self::Stale => (S::PRECONDITION_FAILED, "stale", "What serves has changed"),
            Self::NotPublishable(_) => (S::CONFLICT, "not-publishable", "The active model is not for pages"),
            Self::NotFound => (S::NOT_FOUND, "not-found", "There is no such resource"),
            Self::MethodNotAllowed => (S::METHOD_NOT_ALLOWED, "method-not-allowed", "The method is not allowed here"),
            Self::UnsupportedMediaType => {
                (S::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body must be JSON")
            }
            Self::PayloadTooLarge => (S::PAYLOAD_TOO_LARGE, "payload-too-large", "The body is too large"),
            Self::HostNotAllowed => (S::MISDIRECTED_REQUEST, "host-not-allowed", "This host name is not served here"),
            Self::MalformedJson(_) => (S::BAD_REQUEST, "malformed-json", "The body is not valid JSON"),
            Self::Invalid(status, errors) if is_about_amount(errors) => {
                (*status, "invalid-amount", "The amount is not valid")
            }
            Self::Invalid(status, _) => (*status, "validation-failed", "The request is not valid"),
            Self::AccountNotFound => (S::BAD_REQUEST, "account-not-found", "The account was not found"),
            Self::BeneficiaryNotFound => (S::BAD_REQUEST, "beneficiary-not-found", "The beneficiary was not found"),
            Self::AccountExists => (S::CONFLICT, "account-exists", "The account already exists"),
            Self::Rejected { violations, .. } => {
                let code = violations.first().map_or("rejected", |violation| &violation.code);
                return (S::BAD_REQUEST, code.to_owned().into(), "The transfer was refused");
            }
            Self::KeyReused => {
                (S::UNPROCESSABLE_ENTITY, "idempotency-key-reused", "The idempotency key belongs to another transfer")
            }
            Self::Overloaded => (S::SERVICE_UNAVAILABLE, "overloaded", "The service is busy"),
            Self::TimedOut => (S::SERVICE_UNAVAILABLE, "timed-out", "The request took too long"),
            Self::ModelUnavailable(_) | Self::RulesUnavailable => {
                (S::SERVICE_UNAVAILABLE, "model-unavailable", "A model is not available")
            }
            Self::DatabaseUnavailable(_) => (S::SERVICE_UNAVAILABLE, "database-unavailable", "The database is away"),
            Self::DecisionNotKept => (S::SERVICE_UNAVAILABLE, "decision-not-kept", "The decision cannot be kept"),
            Self::OutcomeUnknown => (S::SERVICE_UNAVAILABLE, "outcome-unknown", "The outcome is not known yet"),
            Self::Internal(_) => (S::INTERNAL_SERVER_ERROR, "internal-error", "Something went wrong on our side"),
        };
        (status, code.into(), title)
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::TokenMissing => "Send the header Authorization: Bearer <token>.".into(),
            Self::TokenInvalid => "The token is malformed, expired, not valid yet, or not signed for this service.".into(),
            Self::ScopeMissing(scope) => format!("This needs a token with the scope {scope}.").into(),
            Self::NotWasm => "Send the header Content-Type: application/wasm.".into(),
            Self::ComponentTooLarge => format!("The limit is {COMPONENT_BYTES_MAX} bytes.").into(),
            Self::ComponentRefused(errors) if errors.len() == 1 => "One check failed; nothing was registered.".into(),
            Self::ComponentRefused(errors) => format!("{} checks failed; nothing was registered.", errors.len()).into(),
            Self::VersionTaken => "A pushed version names one component for good: raise the version.".into(),
            Self::NothingDeployed => "No operator ever deployed a version of this kind.".into(),
            Self::IfMatchMissing => "Send the ETag of the deployment that you have seen in If-Match.".into(),
            Self::Stale => "Nothing was changed. Get the deployment again, and decide anew.".into(),
            Self::NotPublishable(reason) => {
                format!("Keep the model that you have, or ask the assistance API: {reason}.").into()
            }
            Self::NotFound => "Nothing is found under this path.".into(),
            Self::MethodNotAllowed => "The Allow header lists the methods of this path.".into(),
            Self::UnsupportedMediaType => "Send the header Content-Type: application/json.".into(),
            Self::PayloadTooLarge => format!("The limit is {} bytes.", crate::http::BODY_BYTES_MAX).into(),
            Self::HostNotAllowed => "This internal listener answers only to the host names it was configured with.".into(),
            Self::MalformedJson(detail) => detail.clone().into(),
            Self::Invalid(_, errors) => match errors.as_slice() {
                [error] if error.field.is_empty() => format!("{}.", error.detail).into(),
                [error] => format!("{}: {}.", error.field, error.detail).into(),
                errors => format!("{} fields are not valid.", errors.len()).into(),
            },
            Self::AccountNotFound => "fromAccountId names no account of yours.".into(),
            Self::BeneficiaryNotFound => "toBeneficiaryId names no saved beneficiary of yours.".into(),
            Self::AccountExists => "You already have an account with this accountNumber.".into(),
            Self::Rejected { violations, .. } => {
                violations.first().map_or_else(String::new, |violation| violation.detail.clone()).into()
            }
            Self::KeyReused => {
                "This Idempotency-Key was used with another account, beneficiary or amount. Use a new key.".into()
            }
            Self::Overloaded => "Nothing was changed. Try again after the time in Retry-After.".into(),
            Self::TimedOut => "A transfer may still go through: retry it with the same Idempotency-Key.".into(),
            Self::ModelUnavailable(_) | Self::RulesUnavailable => {
                "Nothing was decided and nothing was changed. Try again later.".into()
            }
            Self::DatabaseUnavailable(_) => "If this was a change, look whether it was made before trying again.".into(),
            Self::DecisionNotKept => "This host keeps its decisions, so nothing is decided that it cannot keep.".into(),
            Self::OutcomeUnknown => {
                "The database went away in the moment of writing. Retry with the same Idempotency-Key to learn the outcome."
                    .into()
            }
            Self::Internal(_) => "The fault is logged under this requestId.".into(),
        }
    }

    fn errors(self) -> Vec<FieldError> {
        match self {
            Self::Invalid(_, errors) | Self::ComponentRefused(errors) => errors,
            Self::Rejected { violations, .. } => violations.into_iter().map(FieldError::from).collect(),
            Self::AccountNotFound => one_error("fromAccountId", "account-not-found", "names no account of yours"),
            Self::BeneficiaryNotFound => {
                one_error("toBeneficiaryId", "beneficiary-not-found", "names no saved beneficiary of yours")
            }
            Self::AccountExists => one_error("accountNumber", "account-exists", "is taken by an account of yours"),
            Self::KeyReused => one_error("Idempotency-Key", "idempotency-key-reused", "was used for another transfer"),
            _ => Vec::new(),
        }
    }

    /// Once, here, where the request is answered.
    fn log(&self) {
        match self {
            Self::Internal(error) => tracing::error!(error = &**error as &dyn std::error::Error, "internal error"),
            Self::DatabaseUnavailable(error) => {
                tracing::error!(error = &**error as &dyn std::error::Error, "the database is away");
            }
            Self::ModelUnavailable(error) => {
                tracing::error!(error = error as &dyn std::error::Error, "a model gave no usable answer");
            }
            _ => {}
        }
    }

    fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::TokenMissing => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            Self::TokenInvalid => {
                Some((header::WWW_AUTHENTICATE, HeaderValue::from_static(r#"Bearer error="invalid_token""#)))
            }
            Self::Rejected { replayed: true, .. } => Some(super::transactions::REPLAYED),
            Self::Overloaded
            | Self::TimedOut
            | Self::ModelUnavailable(_)
            | Self::RulesUnavailable
            | Self::DatabaseUnavailable(_)
            | Self::DecisionNotKept
            | Self::OutcomeUnknown => Some((header::RETRY_AFTER, RETRY_AFTER_SECONDS)),
            _ => None,
        }
    }
}

/// Each violation is about the field that a client would change to mend it.
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

fn one_error(field: &str, code: &'static str, detail: &str) -> Vec<FieldError> {
    vec![FieldError { field: field.to_owned(), code: code.into(), detail: detail.to_owned() }]
}

fn is_about_amount(errors: &[FieldError]) -> bool {
    !errors.is_empty() && errors.iter().all(|error| error.code == INVALID_AMOUNT)
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        self.log();
        let (status, code, title) = self.kind();
        let detail = self.detail();
        let header = self.header();
        let problem = Problem { code, title, detail, errors: self.errors() };
        let mut response = status.into_response();
        response.headers_mut().extend(header);
        response.extensions_mut().insert(problem);
        response
    }
}

impl From<Invalid> for Error {
    fn from(Invalid { status, errors }: Invalid) -> Self {
        Self::Invalid(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), errors)
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Arc::new(error).into()
    }
}

impl From<Arc<sqlx::Error>> for Error {
    fn from(error: Arc<sqlx::Error>) -> Self {
        match &*error {
            sqlx::Error::PoolTimedOut => Self::Overloaded,
            sqlx::Error::Io(_) | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
                Self::DatabaseUnavailable(error)
            }
            sqlx::Error::Database(inner) => match inner.code().as_deref() {
                // The statement or its wait for a lock took longer than a session may.
                Some("57014" | "55P03") => Self::Overloaded,
                // The server shuts down or starts up, or the connection broke.
                Some(code) if code.starts_with("57P") || code.starts_with("08") => Self::DatabaseUnavailable(error),
                _ => Self::Internal(error.into()),
            },
            _ => Self::Internal(error.into()),
        }
    }
}

impl From<ScoreError> for Error {
    fn from(error: ScoreError) -> Self {
        match error {
            ScoreError::Busy => Self::Overloaded,
            error => Self::ModelUnavailable(error),
        }
    }
}

impl From<NotKept> for Error {
    fn from(_: NotKept) -> Self {
        Self::DecisionNotKept
    }
}

impl From<LedgerError> for Error {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Database(error) | LedgerError::Refused(error) => error.into(),
            LedgerError::Overloaded | LedgerError::Closed => Self::Overloaded,
            LedgerError::NotKept(error) => error.into(),
            LedgerError::Unknown => Self::OutcomeUnknown,
            LedgerError::Panicked => Self::Internal(error.into()),
        }
    }
}
