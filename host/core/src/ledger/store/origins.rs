//! The chains, as audit records announce them.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::codec::hash_from_bytes;
use crate::db::records::{self, Change, Subject};
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// The actor of what a host does by itself.
pub(super) const HOST: &str = "host";

/// A row of `chain_origin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) chain_id: Uuid,
    pub(super) stripe: i16,
    pub(super) created_at: OffsetDateTime,
}

/// Creates a chain and announces it; returns its stripe. The first batch will link to the announcement.
pub(super) async fn begin(
    db: &mut PgConnection,
    key: &ChainKey,
    chain_id: Uuid,
    holder: Uuid,
    leased_until: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<i16, sqlx::Error> {
    // First of all, so that two hosts do not choose the same stripe.
    records::take_turn(db).await?;
    let stripe = sqlx::query_scalar!(
        r#"
        insert into ledger_writer (chain_id, stripe, holder, leased_until)
        select $1, coalesce(max(stripe) + 1, 0), $2, $3 from ledger_writer
        returning stripe
        "#,
        chain_id,
        holder,
        leased_until,
    )
    .fetch_one(&mut *db)
    .await?;
    sqlx::query!("insert into chain_origin (chain_id, stripe, created_at) values ($1, $2, $3)", chain_id, stripe, now,)
        .execute(&mut *db)
        .await?;
    records::append(db, key, Change::new(Subject::Chain, chain_id, "begin", HOST), now).await?;
    Ok(stripe)
}

/// Where a chain began and the hash of the record that announces it, if a host with the key did announce it.
pub(super) async fn announced(
    db: &mut PgConnection,
    key: &ChainKey,
    chain_id: Uuid,
) -> Result<Option<(Origin, Hash)>, sqlx::Error> {
    let origin =
        sqlx::query_as!(Origin, "select chain_id, stripe, created_at from chain_origin where chain_id = $1", chain_id);
    let Some(origin) = origin.fetch_optional(&mut *db).await? else { return Ok(None) };
    let record = records::find(db, key, Subject::Chain, &chain_id.to_string()).await?;
    record.map(|record| Ok((origin, hash_from_bytes(record.hash)?))).transpose()
}

/// An origin, for a proof.
pub(super) struct Announcement {
    pub(super) origin: Origin,
    /// Of the record to which the first batch links: the last one that the chain's own key sealed.
    pub(super) hash: Option<Hash>,
    /// Whether `ledger_writer` has the same chain with the same stripe.
    pub(super) has_writer: bool,
}

pub(super) async fn all(db: &mut PgConnection) -> Result<Vec<Announcement>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select o.chain_id, o.stripe, o.created_at, l.hash as "link?",
            exists (select from ledger_writer w where w.chain_id = o.chain_id and w.stripe = o.stripe) as "has_writer!"
        from chain_origin o
        left join retired_chain c on c.chain_id = o.chain_id left join retired_key k on k.fingerprint = c.fingerprint
        left join lateral (
            select hash from audit_record
            where subject = 'chain' and subject_key = o.chain_id::text
                and seq <= coalesce(k.last_record, 9223372036854775807)
            order by seq desc limit 1
        ) as l on true
        order by o.stripe
        "#
    );
    let announcement = rows.fetch_all(db).await?.into_iter().map(|row| {
        let origin = Origin { chain_id: row.chain_id, stripe: row.stripe, created_at: row.created_at };
        let hash = row.link.map(hash_from_bytes).transpose()?;
        Ok(Announcement { origin, hash, has_writer: row.has_writer })
    });
    announcement.collect()
}

/// Chains that somebody made without announcing them.
pub(super) async fn unannounced(db: &mut PgConnection) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select chain_id as "chain_id!" from (
            select chain_id from ledger_writer union select chain_id from ledger_batch
        ) as c
        where not exists (select from chain_origin o where o.chain_id = c.chain_id) order by chain_id
        "#
    )
    .fetch_all(db)
    .await
}

/// Every chain, however it came about. The primary key leads from each to the next.
pub(super) async fn chains(db: &mut PgConnection) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        with recursive step (chain_id) as (
            (select chain_id from ledger_batch order by chain_id limit 1)
            union all
            select (select b.chain_id from ledger_batch b where b.chain_id > s.chain_id order by b.chain_id limit 1)
            from step s where s.chain_id is not null
        )
        select chain_id as "chain_id!" from step where chain_id is not null
        union select chain_id from ledger_writer order by 1
        "#
    )
    .fetch_all(db)
    .await
}
