//! Moves money between balances: every amount leaves one and enters another.

use uuid::Uuid;

use super::super::batch::{Balance, BalanceChange, BalanceKey, NewEntry};
use super::super::{CUSTOMER_STRIPE, Order};
use super::Run;
use crate::clock::mexico_city_date;
use crate::domain::money::Money;

impl Run<'_> {
    pub(super) fn available(&self, key: BalanceKey) -> Money {
        let balance = self.state.balances.get(&key);
        balance.and_then(|balance| balance.posted.checked_sub(balance.floor)).unwrap_or(Money::ZERO)
    }

    /// Moves money from one balance to another, or changes nothing when the first does not cover it
    /// or a row is missing. Gives the credited balance.
    pub(super) fn post(
        &mut self,
        transfer_id: Uuid,
        debit: BalanceKey,
        credit: BalanceKey,
        amount: Money,
    ) -> Option<Money> {
        let from = *self.state.balances.get(&debit)?;
        let to = *self.state.balances.get(&credit)?;
        let left = from.posted.checked_sub(amount).filter(|left| *left >= from.floor)?;
        let gained = to.posted.checked_add(amount)?;
        self.enter(transfer_id, debit, from, left, Money::from_minor(-amount.minor()));
        self.enter(transfer_id, credit, to, gained, amount);
        Some(gained)
    }

    fn enter(&mut self, transfer_id: Uuid, key: BalanceKey, old: Balance, posted: Money, delta: Money) {
        // Another host's clock may have been ahead.
        let changed_at = self.context.now.max(old.changed_at);
        let after = Balance { posted, version: old.version + 1, changed_at, ..old };
        self.change(key, old.version, after);
        self.batch.entries.push(NewEntry {
            balance: key,
            version: after.version,
            transfer_id,
            delta,
            balance_after: posted,
            created_at: changed_at,
        });
    }

    pub(super) fn change(&mut self, key: BalanceKey, expected: i64, after: Balance) {
        self.state.balances.insert(key, after);
        let change = BalanceChange { expected, after };
        self.batch.balances.entry(key).and_modify(|earlier| earlier.after = after).or_insert(change);
    }

    /// Adds a transfer that was just posted to what its account and its user sent today.
    pub(super) fn count_towards_day(&mut self, order: &Order) {
        let key = (order.from_account_id, CUSTOMER_STRIPE);
        if let Some(&balance) = self.state.balances.get(&key) {
            let today = mexico_city_date(self.context.now);
            // A day that another host has begun is not left again.
            let (day, before) =
                if balance.sent_day < today { (today, Money::ZERO) } else { (balance.sent_day, balance.sent) };
            let sent = before.checked_add(order.amount).unwrap_or(Money::MAX);
            self.change(key, balance.version, Balance { sent_day: day, sent, ..balance });
        }
        let user = self.state.users.entry(order.owner.clone()).or_default();
        if user.per_day_limit.or(self.context.terms.per_day_limit).is_some() {
            self.batch.users.insert(order.owner.clone(), user.version);
        }
        user.day_total = user.day_total.checked_add(order.amount).unwrap_or(Money::MAX);
    }
}
