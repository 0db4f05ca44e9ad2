//! What clients sent and what they were told: all that the audit knows of the service's side.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use uuid::Uuid;

use super::random::Random;

/// Step between large amounts, in centavos. Small ones stay below it, so that no two amounts of an account are equal.
const LARGE_STEP: i64 = 50_000;
/// Large amounts have up to so many steps.
const LARGE_STEPS: u64 = 8;
/// One order in so many is large, on the accounts that are to run dry.
const LARGE_EVERY: u64 = 12;
/// One repeated order in so many is from any time; the others were just sent, and may be under way.
const OLD_EVERY: u64 = 4;
/// How many orders count as just sent: a few of each client's.
const RECENT: usize = 256;

/// An account that sends, with its owner's token and payees.
pub(crate) struct Sender {
    pub(crate) owner: String,
    pub(crate) authorization: String,
    pub(crate) account: Uuid,
    pub(crate) payees: Vec<Uuid>,
    /// Whether it is to run out of money.
    pub(crate) runs_dry: bool,
    /// Orders so far.
    pub(crate) orders: AtomicI64,
}

/// One transfer that somebody wants made once. No other of its account has its amount: by account and amount
/// its rows are found without asking the ledger's own keys.
pub(crate) struct Order {
    pub(crate) number: usize,
    pub(crate) sender: Arc<Sender>,
    pub(crate) payee: Uuid,
    /// In centavos.
    pub(crate) amount: i64,
    pub(crate) key: Option<String>,
}

/// How one attempt ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// Made, under this id.
    Made(Uuid),
    /// Refused for lack of funds.
    Refused,
    /// The key belongs to another order.
    Bound,
    /// Not now, and nothing was changed.
    Untouched,
    /// The service itself does not know.
    Unknown,
    /// No answer came.
    Silence,
}

impl Said {
    /// As the audit knows it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Made(_) => "made",
            Self::Refused => "refused",
            Self::Bound => "bound",
            Self::Untouched => "untouched",
            Self::Unknown => "unknown",
            Self::Silence => "silence",
        }
    }

    /// Whether there is nothing left to ask.
    pub(crate) fn is_final(self) -> bool {
        matches!(self, Self::Made(_) | Self::Refused | Self::Bound)
    }
}

/// An order and all that became of it.
pub(crate) struct Logged {
    pub(crate) order: Arc<Order>,
    /// Attempts, also those under way.
    pub(crate) sends: i64,
    pub(crate) said: Vec<Said>,
}

/// Every order of every round.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) orders: Vec<Logged>,
    /// Orders that were acknowledged.
    pub(crate) acknowledged: usize,
}

impl Log {
    /// A new order; with a key or, given none, without.
    pub(crate) fn add(&mut self, sender: &Arc<Sender>, key: Option<String>, random: &mut Random) -> Arc<Order> {
        let count = sender.orders.fetch_add(1, Relaxed);
        let small = 1 + 2 * count + i64::from(random.one_in(2));
        assert!(small < LARGE_STEP, "too many orders of one account");
        let is_large = sender.runs_dry && random.one_in(LARGE_EVERY);
        let large = if is_large { LARGE_STEP * i64::try_from(1 + random.below(LARGE_STEPS)).unwrap() } else { 0 };
        let payee = *random.pick(&sender.payees);
        let number = self.orders.len();
        let order = Arc::new(Order { number, sender: Arc::clone(sender), payee, amount: large + small, key });
        self.orders.push(Logged { order: Arc::clone(&order), sends: 0, said: Vec::new() });
        order
    }

    /// An order with a key that somebody sent or is sending.
    pub(crate) fn earlier(&self, random: &mut Random) -> Option<Arc<Order>> {
        let recent = if random.one_in(OLD_EVERY) { 0 } else { self.orders.len().saturating_sub(RECENT) };
        let orders = self.orders.get(recent..).filter(|orders| !orders.is_empty())?;
        Some(&random.pick(orders).order).filter(|order| order.key.is_some()).cloned()
    }

    pub(crate) fn sent(&mut self, order: &Order) {
        self.orders[order.number].sends += 1;
    }

    pub(crate) fn heard(&mut self, order: &Order, said: Said) {
        let logged = &mut self.orders[order.number];
        let is_first = !logged.said.iter().any(|said| matches!(said, Said::Made(_)));
        self.acknowledged += usize::from(is_first && matches!(said, Said::Made(_)));
        logged.said.push(said);
    }

    /// What became of the orders from this one on.
    pub(crate) fn count(&self, from: usize) -> Counts {
        let mut counts = Counts::default();
        for Logged { said, .. } in &self.orders[from..] {
            let made = said.iter().filter(|said| matches!(said, Said::Made(_))).count();
            let is_settled = said.iter().any(|said| said.is_final());
            let was_unknown = said.iter().any(|said| !said.is_final());
            counts.acknowledged += usize::from(made > 0);
            counts.replayed += made.saturating_sub(1);
            counts.refused += usize::from(said.contains(&Said::Refused));
            counts.bound += usize::from(said.contains(&Said::Bound));
            counts.lost += said.iter().filter(|said| **said == Said::Silence).count();
            counts.resolved += usize::from(was_unknown && is_settled);
            counts.given_up += usize::from(!is_settled);
        }
        counts
    }
}

/// What became of the orders of a round.
#[derive(Default)]
pub(crate) struct Counts {
    /// Orders that were made, as somebody was told.
    pub(crate) acknowledged: usize,
    /// Orders refused for lack of funds.
    pub(crate) refused: usize,
    /// Orders whose key belongs to another one.
    pub(crate) bound: usize,
    /// Attempts that got no answer at all.
    pub(crate) lost: usize,
    /// Orders that had an attempt without a clear answer, and later a clear one.
    pub(crate) resolved: usize,
    /// Orders without a clear answer at the end.
    pub(crate) given_up: usize,
    /// Answers that told once more what was told before.
    pub(crate) replayed: usize,
}
