//! `kill -9`: 64 clients send transfers while the host, its Postgres or both are killed with requests in flight. After
//! every restart each transfer acknowledged in any round exists exactly once, nothing exists twice, and money is
//! conserved.
//!
//! The seed is printed, and `CAUDAL_KILLS_SEED` repeats its choices, but not the machine's timing.

mod audit;
mod choices;
mod clients;
mod orders;
mod victims;

use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::clients::World;
use self::orders::Counts;
use self::victims::Kill;
use crate::is_long;
use crate::process::{DataDir, PATIENCE, Service, eventually, text};
use crate::random::Random;

const CLIENTS: usize = 64;
/// Requests in flight at the kill.
const IN_FLIGHT_MIN: usize = 50;
/// Transfers acknowledged in a round before the kill.
const ACKNOWLEDGED_MIN: usize = 1_000;
/// Transfers acknowledged after the restart, to see that the service works again.
const ACKNOWLEDGED_AFTER: usize = 100;
/// Longest delay before the kill, in milliseconds: a few commits, so that it hits any phase of one.
const KILL_DELAY_MAX: u64 = 300;
/// Lines of the service's log shown when a test fails.
const LOG_TAIL: usize = 40;

/// `lost`: requests without an answer; `acked`: acknowledged transfers; `funds`: refused for lack of funds; `key used`:
/// orders whose key belonged to another; `resolved`: orders resolved by a retry; `rows`: transfers in the ledger, over
/// all rounds.
const HEAD: &str = "round  killed              in flight  lost  acked  replayed  funds  key used  resolved  given up  \
                     rows     s";

#[test]
fn kills_lose_nothing_and_duplicate_nothing() {
    let rounds = if is_long() { 20 } else { 2 };
    let given =
        std::env::var("CAUDAL_KILLS_SEED").ok().map(|seed| seed.parse().expect("CAUDAL_KILLS_SEED is a number"));
    let seed = given.unwrap_or_else(|| getrandom::u64().unwrap());
    println!("{rounds} rounds of kill -9 under {CLIENTS} clients, CAUDAL_KILLS_SEED={seed}");
    println!("{HEAD}");
    let mut test = Test::new(Random::new(seed));
    let mut deck = Vec::new();
    for round in 1..=rounds {
        if deck.is_empty() {
            // Draws without replacement.
            deck.extend(Kill::ALL);
            test.random.shuffle(&mut deck);
        }
        test.round(round, deck.pop().unwrap(), round == rounds);
    }
    test.service.stop();
}

struct Test {
    random: Random,
    runtime: Runtime,
    world: Arc<World>,
    service: Service,
    // Dropped in this order.
    tail: LogTail,
    data: DataDir,
}

impl Test {
    fn new(random: Random) -> Self {
        let data = DataDir::new();
        let tail = LogTail(data.0.join("service.log"));
        let service = start(&data, &tail);
        // One thread, so that the clients leave the service its processor time.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { random, runtime, world: Arc::new(World::new()), service, tail, data }
    }

    fn address(&self) -> SocketAddr {
        self.service.ledger.trim_start_matches("http://").parse().unwrap()
    }

    /// Load, a kill, a restart, more load, then the audit.
    fn round(&mut self, round: usize, kill: Kill, is_last: bool) {
        let start = Instant::now();
        let first = self.world.log.lock().unwrap().orders.len();
        let clients = self.start_clients(round);
        self.await_acknowledged(ACKNOWLEDGED_MIN);
        thread::sleep(Duration::from_millis(self.random.below(KILL_DELAY_MAX)));
        let (victim, in_flight) = self.kill(kill);
        self.restart(kill);
        self.await_acknowledged(ACKNOWLEDGED_AFTER);
        self.end_clients(clients);

        let log = self.world.log.lock().unwrap();
        let counts = log.count(first);
        let (checks, rows) = self.runtime.block_on(audit::prove(&self.database_url(), &log, is_last));
        drop(log);
        let verified = self.data.run(&["verify"]);
        assert!(verified.status.success(), "caudal verify: {}", text(&verified.stdout));
        let Counts { acknowledged, replayed, refused, bound, lost, resolved, given_up } = counts;
        println!(
            "{round:5}  {:18}  {in_flight:9}  {lost:4}  {acknowledged:5}  {replayed:8}  {refused:5}  {bound:8}  \
             {resolved:8}  {given_up:8}  {rows:5}  {:4.1}",
            victim,
            start.elapsed().as_secs_f64()
        );
        assert!(acknowledged >= ACKNOWLEDGED_MIN && in_flight >= IN_FLIGHT_MIN, "{acknowledged}, {in_flight}");
        if is_last {
            let all = self.world.acknowledged();
            let others = usize::try_from(rows).unwrap() - all;
            println!("{all} acknowledged transfers and {others} unacknowledged ones, each exists once");
            println!("{checks} checks and `caudal verify` passed after every round; each check detected its sabotage");
        }
    }

    fn start_clients(&mut self, round: usize) -> JoinSet<()> {
        let address = self.address();
        let senders: Arc<[_]> = self.runtime.block_on(clients::open(address, round)).into();
        self.world.set_stop(false);
        self.world.move_to(Some(address));
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            let client = clients::run(Arc::clone(&self.world), Arc::clone(&senders), self.random.fork());
            clients.spawn_on(client, self.runtime.handle());
        }
        clients
    }

    fn end_clients(&self, mut clients: JoinSet<()>) {
        self.world.set_stop(true);
        self.runtime.block_on(async {
            while let Some(ended) = timeout(PATIENCE, clients.join_next()).await.expect("clients end") {
                ended.unwrap();
            }
        });
    }

    /// Waits until `more` further transfers are acknowledged.
    fn await_acknowledged(&self, more: usize) {
        let goal = self.world.acknowledged() + more;
        eventually("transfers are acknowledged", || self.world.acknowledged() >= goal);
    }

    /// Kills while enough requests are in flight; returns the victim and their number.
    fn kill(&mut self, kill: Kill) -> (&'static str, usize) {
        let start = Instant::now();
        let choices = self.random.fork();
        loop {
            let aim = kill.aim(&self.service, &self.data, choices.clone());
            if let Some(in_flight) = self.world.with_in_flight(IN_FLIGHT_MIN, || aim.fire()) {
                return (aim.victim, in_flight);
            }
            assert!(start.elapsed() < PATIENCE, "never {IN_FLIGHT_MIN} requests in flight");
        }
    }

    fn restart(&mut self, kill: Kill) {
        match kill {
            // Postgres recovers, and the host keeps running.
            Kill::Session => return,
            Kill::Host | Kill::Both => assert_eq!(self.service.wait(), None),
            // The host notices that its Postgres is gone, drains and exits.
            Kill::Postgres => assert_eq!(self.service.wait(), Some(1)),
        }
        self.world.move_to(None);
        self.service = start(&self.data, &self.tail);
        self.world.move_to(Some(self.address()));
    }

    fn database_url(&self) -> String {
        let output = self.data.run(&["postgres", "--", "sh", "-c", "echo \"$DATABASE_URL\""]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }
}

fn start(data: &DataDir, log: &LogTail) -> Service {
    let log = OpenOptions::new().create(true).append(true).open(&log.0).unwrap();
    Service::start_with(data, log.into())
}

/// The service's log, which complains about the kills, so it is shown only when the test fails.
struct LogTail(PathBuf);

impl Drop for LogTail {
    fn drop(&mut self) {
        if thread::panicking() {
            let log = fs::read_to_string(&self.0).unwrap_or_default();
            let lines: Vec<_> = log.lines().rev().take(LOG_TAIL).collect();
            println!("the service's log ends:\n{}", lines.into_iter().rev().collect::<Vec<_>>().join("\n"));
        }
    }
}
