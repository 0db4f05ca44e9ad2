//! What users sent lately otherwise than on record, as the facts on a risk count it.
//!
//! Those facts were kept as they were, so a fork adds what it did otherwise. What a payee does with its money stays as it was
//! kept.

use std::collections::HashMap;

use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::books::Books;
use super::course::Course;
use super::plan::Recorded;
use crate::domain::account_number::normalise;
use crate::domain::clabe::Clabe;
use crate::domain::money::Money;
use crate::domain::risk::Request;
use crate::domain::transfer::Status;
use crate::ledger::batch::Context;
use crate::ledger::command::{Command, Order, Outcome};
use crate::ledger::rows::Rows;
use crate::ledger::tables::Tables as _;

/// How much more of each there is than on record.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct More {
    transfers: i64,
    minor: i64,
    refusals: i64,
}

impl More {
    fn plus(self, other: Self) -> Self {
        Self {
            transfers: self.transfers + other.transfers,
            minor: self.minor.saturating_add(other.minor),
            refusals: self.refusals + other.refusals,
        }
    }

    fn minus(self, other: Self) -> Self {
        let minor = other.minor.saturating_neg();
        self.plus(Self { transfers: -other.transfers, minor, refusals: -other.refusals })
    }

    /// Of pesos, in centavos.
    fn added_to(self, pesos: f64) -> f64 {
        let centavos = (pesos * 100.0).round() + (Money::from_minor(self.minor).to_f64() * 100.0).round();
        centavos.max(0.0)
    }
}

fn add(count: &mut u32, more: i64) {
    *count = u32::try_from((i64::from(*count) + more).max(0)).unwrap_or(u32::MAX);
}

/// What a user did otherwise: altogether, or with one payee.
#[derive(Default)]
struct Otherwise {
    /// What was sent or refused, added up since the beginning, by when that changed.
    sums: Vec<(OffsetDateTime, More)>,
    /// What was completed, at any time.
    completed: More,
    /// The largest that only the fork completed.
    largest: Money,
}

impl Otherwise {
    fn sum(&self) -> More {
        self.sums.last().map(|(_, sum)| *sum).unwrap_or_default()
    }

    fn note(&mut self, at: OffsetDateTime, more: More) {
        // A clock that was set back does not change their order.
        let at = self.sums.last().map_or(at, |(last, _)| at.max(*last));
        self.sums.push((at, self.sum().plus(more)));
    }

    fn since(&self, from: OffsetDateTime) -> More {
        let before = self.sums.partition_point(|(at, _)| *at < from).checked_sub(1);
        self.sum().minus(before.map(|at| self.sums[at].1).unwrap_or_default())
    }

    fn complete(&mut self, more: More) {
        self.completed = self.completed.plus(more);
        if more.transfers > 0 {
            self.largest = self.largest.max(Money::from_minor(more.minor));
        }
    }
}

/// A payee's account number, or all of a user's.
type Payee = Option<String>;

#[derive(Default)]
pub(super) struct Recent {
    users: HashMap<(String, Payee), Otherwise>,
    /// By transfer, what only the record has and was not completed there yet.
    pending: HashMap<Uuid, (String, String, More)>,
}

impl Recent {
    fn of(&mut self, owner: &str, payee: Payee) -> &mut Otherwise {
        self.users.entry((owner.to_owned(), payee)).or_default()
    }

    /// Adds what a batch did otherwise.
    pub(super) fn note(
        &mut self,
        recorded: &Recorded,
        commands: &[Command],
        (outcomes, courses): (&[Outcome], &[(Course, Course)]),
        (books, context): (&Books, &Context),
    ) {
        let rows = &recorded.seal.rows;
        for ((command, outcome), (before, after)) in commands.iter().zip(outcomes).zip(courses) {
            if let Command::Report(report) = command {
                self.conclude(report.transfer_id, rows);
            }
            let Some(order) = command.order() else { continue };
            let is_kept = matches!(outcome, Outcome::Rejected { kept_as: Some(_), .. });
            let refused = More { refusals: i64::from(is_kept) - i64::from(before.is_refused()), ..More::default() };
            let transfers = match command {
                Command::Transfer(_) => i64::from(before.is_refused()) - i64::from(after.is_refused()),
                _ => 0,
            };
            if transfers == 0 && refused == More::default() {
                continue;
            }
            let sent = More { transfers, minor: transfers * order.amount.minor(), refusals: 0 };
            let (to, is_own) = (payee(books, order), is_to_oneself(books, order));
            let counted = if is_own { refused } else { refused.plus(sent) };
            self.of(&order.owner, None).note(context.now, counted);
            if transfers == 0 {
                continue;
            }
            self.of(&order.owner, Some(to.clone())).note(context.now, sent);
            if is_own {
                continue;
            }
            self.pending.insert(order.transfer_id, (order.owner.clone(), to, sent));
            if transfers > 0 {
                // What only the fork sends settles at once.
                self.complete(order.transfer_id);
            } else {
                self.conclude(order.transfer_id, rows);
            }
        }
    }

    /// What never completed on record was no history there.
    fn conclude(&mut self, transfer_id: Uuid, rows: &Rows) {
        if !self.pending.contains_key(&transfer_id) {
            return;
        }
        let of_it = rows.statuses.iter().filter(|it| it.transfer_id == transfer_id);
        match of_it.max_by_key(|it| it.ordinal).and_then(|it| Status::parse(&it.status)) {
            Some(Status::Completed) => self.complete(transfer_id),
            Some(Status::Failed) => drop(self.pending.remove(&transfer_id)),
            Some(Status::Pending) | None => {}
        }
    }

    fn complete(&mut self, transfer_id: Uuid) {
        if let Some((owner, payee, more)) = self.pending.remove(&transfer_id) {
            self.of(&owner, Some(payee)).complete(more);
            self.of(&owner, None).complete(more);
        }
    }

    /// What the fork would have asked about an order instead of what was kept. Facts that were not kept stay unknown.
    pub(super) fn ask(&self, mut kept: Request, order: &Order, books: &Books, now: OffsetDateTime) -> Request {
        let nothing = Otherwise::default();
        let of = |payee| self.users.get(&(order.owner.clone(), payee)).unwrap_or(&nothing);
        let (all, to_payee) = (of(None), of(Some(payee(books, order))));
        let (hour, day) = (Duration::hours(1), Duration::days(1));
        let it = &mut kept;
        for (by, window, transfers, pesos) in [
            (all, hour, &mut it.sent_count_1h, &mut it.sent_amount_1h),
            (all, day, &mut it.sent_count_24h, &mut it.sent_amount_24h),
            (all, 7 * day, &mut it.sent_count_7d, &mut it.sent_amount_7d),
            (all, 30 * day, &mut it.sent_count_30d, &mut it.sent_amount_30d),
            (to_payee, hour, &mut it.to_payee_count_1h, &mut it.to_payee_amount_1h),
            (to_payee, day, &mut it.to_payee_count_24h, &mut it.to_payee_amount_24h),
            (to_payee, 7 * day, &mut it.to_payee_count_7d, &mut it.to_payee_amount_7d),
            (to_payee, 30 * day, &mut it.to_payee_count_30d, &mut it.to_payee_amount_30d),
        ] {
            if let (Some(transfers), Some(pesos)) = (transfers, pesos) {
                let more = by.since(now - window);
                add(transfers, more.transfers);
                *pesos = more.added_to(*pesos) / 100.0;
            }
        }
        if let Some(refusals) = &mut kept.refusals_1h {
            add(refusals, all.since(now - hour).refusals);
        }
        if all.completed != More::default() {
            let before = kept.avg_transaction_amount * f64::from(kept.num_past_transactions);
            let centavos = all.completed.added_to(before);
            add(&mut kept.num_past_transactions, all.completed.transfers);
            kept.avg_transaction_amount = centavos / f64::from(kept.num_past_transactions.max(1)) / 100.0;
            // Which one was the next largest was not kept, but it is no more than all of them.
            let largest = kept.max_transaction_amount.max(all.largest.to_f64());
            kept.max_transaction_amount = largest.min(centavos / 100.0);
        }
        if to_payee.completed != More::default() {
            add(&mut kept.num_transactions_to_beneficiary, to_payee.completed.transfers);
            kept.is_new_beneficiary = kept.num_transactions_to_beneficiary == 0;
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
