//! Accounts are opened, credited by the bank, frozen and unfrozen.

use super::Run;
use crate::domain::account_number::normalise;
use crate::domain::bank_account::{CUSTOMER_STRIPE, FUNDING_ACCOUNT};
use crate::domain::money::Money;
use crate::domain::transfer::Kind;
use crate::ledger::batch::{AccountEvent, AccountFacts, Balance};
use crate::ledger::command::{Freeze, Fund, OpenAccount, OpenedAccount, Outcome, Refusal};

impl Run<'_> {
    pub(super) fn open(&mut self, open: &OpenAccount) -> Outcome {
        let number = (open.owner.clone(), normalise(&open.account_number));
        if open.issued.is_some_and(|issued| self.state.issued.contains_key(&issued)) {
            return Outcome::NumberTaken;
        }
        if self.state.numbers.contains(&number) {
            return if open.issued.is_some() { Outcome::NumberTaken } else { Refusal::AccountExists.into() };
        }
        let account = (open.account_id, CUSTOMER_STRIPE);
        self.state.balances.insert(account, Balance::empty(Money::ZERO));
        if open.opening_credit > Money::ZERO {
            let from = (FUNDING_ACCOUNT, self.context.stripe);
            if self.post(open.transfer_id, from, account, open.opening_credit).is_none() {
                return Refusal::BalanceTooLarge.into();
            }
            self.credit(
                Kind::Opening,
                open.transfer_id,
                open.owner.clone(),
                open.account_id,
                open.opening_credit,
                None,
            );
        }
        self.rest_on(account);
        self.state.numbers.insert(number);
        self.state.issued.extend(open.issued.map(|issued| (issued, open.account_id)));
        let (owner, number) = (Some(open.owner.clone()), open.account_number.clone());
        let facts = AccountFacts { owner, number, is_issued: open.issued.is_some() };
        self.state.accounts.insert(open.account_id, facts);
        self.batch.accounts.push(open.clone());
        Outcome::Opened(OpenedAccount {
            account_id: open.account_id,
            account_number: open.account_number.clone(),
            account_type: open.account_type.clone(),
            balance: open.opening_credit,
        })
    }

    pub(super) fn fund(&mut self, fund: &Fund) -> Outcome {
        let Some(owner) = self.state.accounts.get(&fund.account_id).and_then(|account| account.owner.clone()) else {
            return Refusal::AccountNotFound.into();
        };
        if self.state.used.contains(&fund.transfer_id) {
            return Outcome::IdTaken;
        }
        let from = (FUNDING_ACCOUNT, self.context.stripe);
        let to = (fund.account_id, CUSTOMER_STRIPE);
        let Some(balance) = self.post(fund.transfer_id, from, to, fund.amount) else {
            return Refusal::BalanceTooLarge.into();
        };
        self.state.used.insert(fund.transfer_id);
        self.credit(Kind::Funding, fund.transfer_id, owner, fund.account_id, fund.amount, None);
        Outcome::Funded(balance)
    }

    /// A frozen account still receives money, and gets back what a rail rejects.
    pub(super) fn freeze(&mut self, freeze: &Freeze) -> Outcome {
        let Freeze { account_id, frozen, .. } = *freeze;
        let key = (account_id, CUSTOMER_STRIPE);
        let is_customer = self.state.accounts.get(&account_id).is_some_and(|account| account.owner.is_some());
        let Some(&balance) = self.state.balances.get(&key).filter(|_| is_customer) else {
            return Refusal::AccountNotFound.into();
        };
        if balance.frozen == frozen {
            return Outcome::Frozen { frozen, changed: false };
        }
        self.change(key, balance, Balance { frozen, ..balance });
        let freezes = self.state.freezes.entry(account_id).or_default();
        let (ordinal, actor, reason) = (*freezes, freeze.actor.clone(), freeze.reason.clone());
        *freezes += 1;
        self.batch.account_events.push(AccountEvent { account_id, ordinal, frozen, actor, reason });
        Outcome::Frozen { frozen, changed: true }
    }
}
