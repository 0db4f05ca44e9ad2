//! Authentication as an argument: a handler with a [`User`] requires a valid bearer token, one with an
//! [`Operator`] or a [`LedgerOperator`] a token with such an operator's scope.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::app::App;
use crate::auth::token::Claims;
use crate::auth::{self, AuthError, LedgerOperator, Operator, User};
use crate::http::error::Error;

impl FromRequestParts<App> for User {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(authenticate(&parts.headers, app)?.into())
    }
}

impl FromRequestParts<App> for Operator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(authenticate(&parts.headers, app)?.try_into()?)
    }
}

impl FromRequestParts<App> for LedgerOperator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok(authenticate(&parts.headers, app)?.try_into()?)
    }
}

pub(crate) fn authenticate(headers: &HeaderMap, app: &App) -> Result<Claims, AuthError> {
    let values = headers.get_all(header::AUTHORIZATION).iter();
    auth::authenticate(&app.tokens, values.map(axum::http::HeaderValue::as_bytes), app.clock.now())
}

impl From<AuthError> for Error {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::TokenMissing => Self::TokenMissing,
            AuthError::TokenInvalid => Self::TokenInvalid,
            AuthError::ScopeMissing(scope) => Self::ScopeMissing(scope),
        }
    }
}
