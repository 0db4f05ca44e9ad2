//! Clients that hold connections and do nothing with them must not keep others out.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use caudal::http::server::{CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX, serve};
use sqlx::PgPool;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use crate::harness::TestApp;

/// Longest answer to a client while others misbehave. The machine may be busy.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

struct Server {
    address: SocketAddr,
    _stop: watch::Sender<bool>,
}

impl Server {
    async fn start(router: impl caudal::http::server::Handler) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(serve(listener, router, Default::default(), stopped));
        Self { address, _stop: stop }
    }

    /// Connects from an address of this machine.
    async fn connect(&self, from: Ipv4Addr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((from, 0))).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// Another client asks whether the process is alive.
    async fn livez(&self) -> Duration {
        let begun = Instant::now();
        let answer = async {
            let mut client = self.connect(Ipv4Addr::new(127, 9, 9, 9)).await;
            client.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let answer = tokio::time::timeout(ANSWER_TIME_MAX, answer).await.expect("the listener answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        begun.elapsed()
    }
}

fn from(client: usize) -> Ipv4Addr {
    let [.., high, low] = (client as u32).to_be_bytes();
    Ipv4Addr::new(127, 1, high, low)
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn silent_clients_do_not_keep_others_out(db: PgPool) {
    let app = TestApp::new(db).await;
    let server = Server::start(app.ledger.clone()).await;
    let mut silent = Vec::new();
    for client in 0..CONNECTIONS_MAX + 200 {
        let mut stream = server.connect(from(client % 256)).await;
        if client % 2 == 0 {
            stream.write_all(b"GET /livez HTTP/1.1\r\nhost:").await.unwrap();
        }
        silent.push(stream);
    }
    server.livez().await;
    drop(silent);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_address_may_not_have_all_connections(db: PgPool) {
    let app = TestApp::new(db).await;
    let server = Server::start(app.ledger.clone()).await;
    let neighbour = from(1);
    let mut first = server.connect(neighbour).await;
    let mut others = Vec::new();
    for _ in 0..CONNECTIONS_PER_ADDRESS_MAX {
        others.push(server.connect(neighbour).await);
    }
    server.livez().await;
    // The oldest one made room.
    let closed = tokio::time::timeout(ANSWER_TIME_MAX, first.read(&mut [0])).await.expect("closed");
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn clients_that_do_not_read_are_given_up(db: PgPool) {
    let app = TestApp::new(db).await;
    let server = Server::start(app.ledger.clone()).await;
    let request = b"GET /bank/bank.js HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(2_000);
    let mut greedy = Vec::new();
    for client in 0..64 {
        let mut stream = server.connect(from(client % 8)).await;
        stream.write_all(&request).await.unwrap();
        greedy.push(stream);
    }
    server.livez().await;
    // Long enough for each to be given up: what was sent before can still be read, and then the connection ends.
    tokio::time::sleep(Duration::from_secs(20)).await;
    let mut ended = 0;
    for stream in &mut greedy {
        let mut rest = Vec::new();
        let end = tokio::time::timeout(ANSWER_TIME_MAX, stream.read_to_end(&mut rest)).await;
        ended += usize::from(end.is_ok());
    }
    assert_eq!(ended, greedy.len());
}
