//! One run: hosts that come and go, clients that retry, a rail that answers late and twice, on one store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::Duration;

use caudal::clock::Clock;
use caudal::domain::money::Money;
use caudal::domain::transfer::{RailName, Report};
use caudal::domain::transfer::Reason;
use caudal::ledger::batch::{Payee, Terms};
use caudal::ledger::chain::ChainKey;
use caudal::ledger::{
    Command, Jitter, Ledger, LedgerConfig, LedgerError, OpenAccount, Order, Outcome, PaymentReport, Risk,
};
use caudal::models::Models;
use caudal::rail::simulated::{Behaviour, Simulated};
use caudal::rail::{News, Payment, Push, Rail as _};
use time::macros::datetime;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::chance::Chance;
use crate::faulty::{Faulty, Mutation};
use crate::model::Model;

/// Every host of a ledger has the same.
pub(crate) const KEY: &[u8] = b"the key of the simulated ledgers";

const HOSTS: usize = 2;
const CLIENTS: usize = 5;
const ORDERS_EACH: usize = 6;
/// First credit of each account: enough for about half of what its clients want.
pub(crate) const OPENING: i64 = 60;
/// Largest amount of an order.
const AMOUNT_MAX: usize = 12;
/// What a user may send in a day, where there is a limit.
pub(crate) const DAY_LIMIT: i64 = 90;
/// How often a client repeats an order that got no answer.
const RETRIES: usize = 12;
/// A submission that takes longer hangs: longer than waiting, deciding and settling may take together.
const PATIENCE: Duration = Duration::from_secs(120);

/// Accounts 0 and 1 are Ana's, 2 is Luis'.
pub(crate) const OWNERS: [&str; 3] = ["ana", "ana", "luis"];

pub(crate) fn account(index: usize) -> Uuid {
    Uuid::from_u128(0xA000 + index as u128)
}

fn payee(index: usize) -> Uuid {
    Uuid::from_u128(0xB000 + index as u128)
}

/// What a client asked for and what it was told, the last time it asked.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) order: Order,
    /// Ids of the attempts: each has its own.
    pub(crate) attempts: Vec<Uuid>,
    pub(crate) answers: Vec<Result<Outcome, LedgerError>>,
}

/// What a run leaves.
pub(crate) struct Remains {
    pub(crate) model: Model,
    pub(crate) told: Vec<Told>,
    pub(crate) terms: Terms,
    /// What no check of the store would show.
    pub(crate) complaints: Vec<String>,
}

struct Host {
    ledger: Ledger,
    task: JoinHandle<()>,
}

/// What all parts of a run share.
#[derive(Clone)]
struct World {
    chance: Chance,
    store: Faulty,
    models: Models,
    terms: Terms,
    clock: Clock,
    hosts: Arc<Mutex<Vec<Option<Host>>>>,
    ids: Arc<std::sync::atomic::AtomicU64>,
}

/// Runs a seed to its end.
pub(crate) async fn run(seed: u64, models: Models, mutation: Option<Mutation>) -> Remains {
    let chance = Chance::new(seed);
    let model = Model::default();
    if let Some(Mutation::Constraint(name)) = mutation {
        model.drop_constraint(name);
    }
    let rail = if chance.happens(500) { RailName::Instant } else { RailName::Simulated };
    let per_day_limit = chance.happens(500).then_some(Money::from_minor(DAY_LIMIT));
    let terms = Terms { rail, per_day_limit, ..Terms::OPEN };
    let clock = Clock::fixed(datetime!(2026-11-21 18:00 UTC));
    let store = Faulty {
        model: model.clone(),
        chance: chance.clone(),
        troubled: Arc::new(AtomicBool::new(false)),
        away: Arc::default(),
        mutation,
    };
    let world = World { chance, store, models, terms, clock, hosts: Arc::default(), ids: Arc::default() };
    for _ in 0..HOSTS {
        let host = world.start_host().await;
        world.hosts.lock().unwrap().push(host);
    }
    world.open_accounts().await;

    world.store.troubled.store(true, Relaxed);
    let clocks = tokio::spawn(world.clone().tick());
    let trouble = tokio::spawn(world.clone().trouble());
    let (reports, complaints) = (tokio::spawn(world.clone().settle_payments()), Arc::new(Mutex::new(Vec::new())));
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(world.clone().client(client, Arc::clone(&complaints)));
    }
    let mut told = Vec::new();
    while let Some(client) = clients.join_next().await {
        told.extend(client.unwrap());
    }
    // The sky clears, and what was begun ends.
    trouble.abort();
    world.store.troubled.store(false, Relaxed);
    world.store.away.store(false, Relaxed);
    world.restart_missing().await;
    let all_settled = async {
        while !model.tables().payments.is_empty() {
            sleep(Duration::from_secs(1)).await;
        }
    };
    if timeout(Duration::from_secs(600), all_settled).await.is_err() {
        complaints.lock().unwrap().push("payments stay pending for ever".to_owned());
    }
    // News that come late change nothing, or bring money back.
    sleep(Duration::from_secs(120)).await;
    reports.abort();
    clocks.abort();
    let complaints = complaints.lock().unwrap().clone();
    Remains { model, told, terms, complaints }
}

impl World {
    fn new_id(&self) -> Uuid {
        Uuid::from_u128(0xC000_0000 + u128::from(self.ids.fetch_add(1, Relaxed)))
    }

    async fn start_host(&self) -> Option<Host> {
        let key = ChainKey::new(KEY).unwrap();
        let jitter = Jitter::seeded(self.chance.pick(usize::MAX >> 12) as u64);
        let config = LedgerConfig { terms: self.terms, key, jitter };
        let started = Ledger::start(self.store.clone(), self.models.clone(), self.clock.clone(), config).await;
        started.ok().map(|(ledger, task)| Host { ledger, task })
    }

    async fn restart_missing(&self) {
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
                account_number: index.to_string(),
                account_type: "checking".to_owned(),
                opening_credit: Money::from_minor(OPENING),
                transfer_id: self.new_id(),
            };
            let payee_facts = Payee {
                owner: owner.to_owned(),
                name: "Eva".to_owned(),
                bank: "BBVA".to_owned(),
                number: format!("payee {index}"),
                created_at: self.clock.now(),
            };
            let opened = self.submit(0, Command::Open(open)).await;
            assert!(matches!(opened, Ok(Outcome::Opened(_))), "{opened:?}");
            self.store.model.tables().payees.insert(payee(index), payee_facts);
        }
    }

    /// At one host; as if it was not reached when it is down.
    async fn submit(&self, host: usize, command: Command) -> Result<Outcome, LedgerError> {
        let ledger = self.hosts.lock().unwrap()[host].as_ref().map(|host| host.ledger.clone());
        match ledger {
            Some(ledger) => ledger.submit(command).await,
            None => Err(LedgerError::Closed),
        }
    }

    /// Time goes on, and sometimes jumps, though not to another day.
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

    /// Hosts die and come back, and the server goes away for a while.
    async fn trouble(self) {
        loop {
            self.chance.pause(Duration::from_millis(400)).await;
            if self.chance.happens(300) {
                let host = self.chance.pick(HOSTS);
                let died = self.hosts.lock().unwrap()[host].take();
                if let Some(Host { ledger, task }) = died {
                    task.abort();
                    drop(ledger);
                }
                self.chance.pause(Duration::from_secs(3)).await;
                self.restart_missing().await;
            }
            if self.chance.happens(100) {
                self.store.away.store(true, Relaxed);
                // Sometimes longer than anybody waits for it.
                self.chance.pause(Duration::from_secs(if self.chance.happens(200) { 40 } else { 2 })).await;
                self.store.away.store(false, Relaxed);
            }
        }
    }

    async fn client(self, client: usize, complaints: Arc<Mutex<Vec<String>>>) -> Vec<Told> {
        let mut told: Vec<Told> = Vec::new();
        for _ in 0..ORDERS_EACH {
            self.chance.pause(Duration::from_millis(200)).await;
            let from = self.chance.pick(OWNERS.len());
            let mut order = Order {
                transfer_id: Uuid::nil(),
                owner: OWNERS[from].to_owned(),
                // Two clients share few keys, so that both send the same one at once.
                key: self.chance.happens(800).then(|| format!("{}-{}", client / 2, self.chance.pick(12))),
                from_account_id: account(from),
                to_beneficiary_id: payee(from),
                amount: Money::from_minor(1 + self.chance.pick(AMOUNT_MAX) as i64),
                risk: Risk::NotAsked,
            };
            if self.chance.happens(30) {
                order.to_beneficiary_id = payee((from + 2) % OWNERS.len());
            }
            let (attempts, answers) = match timeout(PATIENCE * 8, self.insist(&order)).await {
                Ok(done) => done,
                Err(_) => {
                    complaints.lock().unwrap().push(format!("nobody answers {order:?}"));
                    continue;
                }
            };
            told.push(Told { order, attempts, answers });
        }
        told
    }

    /// Sends an order until it has an answer, sometimes to two hosts at once. One without a key is sent once.
    async fn insist(&self, order: &Order) -> (Vec<Uuid>, Vec<Result<Outcome, LedgerError>>) {
        let (mut attempts, mut answers) = (Vec::new(), Vec::new());
        for _ in 0..RETRIES {
            let copies = if order.key.is_some() && self.chance.happens(200) { 2 } else { 1 };
            let first = self.chance.pick(HOSTS);
            let mut sent = JoinSet::new();
            for copy in 0..copies {
                let order = Order { transfer_id: self.new_id(), ..order.clone() };
                attempts.push(order.transfer_id);
                let world = self.clone();
                sent.spawn(async move { world.submit((first + copy) % HOSTS, Command::Transfer(order)).await });
            }
            // A client that goes away changes nothing.
            if self.chance.happens(50) {
                sleep(self.chance.time(Duration::from_millis(10))).await;
                sent.detach_all();
                if order.key.is_none() {
                    answers.push(Err(LedgerError::Unknown));
                    break;
                }
                continue;
            }
            let mut answered = false;
            while let Some(answer) = sent.join_next().await {
                let answer = answer.unwrap();
                answered |= answer.is_ok();
                answers.push(answer);
            }
            if answered || order.key.is_none() || self.chance.happens(40) {
                break;
            }
            self.chance.pause(Duration::from_secs(4)).await;
        }
        (attempts, answers)
    }

    /// The rail: takes what is pending, and its news go to any host until one takes them in.
    async fn settle_payments(self) {
        let (pushes, mut news) = mpsc::channel::<Push>(1024);
        let behaviour = Behaviour {
            delay: Duration::from_secs(2),
            rejected: 25,
            returned: 20,
            twice: 30,
            late: 10,
            silent: 0,
            disordered: 20,
        };
        let rail = Simulated::new(behaviour, pushes);
        let take_in = async {
            while let Some(Push { tracking_key, news }) = news.recv().await {
                let told = self.clone().tell(tracking_key, news);
                tokio::spawn(told);
            }
        };
        let hand_over = async {
            loop {
                sleep(Duration::from_millis(250)).await;
                for payment in self.pending() {
                    // Taken twice is the same as once.
                    let _ = rail.send(&payment).await;
                }
            }
        };
        tokio::join!(take_in, hand_over);
    }

    fn pending(&self) -> Vec<Payment> {
        let tables = self.store.model.tables();
        let payment = |id: &Uuid| {
            let new = &tables.transfers[id].new;
            let (number, bank) = new.payee.clone().unwrap();
            Payment {
                transfer_id: *id,
                tracking_key: new.transfer.spei_reference.clone().unwrap(),
                amount: new.transfer.amount,
                created_at: new.transfer.created_at,
                sender_number: String::new(),
                sender: new.owner.clone(),
                payee_name: String::new(),
                payee_number: number,
                payee_bank: bank,
            }
        };
        tables.payments.iter().map(payment).collect()
    }

    async fn tell(self, tracking_key: String, news: News) {
        let (report, reason) = match news {
            News::Taken => return,
            News::Settled => (Report::Settled, None),
            News::Rejected(reason) => (Report::Rejected, reason),
            News::Returned(reason) => (Report::Returned, reason),
        };
        let transfer = {
            let tables = self.store.model.tables();
            let mut all = tables.transfers.values().map(|kept| &kept.new.transfer);
            all.find(|transfer| transfer.spei_reference.as_ref() == Some(&tracking_key)).cloned()
        };
        let Some(transfer) = transfer else { return };
        loop {
            let report = PaymentReport {
                transfer_id: transfer.transfer_id,
                account_id: transfer.from_account_id,
                report,
                reason: reason.as_deref().and_then(Reason::parse),
                return_id: self.new_id(),
            };
            match self.submit(self.chance.pick(HOSTS), Command::Report(report)).await {
                Ok(Outcome::Moved(_) | Outcome::Returned | Outcome::Unmoved(_)) => return,
                _ => sleep(self.chance.time(Duration::from_secs(2))).await,
            }
        }
    }
}
