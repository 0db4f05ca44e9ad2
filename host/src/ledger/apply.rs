//! Decides a batch of commands, as a pure function.
//!
//! [`apply`] answers each command in order from the state that the store loaded, and collects the rows to write. Later
//! commands see the effects of earlier ones. It uses no clock, randomness or I/O: time and ids are arguments.

mod posting;
mod report;

use uuid::Uuid;

use super::batch::{AccountFacts, Answer, Balance, Batch, Context, NewTransfer, NoVerdict, Policy, State};
use super::command::{Command, Fund, OpenAccount, OpenedAccount, Order, Outcome, PaymentReport, Risk};
use super::fingerprint::fingerprint;
use super::tracking::tracking_key;
use crate::clock::mexico_city_hour;
use crate::domain::account_number::normalise;
use crate::domain::bank_account::{CUSTOMER_STRIPE, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::domain::money::Money;
use crate::domain::rules::{Facts, INSUFFICIENT_FUNDS, RISK_ACKNOWLEDGMENT_REQUIRED, Verdict, Violation};
use crate::domain::transfer::{Kind, RailEvent, Status, Transfer};

/// Answers the commands in order. The answers become valid when the batch is committed.
pub fn apply(state: &mut State, commands: &[Command], context: &Context, policy: &Policy<'_>) -> (Batch, Vec<Outcome>) {
    let mut run = Run { state, batch: Batch::default(), context, policy };
    let outcomes = commands
        .iter()
        .map(|command| match command {
            Command::Open(open) => run.open(open),
            Command::Fund(fund) => run.fund(fund),
            Command::Transfer(order) => run.transfer(order),
            Command::Report(report) => run.report(report),
        })
        .collect();
    (run.batch, outcomes)
}

struct Run<'a> {
    state: &'a mut State,
    batch: Batch,
    context: &'a Context,
    policy: &'a Policy<'a>,
}

impl Run<'_> {
    fn open(&mut self, open: &OpenAccount) -> Outcome {
        let number = (open.owner.clone(), normalise(&open.account_number));
        if self.state.numbers.contains(&number) {
            return Outcome::AccountExists;
        }
        let account = (open.account_id, CUSTOMER_STRIPE);
        self.state.balances.insert(account, Balance::empty(Money::ZERO));
        if open.opening_credit > Money::ZERO {
            let from = (FUNDING_ACCOUNT, self.context.stripe);
            if self.post(open.transfer_id, from, account, open.opening_credit).is_none() {
                return Outcome::BalanceTooLarge;
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
        self.state.numbers.insert(number);
        let facts = AccountFacts { owner: Some(open.owner.clone()), number: open.account_number.clone() };
        self.state.accounts.insert(open.account_id, facts);
        self.batch.accounts.push(open.clone());
        Outcome::Opened(OpenedAccount {
            account_id: open.account_id,
            account_number: open.account_number.clone(),
            account_type: open.account_type.clone(),
            balance: open.opening_credit,
        })
    }

    fn fund(&mut self, fund: &Fund) -> Outcome {
        let Some(owner) = self.state.accounts.get(&fund.account_id).and_then(|account| account.owner.clone()) else {
            return Outcome::AccountNotFound;
        };
        let from = (FUNDING_ACCOUNT, self.context.stripe);
        let to = (fund.account_id, CUSTOMER_STRIPE);
        let Some(balance) = self.post(fund.transfer_id, from, to, fund.amount) else {
            return Outcome::BalanceTooLarge;
        };
        self.credit(Kind::Funding, fund.transfer_id, owner, fund.account_id, fund.amount, None);
        Outcome::Funded(balance)
    }

    fn transfer(&mut self, order: &Order) -> Outcome {
        let fingerprint = fingerprint(order);
        let key = order.key.as_ref().map(|key| (order.owner.clone(), key.clone()));
        if let Some(answer) = key.as_ref().and_then(|key| self.state.answers.get(key)) {
            return if answer.fingerprint == fingerprint { replay(answer) } else { Outcome::KeyReused };
        }
        let outcome = match self.decide(order) {
            Ok(transfer) => Ok(transfer),
            Err(Refusal::Violations(violations)) => Err(violations),
            Err(Refusal::AccountNotFound) => return Outcome::AccountNotFound,
            Err(Refusal::BeneficiaryNotFound) => return Outcome::BeneficiaryNotFound,
            Err(Refusal::RulesUnavailable) => return Outcome::RulesUnavailable,
            Err(Refusal::RiskUnavailable) => return Outcome::RiskUnavailable,
            Err(Refusal::BalanceTooLarge) => return Outcome::BalanceTooLarge,
        };
        if let Some(key) = key.filter(|_| is_final(&outcome)) {
            let answer = Answer { fingerprint, outcome: outcome.clone() };
            self.state.answers.insert(key.clone(), answer.clone());
            self.batch.answers.insert(key, answer);
        }
        match outcome {
            Ok(transfer) => Outcome::Sent { transfer, replayed: false },
            Err(violations) => Outcome::Rejected { violations, replayed: false },
        }
    }

    /// Checks the account, the payee, the rules and the funds, in that order.
    fn decide(&mut self, order: &Order) -> Result<Transfer, Refusal> {
        let facts = self.facts(order)?;
        let unavailable = |NoVerdict| Refusal::RulesUnavailable;
        if let Verdict::Rejected(violations) = (self.policy.decide)(order.transfer_id, &facts).map_err(unavailable)? {
            return Err(Refusal::Violations(violations));
        }
        let rail = self.context.terms.rail;
        let status = if rail.is_instant() {
            let next = (self.policy.transition)(Status::Pending, RailEvent::Settled).map_err(unavailable)?;
            // Rules cannot give a settled payment another status.
            next.filter(|next| *next == Status::Completed).ok_or(Refusal::RulesUnavailable)?
        } else {
            Status::Pending
        };

        // Rules cannot permit an overdraft.
        let debit = (order.from_account_id, CUSTOMER_STRIPE);
        if self.available(debit) < order.amount {
            return Err(Refusal::Violations(vec![insufficient_funds()]));
        }
        let credit = if rail.is_instant() { SPEI_ACCOUNT } else { IN_TRANSIT_ACCOUNT };
        let posted = self.post(order.transfer_id, debit, (credit, self.context.stripe), order.amount);
        posted.ok_or(Refusal::BalanceTooLarge)?;
        self.count_towards_day(order);
        Ok(self.record(order, status))
    }

    fn facts(&self, order: &Order) -> Result<Facts, Refusal> {
        let owned = |account: &&AccountFacts| account.owner.as_ref() == Some(&order.owner);
        let account = self.state.accounts.get(&order.from_account_id).filter(owned);
        let account = account.ok_or(Refusal::AccountNotFound)?;
        let payee = self.state.payees.get(&order.to_beneficiary_id).filter(|payee| payee.owner == order.owner);
        let payee = payee.ok_or(Refusal::BeneficiaryNotFound)?;
        let (risk_level, acknowledged) = match order.risk {
            Risk::NotEnforced => (None, false),
            Risk::Assessed { level, acknowledged } => (Some(level), acknowledged),
            Risk::Unavailable => return Err(Refusal::RiskUnavailable),
        };
        let user = self.state.users.get(&order.owner).copied().unwrap_or_default();
        let (now, terms) = (self.context.now, self.context.terms);
        Ok(Facts {
            amount: order.amount,
            available: self.available((order.from_account_id, CUSTOMER_STRIPE)),
            day_total: user.day_total,
            per_transfer_limit: user.per_transfer_limit.or(terms.per_transfer_limit),
            per_day_limit: user.per_day_limit.or(terms.per_day_limit),
            beneficiary_age_seconds: (now - payee.created_at).whole_seconds().max(0).unsigned_abs(),
            cooling_seconds: terms.cooling_seconds,
            same_account: normalise(&account.number) == normalise(&payee.number),
            local_hour: mexico_city_hour(now),
            risk_level,
            acknowledged,
        })
    }

    fn record(&mut self, order: &Order, status: Status) -> Transfer {
        let payee = &self.state.payees[&order.to_beneficiary_id];
        let transfer = Transfer {
            transfer_id: order.transfer_id,
            from_account_id: order.from_account_id,
            to_beneficiary_id: Some(order.to_beneficiary_id),
            beneficiary_name: Some(payee.name.clone()),
            amount: order.amount,
            status,
            spei_reference: Some(tracking_key(order.transfer_id, self.context.now)),
            created_at: self.context.now,
        };
        self.batch.transfers.push(NewTransfer {
            kind: Kind::Spei,
            owner: order.owner.clone(),
            credit_account_id: SPEI_ACCOUNT,
            payee: Some((payee.number.clone(), payee.bank.clone())),
            rail: Some(self.context.terms.rail),
            returns: None,
            reason: None,
            transfer: transfer.clone(),
        });
        transfer
    }

    /// `report` is `Some` for a return only.
    fn credit(
        &mut self,
        kind: Kind,
        transfer_id: Uuid,
        owner: String,
        account_id: Uuid,
        amount: Money,
        report: Option<&PaymentReport>,
    ) {
        let source = if kind == Kind::Return { SPEI_ACCOUNT } else { FUNDING_ACCOUNT };
        self.batch.transfers.push(NewTransfer {
            kind,
            owner,
            credit_account_id: account_id,
            payee: None,
            rail: None,
            returns: report.map(|report| report.transfer_id),
            reason: report.and_then(|report| report.reason),
            transfer: Transfer {
                transfer_id,
                from_account_id: source,
                to_beneficiary_id: None,
                beneficiary_name: None,
                amount,
                status: Status::Completed,
                spei_reference: None,
                created_at: self.context.now,
            },
        });
    }
}

/// Why a transfer was not made.
enum Refusal {
    /// Refused by the rules, or for lack of funds.
    Violations(Vec<Violation>),
    // The rest are never recorded with an idempotency key: a retry may succeed.
    AccountNotFound,
    BeneficiaryNotFound,
    RulesUnavailable,
    RiskUnavailable,
    BalanceTooLarge,
}

fn replay(answer: &Answer) -> Outcome {
    match answer.outcome.clone() {
        Ok(transfer) => Outcome::Sent { transfer, replayed: true },
        Err(violations) => Outcome::Rejected { violations, replayed: true },
    }
}

/// Whether an idempotency key is bound to this outcome forever. A missing acknowledgment is not: acknowledging the risk
/// continues the same request.
fn is_final(outcome: &Result<Transfer, Vec<Violation>>) -> bool {
    match outcome {
        Ok(_) => true,
        Err(violations) => violations.iter().all(|violation| violation.code != RISK_ACKNOWLEDGMENT_REQUIRED),
    }
}

fn insufficient_funds() -> Violation {
    Violation {
        code: INSUFFICIENT_FUNDS.to_owned(),
        detail: "The balance of the account does not cover the amount.".to_owned(),
    }
}
