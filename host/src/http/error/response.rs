//! What an error is answered with, and counted as.

use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};

use super::{Error, Failure};
use crate::audit::{HOST_REFUSED, LIMIT_REACHED, SCOPE_REFUSED, TOKEN_REFUSED};
use crate::http::problem::{Problem, error_of, summary};
use crate::schema::FieldError;

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        self.log();
        let (kind, detail) = self.row();
        let refusal = self.refusal();
        let shed = if let Self::Shed(stage) = self { Some(stage) } else { None };
        let mut problem = Problem { code: kind.code.into(), title: kind.title, detail, errors: Vec::new() };
        match self {
            Self::InvalidAmount(errors)
            | Self::Invalid(errors)
            | Self::Unprocessable(errors)
            | Self::ComponentRefused(errors) => problem.errors = errors,
            Self::Rejected(violations) => {
                problem.errors = violations.into_iter().map(error_of).collect();
                if let Some(first) = problem.errors.first() {
                    problem.code = first.code.clone();
                }
            }
            _ => {
                if let Some(field) = kind.field {
                    problem.errors = vec![FieldError::new(field, kind.code, problem.detail.as_ref())];
                    problem.detail = summary(&problem.errors).into();
                }
            }
        }
        let mut response = kind.status.into_response();
        let header = kind.header.clone().map(|(name, value)| (name, HeaderValue::from_static(value)));
        response.headers_mut().extend(header);
        response.extensions_mut().insert(problem);
        response.extensions_mut().insert(Failure { kind, refusal, shed });
        response
    }
}

impl Error {
    fn refusal(&self) -> Option<[&'static str; 2]> {
        match self {
            Self::TokenMissing => Some([TOKEN_REFUSED, "missing"]),
            Self::TokenInvalid(reason) | Self::ProofInvalid(reason) => Some([TOKEN_REFUSED, reason.name()]),
            Self::KeysUnknown => Some([TOKEN_REFUSED, "keys-unknown"]),
            Self::ScopeMissing(scope) => Some([SCOPE_REFUSED, scope]),
            Self::ClientRefused => Some([SCOPE_REFUSED, "client"]),
            Self::TooManyRequests(limit) => Some([LIMIT_REACHED, limit]),
            Self::TooManyChecks => Some([LIMIT_REACHED, "payee-checks"]),
            Self::TooManyRefusals => Some([LIMIT_REACHED, "refusals"]),
            Self::TooManyPending => Some([LIMIT_REACHED, "pending"]),
            Self::HostNotAllowed => Some([HOST_REFUSED, "name"]),
            _ => None,
        }
    }
}
