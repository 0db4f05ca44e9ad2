//! The clients' log: what they sent and which replies they got.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use uuid::Uuid;

use crate::random::Random;

/// Step between large amounts, in centavos. Small amounts stay below it, so that all amounts of an account differ.
const LARGE_STEP: i64 = 50_000;
/// Steps in the largest amount.
const LARGE_STEPS: u64 = 8;
/// On accounts that run dry, one order in this many is large.
const LARGE_EVERY: u64 = 12;
/// One repeated order in this many may be of any age; the others are recent and may be in flight.
const OLD_EVERY: u64 = 4;
/// How many orders are recent: a few of each client's.
const RECENT: usize = 256;

/// An account that sends, with its owner's token and payees.
pub(crate) struct Sender {
    pub(crate) owner: String,
    pub(crate) authorization: String,
    pub(crate) account: Uuid,
    pub(crate) payees: Vec<Uuid>,
    /// Whether it is meant to run out of money.
    pub(crate) runs_dry: bool,
    /// Number of orders so far.
    pub(crate) orders: AtomicI64,
}

/// A transfer to be made once. Amounts of an account are unique, so that its rows can be found without the ledger's own
/// keys.
pub(crate) struct Order {
    pub(crate) number: usize,
    pub(crate) sender: Arc<Sender>,
    pub(crate) payee: Uuid,
    /// In centavos.
    pub(crate) amount: i64,
    pub(crate) key: Option<String>,
}

/// The reply to one attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The transfer's id.
    Made(Uuid),
    /// For lack of funds.
    Refused,
    /// The key belongs to another order.
    Bound,
    /// Refused for now; nothing changed.
    Untouched,
    /// The service does not know the outcome.
    Unknown,
    None,
}

impl Reply {
    /// In the audit's tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Made(_) => "made",
            Self::Refused => "refused",
            Self::Bound => "bound",
            Self::Untouched => "untouched",
            Self::Unknown => "unknown",
            Self::None => "none",
        }
    }

    /// Whether retrying would change nothing.
    pub(crate) fn is_final(self) -> bool {
        matches!(self, Self::Made(_) | Self::Refused | Self::Bound)
    }
}

/// An order with its replies.
pub(crate) struct OrderLog {
    pub(crate) order: Arc<Order>,
    /// Attempts, those in flight included.
    pub(crate) sends: i64,
    pub(crate) replies: Vec<Reply>,
}

/// The orders of all rounds.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) orders: Vec<OrderLog>,
    /// Number of acknowledged orders.
    pub(crate) acknowledged: usize,
}

impl Log {
    pub(crate) fn add(&mut self, sender: &Arc<Sender>, key: Option<String>, random: &mut Random) -> Arc<Order> {
        let count = sender.orders.fetch_add(1, Relaxed);
        let small = 1 + 2 * count + i64::from(random.one_in(2));
        assert!(small < LARGE_STEP, "too many orders of one account");
        let is_large = sender.runs_dry && random.one_in(LARGE_EVERY);
        let large = if is_large { LARGE_STEP * i64::try_from(1 + random.below(LARGE_STEPS)).unwrap() } else { 0 };
        let payee = *random.pick(&sender.payees);
        let number = self.orders.len();
        let order = Arc::new(Order { number, sender: Arc::clone(sender), payee, amount: large + small, key });
        self.orders.push(OrderLog { order: Arc::clone(&order), sends: 0, replies: Vec::new() });
        order
    }

    /// An order with a key that was sent before or is in flight.
    pub(crate) fn earlier(&self, random: &mut Random) -> Option<Arc<Order>> {
        let recent = if random.one_in(OLD_EVERY) { 0 } else { self.orders.len().saturating_sub(RECENT) };
        let orders = self.orders.get(recent..).filter(|orders| !orders.is_empty())?;
        Some(&random.pick(orders).order).filter(|order| order.key.is_some()).cloned()
    }

    pub(crate) fn sent(&mut self, order: &Order) {
        self.orders[order.number].sends += 1;
    }

    pub(crate) fn received(&mut self, order: &Order, reply: Reply) {
        let log = &mut self.orders[order.number];
        let is_first = !log.replies.iter().any(|reply| matches!(reply, Reply::Made(_)));
        self.acknowledged += usize::from(is_first && matches!(reply, Reply::Made(_)));
        log.replies.push(reply);
    }

    /// Counts the orders from number `from` on.
    pub(crate) fn count(&self, from: usize) -> Counts {
        let mut counts = Counts::default();
        for OrderLog { replies, .. } in &self.orders[from..] {
            let made = replies.iter().filter(|reply| matches!(reply, Reply::Made(_))).count();
            let is_settled = replies.iter().any(|reply| reply.is_final());
            let was_unknown = replies.iter().any(|reply| !reply.is_final());
            counts.acknowledged += usize::from(made > 0);
            counts.replayed += made.saturating_sub(1);
            counts.refused += usize::from(replies.contains(&Reply::Refused));
            counts.bound += usize::from(replies.contains(&Reply::Bound));
            counts.lost += replies.iter().filter(|reply| **reply == Reply::None).count();
            counts.resolved += usize::from(was_unknown && is_settled);
            counts.given_up += usize::from(!is_settled);
        }
        counts
    }
}

/// Orders of a round, unless stated otherwise.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) acknowledged: usize,
    /// For lack of funds.
    pub(crate) refused: usize,
    /// With another order's key.
    pub(crate) bound: usize,
    /// Attempts without a reply.
    pub(crate) lost: usize,
    /// First without a final reply, later with one.
    pub(crate) resolved: usize,
    /// Without a final reply at the end.
    pub(crate) given_up: usize,
    /// Repeated acknowledgements.
    pub(crate) replayed: usize,
}
