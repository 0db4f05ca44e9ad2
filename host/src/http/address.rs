//! Limits requests per client address.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::Extensions;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::auth::network;
use crate::http::error::Error;

pub(super) fn peer(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip())
}

/// Refuses requests over the limit, except `/livez`.
pub(super) async fn count_address(State(app): State<App>, request: Request, next: Next) -> Response {
    let forwarded = request.headers().get_all("x-forwarded-for").iter().filter_map(|it| it.to_str().ok());
    let forwarded: Vec<_> = forwarded.collect();
    let origin =
        peer(request.extensions()).and_then(|peer| network::origin(peer, &forwarded, &app.settings.trusted_proxies));
    let counted = origin.map_or(Ok(()), |address| app.rates.count_address(address));
    match counted {
        Err(error) if request.uri().path() != "/livez" => Error::from(error).into_response(),
        _ => next.run(request).await,
    }
}
