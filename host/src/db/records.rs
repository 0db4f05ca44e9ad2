//! Audit records: a keyed chain of every change to a `Subject`, and of what operators did.
//!
//! A record is appended in the transaction of the change, as its last statement. The head of the chain stays locked
//! until the commit, so a transaction that holds it must not wait for anything else.

mod periods;
pub(crate) mod proof;
pub(crate) mod report;
mod things;

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::sealing::ChainKey;
use crate::sealing::digest::{Digest, Hash};

pub(crate) use things::Subject;
use things::{Thing, each};

/// The actor of a user's own changes: whose they are is in the row.
pub(crate) const OWNER: &str = "owner";

/// The action of the first record about a thing under a new key: nothing else changed.
pub(crate) const RESEAL: &str = "reseal";

/// Records per statement when many are appended.
const CHUNK: usize = 1_000;

/// A change to record. What it made of the row is read from the database.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) subject: Subject,
    pub(crate) key: String,
    pub(crate) action: &'static str,
    pub(crate) actor: String,
}

impl Change {
    pub(crate) fn new(subject: Subject, key: impl ToString, action: &'static str, actor: &str) -> Self {
        Self { subject, key: key.to_string(), action, actor: actor.to_owned() }
    }
}

/// Whether a row that is to be used is as the last record about it says; logs an error if it is not. Each is `None` if
/// there is none. The state of a record was made with the key, so it stands for the row whatever else was altered.
pub(crate) fn is_recorded(
    key: &ChainKey,
    (subject, name): (Subject, &str),
    content: Option<&str>,
    recorded: Option<&[u8]>,
) -> bool {
    let state = content.map(|content| subject.state(key, content));
    let is_same = state.as_ref().map(|state| &state[..]) == recorded;
    if !is_same {
        let subject = subject.as_str();
        tracing::error!(subject, name, "a row does not match its audit record and is not used: run `caudal verify`");
    }
    is_same
}

/// The last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastRecord {
    /// -1 if there is none.
    pub(crate) seq: i64,
    pub(crate) hash: Hash,
}

/// A stored record.
pub(crate) struct Record {
    pub(crate) seq: i64,
    /// The record before it about the same thing: nobody can hide that one for a moment without a trace.
    pub(crate) follows: Option<i64>,
    pub(crate) subject: String,
    pub(crate) subject_key: String,
    pub(crate) action: String,
    pub(crate) actor: String,
    pub(crate) state: Option<Vec<u8>>,
    pub(crate) recorded_at: OffsetDateTime,
    pub(crate) prev: Vec<u8>,
    pub(crate) hash: Vec<u8>,
}

impl Record {
    fn sealed(&self, key: &ChainKey) -> Hash {
        let mut digest = Digest::new(b"caudal audit record 1");
        digest.int(self.seq);
        digest.optional_int(self.follows);
        [&self.subject, &self.subject_key, &self.action, &self.actor].iter().for_each(|text| digest.text(text));
        digest.optional_bytes(self.state.as_deref());
        digest.time(self.recorded_at);
        digest.bytes(&self.prev);
        key.seal_digest(digest)
    }

    /// Whether somebody with the key wrote it, at this place of the chain.
    pub(crate) fn is_authentic(&self, key: &ChainKey) -> bool {
        self.sealed(key)[..] == self.hash[..]
    }
}

/// Locks the head of the chain until the transaction ends.
pub(crate) async fn lock(db: &mut PgConnection) -> Result<LastRecord, sqlx::Error> {
    let row = sqlx::query!("select seq, hash from audit_head for update").fetch_one(db).await?;
    Ok(LastRecord { seq: row.seq, hash: hash_of(row.hash)? })
}

/// The last record; another may follow at any moment.
pub(crate) async fn last(db: &mut PgConnection) -> Result<LastRecord, sqlx::Error> {
    let row = sqlx::query!("select seq, hash from audit_head").fetch_optional(db).await?;
    let last = row.map(|row| Ok::<_, sqlx::Error>(LastRecord { seq: row.seq, hash: hash_of(row.hash)? }));
    Ok(last.transpose()?.unwrap_or(LastRecord { seq: -1, hash: [0; 32] }))
}

/// The last record before a moment.
pub(crate) async fn last_before(db: &mut PgConnection, at: OffsetDateTime) -> Result<Option<LastRecord>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        with recursive half (low, high) as (
            select -1::bigint, seq from audit_head
            union all
            select case when r.recorded_at < $1 then h.middle else h.low end,
                case when r.recorded_at < $1 then h.high else h.middle - 1 end
            from (select low, high, (low + high + 1) / 2 as middle from half where low < high) as h
            -- The last one up to the middle: a failover may have lost some.
            cross join lateral (
                select recorded_at from audit_record where seq <= h.middle order by seq desc limit 1
            ) as r
        )
        select seq, hash from audit_record
        where seq <= (select low from half where low = high) order by seq desc limit 1
        "#,
        at,
    );
    let row = row.fetch_optional(db).await?;
    row.map(|row| Ok(LastRecord { seq: row.seq, hash: hash_of(row.hash)? })).transpose()
}

/// Appends a record as the last statements of a transaction, which holds a lock on the row.
pub(crate) async fn append(
    db: &mut PgConnection,
    key: &ChainKey,
    change: Change,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    append_all(db, key, &[change], now).await
}

/// Appends several records, of different things, as the last statements of a transaction.
pub(crate) async fn append_all(
    db: &mut PgConnection,
    key: &ChainKey,
    changes: &[Change],
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let things = changed(db, changes).await?;
    let last = lock(db).await?;
    write(db, key, last, (changes, &things), now).await.map(drop)
}

/// Appends records, of different things, to the chain, whose head the caller has locked.
pub(crate) async fn append_after(
    db: &mut PgConnection,
    key: &ChainKey,
    last: LastRecord,
    changes: &[Change],
    now: OffsetDateTime,
) -> Result<LastRecord, sqlx::Error> {
    let things = changed(db, changes).await?;
    write(db, key, last, (changes, &things), now).await
}

/// What has just changed, in the same order.
async fn changed(db: &mut PgConnection, changes: &[Change]) -> Result<Vec<Thing>, sqlx::Error> {
    let mut things = Vec::with_capacity(changes.len());
    for changes in changes.chunk_by(|one, next| one.subject == next.subject) {
        let Some(subject) = changes.first().map(|it| it.subject) else { continue };
        let keys: Vec<_> = changes.iter().map(|it| it.key.clone()).collect();
        each(db, subject, Some(&keys), |thing| things.push(thing)).await?;
    }
    Ok(things)
}

/// Appends records of changes, with what they made of the things.
async fn write(
    db: &mut PgConnection,
    key: &ChainKey,
    mut last: LastRecord,
    (changes, things): (&[Change], &[Thing]),
    now: OffsetDateTime,
) -> Result<LastRecord, sqlx::Error> {
    for (changes, things) in changes.chunks(CHUNK).zip(things.chunks(CHUNK)) {
        let mut records = Vec::with_capacity(changes.len());
        for (change, thing) in changes.iter().zip(things) {
            let mut record = Record {
                seq: last.seq + 1,
                follows: thing.last.as_ref().map(|last| last.seq),
                subject: change.subject.as_str().to_owned(),
                subject_key: change.key.clone(),
                action: change.action.to_owned(),
                actor: change.actor.clone(),
                state: thing.state(key).map(|state| state.to_vec()),
                recorded_at: now,
                prev: last.hash.to_vec(),
                hash: Vec::new(),
            };
            last = LastRecord { seq: record.seq, hash: record.sealed(key) };
            record.hash = last.hash.to_vec();
            records.push(record);
        }
        insert(db, key, &records, now).await?;
    }
    Ok(last)
}

/// Inserts nothing if the ledger's key was replaced while this waited for the head.
async fn insert(
    db: &mut PgConnection,
    key: &ChainKey,
    records: &[Record],
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let Some(last) = records.last() else { return Ok(()) };
    let texts = |field: fn(&Record) -> &String| -> Vec<String> { records.iter().map(|it| field(it).clone()).collect() };
    let seqs: Vec<i64> = records.iter().map(|it| it.seq).collect();
    let follows: Vec<Option<i64>> = records.iter().map(|it| it.follows).collect();
    let states: Vec<Option<Vec<u8>>> = records.iter().map(|it| it.state.clone()).collect();
    let prevs: Vec<Vec<u8>> = records.iter().map(|it| it.prev.clone()).collect();
    let hashes: Vec<Vec<u8>> = records.iter().map(|it| it.hash.clone()).collect();
    let inserted = sqlx::query!(
        r#"
        with head as (
            update audit_head set seq = $1, hash = $2
            where not exists (select from ledger_key where fingerprint <> $12)
            returning 1
        )
        insert into audit_record (seq, follows, subject, subject_key, action, actor, state, recorded_at, prev, hash)
        select seq, follows, subject, subject_key, action, actor, state, $3, prev, hash
        from unnest($4::bigint[], $13::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[], $10::bytea[],
            $11::bytea[]) as n (seq, follows, subject, subject_key, action, actor, state, prev, hash)
        where exists (select from head)
        "#,
        last.seq,
        last.hash,
        now,
        &seqs,
        &texts(|it| &it.subject),
        &texts(|it| &it.subject_key),
        &texts(|it| &it.action),
        &texts(|it| &it.actor),
        &states as _,
        &prevs,
        &hashes,
        &key.fingerprint()[..],
        &follows as _,
    );
    if inserted.execute(db).await?.rows_affected() == 0 {
        return Err(sqlx::Error::Protocol("the ledger's key was replaced: start again with the new one".into()));
    }
    Ok(())
}

/// The last record about a thing, if somebody with the key wrote it and the row is there as it says.
pub(crate) async fn find(
    db: &mut PgConnection,
    key: &ChainKey,
    subject: Subject,
    subject_key: &str,
) -> Result<Option<Record>, sqlx::Error> {
    let thing = Thing::find(db, subject, subject_key).await?;
    record_of(db, key, &thing).await
}

async fn record_of(db: &mut PgConnection, key: &ChainKey, thing: &Thing) -> Result<Option<Record>, sqlx::Error> {
    let (None, Some(_), Some(last)) = (thing.flaw(key), &thing.content, &thing.last) else { return Ok(None) };
    let record = sqlx::query_as!(
        Record,
        r#"
        select seq, follows, subject, subject_key, action, actor, state, recorded_at, prev, hash
        from audit_record where seq = $1
        "#,
        last.seq,
    );
    let is_it = |it: &Record| (&*it.subject, &*it.subject_key) == (thing.subject.as_str(), &*thing.key);
    let is_as_read = |it: &Record| is_it(it) && it.state == last.state && it.is_authentic(key);
    Ok(record.fetch_optional(db).await?.filter(is_as_read))
}

/// Whether a thing is as recorded, or neither there nor on record.
pub(crate) async fn is_sound(
    db: &mut PgConnection,
    key: &ChainKey,
    subject: Subject,
    subject_key: &str,
) -> Result<bool, sqlx::Error> {
    let thing = Thing::find(db, subject, subject_key).await?;
    Ok(thing.content.is_none() && thing.last.is_none() || record_of(db, key, &thing).await?.is_some())
}

pub(crate) fn hash_of(bytes: Vec<u8>) -> Result<Hash, sqlx::Error> {
    bytes.try_into().map_err(|_| sqlx::Error::Decode("a stored hash has the wrong length".into()))
}
