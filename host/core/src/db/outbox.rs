//! Events in commit order, read from the ledger's batches; in submodules, from audit records, and what else a batch did.

pub(crate) mod operations;
pub(crate) mod recorded;

use std::collections::BTreeMap;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::transfers::{read_payer, read_remittance};
use crate::domain::incoming::Payer;
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::domain::transfer::{Kind, Status};

/// How far the ledger was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// Names what the numbers count: every accepted loss begins another history. `None` at the beginning of any.
    pub history: Option<u32>,
    /// Chains with lower stripes were closed when their key was replaced, and read to the end.
    pub(crate) floor: i16,
    /// The sequence number of the next batch, by stripe, and of the next audit record, by the negative number of its
    /// chain: see [`recorded::CHAINS`]. A missing one has not been read.
    pub(crate) next: BTreeMap<i16, i64>,
}

impl Position {
    /// Of a chain that ends at `end`.
    fn next(&self, stripe: i16, end: i64) -> i64 {
        self.next.get(&stripe).copied().unwrap_or(if (0..self.floor).contains(&stripe) { end } else { 0 })
    }

    /// Whether `earlier` is a position in the same history, and not further.
    pub fn follows(&self, earlier: &Self) -> bool {
        let is_same = earlier.history.is_none() || earlier.history == self.history;
        let mut chains = earlier.next.iter();
        is_same && earlier.floor <= self.floor && chains.all(|(stripe, next)| *next <= self.next(*stripe, 0))
    }

    /// How many batches there are from `earlier` to here.
    pub(crate) fn batches_since(&self, earlier: &Self) -> i64 {
        self.next.iter().map(|(stripe, end)| (end - earlier.next(*stripe, *end)).max(0)).sum()
    }

    /// Raises the floor if all chains that are closed at the `ends` were read.
    pub fn raise_floor(&mut self, ends: &Self) {
        if ends.next.range(0..ends.floor).all(|(stripe, end)| self.next(*stripe, *end) == *end) {
            self.floor = self.floor.max(ends.floor);
        }
    }

    /// Advances to `later` where that is further.
    pub(crate) fn advance_to(&mut self, later: &Self) {
        self.history = self.history.or(later.history);
        self.floor = self.floor.max(later.floor);
        for (stripe, end) in &later.next {
            let next = self.next.entry(*stripe).or_default();
            *next = (*next).max(*end);
        }
    }
}

/// A transfer's new status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Stripe of the chain.
    pub stripe: i16,
    /// Sequence number of the batch in its chain.
    pub seq: i64,
    pub transfer_id: Uuid,
    /// How many statuses the transfer had before this one.
    pub ordinal: i16,
    pub status: String,
    /// SPEI's return reason, if the rail gave one.
    pub reason: Option<String>,
    pub created_at: OffsetDateTime,
    pub owner: String,
    /// The other customer of this bank whom it credited, if it did; not in a user's backlog.
    pub receiver: Option<String>,
    /// Kind of the transfer.
    pub kind: String,
    /// The user's account: debited by a SPEI transfer, credited by every other kind.
    pub account_id: Uuid,
    pub debit_account_id: Uuid,
    pub credit_account_id: Uuid,
    pub amount: Money,
    /// Name at the time of the user's transfer.
    pub beneficiary_name: Option<String>,
    /// Clave de rastreo.
    pub spei_reference: Option<String>,
    /// For a return: the transfer that was returned.
    pub returns: Option<Uuid>,
    /// Of an order of another bank.
    pub payer: Option<Payer>,
    /// What the sender tells the payee.
    pub remittance: Remittance,
}

/// The present history, named for the record that began it, and the lowest stripe of a chain that is not closed.
async fn present(db: &mut PgConnection) -> Result<Position, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select (
                select hash from (
                    (
                        select seq, hash from audit_record where chain_id = '00000000-0000-0000-0000-000000000000'
                        order by seq limit 1
                    )
                    union all
                    select seq, hash from audit_record where subject = 'lost-tail' and action = 'accept'
                ) as begun order by seq desc limit 1
            ) as hash,
            (
                select coalesce(min(stripe) filter (where c.chain_id is null), max(stripe) + 1, 0)::smallint
                from ledger_writer left join retired_chain c using (chain_id)
            ) as "floor!"
        "#
    );
    let row = row.fetch_one(db).await?;
    let first = row.hash.as_deref().and_then(<[u8]>::first_chunk).copied();
    let history = Some(u32::from_be_bytes(first.unwrap_or_default()));
    Ok(Position { history, floor: row.floor, next: BTreeMap::new() })
}

/// The current end of each chain.
pub async fn ends(db: &mut PgConnection) -> Result<Position, sqlx::Error> {
    let present = present(db).await?;
    let rows = sqlx::query!(
        r#"
        select w.stripe, b.seq + 1 as "next!"
        from ledger_writer w
        cross join lateral (select seq from ledger_batch b where b.chain_id = w.chain_id order by seq desc limit 1) as b
        "#
    );
    let next = rows.fetch_all(db).await?.into_iter().map(|row| (row.stripe, row.next)).collect();
    Ok(Position { next, ..present })
}

/// A batch's transfer events.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) stripe: i16,
    pub(crate) seq: i64,
    /// Whether it did anything else: see [`operations`].
    pub(crate) has_operations: bool,
    pub(crate) events: Vec<Event>,
}

/// A row of both queries, as far as it is there: a batch without transfers has no event.
struct Row {
    has_operations: Option<bool>,
    stripe: i16,
    seq: i64,
    transfer_id: Option<Uuid>,
    ordinal: Option<i16>,
    status: Option<String>,
    reason: Option<String>,
    created_at: Option<OffsetDateTime>,
    owner: Option<String>,
    receiver: Option<String>,
    kind: Option<String>,
    debit_account_id: Option<Uuid>,
    credit_account_id: Option<Uuid>,
    amount: Option<i64>,
    beneficiary_name: Option<String>,
    spei_reference: Option<String>,
    returns: Option<Uuid>,
    payer_name: Option<String>,
    payer_account_number: Option<String>,
    payer_institution: Option<i32>,
    concept: Option<String>,
    numeric_reference: Option<i32>,
}

impl Event {
    /// The same as its receiver sees it, who learns that money is there: not of what is under review, or was refused.
    pub(crate) fn deposit(&self) -> Option<Self> {
        let owner = self.receiver.clone().filter(|_| self.status == Status::Completed.as_str())?;
        let deposit = Self { owner, kind: "deposit".to_owned(), account_id: self.credit_account_id, ..self.clone() };
        Some(Self { beneficiary_name: None, receiver: None, ..deposit })
    }
}

impl Row {
    fn event(self) -> Option<Event> {
        let kind = self.kind?;
        let account = if kind == Kind::Spei.as_str() { self.debit_account_id } else { self.credit_account_id };
        Some(Event {
            stripe: self.stripe,
            seq: self.seq,
            transfer_id: self.transfer_id?,
            ordinal: self.ordinal?,
            status: self.status?,
            reason: self.reason,
            created_at: self.created_at?,
            owner: self.owner?,
            receiver: self.receiver,
            account_id: account?,
            debit_account_id: self.debit_account_id?,
            credit_account_id: self.credit_account_id?,
            kind,
            amount: Money::from_minor(self.amount?),
            beneficiary_name: self.beneficiary_name,
            spei_reference: self.spei_reference,
            returns: self.returns,
            payer: read_payer(self.payer_name, self.payer_account_number, self.payer_institution),
            remittance: read_remittance(self.concept, self.numeric_reference),
        })
    }
}

/// The events of at most `batches` batches in the order in which they rest on each other, and where to continue. Batches
/// of one chain keep their order, and so do those that concern one account, whatever their hosts' clocks say.
pub async fn read(db: &mut PgConnection, from: &Position, batches: i64) -> Result<(Vec<Event>, Position), sqlx::Error> {
    let (batches, position) = read_batches(db, from, batches, None).await?;
    Ok((batches.into_iter().flat_map(|batch| batch.events).collect(), position))
}

/// The same by batch, with those that have no events; of one stripe if it is named.
pub(crate) async fn read_batches(
    db: &mut PgConnection,
    from: &Position,
    limit: i64,
    only: Option<i16>,
) -> Result<(Vec<Batch>, Position), sqlx::Error> {
    let (stripes, nexts): (Vec<_>, Vec<_>) = from.next.range(0..).map(|(stripe, next)| (*stripe, *next)).unzip();
    let rows = sqlx::query_as!(
        Row,
        r#"
        with page as (
            select w.stripe, w.chain_id, b.seq, b.transfer_ids, b.operations_meant, b.placed
            from ledger_writer w
            left join unnest($1::smallint[], $2::bigint[]) as c (stripe, next) using (stripe)
            cross join lateral (
                select seq, transfer_ids, operations_meant, max(moment) over (order by seq) as placed
                from (
                    select seq, transfer_ids, operations_meant, moment from ledger_batch
                    where chain_id = w.chain_id and seq >= coalesce(c.next, 0) order by seq limit $3
                ) as first
            ) as b
            where w.stripe >= $4 and ($5::smallint is null or w.stripe = $5)
            order by b.placed, w.stripe, b.seq limit $3
        )
        select p.stripe, p.seq, p.operations_meant > 0 as has_operations, v.transfer_id as "transfer_id?",
            v.ordinal as "ordinal?", v.status as "status?", v.reason, v.created_at as "created_at?", t.owner as "owner?",
            r.owner as receiver, t.kind as "kind?", t.debit_account_id as "debit_account_id?", t.credit_account_id as "credit_account_id?",
            t.amount as "amount?", case when t.kind <> 'received' then t.beneficiary_name end as beneficiary_name,
            t.spei_reference, t.returns, t.payer_name, t.payer_account_number, t.payer_institution, t.concept,
            t.numeric_reference
        from page p
        left join lateral unnest(p.transfer_ids) as ids (transfer_id) on true
        left join transfer_event v on v.transfer_id = ids.transfer_id and v.chain_id = p.chain_id and v.seq = p.seq
        left join transfer t on t.transfer_id = ids.transfer_id
        left join account r on r.account_id = t.credit_account_id and t.rail = 'on-us' and r.owner <> t.owner
        order by p.placed, p.stripe, p.seq, ids.transfer_id, v.ordinal
        "#,
        &stripes,
        &nexts,
        limit,
        from.floor,
        only,
    );
    let mut batches: Vec<Batch> = Vec::new();
    let mut position = Position { history: present(db).await?.history, ..from.clone() };
    for row in rows.fetch_all(db).await? {
        let (stripe, seq, has_operations) = (row.stripe, row.seq, row.has_operations == Some(true));
        position.next.insert(stripe, seq + 1);
        match batches.last_mut().filter(|last| (last.stripe, last.seq) == (stripe, seq)) {
            Some(last) => last.events.extend(row.event()),
            None => batches.push(Batch { stripe, seq, has_operations, events: row.event().into_iter().collect() }),
        }
    }
    Ok((batches, position))
}

/// Whether a user has more than so many transfers.
pub(crate) async fn has_more_transfers(db: &mut PgConnection, owner: &str, than: i64) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (select from transfer where owner = $1 offset $2) as "has_more!""#,
        owner,
        than,
    )
    .fetch_one(db)
    .await
}

/// A user's events between `from` (inclusive) and `before`, earliest first: found among those of the batches, or of all
/// the user's transfers.
pub(crate) async fn read_of(
    db: &mut PgConnection,
    owner: &str,
    from: &Position,
    before: &Position,
    by_transfers: bool,
    limit: i64,
) -> Result<Vec<Event>, sqlx::Error> {
    let (mut stripes, mut nexts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (stripe, end) in &before.next {
        stripes.push(*stripe);
        nexts.push(from.next(*stripe, *end));
        ends.push(*end);
    }
    // Each transfer is looked up by its key. Joined in another way, it could be found among all those of its owner.
    let rows = sqlx::query_as!(
        Row,
        r#"
        with chain as (
            select w.stripe, w.chain_id, c.next, c.before
            from unnest($2::smallint[], $3::bigint[], $4::bigint[]) as c (stripe, next, before)
            join ledger_writer w using (stripe) where c.next < c.before
        ), touched as (
            select unnest(b.transfer_ids) as transfer_id
            from chain c cross join lateral (
                select transfer_ids from ledger_batch
                where chain_id = c.chain_id and seq >= c.next and seq < c.before order by seq offset 0
            ) as b
            where not $5
            union
            select transfer_id from transfer where owner = $1 and $5
        )
        select c.stripe, v.seq, false as has_operations, v.transfer_id, v.ordinal as "ordinal?", v.status as "status?", v.reason,
            v.created_at as "created_at?", t.owner as "owner?", null as receiver, t.kind as "kind?",
            t.debit_account_id as "debit_account_id?", t.credit_account_id as "credit_account_id?", t.amount as "amount?",
            case when t.kind <> 'received' then t.beneficiary_name end as beneficiary_name, t.spei_reference, t.returns,
            t.payer_name, t.payer_account_number, t.payer_institution, t.concept, t.numeric_reference
        from touched
        cross join lateral (select * from transfer where transfer_id = touched.transfer_id limit 1) as t
        join transfer_event v on v.transfer_id = t.transfer_id
        join chain c on c.chain_id = v.chain_id and v.seq >= c.next and v.seq < c.before
        where t.owner = $1
        order by max(v.created_at) over (partition by c.stripe order by v.seq), c.stripe, v.seq, v.transfer_id
        limit $6
        "#,
        owner,
        &stripes,
        &nexts,
        &ends,
        by_transfers,
        limit,
    );
    Ok(rows.fetch_all(db).await?.into_iter().filter_map(Row::event).collect())
}
