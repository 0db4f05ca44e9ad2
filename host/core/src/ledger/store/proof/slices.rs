//! Verifies the ledger in slices: some batches of a chain and their rows, in a short transaction of its own.
//!
//! Batches are only added, so a slice that was verified stays so. While a transaction is open, Postgres keeps every
//! version of a row that it may see, which slows transfers down the longer it lasts.

use std::collections::BTreeMap;
use std::time::Instant;

use sqlx::PgConnection;
use tokio::time::sleep;
use uuid::Uuid;

use super::batches::{self, Walk};
use super::kept::{self, Sealed};
use super::pace::Pace;
use super::report::{Heads, Proof};
use super::rows;
use super::watch::Watch;
use crate::db::audit::{self, Finding, Slice};
use crate::db::payments::sealed;
use crate::db::records::proof::SLICE_ROWS;
use crate::db::records::{self, is_of_records};
use crate::db::session::{self, read};
use crate::ledger::chain::{ChainKey, Keyring};
use crate::ledger::store::codec::digests_from_bytes;
use crate::ledger::store::{losses, origins, retired};

/// Batches of a slice, whose headers and digests are in memory.
const SLICE_BATCHES: i64 = 4_096;

/// What to verify.
#[derive(Debug, Clone)]
pub struct Scope {
    /// These batches, and what is before them, are trusted; those of other chains are verified from the first one on.
    pub after: Heads,
    /// Whether to look for what no batch or audit record names, which takes reading everything.
    pub is_whole: bool,
    /// Rows of a slice, besides those of its last batch.
    pub slice_rows: i64,
    pub pace: Pace,
}

impl Scope {
    pub fn whole() -> Self {
        Self { is_whole: true, ..Self::since(Heads::new()) }
    }

    pub fn since(after: Heads) -> Self {
        Self { after, is_whole: false, slice_rows: SLICE_ROWS, pace: Pace::FULL }
    }
}

/// Verifies everything.
///
/// # Errors
/// When the database fails.
pub async fn prove(db: &mut PgConnection, key: &ChainKey) -> Result<Proof, sqlx::Error> {
    prove_with(db, &Keyring::from(key.clone()), &Scope::whole(), Watch::default(), |_| {}).await
}

/// Verifies what was written until now, and every balance and what records cover as they are. `verified` is called after
/// each slice.
///
/// # Errors
/// When the database fails.
pub async fn prove_with(
    db: &mut PgConnection,
    keys: &Keyring,
    scope: &Scope,
    watch: Watch,
    mut verified: impl FnMut(&Proof),
) -> Result<Proof, sqlx::Error> {
    let key = keys.present();
    let mut proof = Proof { watch, ..Proof::default() };
    // First of all: what is announced later explains more.
    let mut ends = Vec::new();
    for chain_id in origins::chains(db).await? {
        ends.push((chain_id, batches::last(db, chain_id).await?.map_or(-1, |last| last.seq)));
    }
    verify_records(db, keys, scope, &mut proof, &mut verified).await?;
    let retired = retired::all(db).await?;
    let announced = origins::all(db).await?;
    let accepted = losses::accepted(db, key).await?;
    for it in &announced {
        if !it.has_writer {
            proof.add((it.origin.chain_id, 0), "ledger_writer has no such chain and stripe");
        }
    }
    let closed = retired::closed(&retired);
    proof.retired = retired;
    for transfer_id in sealed::broken(db, key).await? {
        proof.records.add(format!("payment {transfer_id}: it was altered"));
    }
    let mut walk = Walk::new(keys, &announced, &accepted, &closed);
    for (chain_id, end) in ends {
        let mut after = begin(db, key, chain_id, scope, &mut walk, &mut proof).await?;
        while let Some(last) = read_slice(db, scope.pace, async |db| {
            verify_slice(db, (chain_id, after, end), scope.slice_rows, &mut walk, &mut proof).await
        })
        .await?
        {
            after = last;
            verified(&proof);
        }
    }
    walk.finish(&mut proof);
    proof.losses = accepted;
    verify_present(db, scope, &mut proof).await?;
    proof.breaks.sort();
    proof.breaks.dedup();
    Ok(proof)
}

/// Verifies the audit records, and what they cover as it is now.
async fn verify_records(
    db: &mut PgConnection,
    keys: &Keyring,
    scope: &Scope,
    proof: &mut Proof,
    verified: &mut impl FnMut(&Proof),
) -> Result<(), sqlx::Error> {
    let before = scope.after.iter().filter(|(chain_id, _)| is_of_records(**chain_id));
    proof.checked.records_before = before.map(|(_, head)| head.seq + 1).sum();
    let found = &mut proof.records;
    let mut walk = read(db, async |db| records::proof::Walk::begin(db, keys, &scope.after, found).await).await?;
    while read_slice(db, scope.pace, async |db| walk.verify_slice(db, scope.slice_rows, &mut proof.records).await)
        .await?
    {
        proof.heads.extend(&proof.records.heads);
        verified(proof);
    }
    proof.heads.extend(&proof.records.heads);
    let found = &mut proof.records;
    read(db, async |db| {
        if scope.is_whole {
            session::read_whole_tables(db).await?;
        }
        records::proof::verify_present(db, keys.present(), scope.is_whole, found).await
    })
    .await
}

/// Reads in a snapshot, and pauses without one.
async fn read_slice<T>(
    db: &mut PgConnection,
    pace: Pace,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
) -> Result<T, sqlx::Error> {
    let begun = Instant::now();
    let found = read(db, work).await?;
    sleep(pace.pause(begun.elapsed())).await;
    Ok(found)
}

/// The number of the batch after which to begin. It must be there, with the trusted hash, and that hash must be right.
async fn begin(
    db: &mut PgConnection,
    key: &ChainKey,
    chain_id: Uuid,
    scope: &Scope,
    walk: &mut Walk<'_>,
    proof: &mut Proof,
) -> Result<i64, sqlx::Error> {
    let Some(head) = scope.after.get(&chain_id) else {
        if origins::announced(db, key, chain_id).await?.is_none() {
            proof.add((chain_id, 0), "no record says where its chain began");
        }
        return Ok(-1);
    };
    let found = batches::at_or_before(db, chain_id, head.seq).await?.filter(|row| row.seq == head.seq);
    let sealed = found.map(|row| row.sealed()).transpose()?.filter(|(_, hash)| *hash == head.hash);
    let key = walk.key(chain_id);
    let is_there = sealed.is_some_and(|(header, hash)| key.is_none_or(|key| key.hash(&header) == hash));
    if !is_there {
        proof.add((chain_id, head.seq), "it is not there as recorded, so nothing can begin after it: verify in full");
    }
    walk.resume(chain_id, *head);
    proof.heads.insert(chain_id, *head);
    proof.checked.batches_before += head.seq + 1;
    Ok(head.seq)
}

/// The next batches of a chain, up to its end; returns the number of the last one.
async fn verify_slice(
    db: &mut PgConnection,
    (chain_id, after, end): (Uuid, i64, i64),
    slice_rows: i64,
    walk: &mut Walk<'_>,
    proof: &mut Proof,
) -> Result<Option<i64>, sqlx::Error> {
    let batches = batches::next(db, (chain_id, after, end), (SLICE_BATCHES, slice_rows)).await?;
    let (mut digests, mut decisions) = (BTreeMap::new(), BTreeMap::new());
    for row in &batches {
        walk.add(row, proof)?;
        let counts = row.counts();
        proof.checked.batches += 1;
        proof.checked.transfers += i64::from(counts.transfers);
        proof.checked.entries += i64::from(counts.entries);
        digests.insert(row.seq, digests_from_bytes(&row.digests));
        decisions.insert(row.seq, Sealed { root: row.decisions.clone(), created_at: row.created_at });
    }
    let Some(last) = batches.last().map(|row| row.seq) else { return Ok(None) };
    let slice = Slice { chain_id, after, last };
    rows::verify(db, &slice, &digests, proof).await?;
    kept::verify(db, &slice, decisions, proof).await?;
    Finding::merge(&mut proof.findings, audit::check_slice(db, &slice).await?);
    Ok(Some(last))
}

async fn verify_present(db: &mut PgConnection, scope: &Scope, proof: &mut Proof) -> Result<(), sqlx::Error> {
    let mut from = Some(Uuid::nil());
    while let Some(account_id) = from {
        let (findings, next) =
            read_slice(db, scope.pace, async |db| audit::check_balances(db, account_id).await).await?;
        Finding::merge(&mut proof.findings, findings);
        from = next;
    }
    Finding::merge(&mut proof.findings, read(db, async |db| audit::check_present(db).await).await?);
    if scope.is_whole {
        let findings = read(db, async |db| {
            session::read_whole_tables(db).await?;
            rows::find_without_batch(db, proof).await?;
            audit::check_everything(db).await
        });
        let findings = findings.await?;
        Finding::merge(&mut proof.findings, findings);
    }
    Ok(())
}
