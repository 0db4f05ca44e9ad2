//! Pages of lists and statements, of a user with ten thousand transfers and of one among millions.
//!
//! Two databases of the same server, a host on each. One client asks both in turn for the same kind of page, so that
//! whatever else the machine does falls on both.

use std::time::{Duration, Instant};

use crate::Settings;
use crate::client::Client;
use crate::database::Server;
use crate::figures::Sorted;
use crate::fill::{ACCOUNT, Filled, OWNER};
use crate::host::Host;
use crate::senders::PATH;

/// Transfers in the small database, all of one user.
const SMALL: i64 = 10_000;

/// Of the large one's transfers the user has each third: at three millions one million, in one account.
const SHARE: i64 = 3;

/// Items of a page.
const LENGTH: i64 = 50;

/// Places in the history at which deep pages begin, as it is always another one that somebody asks for.
const PLACES: i64 = 100;

/// Requests for each kind of page and size: a 99th percentile has so many times 1/100 above it.
const REQUESTS: usize = 3_000;

/// Those before, which are not counted: sessions plan their queries, memory fills.
const WARM_UP: usize = 300;

/// A kind of page: how it is called, and the paths to ask for in turn.
struct Kind {
    name: &'static str,
    paths: Vec<String>,
}

/// One size.
struct Side {
    filled: Filled,
    host: Host,
    client: Client,
    authorization: String,
    kinds: Vec<Kind>,
}

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let start = Instant::now();
    let small = Filled::new(server, "small", SMALL, 1).await;
    let large = Filled::new(server, "large", settings.page_transfers, SHARE).await;
    println!("filled in {} s; {REQUESTS} requests for each, {LENGTH} items a page", start.elapsed().as_secs());
    // Not before both are there: a host closes connections that are idle for long.
    let (small, large) = (Side::new(small).await, Side::new(large).await);
    let sizes = [&small, &large].map(|side| format!("{} of {}", side.filled.own, side.filled.total));
    println!("{:32} {:>24} {:>24}", "transfers of the user", sizes[0], sizes[1]);
    println!("{:32} {:>15} {:>8} {:>15} {:>8}    p99 ratio", "", "p50 ms", "p99 ms", "p50 ms", "p99 ms");
    let mut sides = [small, large];
    for kind in 0..sides[0].kinds.len() {
        let mut took = [Vec::with_capacity(REQUESTS), Vec::with_capacity(REQUESTS)];
        for turn in 0..WARM_UP + REQUESTS {
            // Neither is always the one that goes first.
            for size in [turn % 2, 1 - turn % 2] {
                let time = sides[size].ask(kind, turn).await;
                took[size].extend((turn >= WARM_UP).then_some(time));
            }
        }
        let [small, large] = took.map(Sorted::new);
        println!(
            "{:32} {:15.2} {:8.2} {:15.2} {:8.2} {:12.2}",
            sides[0].kinds[kind].name,
            small.at(0.5),
            small.at(0.99),
            large.at(0.5),
            large.at(0.99),
            large.at(0.99) / small.at(0.99)
        );
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
        let kinds = kinds(&filled).await;
        Self { filled, host, client, authorization, kinds }
    }

    /// How long one page took, which has to be a full one.
    async fn ask(&mut self, kind: usize, turn: usize) -> Duration {
        let paths = &self.kinds[kind].paths;
        let path = &paths[turn % paths.len()];
        let start = Instant::now();
        let (status, answer) = self.client.send("GET", path, &self.authorization, "").await.unwrap();
        let time = start.elapsed();
        let items = answer.matches("\"createdAt\":").count();
        assert_eq!((status, items), (200, LENGTH as usize), "{path}: {answer}");
        time
    }
}

async fn kinds(filled: &Filled) -> Vec<Kind> {
    // The statement's first line is what the account opened with; the list begins after it.
    let deep: Vec<i64> = (1..=PLACES).map(|nth| 1 + filled.own * nth / (PLACES + 1)).collect();
    let places = filled.places(&deep).await;
    let last = filled.places(&[LENGTH + 2]).await;
    let list = format!("{PATH}?limit={LENGTH}");
    let statement = format!("/api/ledger/accounts/{ACCOUNT}/entries?limit={LENGTH}");
    let mut between = Vec::new();
    for pair in places.windows(2) {
        between.push(format!("{statement}&from={}&to={}", instant(pair[0].millis), instant(pair[1].millis)));
    }
    let kind = |name, paths| Kind { name, paths };
    let in_list = |it: &crate::fill::Place| format!("{list}&cursor={}_{}", it.millis, it.transfer_id);
    let in_statement = |number: i64| format!("{statement}&cursor={number}");
    vec![
        kind("transfers, first page", vec![list.clone()]),
        kind("transfers, a page far back", places.iter().map(in_list).collect()),
        kind("transfers, last page", last.iter().map(in_list).collect()),
        kind("statement, first page", vec![statement.clone()]),
        kind("statement, a page far back", places.iter().map(|it| in_statement(it.number)).collect()),
        kind("statement, last page", vec![in_statement(LENGTH + 1)]),
        kind("statement between two moments", between),
    ]
}

/// A moment as the API reads it.
fn instant(millis: i64) -> String {
    caudal::clock::timestamp(caudal::clock::at_millis(millis))
}
