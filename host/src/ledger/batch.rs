//! What a batch of commands starts from and what it leaves to write: plain data.

use std::collections::{BTreeMap, BTreeSet};

use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::OpenAccount;
use crate::db::transfers::Transfer;
use crate::domain::money::Money;
use crate::domain::rules::{Facts, Verdict, Violation};
use crate::domain::transfer::{Kind, RailEvent, RailName, Reason, Status};

/// Names one balance row.
pub type BalanceKey = (Uuid, i16);

/// A customer's account as the batch needs it.
#[derive(Debug, Clone)]
pub struct AccountFacts {
    /// Whose; the bank's own accounts have no owner.
    pub owner: Option<String>,
    /// Account number.
    pub number: String,
}

/// A balance row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    /// Present balance.
    pub posted: Money,
    /// The lowest balance allowed.
    pub floor: Money,
    /// Entries so far.
    pub version: i64,
    /// When the last of them was made.
    pub changed_at: OffsetDateTime,
    /// The last day on which something was sent.
    pub sent_day: Date,
    /// What was sent on it, less what was refused.
    pub sent: Money,
}

impl Balance {
    /// Of an account that was just opened, with the lowest balance that it may have.
    pub fn empty(floor: Money) -> Self {
        let (changed_at, sent_day) = (OffsetDateTime::UNIX_EPOCH, OffsetDateTime::UNIX_EPOCH.date());
        Self { posted: Money::ZERO, floor, version: 0, changed_at, sent_day, sent: Money::ZERO }
    }
}

/// A transfer that was made before, as a report on it needs it.
#[derive(Debug, Clone)]
pub struct Sent {
    /// Whose.
    pub owner: String,
    /// Debited account.
    pub account_id: Uuid,
    /// How much.
    pub amount: Money,
    /// Where it stands.
    pub status: Status,
    /// Statuses that it had, the present one included.
    pub statuses: i16,
    /// Whether its money came back after it had settled.
    pub returned: bool,
    /// When it was made.
    pub created_at: OffsetDateTime,
}

/// A saved beneficiary as the batch needs it.
#[derive(Debug, Clone)]
pub struct Payee {
    /// Whose.
    pub owner: String,
    /// Full name.
    pub name: String,
    /// Bank name.
    pub bank: String,
    /// Account number.
    pub number: String,
    /// When it was saved.
    pub created_at: OffsetDateTime,
}

/// A user's limits and what counts against them.
#[derive(Debug, Clone, Copy, Default)]
pub struct UserFacts {
    /// Sent since midnight in Mexico City.
    pub day_total: Money,
    /// The user's own limit for one transfer, instead of everybody's.
    pub per_transfer_limit: Option<Money>,
    /// The user's own limit for one day, instead of everybody's.
    pub per_day_limit: Option<Money>,
    /// Version of the user's row, which fences the day's total.
    pub version: i64,
}

/// The answer that a key is bound to.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Of the request that got it.
    pub fingerprint: [u8; 32],
    /// The transfer, or why there is none.
    pub outcome: Result<Transfer, Vec<Violation>>,
}

/// What the store knows about everything that a batch touches.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// By id.
    pub accounts: BTreeMap<Uuid, AccountFacts>,
    /// (owner, normalised number) pairs that exist, of those the batch wants to open.
    pub numbers: BTreeSet<(String, String)>,
    /// By account and stripe.
    pub balances: BTreeMap<BalanceKey, Balance>,
    /// By id.
    pub payees: BTreeMap<Uuid, Payee>,
    /// By owner.
    pub users: BTreeMap<String, UserFacts>,
    /// By (owner, key).
    pub answers: BTreeMap<(String, String), Answer>,
    /// Transfers that the batch reports on, by id.
    pub transfers: BTreeMap<Uuid, Sent>,
}

/// What holds for the whole batch.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// When it is decided.
    pub now: OffsetDateTime,
    /// The writer's stripe of the bank's own accounts.
    pub stripe: i16,
    /// Policy that the configuration sets.
    pub terms: Terms,
}

/// Policy that the configuration sets, for every user alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The rail that transfers take.
    pub rail: RailName,
    /// Seconds that a new beneficiary has to wait; 0 for none.
    pub cooling_seconds: u64,
    /// Limit of one transfer.
    pub per_transfer_limit: Option<Money>,
    /// Limit of a user's transfers of one day.
    pub per_day_limit: Option<Money>,
}

impl Terms {
    /// The instant rail, and no limits.
    pub const OPEN: Self =
        Self { rail: RailName::Instant, cooling_seconds: 0, per_transfer_limit: None, per_day_limit: None };
}

impl Default for Terms {
    fn default() -> Self {
        Self::OPEN
    }
}

/// The rules component gave no usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoVerdict;

/// The transfer rules as two functions.
pub struct Policy<'a> {
    /// Decides on one transfer, of which the id is given beside the facts.
    pub decide: &'a (dyn Fn(Uuid, &Facts) -> Result<Verdict, NoVerdict> + Sync),
    /// The status after an event; `None` when the event does not apply.
    pub transition: &'a (dyn Fn(Status, RailEvent) -> Result<Option<Status>, NoVerdict> + Sync),
}

/// A transfer row to insert.
#[derive(Debug, Clone)]
pub struct NewTransfer {
    /// What it is for.
    pub kind: Kind,
    /// Whose.
    pub owner: String,
    /// Credited account.
    pub credit_account_id: Uuid,
    /// For SPEI transfers: the payee's number and bank.
    pub payee: Option<(String, String)>,
    /// For SPEI transfers: their rail.
    pub rail: Option<RailName>,
    /// For returns: the transfer whose money comes back.
    pub returns: Option<Uuid>,
    /// For returns: why, when the rail said so.
    pub reason: Option<Reason>,
    /// As the API shows it; `from_account_id` is the debited account.
    pub transfer: Transfer,
}

/// An entry row to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// Which balance.
    pub balance: BalanceKey,
    /// Position in that balance's history.
    pub version: i64,
    /// Why.
    pub transfer_id: Uuid,
    /// Below zero for a debit.
    pub delta: Money,
    /// After it.
    pub balance_after: Money,
    /// When: never before the entry before it.
    pub created_at: OffsetDateTime,
}

/// A balance row to update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceChange {
    /// Version that was loaded and has to be there still.
    pub expected: i64,
    /// What is there afterwards.
    pub after: Balance,
}

/// A transfer that reaches its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// Its new status; the old one is `pending`.
    pub status: Status,
    /// Statuses that it had before.
    pub ordinal: i16,
    /// Why, when the rail said so.
    pub reason: Option<Reason>,
}

/// Everything that one batch writes.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Accounts to open.
    pub accounts: Vec<OpenAccount>,
    /// Users whose day's total the decisions rest on, with the version that was loaded.
    pub users: BTreeMap<String, i64>,
    /// Balances to change, in the order in which rows are locked.
    pub balances: BTreeMap<BalanceKey, BalanceChange>,
    /// Transfers.
    pub transfers: Vec<NewTransfer>,
    /// Earlier transfers that reach their end, by id.
    pub moves: BTreeMap<Uuid, Move>,
    /// Entries.
    pub entries: Vec<NewEntry>,
    /// Keys with their answers, by (owner, key).
    pub answers: BTreeMap<(String, String), Answer>,
}

impl Batch {
    /// Whether there is nothing to write: every command was refused or replayed.
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty() && self.transfers.is_empty() && self.answers.is_empty() && self.moves.is_empty()
    }
}
