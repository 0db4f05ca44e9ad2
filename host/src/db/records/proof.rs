//! Proves the audit records: that none was altered, added or removed, and that the rows they cover are as recorded.

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::periods::Periods;
use super::report::RecordProof;
use super::{Change, Covered, LastRecord, RESEAL, Record, Subject, hash_of};
use crate::db::{approvals, beneficiaries, components, deployments, holders, limits, policy, rollouts, schedules};
use crate::sealing::{ChainKey, Keyring};

/// For tests: records every row, which was written by SQL, as a host would have.
///
/// # Errors
/// When the database fails.
pub async fn record_all(db: &mut PgConnection, key: &ChainKey, now: OffsetDateTime) -> Result<(), sqlx::Error> {
    let changes = sealed(db, key).await?;
    super::append_all(db, key, &changes, now).await.map(drop)
}

/// Every row that records cover, sealed with a key.
pub(crate) async fn sealed(db: &mut PgConnection, key: &ChainKey) -> Result<Vec<Change>, sqlx::Error> {
    let mut changes = Vec::new();
    each_row(db, key, None, |subject, row: Covered| {
        let (action, actor, state) = (RESEAL, String::new(), Some(row.state));
        changes.push(Change { subject, key: row.key, action, actor, state });
    })
    .await?;
    Ok(changes)
}

/// The payees, schedules and users to look at. Components, deployments and rollouts are few.
#[derive(Default)]
struct Only {
    beneficiaries: Vec<Uuid>,
    schedules: Vec<Uuid>,
    /// Those with limits.
    users: Vec<String>,
    holders: Vec<String>,
    approvals: Vec<Uuid>,
}

/// Visits every row, or `only` some.
async fn each_row(
    db: &mut PgConnection,
    key: &ChainKey,
    only: Option<&Only>,
    mut visit: impl FnMut(Subject, Covered),
) -> Result<(), sqlx::Error> {
    let (beneficiaries, users) = (only.map(|only| &only.beneficiaries[..]), only.map(|only| &only.users[..]));
    let (holders, decided) = (only.map(|only| &only.holders[..]), only.map(|only| &only.approvals[..]));
    let planned = only.map(|only| &only.schedules[..]);
    beneficiaries::covered(db, key, beneficiaries, |row| visit(Subject::Beneficiary, row)).await?;
    schedules::covered(db, key, planned, |row| visit(Subject::Schedule, row)).await?;
    limits::covered(db, key, users, |row| visit(Subject::Limits, row)).await?;
    holders::covered(db, key, holders, |row| visit(Subject::Holder, row)).await?;
    approvals::covered(db, key, decided, |row| visit(Subject::Approval, row)).await?;
    components::covered(db, key, |row| visit(Subject::Component, row)).await?;
    rollouts::covered(db, key, |row| visit(Subject::Rollout, row)).await?;
    policy::covered(db, key, |row| visit(Subject::Policy, row)).await?;
    deployments::covered(db, key, |row| visit(Subject::Deployment, row)).await
}

/// Run it in a repeatable-read transaction.
///
/// # Errors
/// When the database fails.
pub(crate) async fn prove(db: &mut PgConnection, keys: &Keyring) -> Result<RecordProof, sqlx::Error> {
    let mut proof = RecordProof::default();
    chain(db, keys, None, &mut proof, |_| {}).await?;
    each_row(db, keys.present(), None, |subject, row| proof.compare(subject, &row)).await?;
    if !deployments::present_is_latest(db).await? {
        proof.add("deployment: the present one is not the last of its history".to_owned());
    }
    gone(db, &mut proof).await?;
    Ok(proof)
}

/// Proves the records after `after`, which is trusted if it is there, and what they are about as it is now. What is
/// there without any record is not found. The caller has the rows of the other subjects.
///
/// # Errors
/// When the database fails.
pub(crate) async fn prove_since(
    db: &mut PgConnection,
    keys: &Keyring,
    after: Option<LastRecord>,
) -> Result<RecordProof, sqlx::Error> {
    let mut proof = RecordProof::default();
    let mut states = BTreeMap::new();
    chain(db, keys, after, &mut proof, |record| {
        states.insert((record.subject.clone(), record.subject_key.clone()), record.state.is_some());
    })
    .await?;
    let mut only = Only::default();
    for (subject, key) in states.keys() {
        if subject == Subject::Beneficiary.as_str() {
            only.beneficiaries.extend(key.parse::<Uuid>().ok());
        } else if subject == Subject::Schedule.as_str() {
            only.schedules.extend(key.parse::<Uuid>().ok());
        } else if subject == Subject::Limits.as_str() {
            only.users.push(key.clone());
        } else if subject == Subject::Holder.as_str() {
            only.holders.push(key.clone());
        } else if subject == Subject::Approval.as_str() {
            only.approvals.extend(key.parse::<Uuid>().ok());
        }
    }
    // A credit leaves no row but its transfer.
    let stays = |subject: &str, has_state| has_state && subject != Subject::Funding.as_str();
    let expected = states.into_iter().filter(|((subject, _), has_state)| stays(subject, *has_state));
    proof.missing = expected.map(|(thing, _)| thing).collect();
    each_row(db, keys.present(), Some(&only), |subject, row| proof.compare(subject, &row)).await?;
    if !deployments::present_is_latest(db).await? {
        proof.add("deployment: the present one is not the last of its history".to_owned());
    }
    Ok(proof)
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
            select seq, subject, subject_key, action, actor, state, recorded_at, prev, hash
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

/// Rows that have a state on record and are not there.
async fn gone(db: &mut PgConnection, proof: &mut RecordProof) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query!(
        r#"
        select r.subject, r.subject_key
        from (
            select distinct on (subject, subject_key) subject, subject_key, state
            from audit_record order by subject, subject_key, seq desc
        ) as r
        left join beneficiary b on r.subject = 'beneficiary' and b.beneficiary_id::text = r.subject_key
        left join rollout l on r.subject = 'rollout' and l.rollout_id::text = r.subject_key
        left join schedule n on r.subject = 'schedule' and n.schedule_id::text = r.subject_key
        left join app_user u on r.subject = 'limits' and u.owner = r.subject_key
            and num_nonnulls(u.per_transfer_limit, u.per_day_limit) > 0
        left join app_user h on r.subject = 'holder' and h.owner = r.subject_key and h.holder_name is not null
        left join component c on r.subject = 'component' and encode(c.sha256, 'hex') = r.subject_key
        left join deployment_history d on r.subject = 'deployment' and d.kind || '/' || d.epoch = r.subject_key
        left join chain_origin o on r.subject = 'chain' and o.chain_id::text = r.subject_key
        left join lost_tail t on r.subject = 'lost-tail'
            and t.chain_id || '/' || t.from_seq || '/' || t.to_seq = r.subject_key
        left join approval p on r.subject = 'approval' and p.approval_id::text = r.subject_key
        left join policy y on r.subject = 'policy' and y.part = r.subject_key
        left join retired_key k on r.subject = 'key' and encode(k.fingerprint, 'hex') = r.subject_key
        where r.state is not null and r.subject <> 'funding' and coalesce(
            b.owner, l.kind, n.owner, u.owner, h.owner, c.kind, d.kind, o.chain_id::text, t.reason,
            p.reason, k.reason, y.part
        ) is null
        order by r.subject, r.subject_key
        "#
    )
    .fetch(db);
    while let Some(row) = rows.try_next().await? {
        proof.add(format!("{} {}: it is gone", row.subject, row.subject_key));
    }
    Ok(())
}
