//! Rows of `hold`, `hold_end` and `account_event`, which share one digest: of a batch's holds, then of the ends, then
//! of the events.

use time::OffsetDateTime;
use uuid::Uuid;

use super::rows::{self, Row};
use crate::ledger::batch::Batch;
use crate::sealing::digest::{Digest, Hash};

/// One of the three.
pub(crate) enum OperationRow<'a> {
    /// Without its status, which changes: a new hold is placed. Ordered by id.
    Hold {
        hold_id: Uuid,
        owner: &'a str,
        account_id: Uuid,
        beneficiary_id: Uuid,
        beneficiary_name: &'a str,
        amount: i64,
        expires_at: OffsetDateTime,
        created_at: OffsetDateTime,
    },
    /// Ordered by the hold's id.
    HoldEnd { hold_id: Uuid, status: &'a str, transfer_id: Option<Uuid>, created_at: OffsetDateTime },
    /// Ordered by account and ordinal.
    AccountEvent {
        account_id: Uuid,
        ordinal: i16,
        event: &'a str,
        actor: &'a str,
        reason: &'a str,
        created_at: OffsetDateTime,
    },
}

impl Row for OperationRow<'_> {
    const TABLE: &'static [u8] = b"operations";

    fn add_to(&self, digest: &mut Digest) {
        match *self {
            Self::Hold {
                hold_id,
                owner,
                account_id,
                beneficiary_id,
                beneficiary_name,
                amount,
                expires_at,
                created_at,
            } => {
                digest.text("hold");
                digest.uuid(hold_id);
                digest.text(owner);
                digest.uuid(account_id);
                digest.uuid(beneficiary_id);
                digest.text(beneficiary_name);
                digest.int(amount);
                digest.time(expires_at);
                digest.time(created_at);
            }
            Self::HoldEnd { hold_id, status, transfer_id, created_at } => {
                digest.text("hold end");
                digest.uuid(hold_id);
                digest.text(status);
                digest.optional_uuid(transfer_id);
                digest.time(created_at);
            }
            Self::AccountEvent { account_id, ordinal, event, actor, reason, created_at } => {
                digest.text("account event");
                digest.uuid(account_id);
                digest.int(i64::from(ordinal));
                [event, actor, reason].iter().for_each(|text| digest.text(text));
                digest.time(created_at);
            }
        }
    }
}

pub(super) fn digest(batch: &Batch, created_at: OffsetDateTime) -> Hash {
    let mut holds: Vec<_> = batch.holds.iter().collect();
    holds.sort_by_key(|owned| owned.hold.hold_id);
    let holds = holds.into_iter().map(|owned| OperationRow::Hold {
        hold_id: owned.hold.hold_id,
        owner: &owned.owner,
        account_id: owned.hold.account_id,
        beneficiary_id: owned.hold.beneficiary_id,
        beneficiary_name: &owned.hold.beneficiary_name,
        amount: owned.hold.amount.minor(),
        expires_at: owned.hold.expires_at,
        created_at,
    });
    let ends = batch.hold_ends.iter().map(|(&hold_id, end)| OperationRow::HoldEnd {
        hold_id,
        status: end.status.as_str(),
        transfer_id: end.transfer_id,
        created_at,
    });
    let mut events: Vec<_> = batch.account_events.iter().collect();
    events.sort_by_key(|event| (event.account_id, event.ordinal));
    let events = events.into_iter().map(|event| OperationRow::AccountEvent {
        account_id: event.account_id,
        ordinal: event.ordinal,
        event: event.as_str(),
        actor: &event.actor,
        reason: &event.reason,
        created_at,
    });
    rows::digest(holds.chain(ends).chain(events))
}
