//! Replaces the ledger's key.
//!
//! The old key closes every chain with a tombstone, so that no writer can append to one, and seals a last record. The
//! new key begins by sealing the heads of those chains and of the audit records, everything that records cover, and the orders to rails. From then on the old key
//! proves the history and can neither continue it nor, since its ends are pinned, rewrite it.

use std::collections::BTreeMap;

use sqlx::{Connection as _, Executor as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::contract::Fate;
use super::retired::{self, RetiredKey};
use super::{fate, key, lease, origins};
use crate::db::payments::sealed;
use crate::db::records::{self, Change, Head, Heads, RECORDS};
use crate::db::{beneficiaries, limits, session};
use crate::ledger::writer::Writer;
use crate::sealing::digest::Hash;
use crate::sealing::{ChainKey, Keyring};

/// Why a key was not replaced. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum RotateError {
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
    #[error("the ledger's hashes are made with another key than the one to retire: configure the present one")]
    OtherKey,
    #[error(
        "the new key is the present one, or was retired before: make another, for example with `openssl rand -hex 32`"
    )]
    UsedKey,
    #[error(
        "a host holds a lease until {until}: stop every host, and wait 30 seconds if one of them crashed, then try again"
    )]
    HostRuns { until: OffsetDateTime },
    #[error("chain {0} has just been extended: stop every host and try again")]
    HostWrites(Uuid),
    #[error("the new key would seal what is not as recorded: {0}. Run `caudal verify`")]
    Unsound(String),
    #[error("no host has used this ledger yet, so there is no key to retire")]
    NotBegun,
}

/// Why and by whom a key is replaced.
#[derive(Debug, Clone, Copy)]
pub struct Cause<'a> {
    pub reason: &'a str,
    /// The operator.
    pub by: &'a str,
    pub at: OffsetDateTime,
}

/// What a rotation did.
#[derive(Debug)]
pub struct Rotated {
    pub retired: RetiredKey,
    /// Audit records appended under the new key.
    pub records: usize,
}

/// Replaces the present key by a new one, in one transaction.
///
/// # Errors
/// While a host runs, if what the records cover is not as recorded, or the database fails.
pub async fn rotate(
    db: &mut PgConnection,
    old: &ChainKey,
    new: &ChainKey,
    cause: Cause<'_>,
) -> Result<Rotated, RotateError> {
    // What is sealed again is what was proven, whatever somebody commits meanwhile.
    db.execute("set default_transaction_isolation = 'repeatable read'").await?;
    let mut transaction = db.begin().await?;
    transaction.execute("reset default_transaction_isolation").await?;
    session::read_whole_tables(&mut transaction).await?;
    // Appending a record or beginning a chain waits here, and then fails because the key was replaced.
    let heads = records::lock_all(&mut transaction).await?;
    let writers = free_writers(&mut transaction, cause.at).await?;
    let (ours, next) = (old.fingerprint(), new.fingerprint());
    match key::bound(&mut transaction).await? {
        None => return Err(RotateError::NotBegun),
        Some(bound) if bound != ours => return Err(RotateError::OtherKey),
        Some(_) => {}
    }
    if ours == next || retired::is_retired(&mut transaction, &next).await? {
        return Err(RotateError::UsedKey);
    }
    let covered = reseal(&mut transaction, old, cause.by).await?;
    let mut chains = unpinned(&mut transaction, &heads).await?;
    for writer in writers {
        let (chain_id, head) = close(&mut transaction, old, writer, cause.at).await?;
        chains.insert(chain_id, head);
    }
    let retired = RetiredKey {
        fingerprint: ours,
        last_record: heads.get(&RECORDS).map_or(0, |head| head.seq + 1),
        reason: cause.reason.to_owned(),
        by: cause.by.to_owned(),
        at: cause.at,
        chains,
    };
    retired::insert(&mut transaction, &retired).await?;
    let closing_record = retired.change("retire");
    records::append(&mut transaction, old, closing_record, cause.at).await?;
    sealed::renew(&mut transaction, new).await?;
    limits::renew_seals(&mut transaction, new).await?;
    beneficiaries::renew_seals(&mut transaction, new).await?;
    key::rebind(&mut transaction, &next, cause.at).await?;
    // What the old key sealed. Hosts begin to count again.
    sqlx::query!("delete from rollout_evidence").execute(&mut *transaction).await?;
    let changes = [vec![retired.change("succeed")], covered].concat();
    records::append_all(&mut transaction, new, &changes, cause.at).await?;
    transaction.commit().await?;
    Ok(Rotated { retired, records: changes.len() })
}

/// The heads of the chains of audit records that follow what earlier keys sealed there. The next record of the first chain
/// pins its head.
async fn unpinned(db: &mut PgConnection, heads: &Heads) -> Result<BTreeMap<Uuid, (i64, Hash)>, RotateError> {
    let pinned = sqlx::query!(
        r#"select chain_id, max(seq) as "seq!" from retired_chain where chain_id = any($1) group by chain_id"#,
        &heads.keys().copied().collect::<Vec<_>>(),
    );
    let pinned: BTreeMap<_, _> = pinned.fetch_all(db).await?.into_iter().map(|row| (row.chain_id, row.seq)).collect();
    let follows = |chain_id: &Uuid, seq| *chain_id != RECORDS && seq > pinned.get(chain_id).copied().unwrap_or(-1);
    let heads = heads.iter().filter(|(chain_id, head)| follows(chain_id, head.seq));
    Ok(heads.map(|(chain_id, &Head { seq, hash })| (*chain_id, (seq, hash))).collect())
}

/// The writers of all open chains, locked, if none of them is leased.
async fn free_writers(db: &mut PgConnection, now: OffsetDateTime) -> Result<Vec<(Uuid, i16)>, RotateError> {
    let rows = sqlx::query!(
        r#"
        select chain_id, stripe, leased_until from ledger_writer w
        where not exists (select from retired_chain c where c.chain_id = w.chain_id)
        order by stripe for update
        "#
    );
    let rows = rows.fetch_all(db).await?;
    match rows.iter().map(|row| row.leased_until).max().filter(|until| *until >= now) {
        Some(until) => Err(RotateError::HostRuns { until }),
        None => Ok(rows.into_iter().map(|row| (row.chain_id, row.stripe)).collect()),
    }
}

/// Takes the number of the batch that a writer without a lease might still append.
async fn close(
    db: &mut PgConnection,
    old: &ChainKey,
    (chain_id, stripe): (Uuid, i16),
    now: OffsetDateTime,
) -> Result<(Uuid, (i64, Hash)), RotateError> {
    let (next_seq, head) = lease::end(db, old, chain_id, stripe).await?;
    let holder = Uuid::nil();
    let batch_id = Uuid::new_v4();
    let tombstone = old.seal_tombstone(batch_id, &Writer { chain_id, stripe, next_seq, head, holder }, now);
    match fate::settle(db, batch_id, &tombstone).await? {
        Fate::Committed => Ok((chain_id, (next_seq, tombstone.hash))),
        Fate::Never | Fate::LostChain => Err(RotateError::HostWrites(chain_id)),
    }
}

/// Everything that records cover, for the new key to seal, if it is as the old key's records say.
async fn reseal(db: &mut PgConnection, old: &ChainKey, by: &str) -> Result<Vec<Change>, RotateError> {
    let mut proof = records::proof::prove(db, &Keyring::from(old.clone())).await?;
    for chain_id in origins::unannounced(db).await? {
        proof.add(format!("no record says where chain {chain_id} began"));
    }
    for transfer_id in sealed::broken(db, old).await? {
        proof.add(format!("payment {transfer_id}: it was altered"));
    }
    match proof.complaints.into_iter().next() {
        Some(complaint) => Err(RotateError::Unsound(complaint)),
        None => Ok(records::proof::reseal(db, by).await?),
    }
}
