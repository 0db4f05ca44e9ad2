//! Transfer events in commit order, read from the ledger's batches.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::money::Money;
use crate::domain::transfer::Kind;

/// How far each chain was read: the sequence number of the next batch, by stripe. A missing stripe has not been read.
pub(crate) type Offsets = BTreeMap<i16, i64>;

/// A transfer's new status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Stripe of the chain.
    pub(crate) stripe: i16,
    /// Sequence number of the batch in its chain.
    pub(crate) seq: i64,
    pub(crate) transfer_id: Uuid,
    /// How many statuses the transfer had before this one.
    pub(crate) ordinal: i16,
    pub(crate) status: String,
    /// SPEI's return reason, if the rail gave one.
    pub(crate) reason: Option<String>,
    pub(crate) created_at: OffsetDateTime,
    pub(crate) owner: String,
    /// Kind of the transfer.
    pub(crate) kind: String,
    /// The user's account: debited by a SPEI transfer, credited by every other kind.
    pub(crate) account_id: Uuid,
    pub(crate) amount: Money,
    /// Name at the time of the transfer.
    pub(crate) beneficiary_name: Option<String>,
    /// Clave de rastreo.
    pub(crate) spei_reference: Option<String>,
    /// For a return: the transfer that was returned.
    pub(crate) returns: Option<Uuid>,
}

/// The current end of each chain.
pub(crate) async fn ends(db: &mut PgConnection) -> Result<Offsets, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select w.stripe, b.seq + 1 as "next!"
        from ledger_writer w
        cross join lateral (select seq from ledger_batch b where b.chain_id = w.chain_id order by seq desc limit 1) as b
        "#
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.stripe, row.next)).collect())
}

/// The events of at most `batches` batches, earliest first, and where to continue. Batches of one chain keep their
/// order, whatever their hosts' clocks say.
pub(crate) async fn read(
    db: &mut PgConnection,
    offsets: &Offsets,
    batches: i64,
) -> Result<(Vec<Event>, Offsets), sqlx::Error> {
    let (stripes, nexts): (Vec<_>, Vec<_>) = offsets.iter().map(|(stripe, next)| (*stripe, *next)).unzip();
    let rows = sqlx::query!(
        r#"
        with page as (
            select w.stripe, w.chain_id, b.seq, b.transfer_ids, b.at
            from ledger_writer w
            left join unnest($1::smallint[], $2::bigint[]) as c (stripe, next) using (stripe)
            cross join lateral (
                select seq, transfer_ids, max(created_at) over (order by seq) as at
                from (
                    select seq, transfer_ids, created_at from ledger_batch
                    where chain_id = w.chain_id and seq >= coalesce(c.next, 0) order by seq limit $3
                ) as first
            ) as b
            order by b.at, w.stripe, b.seq limit $3
        )
        select p.stripe, p.seq, v.transfer_id as "transfer_id?", v.ordinal as "ordinal?", v.status as "status?",
            v.reason, v.created_at as "created_at?", t.owner as "owner?", t.kind as "kind?",
            t.debit_account_id as "debit_account_id?", t.credit_account_id as "credit_account_id?", t.amount as "amount?",
            t.beneficiary_name, t.spei_reference, t.returns
        from page p
        left join lateral unnest(p.transfer_ids) as ids (transfer_id) on true
        left join transfer_event v on v.transfer_id = ids.transfer_id and v.chain_id = p.chain_id and v.seq = p.seq
        left join transfer t on t.transfer_id = ids.transfer_id
        order by p.at, p.stripe, p.seq, ids.transfer_id
        "#,
        &stripes,
        &nexts,
        batches,
    );
    let (mut events, mut offsets) = (Vec::new(), offsets.clone());
    for row in rows.fetch_all(db).await? {
        offsets.insert(row.stripe, row.seq + 1);
        let event = row.transfer_id.zip(row.ordinal).zip(row.status).zip(row.created_at);
        let transfer = row.owner.zip(row.kind).zip(row.debit_account_id.zip(row.credit_account_id)).zip(row.amount);
        // A batch without transfers has a row but no event.
        let Some(((((transfer_id, ordinal), status), created_at), (((owner, kind), (debit, credit)), amount))) =
            event.zip(transfer)
        else {
            continue;
        };
        events.push(Event {
            stripe: row.stripe,
            seq: row.seq,
            transfer_id,
            ordinal,
            status,
            reason: row.reason,
            created_at,
            owner,
            account_id: users_account(&kind, debit, credit),
            kind,
            amount: Money::from_minor(amount),
            beneficiary_name: row.beneficiary_name,
            spei_reference: row.spei_reference,
            returns: row.returns,
        });
    }
    Ok((events, offsets))
}

/// A user's events between `from` (inclusive) and `before`, earliest first.
pub(crate) async fn read_of(
    db: &mut PgConnection,
    owner: &str,
    from: &Offsets,
    before: &Offsets,
    limit: i64,
) -> Result<Vec<Event>, sqlx::Error> {
    let ends = before.iter().map(|(stripe, end)| (*stripe, *end, from.get(stripe).copied().unwrap_or(0)));
    let (mut stripes, mut nexts, mut limits) = (Vec::new(), Vec::new(), Vec::new());
    for (stripe, end, next) in ends {
        stripes.push(stripe);
        nexts.push(next);
        limits.push(end);
    }
    let rows = sqlx::query!(
        r#"
        select c.stripe as "stripe!", v.seq, v.transfer_id, v.ordinal, v.status, v.reason, v.created_at, t.owner, t.kind,
            t.debit_account_id, t.credit_account_id, t.amount, t.beneficiary_name, t.spei_reference, t.returns
        from transfer t
        join transfer_event v using (transfer_id)
        join ledger_writer w on w.chain_id = v.chain_id
        join unnest($2::smallint[], $3::bigint[], $4::bigint[]) as c (stripe, next, before) using (stripe)
        where t.owner = $1 and v.seq >= c.next and v.seq < c.before
        order by max(v.created_at) over (partition by c.stripe order by v.seq), c.stripe, v.seq, v.transfer_id
        limit $5
        "#,
        owner,
        &stripes,
        &nexts,
        &limits,
        limit,
    );
    let events = rows.fetch_all(db).await?.into_iter().map(|row| Event {
        stripe: row.stripe,
        seq: row.seq,
        transfer_id: row.transfer_id,
        ordinal: row.ordinal,
        status: row.status,
        reason: row.reason,
        created_at: row.created_at,
        owner: row.owner,
        account_id: users_account(&row.kind, row.debit_account_id, row.credit_account_id),
        kind: row.kind,
        amount: Money::from_minor(row.amount),
        beneficiary_name: row.beneficiary_name,
        spei_reference: row.spei_reference,
        returns: row.returns,
    });
    Ok(events.collect())
}

fn users_account(kind: &str, debit: Uuid, credit: Uuid) -> Uuid {
    if kind == Kind::Spei.as_str() { debit } else { credit }
}
