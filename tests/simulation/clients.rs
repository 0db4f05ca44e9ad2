//! The clients of a run: they send, retry, send twice at once, and disconnect; they place holds and capture them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal::domain::money::Money;
use caudal::domain::remittance::Remittance;
use caudal::ledger::{Command, LedgerError, OpenAccount, Order, Outcome, PlaceHold, ReleaseHold, Risk};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::world::{Attempts, HOSTS, OWNERS, Payee, World, account, payee, range};

const ORDERS_EACH: usize = 6;
const AMOUNT_MAX: usize = 12;
/// Orders in a bulk request.
const BULK_LENGTH: usize = 4;
/// Attempts to resend an order without an answer.
const RETRIES: usize = 12;
/// More than all retries of an order may take to be queued, decided and settled.
const TIMEOUT: Duration = Duration::from_secs(960);

impl World {
    pub(crate) async fn client(self, client: usize, complaints: Arc<Mutex<Vec<String>>>) -> Vec<Attempts> {
        let mut all = Vec::new();
        for _ in 0..ORDERS_EACH {
            self.chance.pause(Duration::from_millis(200)).await;
            let order = self.order(client);
            let work = async {
                match self.chance.pick(10) {
                    0 | 1 => self.hold_and_capture(order.clone()).await,
                    2 => self.bulk(client).await,
                    3 => {
                        self.open_account().await;
                        Vec::new()
                    }
                    _ => vec![self.attempt(order.clone(), None).await],
                }
            };
            match timeout(TIMEOUT, work).await {
                Ok(attempts) => all.extend(attempts),
                Err(_) => complaints.lock().unwrap().push(format!("{order:?} is never answered")),
            }
        }
        all
    }

    fn order(&self, client: usize) -> Order {
        let from = self.chance.pick(OWNERS.len());
        let kind = [Payee::Elsewhere, Payee::OnUs, Payee::OnUs, Payee::Typed][self.chance.pick(4)];
        let of = if self.chance.happens(30) { (from + 2) % OWNERS.len() } else { from };
        Order {
            transfer_id: Uuid::nil(),
            owner: OWNERS[from].to_owned(),
            // Two clients share a few keys, so that they send the same one at once.
            key: self.chance.happens(800).then(|| format!("{}-{}", client / 2, self.chance.pick(12))),
            from_account_id: account(from),
            to_beneficiary_id: payee(of, kind),
            amount: Money::from_minor(1 + self.chance.pick(AMOUNT_MAX) as i64),
            remittance: Remittance::NONE,
            risk: Risk::NotEnforced,
            risk_decisions: None,
            hold_id: None,
            device: None,
            may_record_refusal: true,
        }
    }

    async fn attempt(&self, order: Order, lifetime: Option<time::Duration>) -> Attempts {
        let (ids, answers) = self.send_until_answered(&order, lifetime).await;
        Attempts { order, lifetime, ids, answers }
    }

    /// Places a hold, and captures it, voids it or leaves it to expire; sometimes both at once, on two hosts.
    async fn hold_and_capture(&self, order: Order) -> Vec<Attempts> {
        let lifetime = time::Duration::seconds(1 + self.chance.pick(20) as i64);
        let placed = self.attempt(order.clone(), Some(lifetime)).await;
        let hold = placed.answers.iter().find_map(|answer| match answer {
            Ok(Outcome::Held { hold, .. }) => Some(hold.clone()),
            _ => None,
        });
        let mut all = vec![placed];
        let Some(hold) = hold else { return all };
        self.chance.pause(Duration::from_secs(5)).await;
        let part = Money::from_minor(1 + self.chance.pick(AMOUNT_MAX) as i64);
        let capture = |suffix: &str| Order {
            key: order.key.as_ref().map(|key| format!("{key}-{suffix}")),
            amount: if self.chance.happens(500) { hold.amount } else { part },
            hold_id: Some(hold.hold_id),
            ..order.clone()
        };
        let void = async {
            let (hold_id, account_id, owner) = (hold.hold_id, hold.account_id, Some(order.owner.clone()));
            let release = ReleaseHold { hold_id, account_id, owner };
            let _ = self.submit(self.chance.pick(HOSTS), Command::Release(release)).await;
        };
        match self.chance.pick(5) {
            0 => void.await,
            1 => {
                let ((), captured) = tokio::join!(void, self.attempt(capture("a"), None));
                all.push(captured);
            }
            2 | 3 => {
                let (first, second) = tokio::join!(self.attempt(capture("a"), None), self.attempt(capture("b"), None));
                all.extend([first, second]);
            }
            _ => {}
        }
        all
    }

    /// Several orders at once, each with a key of its own.
    async fn bulk(&self, client: usize) -> Vec<Attempts> {
        let order = self.order(client);
        let id = self.new_id();
        let mut sent = JoinSet::new();
        for position in 0..BULK_LENGTH {
            let (world, key) = (self.clone(), Some(format!("bulk-{id}-{position}")));
            let order = Order { key, amount: Money::from_minor(1), ..order.clone() };
            sent.spawn(async move { world.attempt(order, None).await });
        }
        sent.join_all().await
    }

    /// Under one of a few numbers, until it is free or the client gives up.
    async fn open_account(&self) {
        let owner = OWNERS[self.chance.pick(OWNERS.len())].to_owned();
        for _ in 0..3 {
            let issued = range().pick(10 + self.chance.pick(10) as u128);
            let open = OpenAccount {
                account_id: self.new_id(),
                owner: owner.clone(),
                account_number: issued.to_string(),
                issued: Some(issued),
                account_type: "checking".to_owned(),
                opening_credit: Money::ZERO,
                transfer_id: self.new_id(),
            };
            match self.submit(self.chance.pick(HOSTS), Command::Open(open)).await {
                Ok(Outcome::Opened(opened)) => return self.opened.lock().unwrap().push(opened),
                Ok(Outcome::NumberTaken) => {}
                Ok(other) => panic!("an account was to be opened: {other:?}"),
                Err(_) => return,
            }
        }
    }

    /// Sends an order until it is answered, sometimes to two hosts at once. An order without a key is sent once.
    async fn send_until_answered(
        &self,
        order: &Order,
        lifetime: Option<time::Duration>,
    ) -> (Vec<Uuid>, Vec<Result<Outcome, LedgerError>>) {
        let (mut ids, mut answers) = (Vec::new(), Vec::new());
        for _ in 0..RETRIES {
            let copies = if order.key.is_some() && self.chance.happens(200) { 2 } else { 1 };
            let first = self.chance.pick(HOSTS);
            let mut sent = JoinSet::new();
            for copy in 0..copies {
                let order = Order { transfer_id: self.new_id(), ..order.clone() };
                ids.push(order.transfer_id);
                let world = self.clone();
                sent.spawn(async move { world.submit((first + copy) % HOSTS, command(order, lifetime)).await });
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
        let answer = self.submit(self.chance.pick(HOSTS), command(order, attempts.lifetime)).await;
        let is_replay = |answer: &Result<Outcome, LedgerError>| match answer {
            Ok(
                Outcome::Sent { replayed, .. } | Outcome::Held { replayed, .. } | Outcome::Rejected { replayed, .. },
            ) => Some(*replayed),
            _ => None,
        };
        let was_decided = attempts.answers.iter().any(|answer| is_replay(answer).is_some());
        let replayed = is_replay(&answer) == Some(true);
        if answer.is_err() || (was_decided && !replayed) {
            let order = &attempts.order;
            complaints.lock().unwrap().push(format!("{order:?} was sent again and answered with {answer:?}"));
        }
        attempts.answers.push(answer);
    }
}

fn command(order: Order, lifetime: Option<time::Duration>) -> Command {
    match lifetime {
        Some(lifetime) => Command::Hold(PlaceHold { order, lifetime }),
        None => Command::Transfer(order),
    }
}
