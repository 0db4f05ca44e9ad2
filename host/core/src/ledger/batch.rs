//! The input and output of [`apply`](mod@super::apply): plain data.

use std::collections::{BTreeMap, BTreeSet};

use time::OffsetDateTime;
use uuid::Uuid;

pub use super::balance::{Balance, BalanceChange, BalanceKey, Sent};
use super::command::{ByHand, Command, OpenAccount};
use crate::decision::Decision;
use crate::domain::clabe::{Clabe, ClabeRange};
use crate::domain::hold::{self, Hold, OwnedHold};
use crate::domain::incoming::IncomingOrder;
use crate::domain::money::Money;
use crate::domain::rules::{DeployedRules, Facts, Verdict, Violation};
use crate::domain::transfer::{Kind, RailEvent, RailName, Reason, Status, Transfer};

/// A row that writers compete for, in the order in which every batch locks such rows, so that no two wait for each
/// other. Totals of payees come after them: see [`Store::commit`](super::store::Store::commit).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    Balance(BalanceKey),
    /// A user with a limit for a day.
    User(String),
}

#[derive(Debug, Clone)]
pub struct AccountFacts {
    /// `None` for the bank's own accounts.
    pub owner: Option<String>,
    pub number: String,
    /// Whether the bank issued the number.
    pub is_issued: bool,
}

/// The transfer that a rail reports on.
#[derive(Debug, Clone)]
pub struct ReportedTransfer {
    pub kind: Kind,
    pub owner: String,
    /// The debited account.
    pub account_id: Uuid,
    /// The account that a transfer on us credited.
    pub payee_account_id: Option<Uuid>,
    pub amount: Money,
    pub status: Status,
    /// How many statuses it has had, including the current one.
    pub statuses: i16,
    /// The rail that it goes to once a person released it; `None` if nobody has to, any more.
    pub under_review: Option<RailName>,
    /// Whether its money was returned after it settled.
    pub returned: bool,
    pub created_at: OffsetDateTime,
    /// That of the last batch which gave it a status.
    pub moment: i64,
}

/// A saved beneficiary.
#[derive(Debug, Clone)]
pub struct Payee {
    pub owner: String,
    pub name: String,
    pub bank: String,
    pub number: String,
    pub created_at: OffsetDateTime,
}

/// A user's limits and what counts towards them.
#[derive(Debug, Clone, Copy, Default)]
pub struct UserFacts {
    /// Total sent since midnight in Mexico City.
    pub day_total: Money,
    /// These two override the general limits.
    pub per_transfer_limit: Option<Money>,
    pub per_day_limit: Option<Money>,
    /// Version of the user's row, which guards the day's total against concurrent changes.
    pub version: i64,
    /// Payments at the rail, as far as [`Terms::pending_max`]. Not guarded: two hosts may exceed that by a batch.
    pub pending: i32,
    /// Whether somebody altered the limits: nothing is sent until that is put right.
    pub is_altered: bool,
}

/// The recorded answer of an idempotency key.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Fingerprint of the request.
    pub fingerprint: [u8; 32],
    pub outcome: Result<Made, Rejection>,
}

/// A refusal by the rules or for lack of funds.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejection {
    /// What the transfer or hold would have been: its decisions have this id.
    pub order_id: Uuid,
    /// At least one, the most serious first.
    pub violations: Vec<Violation>,
}

/// What a request made.
#[derive(Debug, Clone, PartialEq)]
pub enum Made {
    Transfer(Transfer),
    Hold(Hold),
}

impl Made {
    pub fn transfer_id(&self) -> Option<Uuid> {
        if let Self::Transfer(transfer) = self { Some(transfer.transfer_id) } else { None }
    }

    pub fn hold_id(&self) -> Option<Uuid> {
        if let Self::Hold(hold) = self { Some(hold.hold_id) } else { None }
    }
}

/// Everything that a batch reads.
#[derive(Debug, Clone, Default)]
pub struct State {
    pub accounts: BTreeMap<Uuid, AccountFacts>,
    /// Owner and normalised number of accounts that already exist, among those that the batch opens.
    pub numbers: BTreeSet<(String, String)>,
    /// Issued numbers of accounts: those that the batch would issue, and those of payees at this bank and in incoming orders.
    pub issued: BTreeMap<Clabe, Uuid>,
    pub balances: BTreeMap<BalanceKey, Balance>,
    pub payees: BTreeMap<Uuid, Payee>,
    /// Keyed by owner.
    pub users: BTreeMap<String, UserFacts>,
    /// Keyed by owner and idempotency key.
    pub answers: BTreeMap<(String, String), Answer>,
    pub transfers: BTreeMap<Uuid, ReportedTransfer>,
    /// Of the ids that the commands chose, those that a transfer or a hold already has.
    pub used: BTreeSet<Uuid>,
    /// The incoming orders among those.
    pub received: BTreeMap<Uuid, IncomingOrder>,
    /// Of the tracking keys that the commands recover, those that a transfer has.
    pub tracked: BTreeSet<String>,
    /// Those that the batch ends.
    pub holds: BTreeMap<Uuid, OwnedHold>,
    /// How often each account was frozen or unfrozen, for those that the batch freezes or unfreezes.
    pub freezes: BTreeMap<Uuid, i16>,
}

/// What all commands of a batch share.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    pub now: OffsetDateTime,
    /// The writer's stripe of the bank's own accounts.
    pub stripe: i16,
    pub terms: Terms,
}

/// Configured policy, the same for every user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    pub rail: RailName,
    /// Waiting period of a new beneficiary; 0 if there is none.
    pub cooling_seconds: u64,
    pub per_transfer_limit: Option<Money>,
    pub per_day_limit: Option<Money>,
    /// Most payments of a user that wait for the rail.
    pub pending_max: i32,
    /// The range of the bank whose issued numbers are credited at once, without a rail; `None` if that is off.
    pub on_us: Option<ClabeRange>,
}

impl Terms {
    /// The instant rail, no cooling, no limits and nothing on us.
    pub const OPEN: Self = Self {
        rail: RailName::Instant,
        cooling_seconds: 0,
        per_transfer_limit: None,
        per_day_limit: None,
        pending_max: i32::MAX,
        on_us: None,
    };
}

impl Default for Terms {
    fn default() -> Self {
        Self::OPEN
    }
}

/// The rules component gave no usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoVerdict;

/// The rules component as two functions.
pub struct Policy<'a> {
    /// Decides on a transfer of an owner, given its id and the facts.
    pub decide: &'a (dyn Fn(&str, Uuid, &Facts) -> Result<Verdict, NoVerdict> + Sync),
    /// The status after an event; `None` if the event does not apply.
    pub transition: &'a (dyn Fn(Status, RailEvent) -> Result<Option<Status>, NoVerdict> + Sync),
}

/// A transfer to insert.
#[derive(Debug, Clone)]
pub struct NewTransfer {
    pub kind: Kind,
    pub owner: String,
    pub credit_account_id: Uuid,
    /// For SPEI transfers from an account whose number the bank issued: that number.
    pub sender_number: Option<String>,
    /// Whether a person decides before it goes on.
    pub reviewed: bool,
    /// For SPEI transfers and incoming orders.
    pub rail: Option<RailName>,
    /// For returns: the transfer whose money is returned.
    pub returns: Option<Uuid>,
    /// For returns, if the rail gave one, and for incoming orders that are sent back.
    pub reason: Option<Reason>,
    /// For returns: the operator, unless the rail reported it.
    pub by_hand: Option<ByHand>,
    /// For pending payments: how many of its owner were pending before.
    pub turn: i32,
    /// Thumbprint of the key that the sender's token was bound to.
    pub device: Option<String>,
    /// Of another bank.
    pub order: Option<IncomingOrder>,
    pub transfer: Transfer,
}

/// An entry to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    pub balance: BalanceKey,
    /// Position in that balance's history.
    pub version: i64,
    pub transfer_id: Uuid,
    /// Negative for a debit.
    pub delta: Money,
    pub balance_after: Money,
    /// That of the balance after it.
    pub sent_ever: Sent,
    /// Never before the previous entry.
    pub created_at: OffsetDateTime,
}

/// How a hold ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldEnd {
    pub account_id: Uuid,
    /// Of the whole hold.
    pub amount: Money,
    pub status: hold::Status,
    /// That captured it.
    pub transfer_id: Option<Uuid>,
}

/// An account is frozen or unfrozen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountEvent {
    pub account_id: Uuid,
    pub ordinal: i16,
    pub frozen: bool,
    pub actor: String,
    pub reason: String,
}

pub(super) const FROZEN: &str = "frozen";

impl AccountEvent {
    /// Name in the database.
    pub fn as_str(&self) -> &'static str {
        if self.frozen { FROZEN } else { "unfrozen" }
    }
}

/// A pending transfer that reaches its final status, or that a person released to its rail and is pending again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub status: Status,
    /// How many statuses it had before this one.
    pub ordinal: i16,
    /// The reason, if the rail gave one.
    pub reason: Option<Reason>,
    pub by_hand: Option<ByHand>,
}

/// A status that a transfer gets.
pub(super) struct NewStatus<'a> {
    pub(super) transfer_id: Uuid,
    /// How many statuses it had before this one.
    pub(super) ordinal: i16,
    pub(super) status: Status,
    pub(super) reason: Option<Reason>,
    pub(super) by_hand: Option<&'a ByHand>,
}

/// A command that a batch executed or whose refusal it recorded, and what it rested on besides the ledger's own state.
#[derive(Debug, Clone)]
pub struct Decided {
    /// An order has the id of its acknowledgment, if that was good for it.
    pub command: Command,
    /// Of an order.
    pub read: Option<Read>,
}

/// What belongs to a user, who may have changed it since, as it was before the order.
#[derive(Debug, Clone)]
pub struct Read {
    pub payee: Payee,
    pub per_transfer_limit: Option<Money>,
    pub per_day_limit: Option<Money>,
    /// Total sent earlier that day. Of the user's other accounts it does not follow from the order of moments.
    pub day_total: Money,
}

/// Everything that a batch writes.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// In the order in which they were decided.
    pub commands: Vec<Decided>,
    /// Of the models on the orders among them, in their order.
    pub decisions: Vec<Decision>,
    /// That decided.
    pub rules: DeployedRules,
    /// Above that of every batch which this one rests on.
    pub moment: i64,
    pub accounts: Vec<OpenAccount>,
    /// Users whose day's total the decision relied on, with the version that was read.
    pub users: BTreeMap<String, i64>,
    /// In the order in which the rows are locked.
    pub balances: BTreeMap<BalanceKey, BalanceChange>,
    pub transfers: Vec<NewTransfer>,
    /// Changes to existing transfers.
    pub moves: BTreeMap<Uuid, Move>,
    pub entries: Vec<NewEntry>,
    /// Keyed by owner and idempotency key.
    pub answers: BTreeMap<(String, String), Answer>,
    pub holds: Vec<OwnedHold>,
    /// Changes to existing holds.
    pub hold_ends: BTreeMap<Uuid, HoldEnd>,
    pub account_events: Vec<AccountEvent>,
}

impl Batch {
    /// Whether there is nothing to write: every command was refused or replayed.
    pub fn is_empty(&self) -> bool {
        self.changes() == 0
    }

    /// Grows with every command that is executed or whose refusal is recorded.
    pub(super) fn changes(&self) -> usize {
        self.accounts.len() + self.transfers.len() + self.answers.len() + self.moves.len() + self.operations()
    }

    /// The rows to lock, in order.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        self.balances.keys().copied().map(Row::Balance).chain(self.users.keys().cloned().map(Row::User))
    }

    /// Keeps what models decided about the orders that made something or whose refusal is recorded. Of the rules' decisions,
    /// by their subjects, the others are forgotten.
    pub fn keep(&mut self, mut of_rules: BTreeMap<Uuid, Decision>) {
        for order in self.commands.iter().filter_map(|it| it.command.order()) {
            let subject = order.transfer_id;
            let on_risk = order.risk_decisions.iter().flat_map(|it| it.iter());
            self.decisions.extend(on_risk.map(|it| Decision { subject, ..it.clone() }));
            self.decisions.extend(of_rules.remove(&subject));
        }
    }

    /// How many rows of holds, of their ends and of account events.
    pub fn operations(&self) -> usize {
        self.holds.len() + self.hold_ends.len() + self.account_events.len()
    }

    /// The new status of each transfer: the first of a new one, the next one of an existing one. At most one each.
    pub(super) fn statuses(&self) -> impl Iterator<Item = NewStatus<'_>> {
        let first = self.transfers.iter().map(|new| NewStatus {
            transfer_id: new.transfer.transfer_id,
            ordinal: 0,
            status: new.transfer.status,
            reason: new.reason,
            by_hand: new.by_hand.as_ref(),
        });
        first.chain(self.moves.iter().map(|(&transfer_id, step)| NewStatus {
            transfer_id,
            ordinal: step.ordinal,
            status: step.status,
            reason: step.reason,
            by_hand: step.by_hand.as_ref(),
        }))
    }
}
