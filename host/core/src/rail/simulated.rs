//! A stand-in for SPEI: slow, rejecting some payments with SPEI's own reasons and returning some after they settled,
//! with notifications that are duplicated, late, out of order or missing.
//!
//! A payment's outcome is a function of its tracking key alone, so it is the same after a restart.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::anyhow;
use sha2::{Digest as _, Sha256};
use time::Date;
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    Direction, Incoming, IncomingOrder, IncomingStatus, Line, Notification, Notifications, OrderKey, Page, Payment,
    PaymentStatus, Rail, RailError, RailFuture,
};
use crate::domain::banks;
use crate::domain::money::Money;

/// SPEI's return reasons that concern the payee's account: nonexistent, blocked, closed, in another currency,
/// at another bank, over its limit, a payment that its owner does not recognise.
const REASONS: [&str; 7] = ["01", "02", "03", "05", "06", "20", "13"];

/// Factor on the delay of a late payment.
const LATE_FACTOR: u32 = 10;

/// Payments remembered, and orders to this bank. A forgotten payment is sent again, with the same outcome.
const REMEMBERED_MAX: usize = 100_000;

/// Sends what no known institution does: BBVA's code.
pub const INSTITUTION: u32 = 40_012;

/// Orders in a page of the list of a day.
const PAGE_LENGTH: usize = 500;

/// Shares are percentages of payments.
#[derive(Debug, Clone, Copy)]
pub struct Behaviour {
    /// Longest time until a payment is settled or rejected, unless it is late.
    pub delay: Duration,
    pub rejected: u8,
    /// Share of those that settle.
    pub returned: u8,
    /// Notified twice.
    pub twice: u8,
    pub late: u8,
    /// Never notified, only found by inquiry.
    pub silent: u8,
    /// Notified in the wrong order if returned, otherwise contradicted later.
    pub disordered: u8,
    /// Followed by an order of the payee's to the sender, for half the amount, where the bank issued the sender's number.
    pub answered: u8,
}

impl Behaviour {
    /// An ordinary day: most payments settle within two seconds, a few are rejected, very few returned.
    pub const ORDINARY: Self = Self {
        delay: Duration::from_secs(2),
        rejected: 5,
        returned: 1,
        twice: 2,
        late: 1,
        silent: 1,
        disordered: 1,
        answered: 0,
    };
}

/// Future statuses of a payment.
type Plan = Vec<(Instant, PaymentStatus)>;

#[derive(Clone)]
pub struct Simulated {
    behaviour: Behaviour,
    notifications: Notifications,
    /// Keyed by tracking key.
    payments: Arc<Mutex<BTreeMap<String, (Payment, Plan)>>>,
    orders: Arc<Mutex<BTreeMap<OrderKey, Incoming>>>,
}

impl Simulated {
    pub fn new(behaviour: Behaviour, notifications: Notifications) -> Self {
        Self { behaviour, notifications, payments: Arc::default(), orders: Arc::default() }
    }

    /// Takes an order to this bank, and notifies the bank of it. An order with the same key is already there.
    pub async fn receive(&self, order: IncomingOrder) {
        let key = order.key();
        {
            let mut orders = lock(&self.orders);
            if orders.len() >= REMEMBERED_MAX {
                orders.pop_first();
            }
            orders.entry(key.clone()).or_insert(Incoming { order, status: IncomingStatus::Received });
        }
        // The receiver is dropped when the host shuts down.
        let _ = self.notifications.send(Notification::Incoming(key)).await;
    }

    fn accept(&self, payment: &Payment) {
        let tracking_key = &payment.tracking_key;
        let mut payments = lock(&self.payments);
        if payments.contains_key(tracking_key) {
            return;
        }
        if payments.len() >= REMEMBERED_MAX {
            payments.pop_first();
        }
        if let Some(order) = answer(&self.behaviour, payment) {
            let (rail, delay) = (self.clone(), self.behaviour.delay);
            tokio::spawn(async move {
                sleep(delay).await;
                rail.receive(order).await;
            });
        }
        let (plan, silent) = plan(&self.behaviour, tracking_key);
        let now = Instant::now();
        let plan: Plan = plan.into_iter().map(|(after, status)| (now + after, status)).collect();
        payments.insert(tracking_key.to_owned(), (payment.clone(), plan.clone()));
        if !silent {
            let (notifications, tracking_key) = (self.notifications.clone(), tracking_key.to_owned());
            tokio::spawn(async move {
                for (at, status) in plan {
                    sleep_until(at).await;
                    // The receiver is dropped when the host shuts down.
                    let tracking_key = tracking_key.clone();
                    let _ = notifications.send(Notification::Payment { tracking_key, status }).await;
                }
            });
        }
    }
}

/// A random number of a payment's.
fn number(tracking_key: &str, part: usize) -> u32 {
    let random: [u8; 32] = Sha256::digest(tracking_key.as_bytes()).into();
    u32::from(u16::from_be_bytes([random[2 * part], random[2 * part + 1]]))
}

/// The order that follows a payment, if one does.
fn answer(behaviour: &Behaviour, payment: &Payment) -> Option<IncomingOrder> {
    let payee_number = payment.sender_number.clone()?;
    let amount = Money::from_minor(payment.amount.minor() / 2);
    let is_answered = number(&payment.tracking_key, 8) % 100 < u32::from(behaviour.answered);
    (is_answered && amount > Money::ZERO).then(|| IncomingOrder {
        tracking_key: payment.tracking_key.replacen("CAUD", "SIMR", 1),
        operating_date: payment.operating_date,
        institution: payment.payee_number.get(..3).and_then(banks::institution).unwrap_or(INSTITUTION),
        amount,
        payer_name: Some(payment.payee_name.clone()),
        payer_number: Some(payment.payee_number.clone()),
        payee_name: payment.sender_name.clone(),
        payee_number,
        remittance: payment.remittance.clone(),
    })
}

/// A payment's future statuses, and whether they are only found by inquiry.
fn plan(behaviour: &Behaviour, tracking_key: &str) -> (Vec<(Duration, PaymentStatus)>, bool) {
    let number = |part: usize| number(tracking_key, part);
    let happens = |part: usize, percent: u8| number(part) % 100 < u32::from(percent);
    let reason = |part: usize| Some(REASONS[number(part) as usize % REASONS.len()].to_owned());
    let mut delay = behaviour.delay.mul_f64(f64::from(number(0)) / f64::from(u16::MAX));
    if happens(1, behaviour.late) {
        delay *= LATE_FACTOR;
    }
    let rejected = || PaymentStatus::Rejected(reason(3));
    let first = if happens(2, behaviour.rejected) { rejected() } else { PaymentStatus::Settled };
    let is_returned = first == PaymentStatus::Settled && happens(4, behaviour.returned);
    let is_disordered = happens(5, behaviour.disordered);
    let mut plan = match (is_returned, is_disordered) {
        (true, false) => vec![(delay, first), (delay * 2, PaymentStatus::Returned(reason(3)))],
        // The return overtakes the settlement, so the payment never settles here.
        (true, true) => vec![(delay, PaymentStatus::Returned(reason(3))), (delay * 2, first)],
        (false, false) => vec![(delay, first)],
        (false, true) => {
            let opposite = if first == PaymentStatus::Settled { rejected() } else { PaymentStatus::Settled };
            vec![(delay, first), (delay * 2, opposite)]
        }
    };
    if happens(6, behaviour.twice) {
        plan = plan.into_iter().flat_map(|step| [step.clone(), step]).collect();
    }
    (plan, happens(7, behaviour.silent))
}

impl Rail for Simulated {
    fn send<'a>(&'a self, payment: &'a Payment) -> RailFuture<'a, PaymentStatus> {
        Box::pin(async move {
            self.accept(payment);
            Ok(PaymentStatus::Accepted)
        })
    }

    fn find<'a>(&'a self, payment: &'a Payment) -> RailFuture<'a, Option<PaymentStatus>> {
        Box::pin(async move {
            let payments = lock(&self.payments);
            Ok(payments.get(&payment.tracking_key).map(|(_, plan)| status(plan)))
        })
    }

    fn find_incoming<'a>(&'a self, key: &'a OrderKey) -> RailFuture<'a, Option<Incoming>> {
        Box::pin(async move { Ok(lock(&self.orders).get(key).cloned()) })
    }

    fn return_order<'a>(&'a self, order: &'a IncomingOrder, reason: &'a str) -> RailFuture<'a, PaymentStatus> {
        Box::pin(async move {
            let mut orders = lock(&self.orders);
            let incoming = orders.get_mut(&order.key());
            let incoming = incoming.ok_or_else(|| RailError::Undecided(anyhow!("there is no such order")))?;
            if incoming.status == IncomingStatus::Received {
                incoming.status = IncomingStatus::Returned(Some(reason.to_owned()));
            }
            Ok(PaymentStatus::Returned(Some(reason.to_owned())))
        })
    }

    fn list(&self, date: Date, direction: Direction, page: u32) -> RailFuture<'_, Page> {
        Box::pin(async move {
            let lines: Vec<Line> = match direction {
                Direction::Sent => {
                    let payments = lock(&self.payments);
                    let of_day = payments.values().filter(|(payment, _)| payment.operating_date == date);
                    of_day.map(|(payment, plan)| sent(payment, status(plan))).collect()
                }
                Direction::Received => {
                    let orders = lock(&self.orders);
                    orders.values().filter(|it| it.order.operating_date == date).cloned().map(Line::Received).collect()
                }
            };
            let first = usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(PAGE_LENGTH);
            let is_last = lines.len() <= first.saturating_add(PAGE_LENGTH);
            Ok(Page { lines: lines.into_iter().skip(first).take(PAGE_LENGTH).collect(), is_last })
        })
    }
}

/// The first status counts, as it does with notifications.
fn status(plan: &Plan) -> PaymentStatus {
    let first = plan.first().filter(|(at, _)| *at <= Instant::now());
    first.map_or(PaymentStatus::Accepted, |(_, status)| status.clone())
}

fn sent(payment: &Payment, status: PaymentStatus) -> Line {
    let Payment { tracking_key, amount, sender_number, payee_name, payee_number, .. } = payment.clone();
    Line::Sent { tracking_key, amount, sender_number, payee_name: Some(payee_name), payee_number, status }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_respected_and_plans_are_deterministic() {
        let behaviour = Behaviour {
            rejected: 20,
            returned: 10,
            twice: 30,
            late: 0,
            silent: 5,
            disordered: 0,
            ..Behaviour::ORDINARY
        };
        let mut counts = [0_usize; 4];
        for number in 0..10_000 {
            let key = format!("CAUD{number}");
            let (steps, silent) = plan(&behaviour, &key);
            assert_eq!((steps.clone(), silent), plan(&behaviour, &key));
            assert!(steps.iter().all(|(after, _)| *after <= behaviour.delay * 2));
            counts[0] += usize::from(matches!(steps[0].1, PaymentStatus::Rejected(Some(_))));
            counts[1] += usize::from(steps.iter().any(|(_, status)| matches!(status, PaymentStatus::Returned(_))));
            counts[2] += usize::from(steps.len() > 1 && steps[0] == steps[1]);
            counts[3] += usize::from(silent);
        }
        // Ten percent of the eighty that settle.
        for (count, expected) in counts.into_iter().zip([2_000, 800, 3_000, 500]) {
            assert!(count.abs_diff(expected) < expected / 5, "{counts:?}");
        }
    }
}
