//! Decides a batch of commands, as a pure function.
//!
//! [`apply`] answers each command in order from the state that the store loaded, and collects the rows to write. Later
//! commands see the effects of earlier ones. It uses no clock, randomness or I/O: time and ids are arguments.

mod accounts;
mod holds;
mod incoming;
mod keys;
mod posting;
mod recovery;
mod report;

use uuid::Uuid;

use super::batch::{
    AccountFacts, BalanceKey, Batch, Context, Decided, Made, NewTransfer, NoVerdict, Policy, Read, State, UserFacts,
};
use super::command::{Command, Order, Outcome, PaymentReport, Refusal};
use super::fingerprint;
use super::tracking::tracking_key;
use crate::clock::mexico_city_hour;
use crate::domain::account_number::{is_same, normalise};
use crate::domain::bank_account::{CUSTOMER_STRIPE, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::domain::clabe::Clabe;
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::domain::risk::Risk;
use crate::domain::rules::{Facts, INSUFFICIENT_FUNDS, SAME_ACCOUNT, UNKNOWN_ACCOUNT, Verdict, Violation};
use crate::domain::transfer::{Kind, PayeeAccount, RailEvent, RailName, Status, Transfer};

/// Answers the commands in order. The answers become valid when the batch is committed.
pub fn apply(state: &mut State, commands: &[Command], context: &Context, policy: &Policy<'_>) -> (Batch, Vec<Outcome>) {
    let mut run = Run { state, batch: Batch::default(), context, policy };
    let outcomes = commands.iter().map(|command| run.decide_on(run.spend(command.clone()))).collect();
    (run.placed(), outcomes)
}

struct Run<'a> {
    state: &'a mut State,
    batch: Batch,
    context: &'a Context,
    policy: &'a Policy<'a>,
}

impl Run<'_> {
    fn decide_on(&mut self, command: Command) -> Outcome {
        let before = self.batch.changes();
        let read = command.order().and_then(|order| self.read(order));
        let outcome = match &command {
            Command::Open(open) => self.open(open),
            Command::Fund(fund) => self.fund(fund),
            Command::Transfer(order) => self.transfer(order),
            Command::Report(report) => self.report(report),
            Command::Receive(receive) => self.receive(receive),
            Command::Hold(place) => self.hold(place),
            Command::Release(release) => self.release(release),
            Command::Freeze(freeze) => self.freeze(freeze),
            Command::Recover(recover) => self.recover(recover),
        };
        if self.batch.changes() > before {
            self.batch.commands.push(Decided { command, read });
        }
        outcome
    }

    fn read(&self, order: &Order) -> Option<Read> {
        let payee = self.state.payees.get(&order.to_beneficiary_id)?.clone();
        let UserFacts { per_transfer_limit, per_day_limit, day_total, .. } =
            self.state.users.get(&order.owner).copied().unwrap_or_default();
        Some(Read { payee, per_transfer_limit, per_day_limit, day_total })
    }

    /// Puts the batch after every one that it rests on, and after the one before it in its chain, whose last batch the writer's
    /// own stripe remembers.
    fn placed(mut self) -> Batch {
        let own = (SPEI_ACCOUNT, self.context.stripe);
        if !self.batch.is_empty() && !self.batch.balances.contains_key(&own) {
            self.rest_on(own);
        }
        let before = self.batch.balances.values().map(|change| change.before.moment);
        // Only somebody who writes to the database can reach the end of the numbers.
        let moment = before.chain([self.batch.moment]).max().unwrap_or_default().wrapping_add(1);
        if !self.batch.is_empty() {
            self.batch.moment = moment;
        }
        for (key, change) in &mut self.batch.balances {
            change.after.moment = moment;
            self.state.balances.insert(*key, change.after);
        }
        self.batch
    }

    fn transfer(&mut self, order: &Order) -> Outcome {
        let fingerprint = fingerprint::of_transfer(order);
        self.bind_recovered(order, &fingerprint);
        self.answer_once(order, fingerprint, |run, order| Ok(Made::Transfer(run.send(order, &fingerprint)?)))
    }

    /// Checks the account, the payee, the hold, the rules and the funds, in that order.
    fn send(&mut self, order: &Order, fingerprint: &[u8; 32]) -> Result<Transfer, Unmade> {
        let hold = self.hold_to_capture(order)?;
        let reviewed = self.decide(order, hold.as_ref().map_or(Money::ZERO, |hold| hold.amount))?;
        let debit = (order.from_account_id, CUSTOMER_STRIPE);
        let (rail, credit) = self.route(order)?;
        let status = if rail.is_instant() && !reviewed {
            let next = (self.policy.transition)(Status::Pending, RailEvent::Settled);
            let next = next.map_err(|NoVerdict| Refusal::RulesUnavailable)?;
            // Rules cannot give a settled payment another status.
            next.filter(|next| *next == Status::Completed).ok_or(Refusal::RulesUnavailable)?
        } else if self.state.users.get(&order.owner).is_some_and(|user| user.pending >= self.context.terms.pending_max)
        {
            return Err(Refusal::TooManyPending.into());
        } else {
            Status::Pending
        };
        // Nor may they permit a transfer to the account that it debits.
        if credit == debit {
            return Err(Unmade::Rejected(vec![same_account()]));
        }
        if !self.has_room(credit, order.amount) {
            return Err(Refusal::BalanceTooLarge.into());
        }
        if let Some(hold) = hold {
            self.capture(&hold, order.transfer_id);
        }
        let posted = self.send_out(order.transfer_id, debit, (credit, reviewed), order.amount);
        posted.ok_or(Refusal::BalanceTooLarge)?;
        self.count_towards_day(order);
        Ok(self.record(order, fingerprint, (status, reviewed), rail, credit.0))
    }

    /// How a payment leaves, and which balance it credits. No rail carries a payment to this bank.
    fn route(&self, order: &Order) -> Result<(RailName, BalanceKey), Unmade> {
        let terms = self.context.terms;
        let payee = self.state.payees.get(&order.to_beneficiary_id);
        let number = payee.and_then(|payee| Clabe::read(&payee.number));
        let own = number.zip(terms.on_us).filter(|(number, range)| range.is_same_bank(*number));
        Ok(match (own, terms.rail) {
            (Some((number, _)), _) => {
                let account =
                    self.state.issued.get(&number).ok_or_else(|| Unmade::Rejected(vec![unknown_account()]))?;
                (RailName::OnUs, (*account, CUSTOMER_STRIPE))
            }
            (None, rail) if rail.is_instant() => (rail, (SPEI_ACCOUNT, self.context.stripe)),
            (None, rail) => (rail, (IN_TRANSIT_ACCOUNT, self.context.stripe)),
        })
    }

    /// Asks the rules. `reserved` is what a hold keeps for this order. Returns whether a person decides before it goes on.
    fn decide(&self, order: &Order, reserved: Money) -> Result<bool, Unmade> {
        let facts = self.facts(order, reserved)?;
        let balance = self.state.balances.get(&(order.from_account_id, CUSTOMER_STRIPE));
        let is_altered = self.state.users.get(&order.owner).is_some_and(|user| user.is_altered);
        if is_altered || balance.is_some_and(|balance| balance.frozen) {
            return Err(Refusal::AccountFrozen.into());
        }
        let verdict = (self.policy.decide)(&order.owner, order.transfer_id, &facts);
        let verdict = verdict.map_err(|NoVerdict| Refusal::RulesUnavailable)?;
        let reviewed = match verdict {
            Verdict::Accepted => false,
            Verdict::Reviewed => true,
            Verdict::Rejected(violations) => return Err(Unmade::Rejected(violations)),
        };
        // Rules cannot permit an overdraft.
        if facts.available < order.amount {
            return Err(Unmade::Rejected(vec![insufficient_funds()]));
        }
        Ok(reviewed)
    }

    fn facts(&self, order: &Order, reserved: Money) -> Result<Facts, Unmade> {
        let owned = |account: &&AccountFacts| account.owner.as_ref() == Some(&order.owner);
        let account = self.state.accounts.get(&order.from_account_id).filter(owned);
        let account = account.ok_or(Refusal::AccountNotFound)?;
        let payee = self.state.payees.get(&order.to_beneficiary_id).filter(|payee| payee.owner == order.owner);
        let payee = payee.ok_or(Refusal::BeneficiaryNotFound)?;
        let (risk_level, acknowledged) = match order.risk {
            Risk::NotEnforced => (None, false),
            Risk::Assessed { level, acknowledged } => (Some(level), acknowledged.is_some()),
            Risk::Unavailable => return Err(Refusal::RiskUnavailable.into()),
        };
        let user = self.state.users.get(&order.owner).copied().unwrap_or_default();
        let (now, terms) = (self.context.now, self.context.terms);
        let available = self.available((order.from_account_id, CUSTOMER_STRIPE));
        Ok(Facts {
            amount: order.amount,
            available: available.checked_add(reserved).unwrap_or(available),
            day_total: user.day_total,
            per_transfer_limit: user.per_transfer_limit.or(terms.per_transfer_limit),
            per_day_limit: user.per_day_limit.or(terms.per_day_limit),
            beneficiary_age_seconds: (now - payee.created_at).whole_seconds().max(0).unsigned_abs(),
            cooling_seconds: terms.cooling_seconds,
            same_account: is_same(&account.number, &payee.number),
            local_hour: mexico_city_hour(now),
            risk_level,
            acknowledged,
        })
    }

    fn record(
        &mut self,
        order: &Order,
        fingerprint: &[u8; 32],
        (status, reviewed): (Status, bool),
        rail: RailName,
        credit_account_id: Uuid,
    ) -> Transfer {
        let user = self.state.users.entry(order.owner.clone()).or_default();
        let turn = user.pending;
        user.pending += i32::from(status == Status::Pending);
        let payee = &self.state.payees[&order.to_beneficiary_id];
        let account = self.state.accounts.get(&order.from_account_id);
        let transfer = Transfer {
            transfer_id: order.transfer_id,
            from_account_id: order.from_account_id,
            to_beneficiary_id: Some(order.to_beneficiary_id),
            beneficiary_name: Some(payee.name.clone()),
            payee: Some(PayeeAccount { number: payee.number.clone(), bank: payee.bank.clone() }),
            amount: order.amount,
            status,
            spei_reference: Some(tracking_key(order, fingerprint, self.context.now)),
            remittance: order.remittance.clone(),
            created_at: self.context.now,
        };
        self.batch.transfers.push(NewTransfer {
            kind: Kind::Spei,
            owner: order.owner.clone(),
            // Money in transit is on its way there.
            credit_account_id: if rail == RailName::OnUs { credit_account_id } else { SPEI_ACCOUNT },
            sender_number: account.filter(|it| it.is_issued).map(|it| normalise(&it.number)),
            reviewed,
            rail: Some(rail),
            returns: None,
            reason: None,
            by_hand: None,
            turn,
            device: order.device.clone(),
            order: None,
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
        let source = report.map_or(FUNDING_ACCOUNT, |report| report.payee_account_id.unwrap_or(SPEI_ACCOUNT));
        self.batch.transfers.push(NewTransfer {
            kind,
            owner,
            credit_account_id: account_id,
            sender_number: None,
            reviewed: false,
            rail: None,
            returns: report.map(|report| report.transfer_id),
            reason: report.and_then(|report| report.reason),
            by_hand: report.and_then(|report| report.by_hand.clone()),
            turn: 0,
            device: None,
            order: None,
            transfer: Transfer {
                transfer_id,
                from_account_id: source,
                to_beneficiary_id: None,
                beneficiary_name: None,
                payee: None,
                amount,
                status: Status::Completed,
                spei_reference: None,
                remittance: Remittance::NONE,
                created_at: self.context.now,
            },
        });
    }
}

/// Why a transfer or a hold was not made.
enum Unmade {
    /// By the rules, or for lack of funds.
    Rejected(Vec<Violation>),
    Refused(Refusal),
}

impl From<Refusal> for Unmade {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

fn insufficient_funds() -> Violation {
    Violation {
        code: INSUFFICIENT_FUNDS.to_owned(),
        detail: "The balance of the account does not cover the amount.".to_owned(),
    }
}

fn unknown_account() -> Violation {
    Violation {
        code: UNKNOWN_ACCOUNT.to_owned(),
        detail: "The number is one of this bank's, and no account has it.".to_owned(),
    }
}

fn same_account() -> Violation {
    Violation {
        code: SAME_ACCOUNT.to_owned(),
        detail: "The beneficiary's account is the one that the transfer would debit.".to_owned(),
    }
}
