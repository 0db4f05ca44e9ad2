//! Where each chain began to be hashed, as audit records announce it.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::codec::hash_from_bytes;
use crate::db::records::{self, Change, Covered, Recorded, Subject};
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// The actor of what a host does by itself.
pub(super) const HOST: &str = "host";

/// A row of `chain_origin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) chain_id: Uuid,
    pub(super) stripe: i16,
    /// The first batch that must have a hash.
    pub(super) first_seq: i64,
    /// For a chain that existed when the ledger was adopted: its batches without a hash, and their digest.
    pub(super) adopted: Option<(i64, Hash)>,
    pub(super) created_at: OffsetDateTime,
}

impl Origin {
    fn state(&self, key: &ChainKey) -> Hash {
        let mut digest = Subject::Chain.state();
        digest.uuid(self.chain_id);
        digest.int(self.stripe.into());
        digest.int(self.first_seq);
        digest.int(self.adopted.map_or(-1, |(batches, _)| batches));
        digest.optional_bytes(self.adopted.as_ref().map(|(_, hash)| &hash[..]));
        digest.time(self.created_at);
        key.seal_digest(digest)
    }

    pub(super) fn change(&self, key: &ChainKey) -> Change {
        Change {
            subject: Subject::Chain,
            key: self.chain_id.to_string(),
            action: if self.adopted.is_some() { "adopt" } else { "begin" },
            actor: HOST.to_owned(),
            state: Some(self.state(key)),
        }
    }
}

struct Row {
    chain_id: Uuid,
    stripe: i16,
    first_seq: i64,
    adopted_batches: Option<i64>,
    adopted_digest: Option<Vec<u8>>,
    created_at: OffsetDateTime,
}

impl TryFrom<Row> for Origin {
    type Error = sqlx::Error;

    fn try_from(row: Row) -> Result<Self, sqlx::Error> {
        let Row { chain_id, stripe, first_seq, adopted_batches, adopted_digest, created_at } = row;
        // One without the other is no origin that a host wrote.
        let adopted = match (adopted_batches, adopted_digest.map(hash_from_bytes).transpose()?) {
            (None, None) => None,
            (batches, digest) => Some((batches.unwrap_or_default(), digest.unwrap_or_default())),
        };
        Ok(Self { chain_id, stripe, first_seq, adopted, created_at })
    }
}

pub(super) async fn insert(db: &mut PgConnection, origin: &Origin) -> Result<(), sqlx::Error> {
    let digest = origin.adopted.as_ref().map(|(_, digest)| &digest[..]);
    sqlx::query!(
        r#"
        insert into chain_origin
            (chain_id, stripe, first_seq, adopted_batches, adopted_digest, created_at)
        values ($1, $2, $3, $4, $5, $6)
        "#,
        origin.chain_id,
        origin.stripe,
        origin.first_seq,
        origin.adopted.map(|(batches, _)| batches),
        digest,
        origin.created_at,
    )
    .execute(db)
    .await
    .map(drop)
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
    let last = records::lock(db).await?;
    if last.seq < 0 {
        return Err(sqlx::Error::Protocol("the ledger was not adopted before its first chain".into()));
    }
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
    let origin = Origin { chain_id, stripe, first_seq: 0, adopted: None, created_at: now };
    insert(db, &origin).await?;
    records::append_after(db, key, last, &[origin.change(key)], now).await?;
    Ok(stripe)
}

/// Where a chain began and the hash of the record that announces it, if a host with the key did announce it.
pub(super) async fn announced(
    db: &mut PgConnection,
    key: &ChainKey,
    chain_id: Uuid,
) -> Result<Option<(Origin, Hash)>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select chain_id, stripe, first_seq, adopted_batches, adopted_digest, created_at
        from chain_origin where chain_id = $1
        "#,
        chain_id,
    );
    let Some(row) = row.fetch_optional(&mut *db).await? else { return Ok(None) };
    let origin = Origin::try_from(row)?;
    let record = records::find(db, key, Subject::Chain, &chain_id.to_string()).await?;
    let state = origin.state(key);
    let record = record.filter(|record| record.state.as_deref() == Some(&state[..]));
    record.map(|record| Ok((origin, hash_from_bytes(record.hash)?))).transpose()
}

/// An origin beside its last record, for a proof.
pub(super) struct Announcement {
    pub(super) origin: Origin,
    pub(super) covered: Covered,
    /// Of the record to which the first batch links: the last one that the chain's own key sealed.
    pub(super) hash: Option<Hash>,
    /// Whether `ledger_writer` has the same chain with the same stripe.
    pub(super) has_writer: bool,
}

pub(super) async fn all(db: &mut PgConnection, key: &ChainKey) -> Result<Vec<Announcement>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select o.chain_id, o.stripe, o.first_seq, o.adopted_batches, o.adopted_digest, o.created_at,
            r.seq is not null as "is_recorded!", r.state as "state?", l.hash as "link?",
            exists (select from ledger_writer w where w.chain_id = o.chain_id and w.stripe = o.stripe) as "has_writer!"
        from chain_origin o left join lateral (
            select seq, state from audit_record
            where subject = 'chain' and subject_key = o.chain_id::text order by seq desc limit 1
        ) as r on true
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
        let origin = Origin::try_from(Row {
            chain_id: row.chain_id,
            stripe: row.stripe,
            first_seq: row.first_seq,
            adopted_batches: row.adopted_batches,
            adopted_digest: row.adopted_digest,
            created_at: row.created_at,
        })?;
        let recorded = Recorded::new(row.is_recorded, row.state);
        let covered = Covered { key: origin.chain_id.to_string(), state: origin.state(key), recorded };
        let hash = row.link.map(hash_from_bytes).transpose()?;
        Ok(Announcement { origin, covered, hash, has_writer: row.has_writer })
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

/// The chains that exist before the ledger is adopted: chain, stripe, first batch with a hash or else the next one.
pub(super) async fn before_adoption(db: &mut PgConnection) -> Result<Vec<(Uuid, i16, i64)>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select w.chain_id, w.stripe, coalesce(
            (select min(seq) from ledger_batch b where b.chain_id = w.chain_id and b.hash is not null),
            (select max(seq) + 1 from ledger_batch b where b.chain_id = w.chain_id),
            0
        ) as "first_seq!"
        from ledger_writer w order by w.stripe
        "#
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.chain_id, row.stripe, row.first_seq)).collect())
}
