//! Audit records as events, with what their rows say for good.

use sqlx::PgConnection;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::Position;
use crate::db::records::{self, SPREAD};
use crate::domain::schedule::Outcome;

/// The chains of audit records in a [`Position`]: -1 for the one of what operators and hosts do, below it those of what
/// users change.
pub(crate) const CHAINS: std::ops::RangeInclusive<i16> = -(SPREAD as i16) - 1..=-1;

/// An audit record, and what the row that it is about says.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// As in [`CHAINS`].
    pub(crate) stripe: i16,
    pub(crate) seq: i64,
    pub(crate) subject: String,
    pub(crate) subject_key: String,
    pub(crate) action: String,
    pub(crate) actor: String,
    pub(crate) recorded_at: OffsetDateTime,
    /// Of a deployment, a rollout or an approval.
    pub(crate) details: Option<serde_json::Value>,
    /// The user whose schedule it is, the account, and what became of the occurrence.
    pub(crate) owner: Option<String>,
    pub(crate) account_id: Option<String>,
    pub(crate) date: Option<Date>,
    pub(crate) transfer_id: Option<Uuid>,
    pub(crate) problem: Option<String>,
}

fn chain_of(stripe: i16) -> Uuid {
    Uuid::from_u128(u128::from((-1 - stripe).unsigned_abs()))
}

/// The end of each chain of records.
pub(crate) async fn ends(db: &mut PgConnection) -> Result<impl Iterator<Item = (i16, i64)>, sqlx::Error> {
    let heads = records::heads(db).await?;
    Ok(CHAINS.filter_map(move |stripe| Some((stripe, heads.get(&chain_of(stripe))?.seq + 1))))
}

/// At most `limit` records in order, of one chain if it is named. Advances the position.
pub(crate) async fn read(
    db: &mut PgConnection,
    position: &mut Position,
    limit: i64,
    only: Option<i16>,
) -> Result<Vec<Recorded>, sqlx::Error> {
    let stripes: Vec<_> = CHAINS.filter(|stripe| only.is_none_or(|only| only == *stripe)).collect();
    let chains: Vec<_> = stripes.iter().map(|stripe| chain_of(*stripe)).collect();
    let nexts: Vec<_> = stripes.iter().map(|stripe| position.next(*stripe, 0)).collect();
    let outcomes: Vec<_> = Outcome::TEXTS.iter().map(|text| (*text).to_owned()).collect();
    let rows = sqlx::query_as!(
        Recorded,
        r#"
        select c.stripe as "stripe!", r.seq as "seq!", r.subject as "subject!", r.subject_key as "subject_key!",
            r.action as "action!", r.actor as "actor!", r.recorded_at as "recorded_at!",
            case r.subject when 'deployment' then r.content when 'approval' then a.action::jsonb
                when 'rollout' then jsonb_build_object('kind', o.kind, 'canary', o.canary) end as details,
            s.owner as "owner?", s.request ->> 'fromAccountId' as "account_id?",
            x.date as "date?", x.transfer_id as "transfer_id?", x.problem as "problem?"
        from unnest($1::smallint[], $2::uuid[], $3::bigint[]) as c (stripe, chain_id, next)
        cross join lateral (
            select *, max(recorded_at) over (order by seq) as at
            from (
                select seq, subject, subject_key, action, actor, content, recorded_at from audit_record
                where chain_id = c.chain_id and seq >= c.next order by seq limit $4
            ) as first
        ) as r
        left join rollout o on o.rollout_id = case when r.subject = 'rollout' then r.subject_key::uuid end
        left join approval a on a.approval_id = case when r.subject = 'approval' then r.subject_key::uuid end
        left join schedule s on s.schedule_id = case when r.subject = 'schedule' then r.subject_key::uuid end
        -- As many of a schedule's occurrences were recorded before.
        left join lateral (
            select x.date, x.transfer_id, x.problem from occurrence x
            where x.schedule_id = s.schedule_id and r.action = any($5) and x.ordinal = (
                select count(*) from audit_record e
                where e.subject = 'schedule' and e.subject_key = r.subject_key and e.seq < r.seq and e.action = any($5)
            )
        ) as x on true
        order by r.at, c.stripe desc, r.seq limit $4
        "#,
        &stripes,
        &chains,
        &nexts,
        limit,
        &outcomes,
    );
    let records = rows.fetch_all(db).await?;
    for record in &records {
        position.next.insert(record.stripe, record.seq + 1);
    }
    Ok(records)
}
