//! Authentication as an argument: a handler with a [`User`] requires a valid bearer token, one with an [`Operator`] or
//! another of those below a token with such an operator's scope. A user's claims are an extension of the
//! request.

use std::sync::{Arc, OnceLock};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;
use crate::auth::claims::Claims;
use crate::auth::proof;
use crate::auth::rates::Taken;
use crate::auth::reader::Reader;
use crate::auth::scope::{API_READ, API_WRITE};
use crate::auth::{
    self, Approver, AuthError, EventOperator, EventReader, LedgerOperator, LedgerReader, Operator, OutcomeRecorder,
    Refusal, User,
};
use crate::db::deployments::AUTOMATIC;
use crate::http::error::Error;

/// Carries a proof of possession (RFC 9449).
const PROOF: HeaderName = HeaderName::from_static("dpop");

/// Carries the nonce for the next proofs.
const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// Whom a request's credentials were accepted for. Repetitions of the request share it: a proof counts once.
#[derive(Debug, Clone, Default)]
pub(super) struct Accepted(Arc<OnceLock<Arc<Claims>>>);

/// A request's place among those of its user that are answered at the same time.
#[derive(Clone, Default)]
pub(super) struct Place(Arc<OnceLock<Taken>>);

/// Tells clients the nonce for their next proofs (RFC 9449, section 9), before one of them is challenged.
pub(super) async fn tell_nonce(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Some(Ok(nonce)) = app.tokens.nonce(app.clock.now()).map(HeaderValue::try_from) {
        response.headers_mut().insert(NONCE, nonce);
    }
    response
}

impl FromRequestParts<App> for User {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let claims = authenticate(parts, app).await?;
        if app.settings.require_proof && claims.key.is_none() {
            return Err(Error::ProofInvalid(Refusal::Unbound));
        }
        app.rates.count_user(&claims.user)?;
        if let Some(Place(place)) = parts.extensions.get()
            && place.get().is_none()
        {
            let taken = app.rates.take_place(&claims.user)?;
            place.get_or_init(|| taken);
        }
        if app.settings.api_scopes {
            claims.require(if parts.method.is_safe() { API_READ } else { API_WRITE })?;
        }
        let user = User::from(&*claims);
        parts.extensions.insert(claims);
        Ok(user)
    }
}

/// Operators, by the scopes of their tokens.
macro_rules! operators {
    ($($operator:ty),+) => {$(
        impl FromRequestParts<App> for $operator {
            type Rejection = Error;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
                Ok(<$operator>::try_from(&*authenticate_operator(parts, app).await?)?)
            }
        }
    )+};
}

operators!(Operator, LedgerOperator, LedgerReader, Approver, Reader, EventReader, EventOperator, OutcomeRecorder);

/// The claims of somebody whose token may have an operator's scope: not one of the bank page's client, with which anybody
/// can get one, nor one that names its user as changes by hosts are named.
pub(crate) async fn authenticate_operator(parts: &Parts, app: &App) -> Result<Arc<Claims>, AuthError> {
    let claims = authenticate(parts, app).await?;
    if claims.user == AUTOMATIC {
        return Err(AuthError::TokenInvalid(Refusal::User));
    }
    let client = claims.client.as_ref();
    let counts = match &app.settings.operator_clients[..] {
        [] => app.settings.sign_in.as_ref().is_none_or(|page| client != Some(&page.client_id)),
        named => client.is_some_and(|client| named.contains(client)),
    };
    if counts { Ok(claims) } else { Err(AuthError::ClientRefused) }
}

pub(crate) async fn authenticate(parts: &Parts, app: &App) -> Result<Arc<Claims>, AuthError> {
    let accepted = parts.extensions.get::<Accepted>();
    if let Some(claims) = accepted.and_then(|it| it.0.get()) {
        return Ok(Arc::clone(claims));
    }
    let values = parts.headers.get_all(header::AUTHORIZATION).iter();
    let mut proofs = parts.headers.get_all(PROOF).iter();
    let proof = proofs.next().filter(|_| proofs.next().is_none());
    let (method, path) = (parts.method.as_str(), parts.uri.path());
    let request = proof::Request { method, path, proof: proof.and_then(|proof| proof.to_str().ok()) };
    let claims = auth::authenticate(&app.tokens, values.map(HeaderValue::as_bytes), request, app.clock.now()).await?;
    if let Some(Accepted(accepted)) = accepted {
        accepted.get_or_init(|| Arc::clone(&claims));
    }
    Ok(claims)
}

impl From<AuthError> for Error {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::TokenMissing => Self::TokenMissing,
            AuthError::TokenInvalid(reason) if reason.is_about_proof() => Self::ProofInvalid(reason),
            AuthError::TokenInvalid(reason) => Self::TokenInvalid(reason),
            AuthError::KeysUnknown => Self::KeysUnknown,
            AuthError::TooManyRequests(limit) => Self::TooManyRequests(limit),
            AuthError::ScopeMissing(scope) => Self::ScopeMissing(scope),
            AuthError::NonceRequired => Self::NonceRequired,
            AuthError::ClientRefused => Self::ClientRefused,
        }
    }
}
