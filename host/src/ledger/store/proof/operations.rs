//! Compares each batch's holds, their ends and its account events with the digest in its header.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::report::Proof;
use super::stored::{Stored, Table, compare};
use crate::db::audit::since::Part;
use crate::ledger::chain::operations::OperationRow;

const COMPLAINT: &str = "its holds, their ends or its account events were altered";

/// Any of the three, in the order in which they are digested.
struct Operation {
    chain_id: Uuid,
    seq: i64,
    /// `None` if the batch says that it has none, or is not there.
    digest: Option<Vec<u8>>,
    kind: Option<i32>,
    id: Option<Uuid>,
    ordinal: Option<i16>,
    owner: Option<String>,
    account_id: Option<Uuid>,
    beneficiary_id: Option<Uuid>,
    beneficiary_name: Option<String>,
    amount: Option<i64>,
    expires_at: Option<OffsetDateTime>,
    status: Option<String>,
    transfer_id: Option<Uuid>,
    actor: Option<String>,
    reason: Option<String>,
    created_at: Option<OffsetDateTime>,
}

impl Operation {
    /// `None` for a batch without rows.
    fn row(&self) -> Option<OperationRow<'_>> {
        let (id, created_at) = self.id.zip(self.created_at)?;
        Some(match self.kind? {
            0 => OperationRow::Hold {
                hold_id: id,
                owner: self.owner.as_deref().unwrap_or_default(),
                account_id: self.account_id?,
                beneficiary_id: self.beneficiary_id?,
                beneficiary_name: self.beneficiary_name.as_deref().unwrap_or_default(),
                amount: self.amount?,
                expires_at: self.expires_at?,
                created_at,
            },
            1 => OperationRow::HoldEnd {
                hold_id: id,
                status: self.status.as_deref().unwrap_or_default(),
                transfer_id: self.transfer_id,
                created_at,
            },
            _ => OperationRow::AccountEvent {
                account_id: id,
                ordinal: self.ordinal?,
                event: self.status.as_deref().unwrap_or_default(),
                actor: self.actor.as_deref().unwrap_or_default(),
                reason: self.reason.as_deref().unwrap_or_default(),
                created_at,
            },
        })
    }
}

impl Stored for Operation {
    fn table() -> Table {
        Table::new::<OperationRow<'_>>(COMPLAINT)
    }

    fn check(self, table: &mut Table, proof: &mut Proof) -> Result<(), sqlx::Error> {
        let place = (self.chain_id, self.seq);
        match &self.digest {
            Some(digest) => table.add(proof, place, digest, self.row().as_ref()),
            None => {
                proof.add(place, COMPLAINT);
                Ok(())
            }
        }
    }
}

/// Of a part of the ledger, or of all of it.
pub(super) async fn verify(db: &mut PgConnection, part: Option<&Part>, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let (chains, after) = part.map(|part| (&part.chains[..], &part.after[..])).unzip();
    let rows = sqlx::query_as!(
        Operation,
        r#"
        with base as (
            select * from unnest($1::uuid[], $2::bigint[]) as base (chain_id, after)
        ), batch as (
            select b.* from base join ledger_batch b on b.chain_id = base.chain_id and b.seq > base.after
            where b.operations_digest is not null
            union all
            select * from ledger_batch where $1::uuid[] is null and operations_digest is not null
        ), operation as (
            select chain_id, seq, 0 as kind, hold_id as id, null::smallint as ordinal, owner, account_id, beneficiary_id,
                beneficiary_name, amount, expires_at, null::text as status, null::uuid as transfer_id,
                null::text as actor, null::text as reason, created_at
            from hold
            union all
            select chain_id, seq, 1, hold_id, null, null, null, null, null, null, null, status, transfer_id, null, null,
                created_at
            from hold_end
            union all
            select chain_id, seq, 2, account_id, ordinal, null, null, null, null, null, null, event, null, actor, reason,
                created_at
            from account_event
        )
        select coalesce(b.chain_id, o.chain_id) as "chain_id!", coalesce(b.seq, o.seq) as "seq!",
            b.operations_digest as digest, o.kind, o.id, o.ordinal, o.owner,
            o.account_id, o.beneficiary_id, o.beneficiary_name, o.amount, o.expires_at, o.status, o.transfer_id,
            o.actor, o.reason, o.created_at
        from batch b full join (
            select o.* from operation o
            where $1::uuid[] is null
                or exists (select from base where base.chain_id = o.chain_id and o.seq > base.after)
        ) as o on (o.chain_id, o.seq) = (b.chain_id, b.seq)
        order by 1, 2, o.kind, o.id, o.ordinal
        "#,
        chains,
        after,
    )
    .fetch(db);
    compare(rows, proof).await
}
