//! Who is asking: a handler with a [`User`] argument requires a valid bearer token.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use super::error::Error;
use crate::app::App;

/// The authenticated user. All data is scoped to this identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User(pub String);

impl FromRequestParts<App> for User {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        authenticate(&parts.headers, app)
    }
}

/// The user that the `Authorization` header proves.
pub(super) fn authenticate(headers: &HeaderMap, app: &App) -> Result<User, Error> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or(Error::TokenMissing)?;
    let credentials = value.to_str().ok().and_then(|value| value.trim().split_once(' '));
    let (scheme, token) = credentials.ok_or(Error::TokenInvalid)?;
    // Two tokens would leave open which one counts.
    if !scheme.eq_ignore_ascii_case("bearer") || values.next().is_some() {
        return Err(Error::TokenInvalid);
    }
    app.tokens.user(token.trim(), app.clock.now()).map(User).ok_or(Error::TokenInvalid)
}
