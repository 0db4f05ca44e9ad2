//! Clients that hold connections and do nothing with them must not keep others out.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use caudal::http::server::{CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX, Threads, serve};
use sqlx::PgPool;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::harness::TestApp;

/// Longest answer to a client while others misbehave. The machine may be busy.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    end: JoinHandle<()>,
}

impl Server {
    async fn start(router: impl caudal::http::server::Handler) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let end = tokio::spawn(serve(listener, router, Threads::Shared, Default::default(), stopped));
        Self { address, stop, end }
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
async fn bodies_that_never_arrive_keep_nobody_out(db: PgPool) {
    let app = TestApp::new(db).await;
    let server = Server::start(app.assist.clone()).await;
    let head =
        b"POST /ai/risk HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n";
    let mut slow = Vec::new();
    for client in 0..CONNECTIONS_MAX + 200 {
        let mut stream = server.connect(from(client % 256)).await;
        stream.write_all(head).await.unwrap();
        slow.push(stream);
    }
    server.livez().await;
    drop(slow);
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn half_a_request_does_not_delay_the_end(db: PgPool) {
    let app = TestApp::new(db).await;
    let server = Server::start(app.assist.clone()).await;
    let mut clients = Vec::new();
    for sent in [
        "",
        "GET /liv",
        "POST /ai/risk HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    ] {
        let mut stream = server.connect(from(1)).await;
        stream.write_all(sent.as_bytes()).await.unwrap();
        clients.push(stream);
    }
    // One reads a large answer slowly, though fast enough not to be cut off.
    let mut slow = server.connect(from(2)).await;
    slow.write_all(b"GET /vendored/rapidoc-min.js HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let reader = tokio::spawn(async move {
        while slow.read(&mut [0; 4_096]).await.is_ok_and(|bytes| bytes > 0) {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    // It has read what they sent.
    server.livez().await;
    server.stop.send_replace(true);
    tokio::time::timeout(2 * ANSWER_TIME_MAX, server.end).await.expect("it waits for nobody").unwrap();
    reader.abort();
    drop(clients);
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
    tokio::time::sleep(Duration::from_secs(45)).await;
    let mut ended = 0;
    for stream in &mut greedy {
        let mut rest = Vec::new();
        let end = tokio::time::timeout(ANSWER_TIME_MAX, stream.read_to_end(&mut rest)).await;
        ended += usize::from(end.is_ok());
    }
    assert_eq!(ended, greedy.len());
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_head_that_arrives_in_drops_is_given_up(db: PgPool) {
    let app = TestApp::new(db).await;
    let server = Server::start(app.ledger.clone()).await;
    let (mut reader, mut writer) = server.connect(from(1)).await.into_split();
    let begun = Instant::now();
    let drip = tokio::spawn(async move {
        let head = format!("GET /livez HTTP/1.1\r\nhost: localhost\r\nx-slow: {}", "x".repeat(100));
        for byte in head.bytes() {
            if writer.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let end = tokio::time::timeout(Duration::from_secs(60), reader.read(&mut [0])).await.expect("given up");
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
    assert!(begun.elapsed() > Duration::from_secs(25), "not before its time");
    drip.abort();
}
