//! What a score and a transfer cost beside ten and a hundred times the accounts, users with limits, registered
//! versions, idle connections and event streams.
//!
//! For each of these, three hosts with a database each. One client alternates between them, so that disturbances affect
//! all three.

use std::time::{Duration, Instant};

use caudal::outbox::LISTENERS_EACH_MAX;
use serde_json::json;
use sqlx::Connection as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use uuid::Uuid;

use crate::client::Client;
use crate::database::{Database, Server};
use crate::figures::Sorted;
use crate::host::Host;
use crate::report::{self, Target, say};
use crate::scores;
use crate::senders::{self, PATH, Sender};

/// How many times the smallest number.
const SIZES: [usize; 3] = [1, 10, 100];

/// For each kind of request and size: ten are above the 99th percentile.
const REQUESTS: usize = 1_000;
/// Uncounted requests before: sessions plan their queries.
const WARM_UP: usize = 200;

/// How much longer a request may take beside a hundred times as many.
const GROWTH_MAX: f64 = 1.5;

/// What there is more of.
#[derive(Clone, Copy)]
enum Crowd {
    Accounts,
    UsersWithLimits,
    Versions,
    IdleConnections,
    EventStreams,
}

impl Crowd {
    const ALL: [Self; 5] =
        [Self::Accounts, Self::UsersWithLimits, Self::Versions, Self::IdleConnections, Self::EventStreams];

    /// Its name and the smallest number. A hundred times as many stay within what one address may open.
    fn smallest(self) -> (&'static str, usize) {
        match self {
            Self::Accounts => ("accounts", 100),
            Self::UsersWithLimits => ("users with limits", 10),
            Self::Versions => ("registered versions", 10),
            Self::IdleConnections => ("idle connections", 10),
            Self::EventStreams => ("event streams", 10),
        }
    }
}

/// A host whose database has the crowd in it.
struct Filled {
    database: Database,
    host: Host,
    sender: Sender,
    crowd: Crowd,
    count: usize,
}

/// A host beside a crowd.
struct Side {
    database: Database,
    host: Host,
    ledger: Client,
    assist: Client,
    sender: Sender,
    /// They count while they are open.
    _open: Vec<TcpStream>,
}

pub(crate) async fn run(server: &Server) {
    say!("{REQUESTS} requests of each kind and size, one client");
    say!("{:28} {:>8} {:>14} {:>8} {:>14} {:>8}", "", "", "score p50 ms", "p99 ms", "transfer p50", "p99 ms");
    for crowd in Crowd::ALL {
        let (name, smallest) = crowd.smallest();
        let mut filled = Vec::new();
        for size in SIZES {
            let database = server.database(&format!("scale{size}")).await;
            filled.push(Filled::new(database, crowd, smallest * size).await);
        }
        // Only once all are filled: a host closes idle connections.
        let mut sides = Vec::new();
        for side in filled {
            sides.push(side.open().await);
        }
        let mut took = SIZES.map(|_| [Vec::new(), Vec::new()]);
        for turn in 0..WARM_UP + REQUESTS {
            for nth in 0..SIZES.len() {
                // The sides take turns in going first.
                let size = (turn + nth) % SIZES.len();
                let times = [sides[size].score().await, sides[size].transfer().await];
                for (took, time) in took[size].iter_mut().zip(times) {
                    took.extend((turn >= WARM_UP).then_some(time));
                }
            }
        }
        let took = took.map(|kinds| kinds.map(Sorted::new));
        for (size, [score, transfer]) in SIZES.iter().zip(&took) {
            let (count, at) = (smallest * size, |it: &Sorted| (it.at(0.5), it.at(0.99)));
            let ((score, slow_score), (transfer, slow_transfer)) = (at(score), at(transfer));
            say!("{name:28} {count:8} {score:14.3} {slow_score:8.2} {transfer:14.3} {slow_transfer:8.2}");
        }
        let [small, .., large] = &took;
        for (kind, (small, large)) in ["a score", "a transfer"].iter().zip(small.iter().zip(large)) {
            let title = format!("{kind} beside a hundred times the {name} / beside few");
            report::result(&title, large.at(0.5) / small.at(0.5), Target::AtMost(GROWTH_MAX, ""));
        }
        for side in sides {
            side.host.stop();
            server.drop(side.database).await;
        }
    }
}

impl Filled {
    async fn new(database: Database, crowd: Crowd, count: usize) -> Self {
        let host = Host::start(&database);
        let accounts = if matches!(crowd, Crowd::Accounts) { count } else { 1 };
        let sender = senders::open(&host, accounts).await.remove(0);
        match crowd {
            Crowd::UsersWithLimits => limit(&host, &database, count).await,
            Crowd::Versions => register(&database, count).await,
            Crowd::Accounts | Crowd::IdleConnections | Crowd::EventStreams => {}
        }
        Self { database, host, sender, crowd, count }
    }

    async fn open(self) -> Side {
        let Self { database, host, sender, crowd, count } = self;
        let open = match crowd {
            Crowd::IdleConnections => connect(&host, count).await,
            Crowd::EventStreams => listen(&host, count).await,
            Crowd::Accounts | Crowd::UsersWithLimits | Crowd::Versions => Vec::new(),
        };
        let ledger = Client::connect(host.address()).await.unwrap();
        let assist = Client::connect(host.assist()).await.unwrap();
        Side { database, host, ledger, assist, sender, _open: open }
    }
}

impl Side {
    async fn score(&mut self) -> Duration {
        let [(path, body), ..] = scores::requests();
        let body = body.to_string();
        let start = Instant::now();
        let (status, answer) = self.assist.send("POST", path, "", &body).await.unwrap();
        let time = start.elapsed();
        assert_eq!(status, 200, "{answer}");
        time
    }

    async fn transfer(&mut self) -> Duration {
        let headers = self.sender.headers(&Uuid::new_v4().to_string());
        let start = Instant::now();
        let (status, answer) = self.ledger.send("POST", PATH, &headers, &self.sender.body).await.unwrap();
        let time = start.elapsed();
        assert_eq!(status, 200, "{answer}");
        time
    }
}

/// Connections that have asked for something once.
async fn connect(host: &Host, count: usize) -> Vec<TcpStream> {
    let mut open = Vec::with_capacity(count);
    for _ in 0..count {
        open.push(ask(host, "/livez", "").await);
    }
    open
}

/// Event streams of users who get no events.
async fn listen(host: &Host, count: usize) -> Vec<TcpStream> {
    let mut open = Vec::with_capacity(count);
    let mut authorization = String::new();
    for number in 0..count {
        if number % LISTENERS_EACH_MAX == 0 {
            authorization = host.authorization(&format!("listener-{number}")).await;
        }
        open.push(ask(host, "/api/ledger/events", &authorization).await);
    }
    open
}

/// A connection with one request whose answer has begun.
pub(crate) async fn ask(host: &Host, path: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(host.address()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 200", "{path}");
    stream
}

/// Gives users limits of their own, the sender among them.
async fn limit(host: &Host, database: &Database, count: usize) {
    let authorization = host.operator(database, "ledger:operate");
    let mut client = Client::connect(host.assist()).await.unwrap();
    let body = json!({"perTransfer": 5_000, "perDay": 9_000, "reason": "a benchmark"}).to_string();
    for number in 0..count {
        let path = format!("/admin/users/user-{number}/limits");
        let (status, answer) = client.send("PUT", &path, &authorization, &body).await.unwrap();
        assert_eq!(status, 200, "{answer}");
    }
}

/// Registers versions as large as ours. None is deployed: a host reads the bytes of those only.
async fn register(database: &Database, count: usize) {
    let mut db = database.connect().await;
    let insert =
        "insert into component (sha256, kind, version, model_version, bytes, report, answers, registered_by, registered_at)
        select sha256(bytes), 'risk', '9.0.' || number, 'risk-9.0.' || number, bytes, '{}', '', 'a benchmark', now()
        from (select number, decode(repeat(lpad(to_hex(number), 8, '0'), 4000), 'hex') as bytes
              from generate_series(1, $1::int) as number) as versions";
    sqlx::query(insert).bind(i32::try_from(count).unwrap()).execute(&mut db).await.unwrap();
    db.close().await.unwrap();
}
