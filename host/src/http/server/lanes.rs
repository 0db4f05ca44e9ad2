//! Threads that serve a listener's connections.

use std::io;
use std::sync::Arc;
use std::thread;

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Threads that each run a single-threaded runtime. A request is read, scored and answered on one of them without
/// waking another: given enough connections to keep them all busy, that serves a twelfth more requests than work
/// stealing.
pub struct Lanes(Vec<Lane>);

struct Lane {
    runtime: Handle,
    /// One handle for each open connection, besides this one.
    connections: Arc<()>,
    /// The thread ends when this is dropped.
    _end: oneshot::Sender<()>,
}

impl Lanes {
    /// One for each processor.
    ///
    /// # Errors
    /// If the system has no more threads or files.
    pub fn start() -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, usize::from);
        (0..count).map(|_| Lane::start()).collect::<io::Result<_>>().map(Self)
    }

    /// The one with the fewest connections, so that no client can crowd them onto one lane.
    fn least_busy(&self) -> Option<&Lane> {
        self.0.iter().min_by_key(|lane| Arc::strong_count(&lane.connections))
    }
}

impl Lane {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        // It is never sent, only dropped.
        thread::Builder::new().name("scores".to_owned()).spawn(move || runtime.block_on(ended).err())?;
        Ok(Self { runtime: handle, connections: Arc::default(), _end: end })
    }
}

/// Where connections are served.
pub enum Threads {
    /// Those of the service's own runtime.
    Shared,
    Lanes(Lanes),
}

impl Threads {
    /// Serves a connection.
    pub(super) fn spawn<F: Future<Output = ()> + Send + 'static>(
        &self,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        let lane = match self {
            Self::Shared => None,
            Self::Lanes(lanes) => lanes.least_busy(),
        };
        let Some(Lane { runtime, connections, .. }) = lane else { return Ok(tokio::spawn(serve(stream))) };
        let (stream, connection) = (stream.into_std()?, Arc::clone(connections));
        Ok(runtime.spawn(async move {
            // Registers the socket with the runtime of the thread that serves it.
            if let Ok(stream) = TcpStream::from_std(stream) {
                serve(stream).await;
            }
            drop(connection);
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::HashSet;

    use tokio::net::TcpListener;

    /// The thread of a connection that stays open if its client does.
    async fn connect(threads: &Threads, listener: &TcpListener) -> (TcpStream, thread::ThreadId) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let (tell, told) = oneshot::channel();
        let serve = async move |stream: TcpStream| {
            tell.send(thread::current().id()).unwrap();
            let _ = stream.readable().await;
        };
        threads.spawn(stream, serve).unwrap();
        (client, told.await.unwrap())
    }

    #[tokio::test]
    async fn connections_that_end_make_room_on_their_own_lane() {
        let lanes = Threads::Lanes(Lanes(vec![Lane::start().unwrap(), Lane::start().unwrap()]));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (mut kept, mut used) = (Vec::new(), HashSet::new());
        for _ in 0..4 {
            let (client, thread) = connect(&lanes, &listener).await;
            let (probe, _) = connect(&lanes, &listener).await;
            drop(probe);
            let Threads::Lanes(Lanes(all)) = &lanes else { unreachable!("these are lanes") };
            let open = |lane: &Lane| Arc::strong_count(&lane.connections) - 1;
            while all.iter().map(open).sum::<usize>() > kept.len() + 1 {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
            kept.push(client);
            used.insert(thread);
        }
        assert_eq!(used.len(), 2, "every second connection was kept");
    }
}
