//! `/sandbox`: tokens for any user, in place of the bank's login. Only in the sandbox, which listens on loopback
//! addresses only, and only under local names, which stops DNS rebinding.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::claims::USER_CHARS_MAX;
use crate::auth::minter::Minter;
use crate::http::error::Error;
use crate::http::extract::LedgerBody;
use crate::http::host::is_local_name;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::schema::{answer, request};

pub(crate) const TOKEN_LIFETIME: time::Duration = time::Duration::days(1);

request! {
    /// The user of a token.
    pub(crate) struct TokenRequest {
        user: String { chars_max: USER_CHARS_MAX, example: "\"ana\"" },
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
    /// The host is a sandbox.
    pub(crate) struct SandboxJson as "Sandbox" {
        sandbox: bool { example: "true" },
    }
}

/// Responds with 404 outside the sandbox.
pub(crate) async fn is_sandbox(State(app): State<App>, headers: HeaderMap) -> Result<Response, Error> {
    minter(&app, &headers)?;
    Ok(Json(SandboxJson { sandbox: true }).into_response())
}

pub(crate) async fn create_token(
    State(app): State<App>,
    headers: HeaderMap,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Response, Error> {
    let minter = minter(&app, &headers)?;
    let TokenRequest { user } = fields.read();
    fields.finish()?;
    let now = app.clock.now();
    let token = minter.mint(&user, None, now, TOKEN_LIFETIME).map_err(Error::Internal)?;
    let answer = TokenJson { token, user, expires_at: now + TOKEN_LIFETIME };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
}

/// Not found outside the sandbox.
pub(crate) fn minter<'a>(app: &'a App, headers: &HeaderMap) -> Result<&'a Minter, Error> {
    app.sandbox.as_deref().filter(|_| is_local_name(headers)).ok_or(Error::NotFound)
}
