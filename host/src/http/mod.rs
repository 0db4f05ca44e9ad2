//! The HTTP APIs: one file per resource, and `routes` with a row for each endpoint.
//!
//! Handlers read a request into domain types, call one inner layer and shape the response. Authentication is
//! an argument: a handler without [`User`](crate::auth::User) is visibly public. No SQL and no scoring here.

mod address;
pub(crate) mod admin;
mod answers;
mod assistance;
pub mod auth;
mod body;
mod confirm;
pub mod endpoint;
pub mod error;
pub mod extract;
mod finish;
pub mod health;
mod host;
pub mod ledger;
pub mod limits;
pub mod openapi;
pub mod operation;
pub(crate) mod pages;
pub mod problem;
mod routes;
pub mod server;
mod shedding;
mod stp;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::request::Parts;
use axum::middleware::from_fn_with_state;

use crate::app::App;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate as _, SizeAbove};

use answers::Answers;
use assistance::scores::Scores;
use endpoint::Endpoint;
use error::Error;
use operation::Api;
pub use routes::{ASSIST, LEDGER, types};

/// Shorter answers, which are most, would gain less than the processor's time is worth.
const COMPRESSED_MIN: u16 = 8_192;

/// The ledger API: for the bank's app, with bearer tokens.
pub fn ledger_router(app: App) -> Endpoint {
    let routes = routes(&LEDGER)
        .method_not_allowed_fallback(ledger_method_not_allowed)
        .fallback(ledger_not_found)
        .layer(from_fn_with_state(app.clone(), shedding::shed))
        .layer(from_fn_with_state(app.clone(), address::count_address))
        .layer(from_fn_with_state(app.clone(), confirm::confirm))
        .layer(from_fn_with_state(app.clone(), auth::tell_nonce))
        .layer(CompressionLayer::new().compress_when(
            DefaultPredicate::new().and(SizeAbove::new(COMPRESSED_MIN)).and(NotForContentType::new("application/wasm")),
        ));
    endpoint(&LEDGER, (routes, Scores::default()), app)
}

/// The assistance API: internal, under configured host names only. Operators need a token.
pub fn assist_router(app: App) -> Endpoint {
    let app = app.with_connections(app.db.for_operators());
    let routes = routes(&ASSIST)
        .method_not_allowed_fallback(async || Error::MethodNotAllowed)
        .fallback(async || Error::NotFound)
        .layer(from_fn_with_state(app.clone(), confirm::confirm))
        .layer(from_fn_with_state(app.clone(), auth::tell_nonce));
    let scores = Scores::of(&app);
    endpoint(&ASSIST, (routes, scores), app)
}

fn routes(api: &Api) -> Router<App> {
    (api.operations)().iter().fold(Router::new(), |router, it| router.route(it.path, (it.handler)()))
}

fn endpoint(api: &Api, (routes, scores): (Router<App>, Scores), app: App) -> Endpoint {
    let (settings, answers) = (Arc::clone(&app.settings), Answers::new(api.name, app.models.metrics().clone()));
    Endpoint::new((routes.with_state(app), scores), api.callers, settings, answers)
}

/// Without a token, existing and unknown paths of the API are indistinguishable.
async fn ledger_not_found(app: State<App>, request: Parts) -> Error {
    after_auth(app, request, Error::NotFound).await
}

async fn ledger_method_not_allowed(app: State<App>, request: Parts) -> Error {
    after_auth(app, request, Error::MethodNotAllowed).await
}

async fn after_auth(State(app): State<App>, request: Parts, error: Error) -> Error {
    let path = request.uri.path();
    if path != "/api" && !path.starts_with("/api/") {
        return error;
    }
    auth::authenticate(&request, &app).await.map_or_else(Error::from, |_| error)
}
