//! How much more or less than on record users sent on a day.
//!
//! The order of moments does not tell what a user's other accounts had sent by the time of an order, but the order says what it
//! read, so a fork adds what it did otherwise.

use std::collections::{BTreeSet, HashMap};

use time::Date;

use super::books::Books;
use super::course::Course;
use super::plan::Recorded;
use crate::clock::mexico_city_date;
use crate::domain::money::Money;
use crate::domain::transfer::{Kind, Report, Status};
use crate::ledger::batch::{Context, Read, State};
use crate::ledger::command::Command;
use crate::ledger::tables::Tables as _;

fn is_settlement(report: Report) -> bool {
    matches!(report, Report::Settled | Report::Released)
}

#[derive(Default)]
pub(super) struct Days(HashMap<String, (Date, i64)>);

impl Days {
    fn add(&mut self, owner: &str, today: Date, amount: i64) {
        let (day, more) = self.0.entry(owner.to_owned()).or_insert((today, 0));
        *more = if *day == today { more.saturating_add(amount) } else { amount };
        *day = today;
    }

    /// Completes what a batch loaded. Its own commands before an order change the total as they are carried out.
    pub(super) fn complete(
        &self,
        state: &mut State,
        commands: &[Command],
        read: &[Option<Read>],
        (books, context): (&Books, &Context),
    ) {
        let (today, mut known) = (mexico_city_date(context.now), BTreeSet::new());
        for (at, (command, read)) in commands.iter().zip(read).enumerate() {
            let Some((order, read)) = command.order().zip(read.as_ref()) else { continue };
            if !known.insert(&order.owner) {
                continue;
            }
            let failed = commands[..at].iter().filter_map(|command| match command {
                Command::Report(report) if !is_settlement(report.report) => books.transfer(report.transfer_id),
                _ => None,
            });
            let is_deducted = |kind, status, day| (kind, status, day) == (Kind::Spei, Status::Pending, today);
            let failed = failed.filter(|it| it.owner == order.owner);
            let failed = failed.filter(|it| is_deducted(it.kind, it.status, mexico_city_date(it.created_at)));
            let failed: i64 = failed.map(|it| it.amount.minor()).sum();
            let more = self.0.get(&order.owner).filter(|(day, _)| *day == today).map_or(0, |(_, more)| *more);
            let total = read.day_total.minor().saturating_add(more).saturating_add(failed);
            if let Some(user) = state.users.get_mut(&order.owner) {
                user.day_total = Money::from_minor(total.max(0));
            }
        }
    }

    /// Adds what a batch did otherwise.
    pub(super) fn note(
        &mut self,
        recorded: &Recorded,
        commands: &[Command],
        courses: &[(Course, Course)],
        (books, context): (&Books, &Context),
    ) {
        let (today, rows) = (mexico_city_date(context.now), &recorded.seal.rows);
        for (command, (before, after)) in commands.iter().zip(courses) {
            match command {
                Command::Transfer(order) if before.is_refused() != after.is_refused() => {
                    let sign = if after.is_refused() { -1 } else { 1 };
                    self.add(&order.owner, today, sign * order.amount.minor());
                }
                // On record, a payment that the fork did not make failed.
                Command::Report(report) if after.is_refused() && !is_settlement(report.report) => {
                    let failed = rows.entries.iter().find(|it| it.account_id == report.account_id && it.delta > 0);
                    let failed = failed.filter(|it| it.transfer_id == report.transfer_id);
                    let owner = books.account(report.account_id).and_then(|account| account.owner.clone());
                    owner.zip(failed).inspect(|(owner, entry)| self.add(owner, today, entry.delta));
                }
                _ => {}
            }
        }
    }
}
