//! Proves the audit records: that none was altered, added or removed, and that the rows they cover are as recorded.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use time::OffsetDateTime;

use super::periods::Periods;
use super::report::RecordProof;
use super::things::{self, Subject, Thing};
use super::{Change, LastRecord, RESEAL, Record, hash_of};
use crate::db::{comparisons, deployments};
use crate::sealing::{ChainKey, Keyring};

/// For tests: records the rows that were written by SQL, as a host would have.
///
/// # Errors
/// When the database fails.
pub async fn record_all(db: &mut PgConnection, key: &ChainKey, now: OffsetDateTime) -> Result<(), sqlx::Error> {
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

/// Run it in a repeatable-read transaction.
///
/// # Errors
/// When the database fails.
pub(crate) async fn prove(db: &mut PgConnection, keys: &Keyring) -> Result<RecordProof, sqlx::Error> {
    let mut proof = RecordProof::default();
    chain(db, keys, None, &mut proof, |_| {}).await?;
    for &subject in Subject::ALL {
        things::each(db, subject, None, |thing| proof.compare(&thing, keys.present())).await?;
    }
    unrecorded(db, keys.present(), &mut proof).await?;
    Ok(proof)
}

/// Proves the records after `after`, which is trusted if it is there, and what they are about as it is now. What is
/// there without any record is found only where there is little of it.
///
/// # Errors
/// When the database fails.
pub(crate) async fn prove_since(
    db: &mut PgConnection,
    keys: &Keyring,
    after: Option<LastRecord>,
) -> Result<RecordProof, sqlx::Error> {
    let mut proof = RecordProof::default();
    let mut changed: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    chain(db, keys, after, &mut proof, |record| {
        changed.entry(record.subject.clone()).or_default().insert(record.subject_key.clone());
    })
    .await?;
    for &subject in Subject::ALL {
        let keys_of = changed.remove(subject.as_str()).unwrap_or_default().into_iter().collect::<Vec<_>>();
        let only = (!subject.is_rare()).then_some(&keys_of[..]);
        things::each(db, subject, only, |thing| proof.compare(&thing, keys.present())).await?;
    }
    unrecorded(db, keys.present(), &mut proof).await?;
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

/// Proves the links of the records after `after`.
async fn chain(
    db: &mut PgConnection,
    keys: &Keyring,
    after: Option<LastRecord>,
    proof: &mut RecordProof,
    mut visit: impl FnMut(&Record),
) -> Result<(), sqlx::Error> {
    proof.last = after;
    sequence(db, after.map_or(-1, |after| after.seq), proof).await?;
    let periods = Periods::load(db).await?;
    let losses = sqlx::query!(
        r#"
        select from_seq - 1 as "before!", to_seq + 1 as "after!", head_hashes[cardinality(head_hashes)] as "head!"
        from lost_tail where chain_id = '00000000-0000-0000-0000-000000000000'
        "#
    );
    let losses = losses.fetch_all(&mut *db).await?;
    {
        let mut rows = sqlx::query_as!(
            Record,
            r#"
            select seq, follows, subject, subject_key, action, actor, state, recorded_at, prev, hash
            from audit_record where seq > $1 order by seq
            "#,
            after.map_or(-1, |after| after.seq),
        )
        .fetch(&mut *db);
        while let Some(record) = rows.try_next().await? {
            let before = proof.last.map_or(-1, |last| last.seq);
            // What follows an accepted loss has the number after it, and links to the last one lost.
            let lost = losses.iter().find(|loss| (loss.before, loss.after) == (before, record.seq));
            let linked = lost.map(|loss| loss.head.clone());
            let linked = linked.unwrap_or_else(|| proof.last.map_or(vec![0; 32], |last| last.hash.to_vec()));
            if record.seq != before + 1 && lost.is_none() {
                proof.add(format!("record {}: the record before it is missing", record.seq));
            } else if record.prev != linked {
                proof.add(format!("record {}: it does not link to the record before it", record.seq));
            }
            match periods.key(record.seq, keys) {
                Some(key) if record.is_authentic(key) => {}
                Some(_) => proof.add(format!("record {}: it was altered", record.seq)),
                None => proof.unproven += 1,
            }
            visit(&record);
            proof.last = Some(LastRecord { seq: record.seq, hash: hash_of(record.hash)? });
            proof.records += 1;
        }
    }
    let head = super::last(db).await?;
    if proof.last.is_some_and(|last| last != head) || (proof.last.is_none() && head.seq >= 0) {
        proof.add("the last record is not the one that audit_head names".to_owned());
    }
    Ok(())
}

/// Each record after `after` follows the one before it about the same thing, which its host therefore saw, and what two
/// operators decided stays decided.
async fn sequence(db: &mut PgConnection, after: i64, proof: &mut RecordProof) -> Result<(), sqlx::Error> {
    let broken = sqlx::query!(
        r#"
        select a.seq, a.follows is distinct from b.seq as "is_blind!"
        from audit_record a left join lateral (
            select seq from audit_record b
            where b.subject = a.subject and b.subject_key = a.subject_key and b.seq < a.seq order by seq desc limit 1
        ) as b on true
        where a.seq > $1 and (
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
        after,
    );
    for row in broken.fetch_all(db).await? {
        let what = if row.is_blind {
            "it does not follow the record before it about the same thing, which was hidden from its host"
        } else {
            "its action had ended"
        };
        proof.add(format!("record {}: {what}", row.seq));
    }
    Ok(())
}
