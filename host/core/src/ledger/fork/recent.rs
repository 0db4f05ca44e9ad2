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
use crate::domain::risk::Request;
use crate::ledger::batch::Context;
use crate::ledger::command::{Command, Order};
use crate::ledger::tables::Tables as _;

const HOUR: Duration = Duration::hours(1);

/// A transfer that only the record or only the fork has.
struct Change {
    at: OffsetDateTime,
    payee: String,
    pesos: f64,
    is_sent: bool,
    /// Without a key no refusal is kept.
    has_key: bool,
}

impl Change {
    fn count(&self, count: &mut u32, is_more: bool) {
        *count = if is_more { count.saturating_add(1) } else { count.saturating_sub(1) };
    }

    fn add(&self, count: &mut u32, total: &mut f64) {
        self.count(count, self.is_sent);
        let pesos = if self.is_sent { *total + self.pesos } else { *total - self.pesos };
        // Whole centavos.
        *total = (pesos.max(0.0) * 100.0).round() / 100.0;
    }
}

/// By sender.
#[derive(Default)]
pub(super) struct Recent(HashMap<String, Vec<Change>>);

impl Recent {
    /// Adds what a batch did otherwise.
    pub(super) fn note(
        &mut self,
        commands: &[Command],
        courses: &[(Course, Course)],
        (books, context): (&Books, &Context),
    ) {
        for (command, (before, after)) in commands.iter().zip(courses) {
            let Command::Transfer(order) = command else { continue };
            if before.is_refused() == after.is_refused() || is_to_oneself(books, order) {
                continue;
            }
            let change = Change {
                at: context.now,
                payee: payee(books, order),
                pesos: order.amount.to_f64(),
                is_sent: !after.is_refused(),
                has_key: order.key.is_some(),
            };
            self.0.entry(order.owner.clone()).or_default().push(change);
        }
    }

    /// What the fork would have asked about an order instead of what was kept. Facts that were not kept stay unknown.
    pub(super) fn complete(&self, mut kept: Request, order: &Order, books: &Books, now: OffsetDateTime) -> Request {
        let to = payee(books, order);
        for change in self.0.get(&order.owner).into_iter().flatten() {
            let (is_to_payee, age) = (change.payee == to, now - change.at);
            let it = &mut kept;
            let windows = [
                (
                    HOUR,
                    (&mut it.sent_count_1h, &mut it.sent_amount_1h),
                    (&mut it.to_payee_count_1h, &mut it.to_payee_amount_1h),
                ),
                (
                    Duration::days(1),
                    (&mut it.sent_count_24h, &mut it.sent_amount_24h),
                    (&mut it.to_payee_count_24h, &mut it.to_payee_amount_24h),
                ),
                (
                    Duration::days(7),
                    (&mut it.sent_count_7d, &mut it.sent_amount_7d),
                    (&mut it.to_payee_count_7d, &mut it.to_payee_amount_7d),
                ),
                (
                    Duration::days(30),
                    (&mut it.sent_count_30d, &mut it.sent_amount_30d),
                    (&mut it.to_payee_count_30d, &mut it.to_payee_amount_30d),
                ),
            ];
            for (_, sent, to_payee) in windows.into_iter().filter(|(window, ..)| age <= *window) {
                for (count, total) in [Some(sent), Some(to_payee).filter(|_| is_to_payee)].into_iter().flatten() {
                    if let (Some(count), Some(total)) = (count, total) {
                        change.add(count, total);
                    }
                }
            }
            if let Some(refusals) = kept.refusals_1h.as_mut().filter(|_| age <= HOUR && change.has_key) {
                change.count(refusals, !change.is_sent);
            }
            let mut total = kept.avg_transaction_amount * f64::from(kept.num_past_transactions);
            change.add(&mut kept.num_past_transactions, &mut total);
            kept.avg_transaction_amount = total / f64::from(kept.num_past_transactions.max(1));
            // What else was the most is not known once that was not sent.
            if change.is_sent {
                kept.max_transaction_amount = kept.max_transaction_amount.max(change.pesos);
            }
            if is_to_payee {
                change.count(&mut kept.num_transactions_to_beneficiary, change.is_sent);
                kept.is_new_beneficiary = kept.num_transactions_to_beneficiary == 0;
            }
        }
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
