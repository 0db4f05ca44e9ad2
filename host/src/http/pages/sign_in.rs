//! `/sign-in`: where the page of the listener signs people in, and as which client.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};

use crate::app::{App, SignIn};
use crate::http::error::Error;
use crate::schema::answer;

answer! {
    /// The page as a client of the OpenID provider.
    pub(crate) struct SignInJson as "SignIn" in camelCase {
        issuer: String { example: "\"https://login.example.com\"" },
        authorization_endpoint: String { example: "\"https://login.example.com/authorize\"" },
        token_endpoint: String { example: "\"https://login.example.com/token\"" },
        end_session_endpoint: Option<String> { nullable: true, example: "\"https://login.example.com/logout\"" },
        client_id: String { example: "\"bank-page\"" },
        scope: String { example: "\"openid api:read api:write\"" },
        /// The audience to ask access tokens for (RFC 8707).
        resource: String { example: "\"https://bank.example.com\"" },
        /// Whether tokens that are bound to a key count here (DPoP).
        binds_tokens: bool { example: "false" },
    }
}

pub(crate) async fn get_sign_in(State(app): State<App>) -> Result<Response, Error> {
    describe(&app, app.settings.sign_in.clone())
}

pub(crate) async fn get_console_sign_in(State(app): State<App>) -> Result<Response, Error> {
    describe(&app, app.settings.console_sign_in.clone())
}

/// Responds with 204 where the page has no sign-in, and with 503 while the provider is unknown.
fn describe(app: &App, page: Option<SignIn>) -> Result<Response, Error> {
    let Some(SignIn { issuer, client_id, scope, resource, binds_tokens }) = page else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let endpoints = app.tokens.endpoints().ok_or(Error::KeysUnknown)?;
    Ok(Json(SignInJson {
        issuer,
        authorization_endpoint: endpoints.authorization_endpoint,
        token_endpoint: endpoints.token_endpoint,
        end_session_endpoint: endpoints.end_session_endpoint,
        client_id,
        scope,
        resource,
        binds_tokens,
    })
    .into_response())
}

/// The policy of a page that may also connect to where it exchanges a code for a token.
pub(super) fn policy(app: &App, page: Option<&SignIn>, policy: &str) -> String {
    let endpoints = page.and_then(|_| app.tokens.endpoints());
    match endpoints.and_then(|it| origin(&it.token_endpoint)) {
        Some(origin) => policy.replace("connect-src 'self'", &format!("connect-src 'self' {origin}")),
        None => policy.to_owned(),
    }
}

fn origin(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    // A separator of directives cannot be part of an authority.
    let authority = uri.authority().filter(|authority| !authority.as_str().contains([';', ',', '@']))?;
    Some(format!("{}://{authority}", uri.scheme()?))
}
