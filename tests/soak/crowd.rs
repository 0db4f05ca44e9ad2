//! Thousands of slow senders and readers, from many addresses, beside clients who just want an answer.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::flood::stay_on;
use crate::overload::address;
use crate::process::{DataDir, Service};
use crate::{is_long, seconds};

/// Half of them send slowly, half read slowly.
const SLOW_LONG: usize = 2_000;
const SLOW_SHORT: usize = 400;

/// Addresses that they come from.
const ADDRESSES: usize = 50;

/// A slow client's pause before the next byte that it sends, or the next few that it reads.
const SLOW_EVERY: Duration = Duration::from_secs(1);

/// Clients who are not slow, and their pause.
const OTHERS: usize = 8;
const OTHERS_EVERY: Duration = Duration::from_millis(10);

/// A file that does not fit into the buffers of a connection.
const LARGE: &str = "/vendored/rapidoc-min.js";

/// How often the two states are compared in a soak, and otherwise.
const TURNS_LONG: u32 = 3;
const TURNS_SHORT: u32 = 1;

#[test]
fn slow_clients_delay_nobody() {
    stay_on(true);
    let data = DataDir::new();
    let service = Service::start(&data);
    let to = address(&service.ledger);
    stay_on(false);
    let (count, turns) = if is_long() { (SLOW_LONG, TURNS_LONG) } else { (SLOW_SHORT, TURNS_SHORT) };
    let time = seconds(2) / (2 * turns);
    let (mut quiet, mut crowded, mut memory) = (Vec::new(), Vec::new(), (memory(&service), 0));
    let mut used = Duration::ZERO;
    for _ in 0..turns {
        quiet.extend(others(to, time));
        let crowd = Crowd::start(to, count);
        let before = processor_time(&service);
        crowded.extend(others(to, time));
        used += processor_time(&service) - before;
        memory.1 = memory.1.max(self::memory(&service));
        let open = crowd.open.load(Relaxed);
        assert!(open > count / 2, "only {open} slow clients are connected");
        drop(crowd);
        // Until the host has noticed.
        thread::sleep(Duration::from_secs(1));
    }
    let at = |took: &mut Vec<Duration>, share: usize| {
        took.sort();
        took[took.len() * share / 100].as_secs_f64() * 1e3
    };
    let (half, most) = (at(&mut quiet, 50), at(&mut quiet, 99));
    let (half_crowded, most_crowded) = (at(&mut crowded, 50), at(&mut crowded, 99));
    println!(
        "{count} slow clients: p50 {half:.2} -> {half_crowded:.2} ms, p99 {most:.2} -> {most_crowded:.2} ms ({:.2})",
        most_crowded / most
    );
    let share = used.as_secs_f64() / (time * turns).as_secs_f64() * 100.0;
    println!("memory of the host {} -> {} MiB; with them it used {share:.0} % of a processor", memory.0, memory.1);
    service.stop();
}

fn processor_time(service: &Service) -> Duration {
    let ticks = std::fs::read_to_string(format!("/proc/{}/stat", service.pid())).unwrap();
    let fields: Vec<_> = ticks.rsplit(") ").next().unwrap().split(' ').collect();
    // Hundredths of a second, as user and as system.
    Duration::from_millis(fields[11..=12].iter().map(|it| it.parse::<u64>().unwrap() * 10).sum())
}

/// Resident memory in MiB.
fn memory(service: &Service) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() >> 10
}

/// How long `/livez` takes for those who are not slow.
fn others(to: SocketAddr, time: Duration) -> Vec<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (mut clients, start) = (JoinSet::new(), Instant::now());
        for number in 0..OTHERS {
            clients.spawn(async move {
                let (mut client, mut took) = (Client::connect(to).await.unwrap(), Vec::new());
                tokio::time::sleep(OTHERS_EVERY * u32::try_from(number).unwrap() / u32::try_from(OTHERS).unwrap())
                    .await;
                while start.elapsed() < time {
                    let sent = Instant::now();
                    assert_eq!(client.send("GET", "/livez", "", "").await.unwrap().0, 200);
                    took.push(sent.elapsed());
                    tokio::time::sleep(OTHERS_EVERY).await;
                }
                took
            });
        }
        clients.join_all().await.concat()
    })
}

/// Slow clients, until this is dropped.
struct Crowd {
    open: Arc<AtomicUsize>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Crowd {
    /// Returns once all have connected.
    fn start(to: SocketAddr, count: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (open, arrived) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        for number in 0..count {
            let (open, arrived) = (Arc::clone(&open), Arc::clone(&arrived));
            runtime.spawn(async move {
                // Spread over the pause, so that they do not act as one.
                tokio::time::sleep(SLOW_EVERY * u32::try_from(number).unwrap() / u32::try_from(count).unwrap()).await;
                arrived.fetch_add(1, Relaxed);
                loop {
                    open.fetch_add(1, Relaxed);
                    let _ = slow(to, number).await;
                    open.fetch_sub(1, Relaxed);
                    tokio::time::sleep(SLOW_EVERY).await;
                }
            });
        }
        while arrived.load(Relaxed) < count {
            thread::sleep(Duration::from_millis(10));
        }
        Self { open, runtime: Some(runtime) }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

/// Until the host gives this client up.
async fn slow(to: SocketAddr, number: usize) -> std::io::Result<()> {
    let from = IpAddr::from([127, 1, 0, u8::try_from(1 + number % ADDRESSES).unwrap_or(1)]);
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4_096)?;
    socket.bind((from, 0).into())?;
    let mut stream: TcpStream = socket.connect(to).await?;
    if number.is_multiple_of(2) {
        stream.write_all(b"POST /sandbox/token HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n").await?;
        loop {
            stream.write_all(b" ").await?;
            tokio::time::sleep(SLOW_EVERY).await;
        }
    }
    stream.write_all(format!("GET {LARGE} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await?;
    let mut few = [0; 512];
    while stream.read(&mut few).await? > 0 {
        tokio::time::sleep(SLOW_EVERY).await;
    }
    Ok(())
}
