//! The decisions of models that are kept with the batches which rest on them.

use std::collections::BTreeMap;
use std::pin::pin;

use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::decision::Decision;
use crate::decision::kept;

/// From an instant on, and before another.
#[derive(Debug, Clone, Copy)]
pub struct Period {
    pub from: OffsetDateTime,
    /// Up to now if there is none.
    pub until: Option<OffsetDateTime>,
}

impl Period {
    pub fn since(from: OffsetDateTime) -> Self {
        Self { from, until: None }
    }
}

/// The decisions of a batch.
#[derive(Debug)]
pub struct Kept {
    pub chain_id: Uuid,
    pub seq: i64,
    pub created_at: OffsetDateTime,
    pub decisions: Vec<Decision>,
}

fn read(chain_id: Uuid, seq: i64, created_at: OffsetDateTime, decisions: &[u8]) -> Result<Kept, sqlx::Error> {
    let unreadable =
        || sqlx::Error::Decode(format!("the decisions of batch {seq} of chain {chain_id} cannot be read").into());
    let (decisions, _) = kept::decode(decisions).ok_or_else(unreadable)?;
    Ok(Kept { chain_id, seq, created_at, decisions })
}

/// In no particular order: sorting all of them would take longer than what is done with them.
pub fn in_period(
    db: &mut PgConnection,
    Period { from, until }: Period,
) -> impl Stream<Item = Result<Kept, sqlx::Error>> {
    let rows = sqlx::query!(
        r#"
        select chain_id, seq, created_at, decisions from decision where created_at >= $1 and created_at < coalesce($2::timestamptz, 'infinity')
        "#,
        from,
        until,
    );
    rows.fetch(db).map(|row| row.and_then(|row| read(row.chain_id, row.seq, row.created_at, &row.decisions)))
}

/// Visits the decisions that orders of a period rest on, with the times of their batches.
///
/// # Errors
/// When the database fails.
pub async fn each_decision(
    db: &mut PgConnection,
    period: Period,
    mut visit: impl FnMut(OffsetDateTime, &Decision),
) -> Result<(), sqlx::Error> {
    let mut batches = pin!(in_period(db, period));
    while let Some(kept) = batches.try_next().await? {
        kept.decisions.iter().filter(|it| it.is_own()).for_each(|decision| visit(kept.created_at, decision));
    }
    Ok(())
}

/// Those of the batches of a chain after one and up to another, as they are stored and with the
/// times of the batches, by their numbers.
pub(crate) async fn of_slice(
    db: &mut PgConnection,
    (chain_id, after, last): (Uuid, i64, i64),
) -> Result<BTreeMap<i64, (OffsetDateTime, Vec<u8>)>, sqlx::Error> {
    let rows = sqlx::query!(
        "select seq, created_at, decisions from decision where chain_id = $1 and seq > $2 and seq <= $3",
        chain_id,
        after,
        last,
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.seq, (row.created_at, row.decisions))).collect())
}

/// Deletes those of at most `limit` batches, and returns of how many.
pub(crate) async fn delete_before(
    db: &mut PgConnection,
    before: OffsetDateTime,
    limit: i64,
) -> Result<u64, sqlx::Error> {
    let deleted = sqlx::query!(
        r#"
        delete from decision where (chain_id, seq) in
            (select chain_id, seq from decision where created_at < $1 order by created_at limit $2)
        "#,
        before,
        limit,
    );
    Ok(deleted.execute(db).await?.rows_affected())
}
