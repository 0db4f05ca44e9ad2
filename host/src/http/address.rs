//! Limits requests per client address.

use std::net::SocketAddr;
use std::sync::Once;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::audit;
use crate::auth::AuthError;
use crate::auth::network;
use crate::http::error::Error;

/// Refuses requests over the limit, except `/livez`.
pub(super) async fn count_address(State(app): State<App>, request: Request, next: Next) -> Response {
    match count(&app, &request) {
        Err(error) if request.uri().path() != "/livez" => Error::from(error).into_response(),
        _ => next.run(request).await,
    }
}

fn count(app: &App, request: &Request) -> Result<(), AuthError> {
    static WARNING: Once = Once::new();
    let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>() else { return Ok(()) };
    let forwarded = request.headers().get_all("x-forwarded-for").iter().map(HeaderValue::as_bytes);
    let origin = network::origin(peer.ip(), forwarded, &app.settings.trusted_proxies);
    let origin = origin.unwrap_or_else(|proxy| {
        WARNING.call_once(|| {
            audit::warn_of_configuration(
                "a proxy put something other than an address at the end of X-Forwarded-For, so such requests count as the \
                 proxy's own: have it set the header to the client's address",
            );
        });
        Some(proxy)
    });
    origin.map_or(Ok(()), |address| app.rates.count_address(address))
}
