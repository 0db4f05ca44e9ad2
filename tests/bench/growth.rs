//! What requests cost in a small database and in a large one, for a user with ten thousand transfers and one with a
//! million among millions.
//!
//! Two databases on one server, each with a host. One client alternates between them for each kind of request, so that
//! disturbances affect both.

use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::Settings;
use crate::client::Client;
use crate::database::Server;
use crate::figures::Sorted;
use crate::fill::{ACCOUNT, Filled, OWNER};
use crate::host::Host;
use crate::report::{self, Target, say};
use crate::senders::{self, PATH, Sender};

/// Transfers in the small database, all of one user.
const SMALL: i64 = 10_000;

/// One transfer in this many of the large database is the user's.
pub(crate) const SHARE: i64 = 3;

/// Items on a page.
const LENGTH: i64 = 50;

/// Different start positions of deep pages, so that requests do not repeat.
const PLACES: i64 = 100;

/// For each kind of request and size: 30 are above the 99th percentile.
const REQUESTS: usize = 3_000;

/// How much longer a request may take in the large database: three hundred times the transfers are one or two more
/// levels of each index.
const GROWTH_MAX: f64 = 1.5;

/// Uncounted requests before: sessions plan their queries, caches fill.
const WARM_UP: usize = 300;

/// A kind of request.
struct Kind {
    name: &'static str,
    request: Request,
}

enum Request {
    /// Pages, in turn.
    Pages(Vec<String>),
    /// The risk of a transfer, scored from the user's history.
    Risk(String),
    /// By another user.
    Transfer,
}

/// One of the two databases.
struct Side {
    filled: Filled,
    host: Host,
    client: Client,
    authorization: String,
    sender: Sender,
    kinds: Vec<Kind>,
}

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let start = Instant::now();
    let small = Filled::new(server, "small", SMALL, 1).await;
    let large = Filled::new(server, "large", settings.growth_transfers, SHARE).await;
    say!("filled in {} s; {REQUESTS} requests of each kind, {LENGTH} items a page", start.elapsed().as_secs());
    // Only once both are filled: a host closes idle connections.
    let (small, large) = (Side::new(small).await, Side::new(large).await);
    let sizes = [&small, &large].map(|side| format!("{} of {}", side.filled.own, side.filled.total));
    say!("{:32} {:>24} {:>24}", "transfers of the user", sizes[0], sizes[1]);
    say!("{:32} {:>15} {:>8} {:>15} {:>8}    p99 ratio", "", "p50 ms", "p99 ms", "p50 ms", "p99 ms");
    let mut sides = [small, large];
    for kind in 0..sides[0].kinds.len() {
        let mut took = [Vec::with_capacity(REQUESTS), Vec::with_capacity(REQUESTS)];
        for turn in 0..WARM_UP + REQUESTS {
            // The sides alternate in going first.
            for size in [turn % 2, 1 - turn % 2] {
                let time = sides[size].request(kind, turn).await;
                took[size].extend((turn >= WARM_UP).then_some(time));
            }
        }
        let [small, large] = took.map(Sorted::new);
        let name = sides[0].kinds[kind].name;
        say!(
            "{name:32} {:15.2} {:8.2} {:15.2} {:8.2} {:12.2}",
            small.at(0.5),
            small.at(0.99),
            large.at(0.5),
            large.at(0.99),
            large.at(0.99) / small.at(0.99)
        );
        let factor = large.at(0.5) / small.at(0.5);
        report::result(&format!("{name}, large database / small one"), factor, Target::AtMost(GROWTH_MAX, ""));
    }
    for side in sides {
        side.host.stop();
        server.drop(side.filled.database).await;
    }
}

impl Side {
    async fn new(filled: Filled) -> Self {
        let host = Host::start(&filled.database);
        let authorization = host.authorization(OWNER).await;
        let client = Client::connect(host.address()).await.unwrap();
        let sender = senders::open(&host, 1).await.remove(0);
        let kinds = kinds(&filled).await;
        Self { filled, host, client, authorization, sender, kinds }
    }

    /// Makes one request, checks its answer, and returns its time. A page must be full.
    async fn request(&mut self, kind: usize, turn: usize) -> Duration {
        let key = Uuid::new_v4().to_string();
        let (method, path, headers, body) = match &self.kinds[kind].request {
            Request::Pages(paths) => ("GET", &paths[turn % paths.len()][..], self.authorization.clone(), ""),
            Request::Risk(path) => ("GET", &path[..], self.authorization.clone(), ""),
            Request::Transfer => ("POST", PATH, self.sender.headers(&key), &self.sender.body[..]),
        };
        let start = Instant::now();
        let (status, answer) = self.client.send(method, path, &headers, body).await.unwrap();
        let time = start.elapsed();
        let found = match &self.kinds[kind].request {
            Request::Pages(_) => answer.matches("\"createdAt\":").count() == LENGTH as usize,
            Request::Risk(_) => answer.contains(&format!("\"num_past_transactions\":{},", self.filled.own)),
            Request::Transfer => answer.contains("\"status\":\"completed\""),
        };
        assert!(status == 200 && found, "{path}: {answer}");
        time
    }
}

async fn kinds(filled: &Filled) -> Vec<Kind> {
    // The statement begins with the opening credit, which is not in the list.
    let deep: Vec<i64> = (1..=PLACES).map(|nth| 1 + filled.own * nth / (PLACES + 1)).collect();
    let places = filled.places(&deep).await;
    let last = filled.places(&[LENGTH + 2]).await;
    let list = format!("{PATH}?limit={LENGTH}");
    let statement = format!("/api/ledger/accounts/{ACCOUNT}/entries?limit={LENGTH}");
    let mut between = Vec::new();
    for pair in places.windows(2) {
        between.push(format!("{statement}&from={}&to={}", instant(pair[0].millis), instant(pair[1].millis)));
    }
    let kind = |name, paths| Kind { name, request: Request::Pages(paths) };
    // The script saves the account's own id as its payee's.
    let risk = format!("/api/ledger/risk-context?fromAccountId={ACCOUNT}&toBeneficiaryId={ACCOUNT}&amount=1.00");
    let in_list = |it: &crate::fill::Place| format!("{list}&cursor=t{}_{}", it.millis, it.transfer_id);
    let in_statement = |number: i64| format!("{statement}&cursor=e{number}_{ACCOUNT}");
    vec![
        kind("transfers, first page", vec![list.clone()]),
        kind("transfers, a deep page", places.iter().map(in_list).collect()),
        kind("transfers, last page", last.iter().map(in_list).collect()),
        kind("statement, first page", vec![statement.clone()]),
        kind("statement, a deep page", places.iter().map(|it| in_statement(it.number)).collect()),
        kind("statement, last page", vec![in_statement(LENGTH + 1)]),
        kind("statement, between two times", between),
        Kind { name: "the risk of a transfer", request: Request::Risk(risk) },
        Kind { name: "a transfer", request: Request::Transfer },
    ]
}

fn instant(millis: i64) -> String {
    caudal::clock::timestamp(caudal::clock::at_millis(millis))
}
