//! Clients that send at a given rate, whether or not they are answered, over as many connections as that takes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_setaffinity};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::client::Client;

/// Connections. A request that finds none free is not sent, as if its client had waited in vain.
const CONNECTIONS: usize = 1_000;

/// Clients that find out what the host sustains: each sends its next request when the last one is answered.
const CLOSED_CLIENTS: usize = 256;

/// How often requests that are due are sent.
const TICK: Duration = Duration::from_millis(1);

/// Headers and body of each request, in turn.
pub(crate) type Requests = Arc<dyn Fn(usize) -> (String, String) + Send + Sync>;

/// Where and what clients send.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) path: &'static str,
    pub(crate) requests: Requests,
}

/// What became of requests.
#[derive(Default)]
pub(crate) struct Answers {
    /// Since they were sent.
    pub(crate) served: Vec<Duration>,
    pub(crate) refused: Vec<Duration>,
    pub(crate) unsent: usize,
    pub(crate) time: Duration,
}

impl Answers {
    fn add(&mut self, status: u16, took: Duration, text: &str) {
        match status {
            200 => self.served.push(took),
            429 | 503 if text.contains("overloaded") || text.contains("too-many-requests") => self.refused.push(took),
            _ => panic!("{status} {text}"),
        }
    }

    /// Served requests a second.
    pub(crate) fn rate(&self) -> f64 {
        self.served.len() as f64 / self.time.as_secs_f64()
    }

    /// In milliseconds: the median, the 99th percentile and the longest.
    pub(crate) fn line(&mut self) -> String {
        let figures = |took: &mut Vec<Duration>| {
            took.sort();
            let at = |share: usize| {
                took.get(took.len() * share / 1_000).or(took.last()).map_or(0.0, |it| it.as_secs_f64() * 1e3)
            };
            format!("{:7} p50 {:7.2} p99 {:7.2} max {:7.2} ms", took.len(), at(500), at(990), at(1_000))
        };
        let rate = self.rate();
        let (served, refused) = (figures(&mut self.served), figures(&mut self.refused));
        format!("{rate:7.0}/s  served {served}  refused {refused}  unsent {}", self.unsent)
    }
}

/// Runs the calling thread, and what it starts from now on, on the first processor or on the others. Nothing changes on
/// a machine with one.
pub(crate) fn stay_on(first: bool) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut set = CpuSet::new();
    let chosen = if first { 0..1 } else { 1..processors.max(2) };
    chosen.for_each(|processor| set.set(processor));
    // A container may forbid it: then both share.
    let _ = sched_setaffinity(None, &set);
}

/// What the host sustains.
pub(crate) async fn closed(target: &Target, time: Duration) -> Answers {
    let mut clients = JoinSet::new();
    let start = Instant::now();
    for number in 0..CLOSED_CLIENTS {
        let target = target.clone();
        clients.spawn(async move {
            let mut client = Client::connect(target.address).await.unwrap();
            let mut answers = Vec::new();
            while start.elapsed() < time {
                let (headers, body) = (target.requests)(answers.len() * CLOSED_CLIENTS + number);
                let sent = Instant::now();
                let (status, text) = client.send("POST", target.path, &headers, &body).await.unwrap();
                answers.push((status, sent.elapsed(), text));
            }
            answers
        });
    }
    let mut all = Answers::default();
    while let Some(answers) = clients.join_next().await {
        answers.unwrap().into_iter().for_each(|(status, took, text)| all.add(status, took, &text));
    }
    all.time = start.elapsed();
    all
}

/// What becomes of this many requests a second.
pub(crate) async fn open(target: &Target, per_second: f64, time: Duration) -> Answers {
    let (give_back, mut free) = mpsc::unbounded_channel();
    for _ in 0..CONNECTIONS {
        let _ = give_back.send(Client::connect(target.address).await.unwrap());
    }
    let (answer, mut answered) = mpsc::unbounded_channel();
    let mut all = Answers::default();
    let mut tick = tokio::time::interval(TICK);
    let (start, mut sent) = (Instant::now(), 0);
    while start.elapsed() < time {
        tick.tick().await;
        let due = (start.elapsed().as_secs_f64() * per_second) as usize;
        for turn in sent..due {
            let Ok(mut client) = free.try_recv() else {
                all.unsent += due - turn;
                break;
            };
            let (target, give_back, answer) = (target.clone(), give_back.clone(), answer.clone());
            tokio::spawn(async move {
                let (headers, body) = (target.requests)(turn);
                let sent = Instant::now();
                let (status, text) = client.send("POST", target.path, &headers, &body).await.unwrap();
                let _ = answer.send((status, sent.elapsed(), text));
                let _ = give_back.send(client);
            });
        }
        sent = due;
    }
    all.time = start.elapsed();
    drop((answer, give_back));
    while let Some((status, took, text)) = answered.recv().await {
        all.add(status, took, &text);
    }
    all
}
