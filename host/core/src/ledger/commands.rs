//! What a batch decided, in the form that it is stored in: with the batch's rows, everything that
//! [`apply`](mod@super::apply) needs to decide it again.
//!
//! A command says only what no row of its batch says; for the rest it names its row, so nothing about a person is
//! stored twice. Of a refused order no row has more than the key: its command has the payee's number, without name and
//! bank, and what the sender wrote. Whether a payee's number had been issued by then, the transfer's rail tells; of an
//! incoming order, the account that was credited.

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::batch::{Decided, FROZEN, Payee, Read, Terms};
use super::command::{
    ByHand, Command, Freeze, Fund, LostPayee, OpenAccount, Order, PaymentReport, PlaceHold, Receive, Recover,
    ReleaseHold,
};
use super::rows::{AccountEventRow, KeyRow, Rows, TransferRow};
use crate::db::transfers::read_remittance;
use crate::domain::bank_account::SPEI_ACCOUNT;
use crate::domain::clabe::Clabe;
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::domain::risk::{Level, Risk};
use crate::domain::transfer::{Kind, RailName, Reason, Report};
use crate::sealing::digest::{Digest, Hash};

/// In nanoseconds: Postgres keeps no more of a time.
const MICROSECOND: i128 = 1_000;

#[derive(Serialize, Deserialize)]
struct Stored {
    rail: String,
    cooling_seconds: u64,
    per_transfer_limit: Option<i64>,
    per_day_limit: Option<i64>,
    pending_max: i32,
    on_us: Option<String>,
    commands: Vec<StoredCommand>,
}

/// A number is the place of a row among those of its table, in the order of its primary key. The order of the variants
/// is part of the format.
#[derive(Serialize, Deserialize)]
enum StoredCommand {
    Open {
        account: usize,
    },
    Fund {
        transfer: usize,
    },
    Transfer {
        transfer: usize,
        order: StoredOrder,
    },
    Hold {
        hold: usize,
        payee_number: String,
        order: StoredOrder,
    },
    Refused {
        key: usize,
        request: Box<Request>,
        order: StoredOrder,
    },
    Report {
        status: usize,
        account_id: Uuid,
        /// Of a transfer on us that a person released or refused.
        payee_account_id: Option<Uuid>,
        #[serde(with = "StoredReport")]
        report: Report,
    },
    Release {
        hold_end: usize,
        account_id: Uuid,
        owner: Option<String>,
    },
    Freeze {
        account_event: usize,
    },
    Receive {
        transfer: usize,
    },
    Recover {
        transfer: usize,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Report")]
enum StoredReport {
    Settled,
    Rejected,
    Returned,
    Released,
    Refused,
}

/// What an order rested on.
#[derive(Serialize, Deserialize)]
struct StoredOrder {
    risk: Option<String>,
    is_acknowledged: bool,
    /// When the payee was saved, in microseconds.
    payee_since: i64,
    per_transfer_limit: Option<i64>,
    per_day_limit: Option<i64>,
    day_total: i64,
}

/// A refused order.
#[derive(Serialize, Deserialize)]
struct Request {
    from_account_id: Uuid,
    to_beneficiary_id: Uuid,
    payee_number: String,
    amount: i64,
    concept: Option<String>,
    reference: Option<u32>,
    hold_id: Option<Uuid>,
    /// Of the hold that was refused, in seconds; `None` for a transfer.
    lifetime: Option<i64>,
}

/// Nothing for a tombstone.
pub(super) fn encode(commands: &[Decided], terms: &Terms, rows: &Rows) -> Vec<u8> {
    if commands.is_empty() {
        return Vec::new();
    }
    let minor = |limit: Option<Money>| limit.map(Money::minor);
    let stored = Stored {
        rail: terms.rail.as_str().to_owned(),
        cooling_seconds: terms.cooling_seconds,
        per_transfer_limit: minor(terms.per_transfer_limit),
        per_day_limit: minor(terms.per_day_limit),
        pending_max: terms.pending_max,
        on_us: terms.on_us.map(|range| range.to_string()),
        commands: commands.iter().filter_map(|decided| store(decided, rows)).collect(),
    };
    // Only what has no length in advance cannot be written.
    postcard::to_allocvec(&stored).unwrap_or_default()
}

pub(super) fn digest(encoded: &[u8]) -> Hash {
    let mut digest = Digest::new(b"caudal commands 1");
    digest.bytes(encoded);
    digest.finish()
}

/// `None` if it has no row, which no batch of [`apply`](mod@super::apply) has.
fn store(Decided { command, read }: &Decided, rows: &Rows) -> Option<StoredCommand> {
    let transfer = |id: Uuid| rows.transfers.binary_search_by_key(&id, |row| row.transfer_id).ok();
    Some(match command {
        Command::Open(open) => StoredCommand::Open {
            account: rows.accounts.binary_search_by_key(&open.account_id, |row| row.account_id).ok()?,
        },
        Command::Fund(fund) => StoredCommand::Fund { transfer: transfer(fund.transfer_id)? },
        Command::Recover(recover) => StoredCommand::Recover { transfer: transfer(recover.transfer_id)? },
        Command::Transfer(order) => match transfer(order.transfer_id) {
            Some(transfer) => StoredCommand::Transfer { transfer, order: store_order(order, read.as_ref()?) },
            None => store_refused(order, None, read.as_ref()?, rows)?,
        },
        Command::Hold(PlaceHold { order, lifetime }) => {
            let read = read.as_ref()?;
            match rows.holds.binary_search_by_key(&order.transfer_id, |row| row.hold_id) {
                Ok(hold) => {
                    let payee_number = read.payee.number.clone();
                    StoredCommand::Hold { hold, payee_number, order: store_order(order, read) }
                }
                Err(_) => store_refused(order, Some(*lifetime), read, rows)?,
            }
        }
        Command::Report(PaymentReport { transfer_id, return_id, account_id, payee_account_id, report, .. }) => {
            let returned = transfer(*return_id);
            let id = if returned.is_some() { return_id } else { transfer_id };
            let status = rows.statuses.binary_search_by_key(id, |row| row.transfer_id).ok()?;
            let payee_account_id = payee_account_id.filter(|_| returned.is_none());
            StoredCommand::Report { status, account_id: *account_id, payee_account_id, report: *report }
        }
        Command::Receive(Receive { order, .. }) => StoredCommand::Receive { transfer: transfer(order.transfer_id())? },
        Command::Release(ReleaseHold { hold_id, account_id, owner }) => StoredCommand::Release {
            hold_end: rows.hold_ends.binary_search_by_key(hold_id, |row| row.hold_id).ok()?,
            account_id: *account_id,
            owner: owner.clone(),
        },
        // Any of several that are the same.
        Command::Freeze(freeze) => {
            let is_it = |row: &AccountEventRow| {
                (row.account_id, row.event == FROZEN) == (freeze.account_id, freeze.frozen)
                    && (&row.actor, &row.reason) == (&freeze.actor, &freeze.reason)
            };
            StoredCommand::Freeze { account_event: rows.account_events.iter().position(is_it)? }
        }
    })
}

fn store_order(order: &Order, read: &Read) -> StoredOrder {
    let (risk, is_acknowledged) = match order.risk {
        Risk::Assessed { level, acknowledged } => (Some(level.as_str().to_owned()), acknowledged.is_some()),
        // Nothing is decided without an answer.
        Risk::NotEnforced | Risk::Unavailable => (None, false),
    };
    StoredOrder {
        risk,
        is_acknowledged,
        payee_since: i64::try_from(read.payee.created_at.unix_timestamp_nanos() / MICROSECOND).unwrap_or_default(),
        per_transfer_limit: read.per_transfer_limit.map(Money::minor),
        per_day_limit: read.per_day_limit.map(Money::minor),
        day_total: read.day_total.minor(),
    }
}

fn store_refused(order: &Order, lifetime: Option<Duration>, read: &Read, rows: &Rows) -> Option<StoredCommand> {
    let name = order.key.as_ref().map(|key| (&order.owner, key))?;
    let key = rows.keys.binary_search_by(|row| (&row.owner, &row.key).cmp(&name)).ok()?;
    let request = Request {
        from_account_id: order.from_account_id,
        to_beneficiary_id: order.to_beneficiary_id,
        payee_number: read.payee.number.clone(),
        amount: order.amount.minor(),
        concept: order.remittance.concept.clone(),
        reference: order.remittance.reference,
        hold_id: order.hold_id,
        lifetime: lifetime.map(Duration::whole_seconds),
    };
    Some(StoredCommand::Refused { key, request: Box::new(request), order: store_order(order, read) })
}

/// The terms of a batch, and what was decided under them. `None` if that does not belong to these rows.
pub(super) fn decode(encoded: &[u8], rows: &Rows) -> Option<(Terms, Vec<Decided>)> {
    let stored: Stored = postcard::from_bytes(encoded).ok()?;
    let terms = Terms {
        rail: RailName::parse(&stored.rail)?,
        cooling_seconds: stored.cooling_seconds,
        per_transfer_limit: stored.per_transfer_limit.map(Money::from_minor),
        per_day_limit: stored.per_day_limit.map(Money::from_minor),
        pending_max: stored.pending_max,
        on_us: stored.on_us.map(|range| range.parse()).transpose().ok()?,
    };
    let decided = stored.commands.into_iter().map(|command| read(command, rows));
    Some((terms, decided.collect::<Option<_>>()?))
}

fn read(stored: StoredCommand, rows: &Rows) -> Option<Decided> {
    let command = match stored {
        StoredCommand::Transfer { transfer, order } => {
            let row = rows.transfers.get(transfer)?.clone();
            let hold = rows.hold_ends.iter().find(|end| end.transfer_id == Some(row.transfer_id));
            let made = Order {
                transfer_id: row.transfer_id,
                owner: row.owner,
                key: rows.keys.iter().find(|key| key.transfer_id == Some(row.transfer_id)).map(|key| key.key.clone()),
                from_account_id: row.debit_account_id,
                to_beneficiary_id: row.beneficiary_id?,
                amount: Money::from_minor(row.amount),
                remittance: read_remittance(row.concept, row.numeric_reference),
                risk: Risk::NotEnforced,
                risk_decisions: None,
                hold_id: hold.map(|end| end.hold_id),
                device: row.device,
                may_record_refusal: true,
            };
            let payee = [row.beneficiary_name?, row.beneficiary_bank?, row.beneficiary_account_number?];
            return read_order(&order, made, None, payee);
        }
        StoredCommand::Hold { hold, payee_number, order } => {
            let row = rows.holds.get(hold)?.clone();
            let placed = Order {
                transfer_id: row.hold_id,
                owner: row.owner,
                key: rows.keys.iter().find(|key| key.hold_id == Some(row.hold_id)).map(|key| key.key.clone()),
                from_account_id: row.account_id,
                to_beneficiary_id: row.beneficiary_id,
                amount: Money::from_minor(row.amount),
                remittance: Remittance::NONE,
                risk: Risk::NotEnforced,
                risk_decisions: None,
                hold_id: None,
                device: None,
                may_record_refusal: true,
            };
            let lifetime = row.expires_at - row.created_at;
            return read_order(&order, placed, Some(lifetime), [row.beneficiary_name, String::new(), payee_number]);
        }
        StoredCommand::Refused { key, request, order } => {
            let KeyRow { owner, key, refused_id, .. } = rows.keys.get(key)?.clone();
            let refused = Order {
                // None if a payment that was recovered answers the order.
                transfer_id: refused_id.unwrap_or_default(),
                owner,
                key: Some(key),
                from_account_id: request.from_account_id,
                to_beneficiary_id: request.to_beneficiary_id,
                amount: Money::from_minor(request.amount),
                remittance: Remittance { concept: request.concept, reference: request.reference },
                risk: Risk::NotEnforced,
                risk_decisions: None,
                hold_id: request.hold_id,
                device: None,
                may_record_refusal: true,
            };
            let lifetime = request.lifetime.map(Duration::seconds);
            return read_order(&order, refused, lifetime, [String::new(), String::new(), request.payee_number]);
        }
        StoredCommand::Open { account } => {
            let row = rows.accounts.get(account)?;
            let is_credit =
                |it: &&TransferRow| it.kind == Kind::Opening.as_str() && it.credit_account_id == row.account_id;
            let credit = rows.transfers.iter().find(is_credit);
            Command::Open(OpenAccount {
                account_id: row.account_id,
                owner: row.owner.clone()?,
                account_number: row.account_number.clone(),
                issued: row.issued.and_then(Clabe::from_body),
                account_type: row.account_type.clone(),
                opening_credit: credit.map_or(Money::ZERO, |it| Money::from_minor(it.amount)),
                transfer_id: credit.map_or(Uuid::nil(), |it| it.transfer_id),
            })
        }
        StoredCommand::Fund { transfer } => {
            let TransferRow { transfer_id, credit_account_id, amount, .. } = *rows.transfers.get(transfer)?;
            Command::Fund(Fund { transfer_id, account_id: credit_account_id, amount: Money::from_minor(amount) })
        }
        StoredCommand::Report { status, account_id, payee_account_id, report } => {
            let row = rows.statuses.get(status)?;
            let returned = rows.transfers.iter().find(|it| it.transfer_id == row.transfer_id);
            let payee = returned.map(|it| it.debit_account_id).filter(|account| *account != SPEI_ACCOUNT);
            Command::Report(PaymentReport {
                transfer_id: returned.map_or(Some(row.transfer_id), |it| it.returns)?,
                account_id,
                payee_account_id: payee.or(payee_account_id),
                report,
                reason: row.reason.as_deref().and_then(Reason::parse),
                return_id: row.transfer_id,
                by_hand: row.actor.clone().zip(row.note.clone()).map(|(actor, note)| ByHand { actor, note }),
            })
        }
        StoredCommand::Receive { transfer } => {
            let row = rows.transfers.get(transfer)?;
            Command::Receive(Receive { rail: RailName::parse(row.rail.as_deref()?)?, order: row.order()? })
        }
        StoredCommand::Release { hold_end, account_id, owner } => {
            Command::Release(ReleaseHold { hold_id: rows.hold_ends.get(hold_end)?.hold_id, account_id, owner })
        }
        StoredCommand::Freeze { account_event } => {
            let row = rows.account_events.get(account_event)?;
            let (frozen, actor, reason) = (row.event == FROZEN, row.actor.clone(), row.reason.clone());
            Command::Freeze(Freeze { account_id: row.account_id, frozen, actor, reason })
        }
        StoredCommand::Recover { transfer } => {
            let row = rows.transfers.get(transfer)?.clone();
            let status = rows.statuses.iter().find(|it| it.transfer_id == row.transfer_id)?;
            Command::Recover(Recover {
                transfer_id: row.transfer_id,
                account_id: row.debit_account_id,
                tracking_key: row.spei_reference?,
                amount: Money::from_minor(row.amount),
                rail: RailName::parse(&row.rail?)?,
                payee: LostPayee {
                    beneficiary_id: row.beneficiary_id?,
                    name: row.beneficiary_name?,
                    bank: row.beneficiary_bank?,
                    number: row.beneficiary_account_number?,
                },
                by_hand: ByHand { actor: status.actor.clone()?, note: status.note.clone()? },
            })
        }
    };
    Some(Decided { command, read: None })
}

/// Completes an order with what it rested on: a hold, if it has a lifetime.
fn read_order(
    stored: &StoredOrder,
    mut order: Order,
    lifetime: Option<Duration>,
    [name, bank, number]: [String; 3],
) -> Option<Decided> {
    if let Some(level) = &stored.risk {
        let acknowledged = stored.is_acknowledged.then_some(order.transfer_id);
        order.risk = Risk::Assessed { level: Level::parse(level)?, acknowledged };
    }
    let created_at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(stored.payee_since) * MICROSECOND).ok()?;
    let read = Read {
        payee: Payee { owner: order.owner.clone(), name, bank, number, created_at },
        per_transfer_limit: stored.per_transfer_limit.map(Money::from_minor),
        per_day_limit: stored.per_day_limit.map(Money::from_minor),
        day_total: Money::from_minor(stored.day_total),
    };
    let command = match lifetime {
        Some(lifetime) => Command::Hold(PlaceHold { order, lifetime }),
        None => Command::Transfer(order),
    };
    Some(Decided { command, read: Some(read) })
}
