//! What users sent lately otherwise than on record, as the facts on a risk count it.
//!
//! Those facts were kept as they were, so a fork adds what it did otherwise. What a payee does with its money stays as it was
//! kept.

use std::collections::HashMap;

use time::{Duration, OffsetDateTime};

use super::books::Books;
use super::course::Course;
use crate::domain::account_number::normalise;
use crate::domain::clabe::Clabe;
use crate::domain::money::Money;
use crate::domain::risk::Request;
use crate::ledger::batch::Context;
use crate::ledger::command::{Command, Order};
use crate::ledger::tables::Tables as _;

/// How much more of each there is than on record.
#[derive(Clone, Copy, Default)]
struct More {
    transfers: i64,
    minor: i64,
    refusals: i64,
    /// The most that only the fork sent.
    largest: Money,
}

impl More {
    fn amount(self, total: &mut f64) {
        // Whole centavos.
        let minor = (*total * 100.0).round() + Money::from_minor(self.minor).to_f64() * 100.0;
        *total = minor.max(0.0).round() / 100.0;
    }
}

fn count(count: &mut u32, more: i64) {
    *count = u32::try_from((i64::from(*count) + more).max(0)).unwrap_or(u32::MAX);
}

/// Sums since the beginning, by when they changed.
#[derive(Default)]
struct Sums(Vec<(OffsetDateTime, More)>);

impl Sums {
    fn last(&self) -> More {
        self.0.last().map(|(_, sum)| *sum).unwrap_or_default()
    }

    fn add(&mut self, at: OffsetDateTime, more: More) {
        let sum = self.last();
        let sum = More {
            transfers: sum.transfers + more.transfers,
            minor: sum.minor.saturating_add(more.minor),
            refusals: sum.refusals + more.refusals,
            largest: sum.largest.max(more.largest),
        };
        // A clock that was set back does not change their order.
        let at = self.0.last().map_or(at, |(last, _)| at.max(*last));
        self.0.push((at, sum));
    }

    fn since(&self, from: OffsetDateTime) -> More {
        let before = self.0.partition_point(|(at, _)| *at < from);
        let (before, sum) = (before.checked_sub(1).map(|it| self.0[it].1).unwrap_or_default(), self.last());
        More {
            transfers: sum.transfers - before.transfers,
            minor: sum.minor.saturating_sub(before.minor),
            refusals: sum.refusals - before.refusals,
            largest: sum.largest,
        }
    }
}

/// By sender, and by sender and payee.
#[derive(Default)]
pub(super) struct Recent(HashMap<(String, Option<String>), Sums>);

impl Recent {
    /// Adds what a batch did otherwise.
    pub(super) fn note(
        &mut self,
        commands: &[Command],
        courses: &[(Course, Course)],
        (books, context): (&Books, &Context),
    ) {
        for (command, (before, after)) in commands.iter().zip(courses) {
            let Some(order) = command.order().filter(|_| before.is_refused() != after.is_refused()) else { continue };
            let is_more = !after.is_refused();
            let sign = if is_more { 1 } else { -1 };
            // Without a key no refusal is kept.
            let refusals = if order.key.is_some() { -sign } else { 0 };
            let refused = More { refusals, ..More::default() };
            let sent = More {
                transfers: sign,
                minor: sign * order.amount.minor(),
                largest: if is_more { order.amount } else { Money::ZERO },
                refusals,
            };
            let is_transfer = matches!(command, Command::Transfer(_));
            let to_others = if is_transfer && !is_to_oneself(books, order) { sent } else { refused };
            let mut add = |payee, more| self.0.entry((order.owner.clone(), payee)).or_default().add(context.now, more);
            add(None, to_others);
            if is_transfer {
                add(Some(payee(books, order)), sent);
            }
        }
    }

    /// What the fork would have asked about an order instead of what was kept. Facts that were not kept stay unknown.
    pub(super) fn complete(&self, mut kept: Request, order: &Order, books: &Books, now: OffsetDateTime) -> Request {
        let Some(sent) = self.0.get(&(order.owner.clone(), None)) else { return kept };
        let none = Sums::default();
        let to_payee = self.0.get(&(order.owner.clone(), Some(payee(books, order)))).unwrap_or(&none);
        let it = &mut kept;
        let (hour, day) = (Duration::hours(1), Duration::days(1));
        for (sums, window, transfers, total) in [
            (sent, hour, &mut it.sent_count_1h, &mut it.sent_amount_1h),
            (sent, day, &mut it.sent_count_24h, &mut it.sent_amount_24h),
            (sent, 7 * day, &mut it.sent_count_7d, &mut it.sent_amount_7d),
            (sent, 30 * day, &mut it.sent_count_30d, &mut it.sent_amount_30d),
            (to_payee, hour, &mut it.to_payee_count_1h, &mut it.to_payee_amount_1h),
            (to_payee, day, &mut it.to_payee_count_24h, &mut it.to_payee_amount_24h),
            (to_payee, 7 * day, &mut it.to_payee_count_7d, &mut it.to_payee_amount_7d),
            (to_payee, 30 * day, &mut it.to_payee_count_30d, &mut it.to_payee_amount_30d),
        ] {
            if let (Some(transfers), Some(total)) = (transfers, total) {
                let more = sums.since(now - window);
                count(transfers, more.transfers);
                more.amount(total);
            }
        }
        if let Some(refusals) = &mut kept.refusals_1h {
            count(refusals, sent.since(now - hour).refusals);
        }
        let ever = sent.last();
        let mut total = kept.avg_transaction_amount * f64::from(kept.num_past_transactions);
        count(&mut kept.num_past_transactions, ever.transfers);
        ever.amount(&mut total);
        kept.avg_transaction_amount = total / f64::from(kept.num_past_transactions.max(1));
        // What else was the most is not known once that was not sent.
        kept.max_transaction_amount = kept.max_transaction_amount.max(ever.largest.to_f64());
        count(&mut kept.num_transactions_to_beneficiary, to_payee.last().transfers);
        kept.is_new_beneficiary = kept.num_transactions_to_beneficiary == 0;
        kept
    }
}

fn payee(books: &Books, order: &Order) -> String {
    books.payee(order.to_beneficiary_id).map(|it| normalise(&it.number)).unwrap_or_default()
}

fn is_to_oneself(books: &Books, order: &Order) -> bool {
    let account = books.payee(order.to_beneficiary_id).and_then(|it| books.issued(Clabe::read(&it.number)?));
    account.and_then(|id| books.account(id)?.owner.as_ref()).is_some_and(|owner| *owner == order.owner)
}
