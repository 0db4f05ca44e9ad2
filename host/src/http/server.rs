//! Serves a listener's connections, with limits on idle, slow and greedy clients.
//!
//! A listener that has all the connections it may have closes the idle one that somebody can spare most, so no number of
//! silent clients keeps others out.

mod connections;
mod paced;
pub mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, header};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tower::Service;

pub use connections::{CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX};

use self::connections::{Busy, Connections, Slot};
use self::paced::Paced;
use self::tls::Tls;
use crate::metrics::Metrics;

/// Longest time for a request's head to arrive, and so also the longest a connection may be idle.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(30);

/// Pause after a failed accept, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Listeners of a process.
const LISTENERS: usize = 2;

/// Files that a process opens for other purposes: the database's connections, components, logs.
const FILES_RESERVED: usize = 200;

/// For a client that cannot be served. Written without knowing its request.
const REFUSED: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\n\
    connection: close\r\ncontent-length: 183\r\n\r\n{\"type\":\"urn:caudal:problem:overloaded\",\"title\":\"The service \
    is busy\",\"status\":503,\"detail\":\"There are too many connections. Retry after the time in Retry-After.\",\"code\":\
    \"overloaded\"}";

/// A year, for browsers to insist on TLS: what the list that they come with asks for.
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Where clients connect, and how.
pub struct Listener {
    pub tcp: TcpListener,
    /// `None` for plain HTTP.
    pub tls: Option<Tls>,
    /// Whether browsers may insist on TLS from now on.
    pub strict_transport: bool,
}

impl From<TcpListener> for Listener {
    /// Plain HTTP.
    fn from(tcp: TcpListener) -> Self {
        Self { tcp, tls: None, strict_transport: false }
    }
}

impl Listener {
    /// Where it serves.
    ///
    /// # Errors
    /// If the operating system cannot tell.
    pub fn url(&self) -> std::io::Result<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}", self.tcp.local_addr()?))
    }
}

/// Answers requests.
pub trait Handler:
    Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send> + Clone + Send + 'static
{
}

impl<S> Handler for S where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send> + Clone + Send + 'static
{
}

/// Serves until `stopped` turns true, then finishes requests in progress.
pub async fn serve(
    listener: impl Into<Listener>,
    endpoint: impl Handler,
    metrics: Metrics,
    mut stopped: watch::Receiver<bool>,
) {
    let Listener { tcp: listener, tls, strict_transport } = listener.into();
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX);
    let graceful = GracefulShutdown::new();
    let connections = Connections::new(connections_max(), CONNECTIONS_PER_ADDRESS_MAX, metrics);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // A dropped sender also means stop.
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Some(slot) = connections.admit(peer.ip()) else {
            if tls.is_none() {
                refuse(&stream);
            }
            continue;
        };
        // An optimisation for small responses; failing to set it is harmless.
        let _ = stream.set_nodelay(true);
        let slot = Arc::new(slot);
        let service = service(endpoint.clone(), (peer, strict_transport), Arc::clone(&slot));
        let (builder, watcher, tls, stopped) = (builder.clone(), graceful.watcher(), tls.clone(), stopped.clone());
        tokio::spawn(async move {
            let stream = Paced::new(stream);
            let served = async {
                match tls {
                    None => answer(&builder, watcher, stream, service).await,
                    // Until the handshake is complete the connection is an idle one.
                    Some(tls) => {
                        if let Some(stream) = unless(stopped, tls.accept(stream)).await.and_then(Result::ok) {
                            answer(&builder, watcher, stream, service).await;
                        }
                    }
                }
            };
            tokio::select! {
                () = served => {}
                () = slot.evicted() => {}
            }
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Answers the requests of a connection. If it breaks, that concerns only its client.
async fn answer<S: AsyncRead + AsyncWrite + Unpin + 'static>(
    builder: &http1::Builder,
    watcher: Watcher,
    stream: S,
    service: impl hyper::service::Service<Request<Incoming>, Response = Response<Serving>, Error = Infallible, Future: Send>,
) {
    let _ = watcher.watch(builder.serve_connection(TokioIo::new(stream), service)).await;
}

/// `None` if `stopped` turns true first.
async fn unless<T>(mut stopped: watch::Receiver<bool>, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        done = work => Some(done),
        _ = stopped.wait_for(|stopped| *stopped) => None,
    }
}

/// Connections that the system has accepted and this host has not: as many as tokio allows otherwise.
const BACKLOG: u32 = 1_024;

/// What the system keeps for a client that does not read, in bytes; Linux would keep megabytes for each. Enough for 256 KiB in
/// flight to a client 250 ms away at 8 Mbit/s.
const SEND_BUFFER_BYTES: u32 = 256 << 10;

/// Listens on an address.
///
/// # Errors
/// When it is in use, or not this machine's.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // So that a host which stopped a moment ago can start again.
    socket.set_reuseaddr(true)?;
    // Connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER_BYTES / 2)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// [`CONNECTIONS_MAX`], or what the process may open. A process may raise its own limit up to the system's for it, which is
/// usually far above the 1,024 that it starts with.
fn connections_max() -> usize {
    let Ok((files, files_max)) = getrlimit(Resource::RLIMIT_NOFILE) else { return CONNECTIONS_MAX };
    let wanted = (LISTENERS * CONNECTIONS_MAX + FILES_RESERVED) as u64;
    let raised = files.max(wanted.min(files_max));
    let files = if setrlimit(Resource::RLIMIT_NOFILE, raised, files_max).is_ok() { raised } else { files };
    let possible = usize::try_from(files).unwrap_or(usize::MAX).saturating_sub(FILES_RESERVED) / LISTENERS;
    possible.clamp(1, CONNECTIONS_MAX)
}

/// Hands requests to the endpoint; the connection is not idle until the response was written.
fn service(
    endpoint: impl Handler,
    (peer, strict_transport): (SocketAddr, bool),
    slot: Arc<Slot>,
) -> impl hyper::service::Service<Request<Incoming>, Response = Response<Serving>, Error = Infallible, Future: Send> {
    hyper::service::service_fn(move |request: Request<Incoming>| {
        let busy = Slot::busy(&slot);
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = endpoint.clone().call(request);
        async move {
            let mut response = response.await?;
            if strict_transport {
                response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
            }
            Ok(response.map(|body| Serving { body, _busy: busy }))
        }
    })
}

/// A response's body.
struct Serving {
    body: Body,
    _busy: Busy,
}

impl hyper::body::Body for Serving {
    type Data = hyper::body::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Tells a client that it is not served, without waiting for it.
fn refuse(stream: &TcpStream) {
    // Whoever does not read at once learns it from the closed connection.
    let _ = stream.try_write(REFUSED);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        let text = std::str::from_utf8(REFUSED).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("content-length: {}\r\n", body.len()))
                || head.ends_with(&format!("content-length: {}", body.len())),
            "{}",
            body.len()
        );
        let problem: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!((&problem["status"], &problem["code"]), (&503.into(), &"overloaded".into()));
    }
}
