//! A scripted HTTP server, wrong replies included. It understands our own client and little else.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Method and path.
    pub(crate) target: String,
    /// Header lines, in lower case.
    pub(crate) headers: String,
    pub(crate) body: Value,
    /// The body as it came.
    pub(crate) text: String,
}

/// The server's reaction to a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Status and JSON.
    Reply(u16, String),
    /// The same after a while.
    Late(Duration, u16, String),
    /// Sends these bytes and closes the connection.
    Bytes(String),
    /// Closes the connection.
    Close,
    /// Keeps the connection open and never replies.
    Hang,
}

type Behaviour = dyn Fn(&Request) -> Act + Send + Sync;

/// Stops when dropped.
pub(crate) struct Stub {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Request>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Stub {
    /// Listens on a free loopback port.
    pub(crate) async fn start(behaviour: impl Fn(&Request) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let behaviour: Arc<Behaviour> = Arc::new(behaviour);
        let connections = Arc::new(AtomicUsize::new(0));
        let (requests, count) = (seen.clone(), connections.clone());
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, behaviour.clone(), requests.clone()));
            }
        });
        Self { url, seen, connections, task }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, behaviour: Arc<Behaviour>, seen: Arc<Mutex<Vec<Request>>>) {
    while let Some(request) = read(&mut stream).await {
        let act = behaviour(&request);
        seen.lock().unwrap().push(request);
        let reply = match act {
            Act::Reply(status, json) => response(status, &json),
            Act::Late(after, status, json) => {
                tokio::time::sleep(after).await;
                response(status, &json)
            }
            Act::Bytes(bytes) => {
                // The client may close the connection first.
                _ = stream.write_all(bytes.as_bytes()).await;
                return;
            }
            Act::Close => return,
            Act::Hang => std::future::pending().await,
        };
        // A client that has waited too long is gone.
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn response(status: u16, json: &str) -> String {
    let length = json.len();
    format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{json}")
}

/// `None` at the end of the connection.
async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break bytes.drain(..end + 4).collect::<Vec<u8>>();
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(head).unwrap();
    let (line, headers) = head.split_once("\r\n").unwrap();
    let headers = headers.to_lowercase();
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    while bytes.len() < length.parse().unwrap() {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let target = line.trim_end_matches(" HTTP/1.1").to_owned();
    let body = serde_json::from_slice(&bytes).unwrap();
    Some(Request { target, headers, body, text: String::from_utf8(bytes).unwrap() })
}
