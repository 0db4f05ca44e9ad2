//! Audit records: keyed chains of every change to a `Subject`, and of what operators did.
//!
//! What operators and hosts do is in one chain, in order. What users change, often and at once, is spread over others,
//! all records about a thing in the same one.
//!
//! A record is appended in the transaction of the change, as its last statement. The head of its chain stays locked
//! until the commit, so a transaction that holds one must not wait for anything else but heads, in the order of their
//! chains.

mod periods;
pub(crate) mod proof;
pub(crate) mod report;
mod things;

use std::collections::{BTreeMap, BTreeSet};

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::sealing::ChainKey;
use crate::sealing::digest::{Digest, Hash};

pub use things::RECORDS;
pub(crate) use things::SPREAD;
pub(crate) use things::Subject;
use things::{Thing, each};

/// The actor of a user's own changes: whose they are is in the row.
pub(crate) const OWNER: &str = "owner";

/// The action of the first record about a thing under a new key: nothing else changed.
pub(crate) const RESEAL: &str = "reseal";

/// Records per statement when many are appended.
const CHUNK: usize = 1_000;

/// Whether a chain is one of audit records. Those of batches have random names.
pub fn is_of_records(chain_id: Uuid) -> bool {
    chain_id.as_u128() <= u128::from(SPREAD)
}

/// What a record is called: those of the first chain by their number only.
pub fn name_of(chain_id: Uuid, seq: i64) -> String {
    if chain_id == RECORDS { format!("record {seq}") } else { format!("record {seq} of chain {chain_id}") }
}

fn chains() -> impl Iterator<Item = Uuid> {
    (0..=SPREAD).map(|number| Uuid::from_u128(number.into()))
}

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

    fn chain_id(&self) -> Uuid {
        self.subject.chain(&self.key)
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
    is_same((subject, name), state.as_ref().map(|state| &state[..]) == recorded)
}

/// Logs an error if a row is not as it was recorded or sealed.
pub(crate) fn is_same((subject, name): (Subject, &str), is_same: bool) -> bool {
    if !is_same {
        let subject = subject.as_str();
        tracing::error!(subject, name, "a row was altered and is not used: run `caudal verify`");
    }
    is_same
}

/// The last record or batch of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// -1 if there is none.
    pub seq: i64,
    pub hash: Hash,
}

impl Head {
    const NONE: Self = Self { seq: -1, hash: [0; 32] };
}

/// The head of each chain.
pub type Heads = BTreeMap<Uuid, Head>;

/// A stored record.
pub(crate) struct Record {
    pub(crate) chain_id: Uuid,
    pub(crate) seq: i64,
    /// The record before it about the same thing: nobody can hide that one for a moment without a trace.
    pub(crate) follows: Option<i64>,
    pub(crate) subject: String,
    pub(crate) subject_key: String,
    pub(crate) action: String,
    pub(crate) actor: String,
    pub(crate) state: Option<Vec<u8>>,
    /// Of which `state` is the digest, if records of this subject keep it.
    pub(crate) content: Option<String>,
    pub(crate) recorded_at: OffsetDateTime,
    pub(crate) prev: Vec<u8>,
    pub(crate) hash: Vec<u8>,
}

impl Record {
    fn sealed(&self, key: &ChainKey) -> Hash {
        let mut digest = Digest::new(b"caudal audit record 1");
        digest.uuid(self.chain_id);
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
        let subject = Subject::ALL.iter().find(|it| it.as_str() == self.subject && it.is_kept());
        let state = subject.and_then(|it| Some(it.state(key, self.content.as_ref()?).to_vec()));
        let is_kept = if subject.is_some() { state == self.state } else { self.content.is_none() };
        is_kept && self.sealed(key)[..] == self.hash[..]
    }
}

/// Locks the heads of these chains until the transaction ends.
async fn lock(db: &mut PgConnection, chains: &[Uuid]) -> Result<Heads, sqlx::Error> {
    let rows = sqlx::query!(
        "select chain_id, seq, hash from audit_head where chain_id = any($1) order by chain_id for update",
        chains
    );
    let heads = rows.fetch_all(db).await?.into_iter();
    heads.map(|row| Ok((row.chain_id, Head { seq: row.seq, hash: hash_of(row.hash)? }))).collect()
}

/// Locks the head of what operators and hosts do until the transaction ends: they take turns.
pub(crate) async fn take_turn(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    lock(db, &[RECORDS]).await.map(drop)
}

/// Locks the heads of all chains until the transaction ends.
pub(crate) async fn lock_all(db: &mut PgConnection) -> Result<Heads, sqlx::Error> {
    lock(db, &chains().collect::<Vec<_>>()).await
}

/// Continues a chain after records that were lost. All heads are locked.
pub(crate) async fn skip_to(db: &mut PgConnection, chain_id: Uuid, head: Head) -> Result<(), sqlx::Error> {
    let skip = sqlx::query!(
        "update audit_head set seq = $2, hash = $3 where chain_id = $1",
        chain_id,
        head.seq,
        &head.hash[..]
    );
    skip.execute(db).await.map(drop)
}

/// The last record of each chain that has any; others may follow at any moment.
pub(crate) async fn heads(db: &mut PgConnection) -> Result<Heads, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select h.chain_id, r.seq, r.hash from audit_head h cross join lateral (
            select seq, hash from audit_record r where r.chain_id = h.chain_id order by seq desc limit 1
        ) as r
        "#
    );
    let heads = rows.fetch_all(db).await?.into_iter();
    heads.map(|row| Ok((row.chain_id, Head { seq: row.seq, hash: hash_of(row.hash)? }))).collect()
}

/// The last record of each chain before a moment.
pub(crate) async fn heads_before(db: &mut PgConnection, at: OffsetDateTime) -> Result<Heads, sqlx::Error> {
    let mut heads = Heads::new();
    for chain_id in chains() {
        let row = sqlx::query!(
            r#"
            with recursive half (low, high) as (
                select -1::bigint, seq from audit_head where chain_id = $2
                union all
                select case when r.recorded_at < $1 then h.middle else h.low end,
                    case when r.recorded_at < $1 then h.high else h.middle - 1 end
                from (select low, high, (low + high + 1) / 2 as middle from half where low < high) as h
                -- The last one up to the middle: a failover may have lost some.
                cross join lateral (
                    select recorded_at from audit_record where chain_id = $2 and seq <= h.middle
                    order by seq desc limit 1
                ) as r
            )
            select seq, hash from audit_record
            where chain_id = $2 and seq <= (select low from half where low = high) order by seq desc limit 1
            "#,
            at,
            chain_id,
        );
        if let Some(row) = row.fetch_optional(&mut *db).await? {
            heads.insert(chain_id, Head { seq: row.seq, hash: hash_of(row.hash)? });
        }
    }
    Ok(heads)
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
    let chains: BTreeSet<Uuid> = changes.iter().map(Change::chain_id).collect();
    let mut heads = lock(db, &chains.into_iter().collect::<Vec<_>>()).await?;
    for (changes, things) in changes.chunks(CHUNK).zip(things.chunks(CHUNK)) {
        let mut records = Vec::with_capacity(changes.len());
        for (change, thing) in changes.iter().zip(things) {
            let chain_id = change.chain_id();
            let last = heads.get_mut(&chain_id).ok_or(sqlx::Error::RowNotFound)?;
            let mut record = Record {
                chain_id,
                seq: last.seq + 1,
                follows: thing.last.as_ref().map(|last| last.seq),
                subject: change.subject.as_str().to_owned(),
                subject_key: change.key.clone(),
                action: change.action.to_owned(),
                actor: change.actor.clone(),
                state: thing.state(key).map(|state| state.to_vec()),
                content: thing.content.clone().filter(|_| change.subject.is_kept()),
                recorded_at: now,
                prev: last.hash.to_vec(),
                hash: Vec::new(),
            };
            *last = Head { seq: record.seq, hash: record.sealed(key) };
            record.hash = last.hash.to_vec();
            records.push(record);
        }
        insert(db, key, (&heads, &records), now).await?;
    }
    Ok(())
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

/// Inserts nothing if the ledger's key was replaced while this waited for the heads.
async fn insert(
    db: &mut PgConnection,
    key: &ChainKey,
    (heads, records): (&Heads, &[Record]),
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let texts = |field: fn(&Record) -> &String| -> Vec<String> { records.iter().map(|it| field(it).clone()).collect() };
    let bytes =
        |field: fn(&Record) -> &Vec<u8>| -> Vec<Vec<u8>> { records.iter().map(|it| field(it).clone()).collect() };
    let chains: Vec<Uuid> = records.iter().map(|it| it.chain_id).collect();
    let seqs: Vec<i64> = records.iter().map(|it| it.seq).collect();
    let follows: Vec<Option<i64>> = records.iter().map(|it| it.follows).collect();
    let contents: Vec<Option<&str>> = records.iter().map(|it| it.content.as_deref()).collect();
    let states: Vec<Option<Vec<u8>>> = records.iter().map(|it| it.state.clone()).collect();
    let head_chains: Vec<Uuid> = heads.keys().copied().collect();
    let head_seqs: Vec<i64> = heads.values().map(|head| head.seq).collect();
    let head_hashes: Vec<Vec<u8>> = heads.values().map(|head| head.hash.to_vec()).collect();
    let inserted = sqlx::query!(
        r#"
        with head as (
            update audit_head h set seq = n.seq, hash = n.hash
            from unnest($1::uuid[], $2::bigint[], $3::bytea[]) as n (chain_id, seq, hash)
            where h.chain_id = n.chain_id and not exists (select from ledger_key where fingerprint <> $4)
            returning 1
        )
        insert into audit_record
            (chain_id, seq, follows, subject, subject_key, action, actor, state, content, recorded_at, prev, hash)
        select chain_id, seq, follows, subject, subject_key, action, actor, state, content::jsonb, $5, prev, hash
        from unnest($6::uuid[], $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[],
            $13::bytea[], $14::text[], $15::bytea[], $16::bytea[])
            as n (chain_id, seq, follows, subject, subject_key, action, actor, state, content, prev, hash)
        where exists (select from head)
        "#,
        &head_chains,
        &head_seqs,
        &head_hashes,
        &key.fingerprint()[..],
        now,
        &chains,
        &seqs,
        &follows as _,
        &texts(|it| &it.subject),
        &texts(|it| &it.subject_key),
        &texts(|it| &it.action),
        &texts(|it| &it.actor),
        &states as _,
        &contents as _,
        &bytes(|it| &it.prev),
        &bytes(|it| &it.hash),
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
        select chain_id, seq, follows, subject, subject_key, action, actor, state, content::text, recorded_at, prev, hash
        from audit_record where chain_id = $1 and seq = $2
        "#,
        thing.subject.chain(&thing.key),
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
