//! Posting: every amount leaves one balance and enters another.

use uuid::Uuid;

use super::Run;
use crate::clock::mexico_city_date;
use crate::domain::bank_account::IN_TRANSIT_ACCOUNT;
use crate::domain::money::Money;
use crate::ledger::batch::{Balance, BalanceChange, BalanceKey, NewEntry, Sent};
use crate::ledger::command::Order;

impl Run<'_> {
    /// What may leave a customer's account.
    pub(super) fn available(&self, key: BalanceKey) -> Money {
        self.state.balances.get(&key).map_or(Money::ZERO, Balance::available)
    }

    /// Whether a balance can take the amount.
    pub(super) fn has_room(&self, key: BalanceKey, amount: Money) -> bool {
        self.state.balances.get(&key).is_some_and(|balance| balance.posted.checked_add(amount).is_some())
    }

    /// Moves money between balances and returns the credited balance. Changes nothing and returns `None` if either
    /// balance is missing, the debited one does not cover the amount, or the credited one would overflow.
    pub(super) fn post(
        &mut self,
        transfer_id: Uuid,
        debit: BalanceKey,
        credit: BalanceKey,
        amount: Money,
    ) -> Option<Money> {
        let sent_ever = self.state.balances.get(&debit)?.sent_ever;
        self.post_with(transfer_id, (debit, sent_ever), credit, amount)
    }

    /// The same for what the owner of the debited account sends, which counts towards the account's totals. What they move to
    /// an account of their own only counts towards the day's. What is reviewed is in transit until then.
    pub(super) fn send_out(
        &mut self,
        transfer_id: Uuid,
        debit: BalanceKey,
        (credit, reviewed): (BalanceKey, bool),
        amount: Money,
    ) -> Option<Money> {
        let owner_of = |key: BalanceKey| self.state.accounts.get(&key.0).and_then(|account| account.owner.as_ref());
        let is_to_others = owner_of(debit) != owner_of(credit);
        let Sent { transfers, total } = self.state.balances.get(&debit)?.sent_ever;
        let sent_ever = Sent {
            transfers: transfers + i64::from(is_to_others),
            total: if is_to_others { total.checked_add(amount).unwrap_or(Money::MAX) } else { total },
        };
        let credit = if reviewed { (IN_TRANSIT_ACCOUNT, self.context.stripe) } else { credit };
        let credited = self.post_with(transfer_id, (debit, sent_ever), credit, amount)?;
        self.count_today(debit, amount);
        Some(credited)
    }

    fn post_with(
        &mut self,
        transfer_id: Uuid,
        (debit, sent_ever): (BalanceKey, Sent),
        credit: BalanceKey,
        amount: Money,
    ) -> Option<Money> {
        let from = *self.state.balances.get(&debit)?;
        let to = *self.state.balances.get(&credit)?;
        let debited = from.posted.checked_sub(amount)?;
        if debited.checked_sub(from.held)? < from.floor {
            return None;
        }
        let credited = to.posted.checked_add(amount)?;
        let paid = Money::from_minor(-amount.minor());
        self.add_entry(transfer_id, debit, from, Balance { posted: debited, sent_ever, ..from }, paid);
        self.add_entry(transfer_id, credit, to, Balance { posted: credited, ..to }, amount);
        Some(credited)
    }

    fn add_entry(&mut self, transfer_id: Uuid, key: BalanceKey, old: Balance, new: Balance, delta: Money) {
        // Another host's clock may be ahead of this one's.
        let changed_at = self.context.now.max(old.changed_at);
        let after = Balance { version: old.version + 1, changed_at, ..new };
        self.change(key, old, after);
        self.batch.entries.push(NewEntry {
            balance: key,
            version: after.version,
            transfer_id,
            delta,
            balance_after: after.posted,
            sent_ever: after.sent_ever,
            created_at: changed_at,
        });
    }

    /// Loses the race, as if it changed the balance, once another batch changes it, and comes before that one.
    pub(super) fn rest_on(&mut self, key: BalanceKey) {
        if let Some(&balance) = self.state.balances.get(&key) {
            self.change(key, balance, balance);
        }
    }

    pub(super) fn change(&mut self, key: BalanceKey, before: Balance, after: Balance) {
        self.state.balances.insert(key, after);
        let change = BalanceChange { before, after };
        self.batch.balances.entry(key).and_modify(|earlier| earlier.after = after).or_insert(change);
    }

    fn count_today(&mut self, key: BalanceKey, amount: Money) {
        let Some(&balance) = self.state.balances.get(&key) else { return };
        let today = mexico_city_date(self.context.now);
        // If another host's clock is already past midnight, the later day counts.
        let (day, before) =
            if balance.sent_day < today { (today, Money::ZERO) } else { (balance.sent_day, balance.sent) };
        let sent = before.checked_add(amount).unwrap_or(Money::MAX);
        self.change(key, balance, Balance { sent_day: day, sent, ..balance });
    }

    /// Adds a transfer to its user's total of today.
    pub(super) fn count_towards_day(&mut self, order: &Order) {
        let user = self.state.users.entry(order.owner.clone()).or_default();
        if user.per_day_limit.or(self.context.terms.per_day_limit).is_some() {
            self.batch.users.insert(order.owner.clone(), user.version);
        }
        user.day_total = user.day_total.checked_add(order.amount).unwrap_or(Money::MAX);
    }
}
