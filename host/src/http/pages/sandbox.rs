//! `/sandbox`: who tries the bank's page gets a token here, because login is another system's work. Only in
//! the sandbox, which serves on loopback addresses alone, and only under their names: a page elsewhere that
//! rebinds a name of its own to this address gets nothing.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::token::{Minter, USER_LENGTH_MAX};
use crate::http::error::Error;
use crate::http::extract::LedgerBody;
use crate::http::finish::is_local_name;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::schema::{answer, request};

/// How long such a token is valid.
pub(crate) const TOKEN_LIFETIME: time::Duration = time::Duration::days(1);

request! {
    /// Who wants to try the sandbox.
    pub(crate) struct TokenRequest {
        user: String { chars_max: USER_LENGTH_MAX, example: "\"ana\"" },
    }
}

answer! {
    /// A bearer token.
    pub(crate) struct TokenJson as "Token" in camelCase {
        token: String { example: "\"eyJhbGciOiJIUzI1NiJ9...\"" },
        user: String { example: "\"ana\"" },
        expires_at: OffsetDateTime { example: INSTANT_EXAMPLE },
    }
}

answer! {
    /// This is the sandbox.
    pub(crate) struct SandboxJson as "Sandbox" {
        sandbox: bool { example: "true" },
    }
}

/// Whether this is the sandbox.
pub(crate) async fn is_sandbox(State(app): State<App>, headers: HeaderMap) -> Result<Response, Error> {
    minter(&app, &headers)?;
    Ok(Json(SandboxJson { sandbox: true }).into_response())
}

/// A token for any user.
pub(crate) async fn create_token(
    State(app): State<App>,
    headers: HeaderMap,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let minter = minter(&app, &headers)?;
    let TokenRequest { user } = fields.read();
    fields.finish()?;
    let now = app.clock.now();
    let token = minter.mint(&user, now, TOKEN_LIFETIME).map_err(|error| Error::Internal(error.into()))?;
    let answer = TokenJson { token, user, expires_at: now + TOKEN_LIFETIME };
    Ok((StatusCode::OK, [(axum::http::header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
}

fn minter<'a>(app: &'a App, headers: &HeaderMap) -> Result<&'a Minter, Error> {
    app.sandbox.as_deref().filter(|_| is_local_name(headers)).ok_or(Error::NotFound)
}
