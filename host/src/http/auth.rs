//! Who is asking: a handler with a [`User`] argument requires a valid bearer token, one with an
//! [`Operator`] argument a token with a scope besides.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::app::App;
use crate::auth::token::Claims;
use crate::domain::model::ModelKind;
use crate::http::error::Error;

/// The authenticated user. All data is scoped to this identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User(pub String);

impl FromRequestParts<App> for User {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        authenticate(&parts.headers, app)
    }
}

/// Scope of operators of models.
const MODELS_ADMIN: &str = "models:admin";
/// Scope of those who may change the rules of transfers too.
const RULES_ADMIN: &str = "rules:admin";

/// An authenticated operator.
#[derive(Debug, Clone)]
pub struct Operator {
    /// Kept with every change.
    pub name: String,
    scopes: Vec<String>,
}

impl Operator {
    fn has(&self, scope: &str) -> bool {
        self.scopes.iter().any(|it| it == scope)
    }

    /// Refuses a change of a kind that the token's scope does not cover.
    pub fn may_change(&self, kind: ModelKind) -> Result<(), Error> {
        let scope = if kind == ModelKind::TransferRules { RULES_ADMIN } else { MODELS_ADMIN };
        if self.has(scope) { Ok(()) } else { Err(Error::ScopeMissing(scope)) }
    }
}

impl FromRequestParts<App> for Operator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let Claims { user, scopes } = claims(&parts.headers, app)?;
        let operator = Self { name: user, scopes };
        let any = operator.has(MODELS_ADMIN) || operator.has(RULES_ADMIN);
        if any { Ok(operator) } else { Err(Error::ScopeMissing(MODELS_ADMIN)) }
    }
}

/// The user that the `Authorization` header proves.
pub(crate) fn authenticate(headers: &HeaderMap, app: &App) -> Result<User, Error> {
    claims(headers, app).map(|claims| User(claims.user))
}

fn claims(headers: &HeaderMap, app: &App) -> Result<Claims, Error> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or(Error::TokenMissing)?;
    let credentials = value.to_str().ok().and_then(|value| value.trim().split_once(' '));
    let (scheme, token) = credentials.ok_or(Error::TokenInvalid)?;
    // Two tokens would leave open which one counts.
    if !scheme.eq_ignore_ascii_case("bearer") || values.next().is_some() {
        return Err(Error::TokenInvalid);
    }
    app.tokens.claims(token.trim(), app.clock.now()).ok_or(Error::TokenInvalid)
}
