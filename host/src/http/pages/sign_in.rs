//! `/sign-in`: where the bank page signs people in, and as which client.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::app::{App, SignIn};
use crate::http::error::Error;
use crate::schema::answer;

answer! {
    /// The bank page as a client of the OpenID provider.
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

/// Responds with 204 where the page has no sign-in, and with 503 while the provider is unknown.
pub(crate) async fn get_sign_in(State(app): State<App>) -> Result<Response, Error> {
    let Some(SignIn { issuer, client_id, scope, resource, binds_tokens }) = app.settings.sign_in.clone() else {
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
