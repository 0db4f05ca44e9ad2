//! The clients' side of a run: they send, repeat, send twice at once, and go away.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal::domain::money::Money;
use caudal::ledger::{Command, LedgerError, Order, Outcome, Risk};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::world::{HOSTS, OWNERS, Told, World, account, payee};

const ORDERS_EACH: usize = 6;
/// Largest amount of an order.
const AMOUNT_MAX: usize = 12;
/// How often a client repeats an order that got no answer.
const RETRIES: usize = 12;
/// An order that takes longer hangs: longer than all of its repetitions may wait, be decided and be settled.
const PATIENCE: Duration = Duration::from_secs(960);

impl World {
    pub(crate) async fn client(self, client: usize, complaints: Arc<Mutex<Vec<String>>>) -> Vec<Told> {
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
            let (attempts, answers) = match timeout(PATIENCE, self.insist(&order)).await {
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
                sent.shutdown().await;
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

    /// In calm weather every key has its answer: the first one, if there was one.
    pub(crate) async fn ask_again(&self, told: &mut Told, complaints: &Mutex<Vec<String>>) {
        if told.order.key.is_none() {
            return;
        }
        let order = Order { transfer_id: self.new_id(), ..told.order.clone() };
        told.attempts.push(order.transfer_id);
        let answer = self.submit(self.chance.pick(HOSTS), Command::Transfer(order)).await;
        let was_decided =
            told.answers.iter().any(|answer| matches!(answer, Ok(Outcome::Sent { .. } | Outcome::Rejected { .. })));
        let replayed =
            matches!(&answer, Ok(Outcome::Sent { replayed, .. } | Outcome::Rejected { replayed, .. }) if *replayed);
        if answer.is_err() || (was_decided && !replayed) {
            let order = &told.order;
            complaints.lock().unwrap().push(format!("{order:?} is asked again and answered with {answer:?}"));
        }
        told.answers.push(answer);
    }
}
