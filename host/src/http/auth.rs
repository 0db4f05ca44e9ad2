//! Authentication as an argument: a handler with a [`User`] requires a valid bearer token, one with an
//! [`Operator`], a [`LedgerOperator`] or an [`Approver`] a token with such an operator's scope. A user's claims are an extension of the
//! request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::app::App;
use crate::auth::claims::Claims;
use crate::auth::scope::{API_READ, API_WRITE};
use crate::auth::{self, Approver, AuthError, LedgerOperator, Operator, User};
use crate::http::error::Error;

impl FromRequestParts<App> for User {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let claims = authenticate(&parts.headers, app).await?;
        app.rates.count_user(&claims.user)?;
        if app.settings.api_scopes {
            claims.require(if parts.method.is_safe() { API_READ } else { API_WRITE })?;
        }
        let user = User::from(&*claims);
        parts.extensions.insert(claims);
        Ok(user)
    }
}

impl FromRequestParts<App> for Operator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok((&*authenticate(&parts.headers, app).await?).try_into()?)
    }
}

impl FromRequestParts<App> for LedgerOperator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok((&*authenticate(&parts.headers, app).await?).try_into()?)
    }
}

impl FromRequestParts<App> for Approver {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok((&*authenticate(&parts.headers, app).await?).try_into()?)
    }
}

pub(crate) async fn authenticate(headers: &HeaderMap, app: &App) -> Result<Arc<Claims>, AuthError> {
    let values = headers.get_all(header::AUTHORIZATION).iter();
    auth::authenticate(&app.tokens, values.map(axum::http::HeaderValue::as_bytes), app.clock.now()).await
}

impl From<AuthError> for Error {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::TokenMissing => Self::TokenMissing,
            AuthError::TokenInvalid(reason) => Self::TokenInvalid(reason),
            AuthError::KeysUnknown => Self::KeysUnknown,
            AuthError::TooManyRequests(limit) => Self::TooManyRequests(limit),
            AuthError::ScopeMissing(scope) => Self::ScopeMissing(scope),
        }
    }
}
