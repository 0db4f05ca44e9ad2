//! Serves a listener's connections, with limits on idle, slow and greedy clients.
//!
//! A listener at its connection limit closes one of the client that has the most, unless a request is being carried out
//! on it. So clients that send nothing, or half of it, or do not read, cannot keep others out.

mod bodies;
mod connections;
mod lanes;
mod paced;
mod phase;
pub mod tls;

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, header};
use futures_util::FutureExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tower::Service;

pub use connections::{CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX};
pub use lanes::{Lanes, Threads};

use self::bodies::{Receiving, Serving};
use self::connections::{Connections, SWEEP_EVERY, Slot};
use self::paced::Paced;
use self::tls::Tls;
use crate::metrics::Metrics;

/// Pause after a failed accept, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Listeners of a process.
const LISTENERS: usize = 2;

/// Files that a process opens for other purposes: the database's connections, components, logs.
const FILES_RESERVED: usize = 200;

/// Files that a process has to be allowed to open for [`CONNECTIONS_MAX`] on each listener.
pub const FILES_WANTED: u64 = (LISTENERS * CONNECTIONS_MAX + FILES_RESERVED) as u64;

/// What a connection buffers of a response, in bytes, before the part that exceeds it; also the longest head. A
/// response of several hundred kilobytes would otherwise stay in the memory of each connection that asked for it; with
/// a part of 16 KiB, this fills 64.
const BUFFER_BYTES_MAX: usize = 48 << 10;

/// How long a stopping host waits for request bodies to arrive and for answers to be read: a fraction of its whole
/// grace, so that the ledger has time to shut down in order.
const ARRIVAL_GRACE: Duration = Duration::from_secs(5);

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
    threads: Threads,
    metrics: Metrics,
    mut stopped: watch::Receiver<bool>,
) {
    let Listener { tcp: listener, tls, strict_transport } = listener.into();
    let mut builder = http1::Builder::new();
    // Idle connections are closed by one task for all, rather than by a timer for each request. Scores are small, so
    // writing them from one buffer is faster.
    builder.header_read_timeout(None).writev(false).max_buf_size(BUFFER_BYTES_MAX);
    let graceful = GracefulShutdown::new();
    let connections = Connections::new(connections_max(), CONNECTIONS_PER_ADDRESS_MAX, metrics);
    let mut sweeps = tokio::time::interval(SWEEP_EVERY);
    // After a pause of the whole machine, clients get their time.
    sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = sweeps.tick() => {
                connections.sweep();
                continue;
            }
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
        let served = threads.spawn(stream, async move |stream| {
            let stream = Paced::new(stream, Arc::clone(&slot));
            let served = async {
                match tls {
                    None => answer(&builder, watcher, stream, service).await,
                    // In a future of its own, so that connections without TLS have no room for it. Until the handshake
                    // is complete the connection is an idle one.
                    Some(tls) => {
                        Box::pin(async {
                            if let Some(stream) = unless(stopped, tls.accept(stream)).await.and_then(Result::ok) {
                                answer(&builder, watcher, stream, service).await;
                            }
                        })
                        .await
                    }
                }
            };
            tokio::select! {
                () = served => {}
                () = slot.closed() => {}
            }
        });
        if let Err(error) = served {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot serve a connection");
        }
    }
    drop(listener);
    // Clients that send half a request or do not read their answer must not use up the time that the ledger needs to
    // shut down.
    let give_up = async {
        let begun = Instant::now();
        loop {
            match begun.elapsed() > ARRIVAL_GRACE {
                true => connections.close_spare(),
                false => connections.close_idle(),
            }
            sweeps.tick().await;
        }
    };
    tokio::select! {
        () = graceful.shutdown() => {}
        () = give_up => {}
    }
}

/// Answers the requests of a connection. If it breaks, that concerns only its client.
fn answer<S: AsyncRead + AsyncWrite + Unpin + 'static>(
    builder: &http1::Builder,
    watcher: Watcher,
    stream: S,
    service: impl hyper::service::Service<Request<Incoming>, Response = Response<Serving>, Error = Infallible, Future: Send>,
) -> impl Future<Output = ()> {
    // On the heap, since the futures around it would hold it several times: as an argument, as a variable, and where
    // they await.
    Box::pin(watcher.watch(builder.serve_connection(TokioIo::new(stream), service))).map(drop)
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

/// What the system keeps for a client that does not read, in bytes; Linux would keep megabytes for each. Enough for 256
/// KiB in flight to a client 250 ms away at 8 Mbit/s.
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

/// [`CONNECTIONS_MAX`], or what the process may open. A process may raise its own limit up to the system's for it,
/// which is usually far above the 1,024 that it starts with.
fn connections_max() -> usize {
    let Ok((files, files_max)) = getrlimit(Resource::RLIMIT_NOFILE) else { return CONNECTIONS_MAX };
    let raised = files.max(FILES_WANTED.min(files_max));
    let files = if setrlimit(Resource::RLIMIT_NOFILE, raised, files_max).is_ok() { raised } else { files };
    connections_within(files)
}

/// Connections of each listener, in a process that may open so many files.
pub fn connections_within(files: u64) -> usize {
    let possible = usize::try_from(files).unwrap_or(usize::MAX).saturating_sub(FILES_RESERVED) / LISTENERS;
    possible.clamp(1, CONNECTIONS_MAX)
}

/// Hands requests to the endpoint.
fn service(
    endpoint: impl Handler,
    (peer, strict_transport): (SocketAddr, bool),
    slot: Arc<Slot>,
) -> impl hyper::service::Service<Request<Incoming>, Response = Response<Serving>, Error = Infallible, Future: Send> {
    hyper::service::service_fn(move |request: Request<Incoming>| {
        let begun = Slot::begin(&slot).map(|busy| {
            let mut request = request.map(|body| Body::new(Receiving::new(body, Arc::clone(&slot))));
            request.extensions_mut().insert(ConnectInfo(peer));
            (endpoint.clone().call(request), busy)
        });
        async move {
            // The sweeper has evicted this connection, which is about to be dropped.
            let Some((response, busy)) = begun else { return pending().await };
            let mut response = response.await?;
            if strict_transport {
                response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
            }
            Ok(response.map(|body| Serving::new(body, busy)))
        }
    })
}

/// Tells a client that it is not served, without waiting for it.
fn refuse(stream: &TcpStream) {
    // A client that does not read at once learns it from the closed connection.
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
