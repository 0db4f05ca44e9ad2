//! What records are about, and the rows that they cover.
//!
//! A row is covered as Postgres shows it: as JSON, with the columns that are not null. So records go on matching when a
//! later release adds a column, which is null in the rows that are there, and all hosts agree on what it holds.

use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::sealing::ChainKey;
use crate::sealing::digest::{Digest, Hash};

/// The chain of what operators and hosts do, as it is called among all chains.
pub const RECORDS: Uuid = Uuid::nil();

/// Chains of what users change: with as many, sixteen schedules that a host sends at once seldom wait for each other.
/// The migrations have a head for each.
pub(crate) const SPREAD: u8 = 32;

/// Declares the subjects: how records call them, and where their rows are.
macro_rules! subjects {
    ($($(#[$doc:meta])* $subject:ident = $text:literal: $source:expr,)+) => {
        /// What a record is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Subject { $($(#[$doc])* $subject),+ }

        impl Subject {
            pub(super) const ALL: &[Self] = &[$(Self::$subject),+];

            /// The chain of the records about a thing.
            pub(super) fn chain(self, key: &str) -> Uuid {
                if !self.source().is_some_and(|source| source.are_users) {
                    return RECORDS;
                }
                let mut digest = Digest::new(b"caudal audit chain 1");
                digest.text(key);
                let [first, ..] = digest.finish();
                Uuid::from_u128(1 + u128::from(first % SPREAD))
            }

            /// Whether there are so few that every verification looks at all of them.
            pub(super) fn is_rare(self) -> bool {
                self.source().is_some_and(|source| source.are_few)
            }

            /// Whether records keep the row itself, so that what was in force in the past can be read.
            pub(super) fn is_kept(self) -> bool {
                self.source().is_some_and(|source| source.is_kept)
            }

            pub(crate) fn as_str(self) -> &'static str {
                match self { $(Self::$subject => $text),+ }
            }

            fn source(self) -> Option<Source> {
                match self { $(Self::$subject => $source),+ }
            }
        }
    };
}

subjects! {
    Chain = "chain": few("chain_origin", "chain_id::text"),
    LostTail = "lost-tail": few("lost_tail", "chain_id || '/' || from_seq || '/' || to_seq"),
    Component = "component": few("(select *, sha256(bytes) as digest from component)", "encode(sha256, 'hex')"),
    Deployment = "deployment": kept(few("deployment_history", "kind || '/' || epoch")),
    Beneficiary = "beneficiary": users("beneficiary", Key::Uuid("beneficiary_id")),
    Schedule = "schedule": users(
        "(select *, (
            select jsonb_agg(jsonb_strip_nulls(to_jsonb(o)) order by ordinal) from occurrence o
            where o.schedule_id = s.schedule_id
        ) as occurrences from schedule s)",
        Key::Uuid("schedule_id"),
    ),
    Limits = "limits": kept(many(
        "(
            select owner, per_transfer_limit, per_day_limit from app_user
            where num_nonnulls(per_transfer_limit, per_day_limit) > 0
        )",
        Key::Text("owner"),
    )),
    /// A verified name.
    Holder = "holder": many(
        "(select owner, holder_name from app_user where holder_name is not null)",
        Key::Text("owner"),
    ),
    /// A credit that an operator asked for. It has no row but its transfer: the key of the record says it all.
    Funding = "funding": None,
    /// A customer whom an operator looked up, or a look-up that found nobody. Like a credit, it is all in the key.
    LookUp = "look-up": None,
    /// An action that takes two operators.
    Approval = "approval": many("approval", Key::Uuid("approval_id")),
    /// A comparison with a rail that was made.
    Reconciliation = "reconciliation": many(
        "(select * from reconciliation where made_at is not null)",
        Key::Uuid("reconciliation_id"),
    ),
    /// A difference that a person decides on.
    PaymentCase = "payment-case": many("payment_case", Key::Uuid("case_id")),
    /// What became of an order.
    Outcome = "outcome": users("outcome", Key::Uuid("outcome_id")),
    /// A canary whose share grows by itself.
    Rollout = "rollout": few("rollout", "rollout_id::text"),
    /// Where events are delivered.
    Sink = "sink": few("sink", "sink_id::text"),
    /// What all hosts keep to.
    Policy = "policy": kept(few("policy", "part")),
    /// A retired key.
    Key = "key": few(
        "(select *, (
            select jsonb_agg(jsonb_strip_nulls(to_jsonb(c)) order by chain_id) from retired_chain c
            where c.fingerprint = k.fingerprint
        ) as chains from retired_key k)",
        "encode(fingerprint, 'hex')",
    ),
}

impl Subject {
    /// The keyed digest of a row.
    pub(super) fn state(self, key: &ChainKey, content: &str) -> Hash {
        let mut digest = Digest::new(b"caudal audit state 1");
        digest.text(self.as_str());
        digest.text(content);
        key.seal_digest(digest)
    }
}

/// Columns that change without a record; and the bytes of a component, of which its source adds a digest.
const UNRECORDED: [&str; 6] = ["attempt_at", "bytes", "claimed_until", "is_claimed", "served_at", "turn"];

/// The rows of a subject.
#[derive(Clone, Copy)]
struct Source {
    /// A table or a query.
    rows: &'static str,
    key: Key,
    are_few: bool,
    /// Whether users change them, and hosts on their own: records of them are spread over many chains.
    are_users: bool,
    /// Whether records keep the rows themselves, which must never have to be erased.
    is_kept: bool,
}

/// What names a row.
#[derive(Clone, Copy)]
enum Key {
    /// A column with an index, or any text if the rows are few.
    Text(&'static str),
    /// A column with an index.
    Uuid(&'static str),
}

const fn few(rows: &'static str, key: &'static str) -> Option<Source> {
    Some(Source { rows, key: Key::Text(key), are_few: true, are_users: false, is_kept: false })
}

const fn many(rows: &'static str, key: Key) -> Option<Source> {
    Some(Source { rows, key, are_few: false, are_users: false, is_kept: false })
}

const fn users(rows: &'static str, key: Key) -> Option<Source> {
    Some(Source { rows, key, are_few: false, are_users: true, is_kept: false })
}

const fn kept(source: Option<Source>) -> Option<Source> {
    match source {
        Some(Source { rows, key, are_few, are_users, .. }) => {
            Some(Source { rows, key, are_few, are_users, is_kept: true })
        }
        None => None,
    }
}

impl Source {
    /// A query for what is named in `$3`, or for everything that is there or on record.
    fn query(&self, is_whole: bool) -> String {
        let rows = self.rows;
        let (key, named) = match self.key {
            Key::Text(key) => (key.to_owned(), format!("{key} = w.key")),
            Key::Uuid(key) => {
                let is_uuid = "w.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'";
                (format!("{key}::text"), format!("{key} = case when {is_uuid} then w.key::uuid end"))
            }
        };
        let content = "(
            select jsonb_object_agg(name, value) from jsonb_each(to_jsonb(t) - $2::text[]) as c (name, value)
            where value <> 'null'
        )::text as content";
        if is_whole {
            format!(
                "select coalesce(t.key, r.subject_key), t.content, r.seq, r.state
                from (select {key} as key, {content} from {rows} as t) as t
                full join (
                    select distinct on (subject_key) subject_key, seq, state from audit_record
                    where subject = $1 order by subject_key, seq desc
                ) as r on r.subject_key = t.key"
            )
        } else {
            format!(
                "select w.key, t.content, r.seq, r.state from unnest($3::text[]) with ordinality as w (key, place)
                left join lateral (select {content} from {rows} as t where {named}) as t on true
                left join lateral (
                    select seq, state from audit_record
                    where subject = $1 and subject_key = w.key order by seq desc limit 1
                ) as r on true
                order by w.place"
            )
        }
    }
}

/// A row as it is now, beside its last record.
#[derive(Debug)]
pub(super) struct Thing {
    pub(super) subject: Subject,
    pub(super) key: String,
    /// `None` if there is no row.
    pub(super) content: Option<String>,
    pub(super) last: Option<Last>,
}

/// The last record of a thing.
#[derive(Debug)]
pub(super) struct Last {
    pub(super) seq: i64,
    /// Of the row; `None` if it was deleted.
    pub(super) state: Option<Vec<u8>>,
}

impl Thing {
    /// The keyed digest of the row.
    pub(super) fn state(&self, key: &ChainKey) -> Option<Hash> {
        self.content.as_ref().map(|content| self.subject.state(key, content))
    }

    /// How the row differs from its last record.
    pub(super) fn flaw(&self, key: &ChainKey) -> Option<&'static str> {
        match (self.state(key), self.last.as_ref().map(|last| last.state.as_deref())) {
            (Some(_), None) => Some("was added without a record"),
            (Some(_), Some(None)) => Some("exists although its deletion is recorded"),
            (Some(state), Some(Some(recorded))) if recorded != state => Some("was altered"),
            (None, Some(Some(_))) => Some("it is gone"),
            _ => None,
        }
    }

    pub(super) async fn find(db: &mut PgConnection, subject: Subject, key: &str) -> Result<Self, sqlx::Error> {
        let mut found = Self { subject, key: key.to_owned(), content: None, last: None };
        each(db, subject, Some(&[key.to_owned()]), |thing| found = thing).await?;
        Ok(found)
    }
}

/// Visits what is there without a record.
pub(super) async fn unrecorded(
    db: &mut PgConnection,
    subject: Subject,
    mut visit: impl FnMut(Thing),
) -> Result<(), sqlx::Error> {
    let Some(source) = subject.source() else { return Ok(()) };
    let (rows, Key::Text(key) | Key::Uuid(key)) = (source.rows, source.key);
    let query = format!(
        "select {key}::text from {rows} as t where not exists (
            select from audit_record where subject = $1 and subject_key = {key}::text
        )"
    );
    let mut rows = sqlx::query_scalar(AssertSqlSafe(query)).bind(subject.as_str()).fetch(db);
    while let Some(key) = rows.try_next().await? {
        visit(Thing { subject, key, content: Some(String::new()), last: None });
    }
    Ok(())
}

/// Visits these things in their order, or all that are there or on record.
pub(super) async fn each(
    db: &mut PgConnection,
    subject: Subject,
    only: Option<&[String]>,
    mut visit: impl FnMut(Thing),
) -> Result<(), sqlx::Error> {
    let Some(source) = subject.source() else {
        let keys = only.unwrap_or_default().iter().cloned();
        keys.for_each(|key| visit(Thing { subject, key, content: None, last: None }));
        return Ok(());
    };
    let query = source.query(only.is_none());
    let query = sqlx::query_as(AssertSqlSafe(query)).bind(subject.as_str()).bind(UNRECORDED);
    let query = if let Some(keys) = only { query.bind(keys) } else { query };
    let mut rows = query.fetch(db);
    while let Some((key, content, seq, state)) = rows.try_next().await? {
        let seq: Option<i64> = seq;
        visit(Thing { subject, key, content, last: seq.map(|seq| Last { seq, state }) });
    }
    Ok(())
}
