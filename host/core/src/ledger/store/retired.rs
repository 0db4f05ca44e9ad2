//! Retired keys, and the heads of the chains that they sealed.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::codec::hash_from_bytes;
use crate::db::records::{Change, Subject, is_of_records};
use crate::sealing::digest::Hash;

/// A row of `retired_key` with its chains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiredKey {
    pub(super) fingerprint: Hash,
    /// The last audit record of what operators and hosts do that it sealed.
    pub last_record: i64,
    pub reason: String,
    /// The operator.
    pub by: String,
    pub at: OffsetDateTime,
    /// Where its chains end, and those of the other audit records when it was retired.
    pub(super) chains: BTreeMap<Uuid, (i64, Hash)>,
}

impl RetiredKey {
    pub fn chains(&self) -> usize {
        self.chains.keys().filter(|chain_id| !is_of_records(**chain_id)).count()
    }

    /// Names the key in records and messages by its fingerprint, which does not reveal it.
    pub fn name(&self) -> String {
        name(&self.fingerprint)
    }

    /// The record that pins the heads.
    pub(super) fn change(&self, action: &'static str) -> Change {
        Change::new(Subject::Key, self.name(), action, &self.by)
    }
}

pub(super) fn name(fingerprint: &[u8]) -> String {
    hex::encode(fingerprint)
}

pub(super) async fn insert(db: &mut PgConnection, retired: &RetiredKey) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into retired_key (fingerprint, last_record, reason, retired_by, retired_at) values ($1, $2, $3, $4, $5)",
        &retired.fingerprint[..],
        retired.last_record,
        retired.reason,
        retired.by,
        retired.at,
    )
    .execute(&mut *db)
    .await?;
    let chains: Vec<Uuid> = retired.chains.keys().copied().collect();
    let seqs: Vec<i64> = retired.chains.values().map(|(seq, _)| *seq).collect();
    let hashes: Vec<Vec<u8>> = retired.chains.values().map(|(_, hash)| hash.to_vec()).collect();
    sqlx::query!(
        r#"
        insert into retired_chain (fingerprint, chain_id, seq, hash)
        select $1, chain_id, seq, hash
        from unnest($2::uuid[], $3::bigint[], $4::bytea[]) as n (chain_id, seq, hash)
        "#,
        &retired.fingerprint[..],
        &chains,
        &seqs,
        &hashes,
    )
    .execute(db)
    .await
    .map(drop)
}

/// Every retired key, in the order of their retirement.
pub(super) async fn all(db: &mut PgConnection) -> Result<Vec<RetiredKey>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select fingerprint, last_record, reason, retired_by, retired_at from retired_key order by last_record
        "#
    );
    let mut keys = Vec::new();
    for row in rows.fetch_all(&mut *db).await? {
        let chains = sqlx::query!(
            "select chain_id, seq, hash from retired_chain where fingerprint = $1 order by chain_id",
            row.fingerprint
        );
        let chains = chains.fetch_all(&mut *db).await?.into_iter();
        let chains = chains.map(|row| Ok::<_, sqlx::Error>((row.chain_id, (row.seq, hash_from_bytes(row.hash)?))));
        keys.push(RetiredKey {
            fingerprint: hash_from_bytes(row.fingerprint)?,
            last_record: row.last_record,
            reason: row.reason,
            by: row.retired_by,
            at: row.retired_at,
            chains: chains.collect::<Result<_, _>>()?,
        });
    }
    Ok(keys)
}

/// A chain that a retired key sealed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closed {
    pub(super) fingerprint: Hash,
    /// Its last batch.
    pub(super) seq: i64,
    pub(super) hash: Hash,
}

/// The closed chains of batches.
pub(super) fn closed(keys: &[RetiredKey]) -> BTreeMap<Uuid, Closed> {
    let chains = keys.iter().flat_map(|key| {
        let fingerprint = key.fingerprint;
        let chains = key.chains.iter().filter(|(chain_id, _)| !is_of_records(**chain_id));
        chains.map(move |(chain_id, &(seq, hash))| (*chain_id, Closed { fingerprint, seq, hash }))
    });
    chains.collect()
}

pub(in crate::ledger) async fn is_retired(db: &mut PgConnection, fingerprint: &[u8]) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (select from retired_key where fingerprint = $1) as "is_retired!""#,
        fingerprint
    )
    .fetch_one(db)
    .await
}
