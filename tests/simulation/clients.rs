//! The clients of a run: they send, retry, send twice at once, and disconnect.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal::domain::money::Money;
use caudal::ledger::{Command, LedgerError, Order, Outcome, Risk};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::world::{Attempts, HOSTS, OWNERS, World, account, payee};

const ORDERS_EACH: usize = 6;
const AMOUNT_MAX: usize = 12;
/// Attempts to resend an order without an answer.
const RETRIES: usize = 12;
/// More than all retries of an order may take to be queued, decided and settled.
const TIMEOUT: Duration = Duration::from_secs(960);

impl World {
    pub(crate) async fn client(self, client: usize, complaints: Arc<Mutex<Vec<String>>>) -> Vec<Attempts> {
        let mut all = Vec::new();
        for _ in 0..ORDERS_EACH {
            self.chance.pause(Duration::from_millis(200)).await;
            let from = self.chance.pick(OWNERS.len());
            let mut order = Order {
                transfer_id: Uuid::nil(),
                owner: OWNERS[from].to_owned(),
                // Two clients share a few keys, so that they send the same one at once.
                key: self.chance.happens(800).then(|| format!("{}-{}", client / 2, self.chance.pick(12))),
                from_account_id: account(from),
                to_beneficiary_id: payee(from),
                amount: Money::from_minor(1 + self.chance.pick(AMOUNT_MAX) as i64),
                risk: Risk::NotEnforced,
            };
            if self.chance.happens(30) {
                order.to_beneficiary_id = payee((from + 2) % OWNERS.len());
            }
            let (ids, answers) = match timeout(TIMEOUT, self.send_until_answered(&order)).await {
                Ok(result) => result,
                Err(_) => {
                    complaints.lock().unwrap().push(format!("{order:?} is never answered"));
                    continue;
                }
            };
            all.push(Attempts { order, ids, answers });
        }
        all
    }

    /// Sends an order until it is answered, sometimes to two hosts at once. An order without a key is sent once.
    async fn send_until_answered(&self, order: &Order) -> (Vec<Uuid>, Vec<Result<Outcome, LedgerError>>) {
        let (mut ids, mut answers) = (Vec::new(), Vec::new());
        for _ in 0..RETRIES {
            let copies = if order.key.is_some() && self.chance.happens(200) { 2 } else { 1 };
            let first = self.chance.pick(HOSTS);
            let mut sent = JoinSet::new();
            for copy in 0..copies {
                let order = Order { transfer_id: self.new_id(), ..order.clone() };
                ids.push(order.transfer_id);
                let world = self.clone();
                sent.spawn(async move { world.submit((first + copy) % HOSTS, Command::Transfer(order)).await });
            }
            // The client disconnects.
            if self.chance.happens(50) {
                sleep(self.chance.duration(Duration::from_millis(10))).await;
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
        (ids, answers)
    }

    /// Once there are no more faults, every key has an answer: the recorded one, if there is one.
    pub(crate) async fn send_again(&self, attempts: &mut Attempts, complaints: &Mutex<Vec<String>>) {
        if attempts.order.key.is_none() {
            return;
        }
        let order = Order { transfer_id: self.new_id(), ..attempts.order.clone() };
        attempts.ids.push(order.transfer_id);
        let answer = self.submit(self.chance.pick(HOSTS), Command::Transfer(order)).await;
        let was_decided =
            attempts.answers.iter().any(|answer| matches!(answer, Ok(Outcome::Sent { .. } | Outcome::Rejected { .. })));
        let replayed =
            matches!(&answer, Ok(Outcome::Sent { replayed, .. } | Outcome::Rejected { replayed, .. }) if *replayed);
        if answer.is_err() || (was_decided && !replayed) {
            let order = &attempts.order;
            complaints.lock().unwrap().push(format!("{order:?} was sent again and answered with {answer:?}"));
        }
        attempts.answers.push(answer);
    }
}
