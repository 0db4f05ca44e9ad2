//! Compares each batch's rows, table by table, with the digests in its header.

use sqlx::PgConnection;

use super::report::Proof;
use super::stored::{Stored, compare};
use crate::ledger::rows::{AccountEventRow, AccountRow, EntryRow, HoldEndRow, HoldRow, KeyRow, StatusRow, TransferRow};

/// Compares the rows of a query with the digest at a place.
macro_rules! compared {
    ($db:expr, $proof:expr, $place:literal, $row:ty, $query:literal $(, $parameter:expr)*) => {{
        type Row = Stored<$row>;
        compare(sqlx::query_as!(Row, $query $(, $parameter)*).fetch(&mut *$db), $place, $proof).await?
    }};
}

pub(super) use compared;

pub(super) async fn verify(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    compared!(
        db,
        proof,
        0,
        AccountRow,
        r#"
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t.it as "row?: _"
        from ledger_batch b full join (select a as it, a.* from account a where kind = 'customer') t using (chain_id, seq)
        order by 1, 2, t.account_id
        "#
    );
    compared!(
        db,
        proof,
        1,
        TransferRow,
        r#"
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t as "row?: _"
        from ledger_batch b full join transfer t using (chain_id, seq)
        order by 1, 2, t.transfer_id
        "#
    );
    compared!(
        db,
        proof,
        2,
        StatusRow,
        r#"
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t as "row?: _"
        from ledger_batch b full join transfer_event t using (chain_id, seq)
        order by 1, 2, t.transfer_id, t.ordinal
        "#
    );
    compared!(
        db,
        proof,
        3,
        EntryRow,
        r#"
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t as "row?: _"
        from ledger_batch b full join entry t using (chain_id, seq)
        order by 1, 2, t.account_id, t.stripe, t.version
        "#
    );
    compared!(
        db,
        proof,
        4,
        KeyRow,
        r#"
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t as "row?: _"
        from ledger_batch b full join idempotency t using (chain_id, seq)
        order by 1, 2, t.owner, t.key
        "#
    );
    compared!(
        db,
        proof,
        5,
        HoldRow,
        r#"
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t as "row?: _"
        from ledger_batch b full join hold t using (chain_id, seq)
        order by 1, 2, t.hold_id
        "#
    );
    compared!(
        db,
        proof,
        6,
        HoldEndRow,
        r#"
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t as "row?: _"
        from ledger_batch b full join hold_end t using (chain_id, seq)
        order by 1, 2, t.hold_id
        "#
    );
    compared!(
        db,
        proof,
        7,
        AccountEventRow,
        r#"
        select chain_id as "chain_id!", seq as "seq!", b.digests as "digests?", t as "row?: _"
        from ledger_batch b full join account_event t using (chain_id, seq)
        order by 1, 2, t.account_id, t.ordinal
        "#
    );
    Ok(())
}
