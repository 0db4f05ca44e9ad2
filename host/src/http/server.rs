//! Accepts connections and serves them, with limits that a slow or greedy client meets.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// How long a connection may take to send a request's head, and so also how long it may be idle.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(30);

/// Connections of one listener at the same time. More wait to be accepted; each holds a file
/// descriptor, of which a process usually has 1,024.
pub const CONNECTIONS_MAX: usize = 400;

/// Pause after a failed accept, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves `router` until `stopped` turns true, then lets requests under way finish.
pub async fn serve(listener: TcpListener, router: Router, mut stopped: watch::Receiver<bool>) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX);
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accept = async {
            // The semaphore is never closed.
            let slot = Arc::clone(&slots).acquire_owned().await.ok();
            (slot, listener.accept().await)
        };
        let (slot, accepted) = tokio::select! {
            accepted = accept => accepted,
            // A dropped sender means the same.
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Answers are small and written at once. One that cannot be hurried is sent all the same.
        let _ = stream.set_nodelay(true);
        let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that breaks off harms only itself.
            let _ = connection.await;
            drop(slot);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}
