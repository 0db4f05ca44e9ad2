//! Compares batches' rows, table by table, with the digests in their headers.

use std::collections::BTreeMap;

use futures_util::{Stream, TryStreamExt as _};
use sqlx::PgConnection;
use uuid::Uuid;

use super::report::{BREAKS_MAX, Proof};
use crate::db::audit::Slice;
use crate::ledger::rows::{
    AccountEventRow, AccountRow, Digests, EntryRow, HoldEndRow, HoldRow, KeyRow, Row, Rows, StatusRow, TransferRow,
};
use crate::sealing::digest::Hash;
use crate::sealing::merkle;

/// A row and the number of its batch.
struct Stored<R> {
    seq: i64,
    row: R,
}

/// Hands each table's statement to another macro, in the order of the digests.
macro_rules! tables {
    ($each:ident) => {
        $each! {
            AccountRow as accounts: r#"
            select seq as "seq!", t as "row!: _" from account t
            where chain_id = $1 and seq > $2 and seq <= $3 order by seq, account_id
        "#,
            TransferRow as transfers: r#"
            select seq, t as "row!: _" from transfer t
            where chain_id = $1 and seq > $2 and seq <= $3 order by seq, transfer_id
        "#,
            StatusRow as statuses: r#"
            select seq, t as "row!: _" from transfer_event t
            where chain_id = $1 and seq > $2 and seq <= $3 order by seq, transfer_id, ordinal
        "#,
            EntryRow as entries: r#"
            select seq, t as "row!: _" from entry t
            where chain_id = $1 and seq > $2 and seq <= $3 order by seq, account_id, stripe, version
        "#,
            KeyRow as keys: r#"
            select seq, t as "row!: _" from idempotency t
            where chain_id = $1 and seq > $2 and seq <= $3 order by seq, owner, key
        "#,
            HoldRow as holds: r#"
            select seq, t as "row!: _" from hold t
            where chain_id = $1 and seq > $2 and seq <= $3 order by seq, hold_id
        "#,
            HoldEndRow as hold_ends: r#"
            select seq, t as "row!: _" from hold_end t
            where chain_id = $1 and seq > $2 and seq <= $3 order by seq, hold_id
        "#,
            AccountEventRow as account_events: r#"
            select seq, t as "row!: _" from account_event t
            where chain_id = $1 and seq > $2 and seq <= $3 order by seq, account_id, ordinal
        "#,
        }
    };
}

/// Compares the rows of a slice, whose batches have these digests, in the order of the digests.
pub(super) async fn verify(
    db: &mut PgConnection,
    slice: &Slice,
    batches: &BTreeMap<i64, Digests>,
    proof: &mut Proof,
) -> Result<(), sqlx::Error> {
    let Slice { chain_id, after, last } = *slice;
    let mut place = 0;
    macro_rules! compare {
        ($($row:ty as $field:ident: $query:literal,)+) => { $({
            type Found = Stored<$row>;
            let rows = sqlx::query_as!(Found, $query, chain_id, after, last).fetch(&mut *db);
            compare(rows, (chain_id, place), batches, proof).await?;
            place += 1;
        })+ };
    }
    tables!(compare);
    debug_assert_eq!(place, crate::ledger::rows::TABLES);
    Ok(())
}

/// The rows of the batches of a slice that have any.
pub(in crate::ledger::store) async fn read(
    db: &mut PgConnection,
    slice: &Slice,
) -> Result<BTreeMap<i64, Rows>, sqlx::Error> {
    let Slice { chain_id, after, last } = *slice;
    let mut batches: BTreeMap<i64, Rows> = BTreeMap::new();
    macro_rules! collect {
        ($($row:ty as $field:ident: $query:literal,)+) => { $({
            type Found = Stored<$row>;
            let mut rows = sqlx::query_as!(Found, $query, chain_id, after, last).fetch(&mut *db);
            while let Some(Stored { seq, row }) = rows.try_next().await? {
                batches.entry(seq).or_default().$field.push(row);
            }
        })+ };
    }
    tables!(collect);
    Ok(batches)
}

async fn compare<R: Row>(
    mut rows: impl Stream<Item = Result<Stored<R>, sqlx::Error>> + Unpin,
    (chain_id, place): (Uuid, usize),
    batches: &BTreeMap<i64, Digests>,
    proof: &mut Proof,
) -> Result<(), sqlx::Error> {
    let mut found: BTreeMap<i64, Vec<Hash>> = batches.keys().map(|seq| (*seq, Vec::new())).collect();
    while let Some(Stored { seq, row }) = rows.try_next().await? {
        proof.watch.row(R::table());
        proof.checked.accounts += i64::from(place == 0);
        match found.get_mut(&seq) {
            Some(leaves) => leaves.push(row.leaf()),
            None => proof.add((chain_id, seq), without_batch(R::table())),
        }
    }
    for ((seq, digests), leaves) in batches.iter().zip(found.into_values()) {
        if merkle::root(&leaves) != digests[place] {
            proof.add((chain_id, *seq), format!("its {} rows were altered", R::table()));
        }
    }
    Ok(())
}

fn without_batch(table: &str) -> String {
    format!("it is not there, but {table} rows of it are")
}

/// Finds rows of batches that are not there, wherever they claim to belong.
pub(super) async fn find_without_batch(db: &mut PgConnection, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select table_name as "table_name!", coalesce(chain_id, '00000000-0000-0000-0000-000000000000') as "chain_id!",
            coalesce(seq, -1) as "seq!"
        from (
            select 'account' as table_name, chain_id, seq from account where kind = 'customer'
            union all select 'transfer', chain_id, seq from transfer
            union all select 'transfer_event', chain_id, seq from transfer_event
            union all select 'entry', chain_id, seq from entry
            union all select 'idempotency', chain_id, seq from idempotency
            union all select 'hold', chain_id, seq from hold
            union all select 'hold_end', chain_id, seq from hold_end
            union all select 'account_event', chain_id, seq from account_event
            union all select 'decision', chain_id, seq from decision
        ) as t
        where not exists (select from ledger_batch b where b.chain_id = t.chain_id and b.seq = t.seq)
        group by 1, 2, 3 limit $1
        "#,
        BREAKS_MAX as i64,
    );
    for row in rows.fetch_all(db).await? {
        proof.add((row.chain_id, row.seq), without_batch(&row.table_name));
    }
    Ok(())
}
