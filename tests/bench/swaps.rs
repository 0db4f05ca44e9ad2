//! Scores while another version is deployed every 50 ms, compared with a quiet host. No request may fail.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use caudal::domain::model::ModelKind;
use caudal::models::{Embedded, LoadedComponent};
use caudal::wasm::Runtime;
use serde_json::json;

use crate::Settings;
use crate::client::Client;
use crate::database::Server;
use crate::host::Host;
use crate::load::{CONNECTIONS, Request, Side};
use crate::report::{self, Target, say};
use crate::scores;

/// Turns with and without swaps; the median counts. More than elsewhere, because 99th percentiles vary more than rates.
const TURNS: usize = 9;

const SWAP_EVERY: Duration = Duration::from_millis(50);

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let database = server.database("swaps").await;
    let host = Host::start(&database);
    let authorization = host.operator(&database, "models:admin");
    let runtime = Runtime::new().unwrap();
    let versions: Vec<String> = Embedded::of(ModelKind::Risk)
        .map(|it| LoadedComponent::load(&runtime, it.kind, it.bytes).unwrap().identity().version.to_string())
        .collect();
    let seconds = settings.time.as_secs().div_ceil(3);
    say!(
        "wrk, {CONNECTIONS} connections, {TURNS} turns of {seconds} s with swaps between {} and without",
        versions.join(", ")
    );
    say!("{}", Side::HEAD);
    let [(path, body), ..] = scores::requests();
    let request = Request { method: "POST", path, body: body.to_string(), authorizations: Vec::new() };
    let mut quiet = Side::new("quiet", host.pid(), host.assist());
    let mut swapped = Side::new("swapped", host.pid(), host.assist());
    let mut swaps = 0;
    for _ in 0..TURNS {
        quiet.turn(&request, seconds);
        let stop = Arc::new(AtomicBool::new(false));
        let (address, authorization, versions) = (host.assist(), authorization.clone(), versions.clone());
        let stopped = Arc::clone(&stop);
        let swapper = std::thread::spawn(move || swap_until(&stopped, address, &authorization, &versions));
        swapped.turn(&request, seconds);
        stop.store(true, Relaxed);
        swaps += swapper.join().unwrap();
    }
    say!("{}\n{}", quiet.line(path), swapped.line(path));
    say!("{swaps} swaps, no failed request");
    report::result(
        "p99 of a score while models are swapped / quiet",
        swapped.p99() / quiet.p99(),
        Target::AtMost(1.3, ""),
    );
    host.stop();
    server.drop(database).await;
}

/// Deploys the versions in turn; returns how often.
fn swap_until(stop: &AtomicBool, address: SocketAddr, authorization: &str, versions: &[String]) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = Client::connect(address).await.unwrap();
        let headers = format!("{authorization}if-match: *\r\n");
        let mut swaps = 0;
        while !stop.load(Relaxed) {
            let body = json!({"champion": versions[swaps % versions.len()], "reason": "a benchmark"}).to_string();
            let answer = client.send("PUT", "/admin/models/risk/deployment", &headers, &body).await.unwrap();
            assert!((200..300).contains(&answer.0), "{answer:?}");
            swaps += 1;
            tokio::time::sleep(SWAP_EVERY).await;
        }
        swaps
    })
}
