//! One run: crashing hosts, retrying clients and an unreliable rail, all on one store.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal::clock::Clock;
use caudal::domain::clabe::{Clabe, ClabeRange};
use caudal::domain::hold;
use caudal::domain::money::Money;
use caudal::domain::transfer::RailName;
use caudal::ledger::batch::{self, Terms};
use caudal::ledger::chain::ChainKey;
use caudal::ledger::{Command, Jitter, Ledger, LedgerConfig, LedgerError, OpenAccount, OpenedAccount, Order, Outcome};
use caudal::models::Models;
use time::macros::datetime;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::chance::Chance;
use crate::faulty::{Faulty, Mutation};
use crate::tables::{Model, Tables};

/// Shared by all hosts.
pub(crate) const KEY: &[u8] = b"the key of the simulated ledgers";

pub(crate) const HOSTS: usize = 2;
const CLIENTS: usize = 5;
/// Opening credit of each account, enough for about half of its clients' orders.
pub(crate) const OPENING: i64 = 60;
/// In runs with a limit.
pub(crate) const DAY_LIMIT: i64 = 50;

/// Accounts 0 and 1 are Ana's, 2 is Luis'. The bank issued the numbers of 0 and 2; 1 has one of the same form that Ana
/// typed.
pub(crate) const OWNERS: [&str; 3] = ["ana", "ana", "luis"];

/// Numbers to issue. There are few, so that two hosts pick the same one.
pub(crate) fn range() -> ClabeRange {
    "99918000000000000-99918000000000019".parse().unwrap()
}

/// The number of an account. Those to be opened later come from the other half of the range.
fn number(index: usize) -> Clabe {
    range().pick(index as u128)
}

/// Where an order goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Payee {
    /// To another bank.
    Elsewhere = 0,
    /// To a number that this bank issued.
    OnUs = 1,
    /// To a number that another user typed.
    Typed = 2,
}

pub(crate) fn account(index: usize) -> Uuid {
    Uuid::from_u128(0xA000 + index as u128)
}

/// A payee of the owner of an account.
pub(crate) fn payee(index: usize, kind: Payee) -> Uuid {
    Uuid::from_u128(0xB000 + (3 * index + kind as usize) as u128)
}

/// A client's attempts to send one order.
#[derive(Debug, Clone)]
pub(crate) struct Attempts {
    pub(crate) order: Order,
    /// For an order that places a hold.
    pub(crate) lifetime: Option<time::Duration>,
    /// One for each attempt.
    pub(crate) ids: Vec<Uuid>,
    pub(crate) answers: Vec<Result<Outcome, LedgerError>>,
}

pub(crate) struct RunResult {
    pub(crate) model: Model,
    pub(crate) attempts: Vec<Attempts>,
    pub(crate) terms: Terms,
    pub(crate) models: Models,
    /// Accounts that were opened during the run.
    pub(crate) opened: Vec<OpenedAccount>,
    /// Found during the run.
    pub(crate) complaints: Vec<String>,
}

struct Host {
    ledger: Ledger,
    task: JoinHandle<()>,
}

/// Shared by all parts of a run.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) chance: Chance,
    pub(crate) store: Faulty,
    models: Models,
    terms: Terms,
    clock: Clock,
    hosts: Arc<Mutex<Vec<Option<Host>>>>,
    ids: Arc<AtomicU64>,
    pub(crate) opened: Arc<Mutex<Vec<OpenedAccount>>>,
}

pub(crate) async fn run(seed: u64, models: Models, mutation: Option<Mutation>) -> RunResult {
    let chance = Chance::new(seed);
    let model = Model::default();
    if let Some(Mutation::Constraints(names)) = mutation {
        model.tables().dropped.extend(names);
    }
    if mutation == Some(Mutation::NoEnds) {
        model.tables().dropped.extend(["hold_end_pkey", "account_balance_held"]);
    }
    let rail = if chance.happens(500) { RailName::Instant } else { RailName::Simulated };
    let per_day_limit = chance.happens(500).then_some(Money::from_minor(DAY_LIMIT));
    let on_us = chance.happens(700).then(range);
    let terms = Terms { rail, per_day_limit, on_us, ..Terms::OPEN };
    let clock = Clock::fixed(datetime!(2026-11-21 18:00 UTC));
    let store = Faulty::new(model.clone(), chance.clone(), mutation);
    let (hosts, ids, opened) = (Arc::default(), Arc::default(), Arc::default());
    let world = World { chance, store, models, terms, clock, hosts, ids, opened };
    for _ in 0..HOSTS {
        let host = world.start_host().await;
        world.hosts.lock().unwrap().push(host);
    }
    world.open_accounts().await;

    world.store.is_faulty.store(true, Relaxed);
    let clocks = tokio::spawn(world.clone().tick());
    let faults = tokio::spawn(world.clone().inject_faults());
    let (reports, complaints) = (tokio::spawn(world.clone().settle_payments()), Arc::new(Mutex::new(Vec::new())));
    let operators = [
        tokio::spawn(world.clone().freeze_accounts()),
        tokio::spawn(world.clone().reverse_transfers()),
        tokio::spawn(world.clone().expire_holds()),
        tokio::spawn(world.clone().review_transfers()),
        tokio::spawn(world.clone().receive_orders()),
    ];
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(world.clone().client(client, Arc::clone(&complaints)));
    }
    let mut attempts = Vec::new();
    while let Some(client) = clients.join_next().await {
        attempts.extend(client.unwrap());
    }
    // The faults end, and everything must come to a conclusion.
    faults.abort();
    operators[0].abort();
    operators[1].abort();
    operators[4].abort();
    world.store.is_faulty.store(false, Relaxed);
    world.store.is_down.store(false, Relaxed);
    world.restart_hosts().await;
    world.unfreeze_accounts(&complaints).await;
    for attempts in &mut attempts {
        world.send_again(attempts, &complaints).await;
    }
    let all_settled = async {
        let is_open = |tables: &Tables| tables.holds.values().any(|it| it.hold.status == hold::Status::Placed);
        while !model.tables().payments.is_empty() || is_open(&model.tables()) {
            sleep(Duration::from_secs(1)).await;
        }
    };
    if timeout(Duration::from_secs(600), all_settled).await.is_err() {
        complaints.lock().unwrap().push("payments stay pending, or holds open, forever".to_owned());
    }
    // Late notifications change nothing or return money.
    sleep(Duration::from_secs(120)).await;
    reports.abort();
    clocks.abort();
    operators[2].abort();
    operators[3].abort();
    let (opened, complaints) = (world.opened.lock().unwrap().clone(), complaints.lock().unwrap().clone());
    RunResult { model, attempts, terms, models: world.models, opened, complaints }
}

impl World {
    pub(crate) fn new_id(&self) -> Uuid {
        Uuid::from_u128(0xC000_0000 + u128::from(self.ids.fetch_add(1, Relaxed)))
    }

    pub(crate) fn now(&self) -> time::OffsetDateTime {
        self.clock.now()
    }

    async fn start_host(&self) -> Option<Host> {
        let key = ChainKey::new(KEY).unwrap();
        let jitter = Chance::new(self.chance.pick(usize::MAX >> 12) as u64);
        let jitter = Jitter::new(move || jitter.fraction());
        let config = LedgerConfig { jitter, ..LedgerConfig::new(self.terms, key) };
        let started = Ledger::start(self.store.clone(), self.models.clone(), self.clock.clone(), config).await;
        started.ok().map(|(ledger, task)| Host { ledger, task })
    }

    async fn restart_hosts(&self) {
        for index in 0..HOSTS {
            if self.hosts.lock().unwrap()[index].is_none() {
                let host = self.start_host().await;
                self.hosts.lock().unwrap()[index] = host;
            }
        }
    }

    async fn open_accounts(&self) {
        for (index, owner) in OWNERS.into_iter().enumerate() {
            let open = OpenAccount {
                account_id: account(index),
                owner: owner.to_owned(),
                account_number: number(index).to_string(),
                issued: (index != 1).then(|| number(index)),
                account_type: "checking".to_owned(),
                opening_credit: Money::from_minor(OPENING),
                transfer_id: self.new_id(),
            };
            let opened = self.submit(0, Command::Open(open)).await;
            assert!(matches!(opened, Ok(Outcome::Opened(_))), "{opened:?}");
            let other = if index == 2 { 0 } else { 2 };
            self.save(index, Payee::Elsewhere, format!("payee {index}"));
            self.save(index, Payee::OnUs, number(other).to_string());
            self.save(index, Payee::Typed, number(1).to_string());
        }
    }

    fn save(&self, index: usize, kind: Payee, number: String) {
        let (owner, name, bank) = (OWNERS[index].to_owned(), "Eva".to_owned(), "BBVA".to_owned());
        let facts = batch::Payee { owner, name, bank, number, created_at: self.clock.now() };
        self.store.model.tables().payees.insert(payee(index, kind), facts);
    }

    /// Fails if the host is down.
    pub(crate) async fn submit(&self, host: usize, command: Command) -> Result<Outcome, LedgerError> {
        let ledger = self.hosts.lock().unwrap()[host].as_ref().map(|host| host.ledger.clone());
        match ledger {
            Some(ledger) => ledger.submit(command).await,
            None => Err(LedgerError::Closed),
        }
    }

    /// Advances the clock, which sometimes jumps, but never to another day.
    async fn tick(self) {
        let mut ahead = false;
        loop {
            sleep(Duration::from_millis(100)).await;
            self.clock.advance(time::Duration::milliseconds(100));
            if self.chance.happens(2) {
                self.clock.advance(time::Duration::minutes(if ahead { -45 } else { 45 }));
                ahead = !ahead;
            }
        }
    }

    /// Hosts crash and restart, and the server becomes unavailable for a while.
    async fn inject_faults(self) {
        loop {
            self.chance.pause(Duration::from_millis(400)).await;
            if self.chance.happens(300) {
                let host = self.chance.pick(HOSTS);
                let crashed = self.hosts.lock().unwrap()[host].take();
                if let Some(Host { ledger, task }) = crashed {
                    task.abort();
                    drop(ledger);
                }
                self.chance.pause(Duration::from_secs(3)).await;
                self.restart_hosts().await;
            }
            if self.chance.happens(100) {
                self.store.is_down.store(true, Relaxed);
                // Sometimes longer than the ledger tries to resolve an outcome.
                self.chance.pause(Duration::from_secs(if self.chance.happens(200) { 40 } else { 2 })).await;
                self.store.is_down.store(false, Relaxed);
            }
        }
    }
}
