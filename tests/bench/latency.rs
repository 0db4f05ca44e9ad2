//! How long transfers take at half of pgbench's maximum rate, compared with pgbench at that rate.
//!
//! Transfers arrive at random moments, whether or not earlier ones are done, and their time counts from when they were
//! due. pgbench does the same with `--rate`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::client::Client;
use crate::database::Server;
use crate::figures::{Figures, Sorted, median};
use crate::host::Host;
use crate::peer::Peer;
use crate::processor::Used;
use crate::report::{self, Target, say};
use crate::senders::{self, PATH, Sender};
use crate::{ACCOUNTS, CLIENTS, Settings};

/// Turns of each side; the median counts. More than elsewhere, because 99th percentiles vary more than rates.
const TURNS: usize = 9;

pub(crate) async fn run(server: &Server, settings: &Settings) {
    let time = settings.time;
    let mut peer = Peer::prepare(server).await;
    let database = server.database("latency").await;
    let host = Host::start(&database);
    let senders: Arc<[Sender]> = senders::open(&host, ACCOUNTS).await.into();
    let rate = peer.run(time).await.per_second() / 2.0;
    say!("{rate:.0} transfers a second; at most {CLIENTS} at once, {TURNS} turns of {} s each", time.as_secs());
    say!("  {}", peer.command_line_at(time, rate));
    say!("{}", Figures::HEAD);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        for (title, tails) in [("pgbench", &mut theirs), ("caudal", &mut ours)] {
            let before = Used::now(&[host.pid()], server.pid());
            let figures = match title {
                "pgbench" => peer.run_at(time, rate).await,
                _ => send(&host, &senders, rate, time).await,
            };
            assert_eq!(figures.failed, 0);
            tails.push(Sorted::new(figures.took.clone()).at(0.99));
            say!("{}", figures.line(title, &Used::now(&[host.pid()], server.pid()).since(&before)));
        }
    }
    report::result(
        "p99 of a transfer / pgbench at the same rate",
        median(ours) / median(theirs),
        Target::AtMost(1.0, ""),
    );
    host.stop();
    server.drop(peer.database).await;
    server.drop(database).await;
}

/// Open-loop load.
pub(crate) async fn send(host: &Host, senders: &Arc<[Sender]>, rate: f64, time: Duration) -> Figures {
    let (due, queue) = mpsc::unbounded_channel();
    let (queue, start) = (Arc::new(Mutex::new(queue)), Instant::now());
    // Timers of the runtime are exact to a millisecond only.
    let clock = std::thread::spawn(move || {
        let (mut at, mut random) = (start, 1_u64);
        while at < start + time {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let share = ((random >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
            at += Duration::from_secs_f64(-share.ln() / rate);
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            due.send((at, random)).unwrap();
        }
    });
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (queue, senders, address) = (Arc::clone(&queue), Arc::clone(senders), host.address());
        clients.spawn(async move {
            let mut connection = Client::connect(address).await.unwrap();
            let (mut took, mut failed) = (Vec::new(), 0);
            loop {
                let next = queue.lock().await.recv().await;
                let Some((at, random)) = next else { return (took, failed) };
                let sender = &senders[(random >> 11) as usize % senders.len()];
                let headers = sender.headers(&Uuid::new_v4().to_string());
                let (status, answer) = connection.send("POST", PATH, &headers, &sender.body).await.unwrap();
                if status == 200 && answer.contains("\"status\":\"completed\"") {
                    took.push(at.elapsed());
                } else {
                    failed += 1;
                }
            }
        });
    }
    let mut figures = Figures { took: Vec::new(), failed: 0, time: Duration::ZERO };
    while let Some(done) = clients.join_next().await {
        let (took, failed) = done.unwrap();
        figures.took.extend(took);
        figures.failed += failed;
    }
    clock.join().unwrap();
    figures.time = start.elapsed();
    figures
}
