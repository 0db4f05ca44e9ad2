//! A few customers with a limit for a day pay two accounts of the same bank from many accounts and through many hosts.
//! Nobody waits forever, and nobody is turned away.

use std::time::Duration;

use caudal::clock::Clock;
use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::ledger::batch::{AccountFacts, Balance, Payee, Terms};
use caudal::ledger::chain::ChainKey;
use caudal::ledger::{CUSTOMER_STRIPE, Command, FUNDING_ACCOUNT, Jitter, Ledger, LedgerConfig, Order, Outcome, Risk};
use caudal::models::Models;
use time::macros::datetime;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use crate::chance::Chance;
use crate::faulty::{Faulty, Mutation};
use crate::tables::Model;
use crate::world::{KEY, range};

/// Each has two batchers, so eight writers want the same row.
const HOSTS: usize = 4;
/// Accounts that pay.
const PAYERS: usize = 24;
/// Their owners.
const USERS: usize = 6;
const ORDERS_EACH: usize = 6;
/// Simulated. All orders together take a few seconds.
const TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) struct Hot {
    pub(crate) complaints: Vec<String>,
    /// The longest that a payer waited.
    pub(crate) slowest: Duration,
}

pub(crate) async fn run(seed: u64, models: Models, mutation: Option<Mutation>) -> Hot {
    let chance = Chance::new(seed);
    let model = Model::default();
    let clock = Clock::fixed(datetime!(2026-11-21 18:00 UTC));
    let store = Faulty::new(model.clone(), chance.clone(), mutation);
    let merchants = [0, 1].map(|index| Uuid::from_u128(0xE000 + index));
    fill(&model, merchants, clock.now());
    let mut hosts = Vec::new();
    for _ in 0..HOSTS {
        let jitter = Chance::new(chance.pick(usize::MAX >> 12) as u64);
        let per_day_limit = Some(Money::from_minor((PAYERS * ORDERS_EACH) as i64));
        let terms = Terms { on_us: Some(range()), per_day_limit, ..Terms::OPEN };
        let config = LedgerConfig {
            jitter: Jitter::new(move || jitter.fraction()),
            ..LedgerConfig::new(terms, ChainKey::new(KEY).unwrap())
        };
        hosts.push(Ledger::start(store.clone(), models.clone(), clock.clone(), config).await.unwrap().0);
    }
    let mut payers = JoinSet::new();
    for payer in 0..PAYERS {
        let (hosts, chance) = (hosts.clone(), chance.clone());
        payers.spawn(timeout(TIMEOUT, async move { pay(payer, &hosts, &chance).await }));
    }
    let (mut complaints, mut slowest) = (Vec::new(), Duration::ZERO);
    while let Some(paid) = payers.join_next().await {
        match paid.unwrap() {
            Ok(Ok(waited)) => slowest = slowest.max(waited),
            Ok(Err(complaint)) => complaints.push(complaint),
            Err(_) => complaints.push("a payer waits forever".to_owned()),
        }
    }
    let tables = model.tables();
    let received: i64 = merchants.iter().map(|id| tables.balances[&(*id, CUSTOMER_STRIPE)].posted.minor()).sum();
    if complaints.is_empty() && received != (PAYERS * ORDERS_EACH) as i64 {
        complaints.push(format!("the merchants received {received}"));
    }
    Hot { complaints, slowest }
}

fn payer_account(payer: usize) -> Uuid {
    Uuid::from_u128(0xA000 + payer as u128)
}

fn owner(payer: usize) -> String {
    format!("user {}", payer % USERS)
}

/// The payee of a payer at one of the merchants.
fn payee(payer: usize, merchant: usize) -> Uuid {
    Uuid::from_u128(0xB000 + (2 * payer + merchant) as u128)
}

fn fill(model: &Model, merchants: [Uuid; 2], created_at: time::OffsetDateTime) {
    let mut tables = model.tables();
    let accounts = merchants.into_iter().chain((0..PAYERS).map(payer_account));
    for (index, account) in accounts.enumerate() {
        let is_merchant = index < merchants.len();
        let posted = Money::from_minor(if is_merchant { 0 } else { ORDERS_EACH as i64 });
        tables.balances.insert((account, CUSTOMER_STRIPE), Balance { posted, ..Balance::empty(Money::ZERO) });
        let mut number = format!("account {index}");
        if is_merchant {
            let issued = range().pick(index as u128);
            tables.issued.insert(issued, account);
            number = issued.to_string();
        }
        let owner = if is_merchant { format!("merchant {index}") } else { owner(index - merchants.len()) };
        tables.users.entry(owner.clone()).or_default();
        tables.accounts.insert(account, AccountFacts { owner: Some(owner), number, is_issued: false });
    }
    tables
        .accounts
        .insert(FUNDING_ACCOUNT, AccountFacts { owner: None, number: "FUNDING".to_owned(), is_issued: false });
    for payer in 0..PAYERS {
        for merchant in 0..merchants.len() {
            let (owner, name, bank) = (owner(payer), "Shop".to_owned(), "Caudal".to_owned());
            let number = range().pick(merchant as u128).to_string();
            tables.payees.insert(payee(payer, merchant), Payee { owner, name, bank, number, created_at });
        }
    }
}

/// Pays one centavo at a time. Returns the longest wait.
async fn pay(payer: usize, hosts: &[Ledger], chance: &Chance) -> Result<Duration, String> {
    let mut slowest = Duration::ZERO;
    for order in 0..ORDERS_EACH {
        let order = Order {
            transfer_id: Uuid::from_u128(0xC000_0000 + (payer * ORDERS_EACH + order) as u128),
            owner: owner(payer),
            key: None,
            from_account_id: payer_account(payer),
            to_beneficiary_id: payee(payer, chance.pick(2)),
            amount: Money::from_minor(1),
            remittance: Remittance::NONE,
            risk: Risk::NotEnforced,
            risk_decisions: None,
            hold_id: None,
            device: None,
            may_record_refusal: true,
        };
        let asked = Instant::now();
        let outcome = hosts[chance.pick(hosts.len())].submit(Command::Transfer(order)).await;
        slowest = slowest.max(asked.elapsed());
        if !matches!(outcome, Ok(Outcome::Sent { .. })) {
            return Err(format!("a payer was turned away: {outcome:?}"));
        }
    }
    Ok(slowest)
}
