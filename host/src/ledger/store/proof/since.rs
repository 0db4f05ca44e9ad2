//! Verifies what was written after heads that are trusted, in time proportional to that and to the number of accounts.
//!
//! It does not show that the history before them is sound: the heads must come from a full verification.

mod rows;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::batches::{self, Walk};
use super::report::{Head, Proof};
use super::{Heads, RECORDS};
use crate::db::audit::Finding;
use crate::db::audit::since::{self as rules, Part};
use crate::db::records::{self, LastRecord};
use crate::ledger::chain::{ChainKey, Keyring};
use crate::ledger::store::{losses, origins, retired};

/// What was found, and how much was checked.
#[derive(Debug)]
pub struct Recent {
    pub proof: Proof,
    pub findings: Vec<Finding>,
    pub batches: i64,
    pub transfers: i64,
    pub entries: i64,
    /// Batches up to the heads, which were not checked.
    pub batches_before: i64,
    /// Audit records up to theirs.
    pub records_before: i64,
}

/// Verifies the batches, rows, balances and audit records after these heads. A chain that has none is
/// verified from its first batch. Run it in a repeatable-read transaction.
///
/// # Errors
/// When the database fails.
pub async fn prove(db: &mut PgConnection, keys: &Keyring, heads: &Heads) -> Result<Recent, sqlx::Error> {
    let last = heads.get(&RECORDS).map(|head| LastRecord { seq: head.seq, hash: head.hash });
    let key = keys.present();
    let mut proof = Proof { records: records::proof::prove_since(db, keys, last).await?, ..Proof::default() };
    let announced = origins::all(db).await?;
    let accepted = losses::accepted(db, key).await?;
    let mut recent = Recent::new(last);
    let mut part = Part::default();
    let retired = retired::all(db).await?;
    let closed = retired::closed(&retired);
    let mut walk = Walk::new(keys, &announced, &accepted, &closed);
    for chain_id in origins::chains(db).await? {
        let after = match heads.get(&chain_id) {
            Some(head) => {
                check_beginning(db, walk.key(chain_id), chain_id, head, &mut proof).await?;
                walk.resume(chain_id, *head);
                proof.heads.insert(chain_id, *head);
                head.seq
            }
            None => {
                if origins::announced(db, key, chain_id).await?.is_none() {
                    proof.add((chain_id, 0), "no record says where its chain began");
                }
                -1
            }
        };
        recent.batches_before += after + 1;
        part.chains.push(chain_id);
        part.after.push(after);
        batches::each_after(db, chain_id, after, |row| {
            recent.add(row.counts());
            part.since = Some(part.since.map_or(row.created_at, |since| since.min(row.created_at)));
            walk.add(row, &mut proof)
        })
        .await?;
    }
    walk.finish(&mut proof);
    proof.retired = retired;
    for it in &announced {
        if !it.has_writer {
            proof.add((it.origin.chain_id, 0), "ledger_writer has no such chain and stripe");
        }
    }
    if part.since.is_some() {
        rows::verify(db, &part, &mut proof).await?;
    }
    recent.findings = rules::prove(db, &part).await?;
    proof.losses = accepted;
    let head = proof.records.last.map(|last| Head { seq: last.seq, hash: last.hash });
    proof.heads.extend(head.map(|head| (RECORDS, head)));
    proof.breaks.sort();
    proof.breaks.dedup();
    recent.proof = proof;
    Ok(recent)
}

impl Recent {
    fn new(last: Option<LastRecord>) -> Self {
        let records_before = last.map_or(0, |last| last.seq + 1);
        let (batches, transfers, entries, batches_before) = (0, 0, 0, 0);
        let (proof, findings) = (Proof::default(), Vec::new());
        Self { proof, findings, batches, transfers, entries, batches_before, records_before }
    }

    fn add(&mut self, counts: crate::ledger::chain::Counts) {
        self.batches += 1;
        self.transfers += i64::from(counts.transfers);
        self.entries += i64::from(counts.entries);
    }
}

/// The batch after which to begin must be there, with the recorded hash, and that hash must be right.
async fn check_beginning(
    db: &mut PgConnection,
    key: Option<&ChainKey>,
    chain_id: Uuid,
    head: &Head,
    proof: &mut Proof,
) -> Result<(), sqlx::Error> {
    let found = batches::at_or_before(db, chain_id, head.seq).await?.filter(|row| row.seq == head.seq);
    let sealed = found.map(|row| row.sealed()).transpose()?.filter(|(_, hash)| *hash == head.hash);
    let is_sound = |(header, hash)| key.is_none_or(|key| key.hash(&header) == hash);
    if !sealed.is_some_and(is_sound) {
        proof.add((chain_id, head.seq), "it is not there as recorded, so nothing can begin after it: verify in full");
    }
    Ok(())
}

/// The last batch of each chain, and the last audit record, before a moment. A host whose clock was behind may have
/// written something before it later; that counts as after it.
///
/// # Errors
/// When the database fails.
pub async fn heads_before(db: &mut PgConnection, at: OffsetDateTime) -> Result<Heads, sqlx::Error> {
    let mut heads = Heads::new();
    for chain_id in origins::chains(db).await? {
        let (mut low, mut high) = (0, batches::last(db, chain_id).await?.map_or(-1, |last| last.seq));
        while low <= high {
            let middle = low + (high - low) / 2;
            match batches::at_or_before(db, chain_id, middle).await?.filter(|row| row.seq >= low) {
                Some(row) if row.created_at >= at => high = row.seq - 1,
                Some(row) => {
                    heads.insert(chain_id, Head { seq: row.seq, hash: row.sealed()?.1 });
                    low = middle + 1;
                }
                // Lost in a failover.
                None => low = middle + 1,
            }
        }
    }
    let last = records::last_before(db, at).await?;
    heads.extend(last.map(|last| (RECORDS, Head { seq: last.seq, hash: last.hash })));
    Ok(heads)
}
