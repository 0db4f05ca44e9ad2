//! Proves the audit records: that none was altered, added or removed, and that the rows they cover are as recorded.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::periods::Periods;
use super::report::RecordProof;
use super::things::{self, Subject, Thing};
use super::{Change, Head, Heads, RESEAL, Record, chains, hash_of, is_of_records, name_of};
use crate::db::{beneficiaries, comparisons, deployments, limits};
use crate::sealing::{ChainKey, Keyring};

/// Rows of a slice: about a second's work.
pub(crate) const SLICE_ROWS: i64 = 50_000;

/// For tests: records the rows that were written by SQL, as a host would have.
///
/// # Errors
/// When the database fails.
pub async fn record_all(db: &mut PgConnection, key: &ChainKey, now: OffsetDateTime) -> Result<(), sqlx::Error> {
    limits::renew_seals(db, key).await?;
    beneficiaries::renew_seals(db, key).await?;
    let mut changes = Vec::new();
    for &subject in Subject::ALL {
        let write = |thing: Thing| thing.flaw(key).map(|_| Change::new(subject, thing.key, "write", ""));
        things::each(db, subject, None, |thing| changes.extend(write(thing))).await?;
    }
    super::append_all(db, key, &changes, now).await
}

/// Records for everything that is there.
pub(crate) async fn reseal(db: &mut PgConnection, by: &str) -> Result<Vec<Change>, sqlx::Error> {
    let mut changes = Vec::new();
    for &subject in Subject::ALL {
        let reseal = |key| Change::new(subject, key, RESEAL, by);
        things::each(db, subject, None, |thing| changes.extend(thing.content.map(|_| reseal(thing.key)))).await?;
    }
    Ok(changes)
}

/// Verifies the records of one chain after another in slices, each with the rows that its records are about, as they
/// are now. Records are only added, so a slice that was verified stays so.
pub(crate) struct Walk<'a> {
    keys: &'a Keyring,
    periods: Periods,
    losses: Vec<Loss>,
    /// The chains that are not verified to their ends, the next one at the end.
    ends: Vec<End>,
}

/// An accepted loss: the chain, the numbers around what was lost, and the hash of its last record.
struct Loss {
    chain_id: Uuid,
    before: i64,
    after: i64,
    head: Vec<u8>,
}

/// A chain when the verification began.
struct End {
    chain_id: Uuid,
    /// What is verified or trusted.
    at: Head,
    /// The number of the last record; -1 if there is none.
    last: i64,
    /// What `audit_head` names.
    head: Head,
}

impl<'a> Walk<'a> {
    /// Begins after what is trusted.
    pub(crate) async fn begin(
        db: &mut PgConnection,
        keys: &'a Keyring,
        after: &Heads,
        proof: &mut RecordProof,
    ) -> Result<Self, sqlx::Error> {
        // First of all: what is announced later explains more.
        let rows = sqlx::query!(
            r#"
            select chain_id as "chain_id!", coalesce(h.seq, -1) as "seq!", h.hash as "hash?", coalesce(r.last, -1) as "last!"
            from unnest($1::uuid[]) as n (chain_id) left join audit_head h using (chain_id)
            left join lateral (select max(seq) as last from audit_record r where r.chain_id = n.chain_id) as r on true
            order by chain_id desc
            "#,
            &chains().collect::<Vec<_>>(),
        );
        let mut ends = Vec::new();
        for row in rows.fetch_all(&mut *db).await? {
            let at = after.get(&row.chain_id).copied().unwrap_or(Head::NONE);
            match row.hash {
                Some(hash) => {
                    let head = Head { seq: row.seq, hash: hash_of(hash)? };
                    ends.push(End { chain_id: row.chain_id, at, last: row.last, head });
                }
                None => proof.add(format!("audit_head does not name the last record of chain {}", row.chain_id)),
            }
        }
        proof.heads = after.iter().filter(|(id, _)| is_of_records(**id)).map(|(id, head)| (*id, *head)).collect();
        let losses = sqlx::query_as!(
            Loss,
            r#"
            select chain_id, from_seq - 1 as "before!", to_seq + 1 as "after!",
                head_hashes[cardinality(head_hashes)] as "head!"
            from lost_tail
            "#
        );
        let losses = losses.fetch_all(&mut *db).await?;
        Ok(Self { keys, periods: Periods::load(db).await?, losses, ends })
    }

    /// Verifies the next records, at most as many; false if there are none. Run it in a snapshot.
    pub(crate) async fn verify_slice(
        &mut self,
        db: &mut PgConnection,
        limit: i64,
        proof: &mut RecordProof,
    ) -> Result<bool, sqlx::Error> {
        // Many chains may be short.
        let mut left = limit;
        while left > 0 {
            let Some(end) = self.ends.last() else { return Ok(false) };
            let (chain_id, after) = (end.chain_id, end.at.seq);
            let records = records_after(db, end, left).await?;
            left -= i64::try_from(records.len()).map_or(limit, |read| read.max(1));
            self.add(&records, proof)?;
            if let Some(last) = records.last() {
                sequence(db, (chain_id, after, last.seq), proof).await?;
                compare(db, &records, self.keys.present(), proof).await?;
            }
            if self.ends.last().is_some_and(|end| records.is_empty() || end.at.seq >= end.last) {
                self.finish(proof);
            }
        }
        Ok(true)
    }

    /// Proves the links of the next records of a chain.
    fn add(&mut self, records: &[Record], proof: &mut RecordProof) -> Result<(), sqlx::Error> {
        let Some(End { chain_id, at, .. }) = self.ends.last_mut() else { return Ok(()) };
        for record in records {
            let name = name_of(*chain_id, record.seq);
            // What follows an accepted loss has the number after it, and links to the last one lost.
            let is_lost = |it: &&Loss| (it.chain_id, it.before, it.after) == (*chain_id, at.seq, record.seq);
            let lost = self.losses.iter().find(is_lost);
            if record.seq != at.seq + 1 && lost.is_none() {
                proof.add(format!("{name}: the record before it is missing"));
            } else if record.prev[..] != *lost.map_or(&at.hash[..], |loss| &loss.head[..]) {
                proof.add(format!("{name}: it does not link to the record before it"));
            }
            let is_pinned = !self.periods.differs(*chain_id, record.seq, &record.hash);
            match self.periods.key(*chain_id, record.seq, self.keys) {
                Some(key) if record.is_authentic(key) && is_pinned => {}
                None if is_pinned => proof.unproven += 1,
                _ => proof.add(format!("{name}: it was altered")),
            }
            *at = Head { seq: record.seq, hash: hash_of(record.hash.clone())? };
            proof.heads.insert(*chain_id, *at);
            proof.records += 1;
        }
        Ok(())
    }

    /// Ends a chain, where `audit_head` says, or after what was lost there.
    fn finish(&mut self, proof: &mut RecordProof) {
        let Some(End { chain_id, at, head, .. }) = self.ends.pop() else { return };
        let is_lost = |it: &Loss| {
            (it.chain_id, it.before, it.after, &it.head[..]) == (chain_id, at.seq, head.seq + 1, &head.hash[..])
        };
        if at != head && !self.losses.iter().any(is_lost) {
            proof.add(format!("the last record is not the one that audit_head names: {}", name_of(chain_id, at.seq)));
        }
        if self.periods.is_cut(chain_id, at.seq) {
            proof.add(format!("{}: those after it that a retired key sealed are missing", name_of(chain_id, at.seq)));
        }
    }
}

async fn records_after(db: &mut PgConnection, end: &End, limit: i64) -> Result<Vec<Record>, sqlx::Error> {
    sqlx::query_as!(
        Record,
        r#"
        select chain_id, seq, follows, subject, subject_key, action, actor, state, content::text, recorded_at, prev, hash
        from audit_record where chain_id = $1 and seq > $2 and seq <= $3 order by seq limit $4
        "#,
        end.chain_id,
        end.at.seq,
        end.last,
        limit,
    )
    .fetch_all(db)
    .await
}

/// Compares what these records are about with its last record.
async fn compare(
    db: &mut PgConnection,
    records: &[Record],
    key: &ChainKey,
    proof: &mut RecordProof,
) -> Result<(), sqlx::Error> {
    let mut changed: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for record in records {
        changed.entry(&*record.subject).or_default().insert(record.subject_key.clone());
    }
    for &subject in Subject::ALL.iter().filter(|it| !it.is_rare()) {
        let Some(names) = changed.remove(subject.as_str()) else { continue };
        let names: Vec<_> = names.into_iter().collect();
        things::each(db, subject, Some(&names), |thing| proof.compare(&thing, key)).await?;
    }
    Ok(())
}

/// Verifies all of what there is little of, whichever records were verified. What else is there without any record is
/// found only if `is_whole`, which takes reading everything.
///
/// # Errors
/// When the database fails.
pub(crate) async fn verify_present(
    db: &mut PgConnection,
    key: &ChainKey,
    is_whole: bool,
    proof: &mut RecordProof,
) -> Result<(), sqlx::Error> {
    for &subject in Subject::ALL {
        if subject.is_rare() {
            things::each(db, subject, None, |thing| proof.compare(&thing, key)).await?;
        } else if is_whole {
            things::unrecorded(db, subject, |thing| proof.compare(&thing, key)).await?;
        }
    }
    let known = chains().collect::<Vec<_>>();
    let stray = sqlx::query_scalar!(
        r#"
        select chain_id as "chain_id!" from (
            (select chain_id from audit_record where chain_id > $1 order by chain_id limit 1)
            union all (select chain_id from audit_head where chain_id > $1)
        ) as c
        "#,
        known.last(),
    );
    for chain_id in stray.fetch_all(&mut *db).await? {
        proof.add(format!("chain {chain_id} is not one of audit records, but audit_record or audit_head names it"));
    }
    unrecorded(db, key, proof).await
}

/// Verifies everything, in the caller's transaction.
///
/// # Errors
/// When the database fails.
pub(crate) async fn prove(db: &mut PgConnection, keys: &Keyring) -> Result<RecordProof, sqlx::Error> {
    let mut proof = RecordProof::default();
    let mut walk = Walk::begin(db, keys, &Heads::new(), &mut proof).await?;
    while walk.verify_slice(db, SLICE_ROWS, &mut proof).await? {}
    verify_present(db, keys.present(), true, &mut proof).await?;
    Ok(proof)
}

/// What changes without a record: the current deployments are the last ones of the history, which records cover, and
/// evidence for rollouts has a seal of its own.
async fn unrecorded(db: &mut PgConnection, key: &ChainKey, proof: &mut RecordProof) -> Result<(), sqlx::Error> {
    if !deployments::present_is_latest(db).await? {
        proof.add("deployment: the present one is not the last of its history".to_owned());
    }
    comparisons::forged(db, key).await?.into_iter().for_each(|complaint| proof.add(complaint));
    Ok(())
}

/// Each record of a slice follows the one before it about the same thing, which its host therefore saw, and what two
/// operators decided stays decided.
async fn sequence(
    db: &mut PgConnection,
    (chain_id, after, last): (Uuid, i64, i64),
    proof: &mut RecordProof,
) -> Result<(), sqlx::Error> {
    let broken = sqlx::query!(
        r#"
        select a.seq, a.follows is distinct from b.seq as "is_blind!"
        from audit_record a left join lateral (
            select seq from audit_record b
            where b.subject = a.subject and b.subject_key = a.subject_key and b.seq < a.seq order by seq desc limit 1
        ) as b on true
        where a.chain_id = $1 and a.seq > $2 and a.seq <= $3 and (
            -- Nothing keeps two requests for the same credit apart, and nothing acts on a record of one.
            a.follows is distinct from b.seq and a.subject <> 'funding'
            or a.subject = 'approval' and a.action <> 'reseal' and exists (
                select from audit_record e
                where e.subject = 'approval' and e.subject_key = a.subject_key and e.seq < a.seq
                    and e.action in ('withdraw', 'execute')
            )
        )
        order by a.seq limit 100
        "#,
        chain_id,
        after,
        last,
    );
    for row in broken.fetch_all(db).await? {
        let what = if row.is_blind {
            "it does not follow the record before it about the same thing, which was hidden from its host"
        } else {
            "its action had ended"
        };
        proof.add(format!("{}: {what}", name_of(chain_id, row.seq)));
    }
    Ok(())
}
