//! A stand-in for SPEI: it takes its time, refuses some payments with SPEI's own reasons, sends some back after
//! they settled, and tells of all that twice, late, in the wrong order, or not before it is asked.
//!
//! What becomes of a payment follows from its tracking key alone, so it is the same after a restart.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep_until};

use super::{Answer, News, Payment, Push, Pushes, Rail};

/// Reasons for sending money back that fit an account at another bank: none such, blocked, closed, another
/// currency, not of that bank, over its limit, refused by its owner.
const REASONS: [&str; 7] = ["01", "02", "03", "05", "06", "20", "26"];

/// A payment that is late takes so many times as long as others may.
const LATE_FACTOR: u32 = 10;

/// Payments that are remembered. One that was forgotten is sent once more, with the same end.
const REMEMBERED_MAX: usize = 100_000;

/// How it behaves. Shares are of a hundred payments.
#[derive(Debug, Clone, Copy)]
pub struct Behaviour {
    /// Longest time until a payment is decided that is not late.
    pub delay: Duration,
    /// How many are refused.
    pub rejected: u8,
    /// Of those that settle, how many come back.
    pub returned: u8,
    /// How many are told of twice.
    pub twice: u8,
    /// How many are late.
    pub late: u8,
    /// How many are told of only when somebody asks.
    pub silent: u8,
    /// Of those that come back, how many are told of in the wrong order; of the others, how many are contradicted
    /// later.
    pub disordered: u8,
}

impl Behaviour {
    /// Like a working day: most within a second or two, a few refused, hardly any sent back.
    pub const ORDINARY: Self =
        Self { delay: Duration::from_secs(2), rejected: 5, returned: 1, twice: 2, late: 1, silent: 1, disordered: 1 };
}

/// When what will be told of a payment.
type Plan = Vec<(Instant, News)>;

/// The rail.
#[derive(Clone)]
pub struct Simulated {
    behaviour: Behaviour,
    pushes: Pushes,
    /// By tracking key: when each of its news is due.
    taken: Arc<Mutex<BTreeMap<String, Plan>>>,
}

impl Simulated {
    /// A rail that puts its news into `pushes`.
    pub fn new(behaviour: Behaviour, pushes: Pushes) -> Self {
        Self { behaviour, pushes, taken: Arc::default() }
    }

    fn take(&self, tracking_key: &str) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.contains_key(tracking_key) {
            return;
        }
        if taken.len() >= REMEMBERED_MAX {
            taken.pop_first();
        }
        let (plan, silent) = plan(&self.behaviour, tracking_key);
        let now = Instant::now();
        let due: Plan = plan.into_iter().map(|(after, news)| (now + after, news)).collect();
        taken.insert(tracking_key.to_owned(), due.clone());
        if !silent {
            let (pushes, tracking_key) = (self.pushes.clone(), tracking_key.to_owned());
            tokio::spawn(async move {
                for (at, news) in due {
                    sleep_until(at).await;
                    // Nobody listens any more when the host goes down.
                    let _ = pushes.send(Push { tracking_key: tracking_key.clone(), news }).await;
                }
            });
        }
    }
}

/// What will be told of a payment and when, and whether only to those who ask.
fn plan(behaviour: &Behaviour, tracking_key: &str) -> (Vec<(Duration, News)>, bool) {
    let random: [u8; 32] = Sha256::digest(tracking_key.as_bytes()).into();
    let number = |part: usize| u32::from(u16::from_be_bytes([random[2 * part], random[2 * part + 1]]));
    let is = |part: usize, percent: u8| number(part) % 100 < u32::from(percent);
    let reason = |part: usize| Some(REASONS[number(part) as usize % REASONS.len()].to_owned());
    let mut delay = behaviour.delay.mul_f64(f64::from(number(0)) / f64::from(u16::MAX));
    if is(1, behaviour.late) {
        delay *= LATE_FACTOR;
    }
    let end = if is(2, behaviour.rejected) { News::Rejected(reason(3)) } else { News::Settled };
    let comes_back = end == News::Settled && is(4, behaviour.returned);
    let disordered = is(5, behaviour.disordered);
    let mut plan = match (comes_back, disordered) {
        (true, false) => vec![(delay, end), (delay * 2, News::Returned(reason(3)))],
        // The return is heard of first: then the payment never settled here.
        (true, true) => vec![(delay, News::Returned(reason(3))), (delay * 2, end)],
        (false, false) => vec![(delay, end)],
        (false, true) => {
            let opposite = if end == News::Settled { News::Rejected(reason(3)) } else { News::Settled };
            vec![(delay, end), (delay * 2, opposite)]
        }
    };
    if is(6, behaviour.twice) {
        plan = plan.into_iter().flat_map(|told| [told.clone(), told]).collect();
    }
    (plan, is(7, behaviour.silent))
}

impl Rail for Simulated {
    fn send<'a>(&'a self, payment: &'a Payment) -> Answer<'a, News> {
        Box::pin(async move {
            self.take(&payment.tracking_key);
            Ok(News::Taken)
        })
    }

    fn find<'a>(&'a self, payment: &'a Payment) -> Answer<'a, Option<News>> {
        Box::pin(async move {
            let now = Instant::now();
            let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(due) = taken.get(&payment.tracking_key) else { return Ok(None) };
            // The first of them decides, as it would have if it had been told.
            Ok(Some(due.first().filter(|(at, _)| *at <= now).map_or(News::Taken, |(_, news)| news.clone())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_kept_and_a_key_has_one_plan() {
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
            let (news, silent) = plan(&behaviour, &key);
            assert_eq!((news.clone(), silent), plan(&behaviour, &key));
            assert!(news.iter().all(|(after, _)| *after <= behaviour.delay * 2));
            counts[0] += usize::from(matches!(news[0].1, News::Rejected(Some(_))));
            counts[1] += usize::from(news.iter().any(|(_, news)| matches!(news, News::Returned(_))));
            counts[2] += usize::from(news.len() > 1 && news[0] == news[1]);
            counts[3] += usize::from(silent);
        }
        // Ten percent of the eighty that settle.
        for (count, expected) in counts.into_iter().zip([2_000, 800, 3_000, 500]) {
            assert!(count.abs_diff(expected) < expected / 5, "{counts:?}");
        }
    }
}
