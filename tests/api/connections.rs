//! Over real connections: an answer that comes before the body does not break the client's next request.

use std::time::Duration;

use caudal::http::endpoint::Endpoint;
use caudal::http::server::{Lanes, Threads, serve};
use sqlx::PgPool;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::harness::{Client, TestApp};

/// Longer than a body may take to follow its head without being given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves a router until the sender is dropped.
async fn served(router: &Endpoint) -> (std::net::SocketAddr, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(serve(listener, router.clone(), Threads::Shared, Default::default(), stopped));
    (address, stop)
}

/// The value of a client's `Authorization` header.
fn authorization(client: &Client) -> String {
    let header = client.headers.iter().find(|(name, _)| name == "authorization");
    header.map(|(_, value)| value.clone()).unwrap_or_default()
}

/// Reads one response; its head is in lower case. Empty if the connection was closed.
async fn read_response(stream: &mut TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        match tokio::time::timeout(PATIENCE, stream.read(&mut byte)).await.unwrap() {
            Ok(1) => bytes.push(byte[0]),
            _ => return (String::new(), String::new()),
        }
    }
    let head = String::from_utf8(bytes).unwrap().to_ascii_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    (head, String::from_utf8(body).unwrap())
}

struct Early<'a> {
    request: &'a str,
    /// Headers besides `Host`, `Content-Type` and `Content-Length`.
    headers: String,
    length: usize,
    status: u16,
}

/// Sends a head, then its body a moment later, then another request on the same connection.
async fn check_next(address: std::net::SocketAddr, Early { request, headers, length, status }: &Early<'_>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let content_type = if *status == 415 { "text/plain" } else { "application/json" };
    let head = format!(
        "{request} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\n{headers}Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(30)).await;
    let _ = stream.write_all(&vec![b' '; *length]).await;
    let (answer, _) = read_response(&mut stream).await;
    assert!(answer.starts_with(&format!("http/1.1 {status}")), "{request}: {answer}");
    if answer.contains("\r\nconnection: close\r\n") {
        return;
    }
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let (next, _) = read_response(&mut stream).await;
    assert!(next.starts_with("http/1.1 200"), "after {request}, {status}, {length} bytes: {next:?}");
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn an_early_answer_does_not_break_the_next_request(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ledger, _ledger) = served(&app.ledger).await;
    let (assist, _assist) = served(&app.assist).await;
    let user = format!("Authorization: {}\r\n", authorization(&app.user("ana")));
    let none = String::new;
    for length in [200, 60_000, 2_000_000] {
        let cases = [
            (ledger, "POST /api/ledger/transactions", none(), 401),
            (ledger, "POST /api/ledger/nothing", none(), 401),
            (ledger, "POST /nothing", none(), 404),
            (ledger, "POST /livez", none(), 405),
            (ledger, "POST /api/ledger/nothing", user.clone(), 404),
            (ledger, "PATCH /api/ledger/accounts", user.clone(), 405),
            (ledger, "POST /api/ledger/accounts", user.clone(), 415),
            (assist, "POST /ai/nothing", none(), 404),
            (assist, "PUT /ai/risk", none(), 405),
            (assist, "POST /ai/risk", none(), 415),
            (assist, "POST /admin/replay", none(), 401),
        ];
        for (address, request, headers, status) in cases {
            check_next(address, &Early { request, headers, length, status }).await;
        }
    }
    for length in [70_000, 2_000_000] {
        let (request, headers) = ("POST /api/ledger/accounts", user.clone());
        check_next(ledger, &Early { request, headers, length, status: 413 }).await;
    }
}

#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_body_that_is_too_large_is_not_asked_for(db: PgPool) {
    let app = TestApp::new(db).await;
    let (ledger, _ledger) = served(&app.ledger).await;
    let (assist, _assist) = served(&app.assist).await;
    let user = authorization(&app.user("ana"));
    let operator = authorization(&app.operator(Some("models:admin")));
    for (address, path, content_type, token, length, status) in [
        (ledger, "/api/ledger/accounts", "application/json", &user, 999_999, 413),
        (ledger, "/api/ledger/accounts", "text/plain", &user, 10, 415),
        (ledger, "/api/ledger/accounts", "application/json", &"Bearer x".to_owned(), 10, 401),
        (assist, "/ai/risk", "application/json", &user, 999_999, 413),
        (assist, "/admin/models/risk/versions", "application/wasm", &operator, 20_000_000, 413),
        (assist, "/admin/replay", "application/json", &operator, 5_000_000, 413),
        (ledger, "/api/ledger/accounts", "application/json", &user, 10, 100),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\nAuthorization: {token}\r\n\
             Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let (answer, _) = read_response(&mut stream).await;
        assert!(answer.starts_with(&format!("http/1.1 {status}")), "{path}, {length} bytes: {answer}");
        assert_eq!(answer.contains("connection: close"), status != 100, "{answer}");
    }
}

/// As `caudal serve` does with the assistance API.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn lanes_answer_scores_and_hand_over_the_rest(db: PgPool) {
    let app = TestApp::new(db).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = watch::channel(false);
    let lanes = Threads::Lanes(Lanes::start().unwrap());
    let server = tokio::spawn(serve(listener, app.assist.clone(), lanes, Default::default(), stopped));
    let operator = authorization(&app.operator(Some("models:admin")));
    let body = r#"{"screen": "home", "num_validation_errors": 0, "time_on_screen_seconds": 5, "num_back_navigations": 0,
        "steps_total": 1, "current_step": 1}"#;
    let head = |request: &str, length: usize| {
        format!(
            "{request} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: {operator}\r\n\
             Content-Length: {length}\r\n\r\n"
        )
    };
    // More connections than lanes, so that each lane has one.
    let mut streams = Vec::new();
    for _ in 0..2 * std::thread::available_parallelism().unwrap().get() {
        let mut stream = TcpStream::connect(address).await.unwrap();
        for (request, body, status) in [
            ("POST /ai/nudge", body, 200),
            ("GET /ai/health", "", 200),
            ("GET /admin/models", "", 200),
            ("POST /ai/nudge", "{}", 422),
            ("GET /ai/nudge", "", 405),
            ("POST /ai/nothing", "", 404),
        ] {
            stream.write_all((head(request, body.len()) + body).as_bytes()).await.unwrap();
            let (answer, _) = read_response(&mut stream).await;
            assert!(answer.starts_with(&format!("http/1.1 {status}")), "{request}: {answer}");
            assert_eq!(answer.contains("allow: post"), status == 405, "{answer}");
        }
        streams.push(stream);
    }
    // A request in progress is answered before the service stops.
    let mut last = streams.pop().unwrap();
    last.write_all(head("POST /ai/nudge", body.len()).as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stop.send(true).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    last.write_all(body.as_bytes()).await.unwrap();
    let (answer, body) = read_response(&mut last).await;
    assert!(answer.starts_with("http/1.1 200") && body.contains("nudge-"), "{answer}{body}");
    tokio::time::timeout(PATIENCE, server).await.unwrap().unwrap();
}

/// Otherwise nobody would log it, nor count a refusal that the ledger keeps.
#[sqlx::test(migrator = "caudal::MIGRATOR")]
async fn a_change_goes_on_after_its_client_left(db: PgPool) {
    let app = TestApp::new(db.clone()).await;
    let (ledger, _ledger) = served(&app.ledger).await;
    let ana = app.user("ana");
    // The change waits for this lock.
    let mut lock = db.begin().await.unwrap();
    sqlx::query("select from audit_head for update").execute(&mut *lock).await.unwrap();
    let body = r#"{"name": "Luis", "accountNumber": "012180004643051249", "bankName": "BBVA"}"#;
    let head = format!(
        "POST /api/ledger/beneficiaries HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Authorization: {}\r\nContent-Length: {}\r\n\r\n",
        authorization(&ana),
        body.len()
    );
    let mut stream = TcpStream::connect(ledger).await.unwrap();
    stream.write_all((head + body).as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(stream);
    tokio::time::sleep(Duration::from_millis(300)).await;
    lock.commit().await.unwrap();
    let saved = async {
        while ana.get("/api/ledger/beneficiaries").await.json().as_array().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, saved).await.expect("the payee is saved");
}
