//! How long a stream of events takes to open for a user with a million transfers, while transfers go through.
//!
//! Measured from connecting to the head of the answer: from now on, and resumed after the user's last event.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use crate::database::Server;
use crate::figures::{Figures, Sorted};
use crate::fill::{Filled, OWNER};
use crate::growth::SHARE;
use crate::host::Host;
use crate::latency;
use crate::processor::Used;
use crate::report::{self, Target, say};
use crate::scale::ask;
use crate::senders::{self, Sender};
use crate::{ACCOUNTS, Settings};

const PATH: &str = "/api/ledger/events";

/// Transfers a second meanwhile; one in two hundred is the user's.
const RATE: f64 = 1_000.0;

/// Pause between two openings: a minute of them has fifteen of each kind above the 99th percentile.
const OPEN_EVERY: Duration = Duration::from_millis(20);

/// How long opening may take, in milliseconds.
const OPEN_MAX: f64 = 20.0;

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let time = settings.time * 6;
    let filled = Filled::new(server, "streams", settings.growth_transfers, SHARE).await;
    let host = Host::start(&filled.database);
    let senders: Arc<[Sender]> = senders::open(&host, ACCOUNTS).await.into();
    let authorization = host.authorization(OWNER).await;
    let cursor = Arc::new(Mutex::new(String::new()));
    let watching = tokio::spawn(watch(ask(&host, PATH, &authorization).await, Arc::clone(&cursor)));
    say!("{} of {} transfers are the user's", filled.own, filled.total);
    let before = Used::now(&[host.pid()], server.pid());
    let open = async {
        let (start, mut took) = (Instant::now(), [Vec::new(), Vec::new()]);
        while start.elapsed() < time {
            let last = cursor.lock().unwrap().clone();
            for (kind, path) in [PATH.to_owned(), format!("{PATH}?from={last}")].iter().enumerate() {
                tokio::time::sleep(OPEN_EVERY).await;
                let start = Instant::now();
                drop(ask(&host, path, &authorization).await);
                // The user's first event is yet to come.
                took[kind].extend((!last.is_empty()).then(|| start.elapsed()));
            }
        }
        took
    };
    let (transfers, took) = tokio::join!(latency::send(&host, &senders, RATE, time), open);
    watching.abort();
    assert_eq!(transfers.failed, 0);
    say!("{}", Figures::HEAD);
    say!("{}", transfers.line("transfers", &Used::now(&[host.pid()], server.pid()).since(&before)));
    for (name, took) in ["from now on", "resumed"].iter().zip(took.map(Sorted::new)) {
        say!(
            "a stream {name:12} p50 {:6.2} ms, p99 {:6.2} ms, p99.9 {:6.2} ms",
            took.at(0.5),
            took.at(0.99),
            took.at(0.999)
        );
        report::result(&format!("p99 of opening a stream, {name}"), took.at(0.99), Target::AtMost(OPEN_MAX, "ms"));
    }
    host.stop();
    server.drop(filled.database).await;
}

/// Keeps the id of the last message.
async fn watch(mut stream: TcpStream, cursor: Arc<Mutex<String>>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        let text = String::from_utf8_lossy(&buffer[..length]);
        let last = text.rsplit("\nid: ").next().filter(|it| it.len() < text.len());
        if let Some((id, _)) = last.and_then(|it| it.split_once('\n')) {
            id.clone_into(&mut cursor.lock().unwrap());
        }
    }
}
