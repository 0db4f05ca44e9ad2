//! Rules on the holds of a slice, and on what they set aside.

use sqlx::PgConnection;

use super::finding::{COMMIT_SECONDS, Finding, SKEW_SECONDS, Slice, find};

/// The holds that were placed or ended. A capture is in the batch of its transfer.
pub(super) async fn holds(db: &mut PgConnection, slice: &Slice) -> Result<Vec<Finding>, sqlx::Error> {
    find!(
        db,
        slice,
        r#"
        with touched as materialized (
            select hold_id from hold where chain_id = $1 and seq > $2 and seq <= $3
            union select hold_id from hold_end where chain_id = $1 and seq > $2 and seq <= $3
        )
        select r.rule as "rule!", count(*) filter (where n.hold_id is not null and r.is_broken) as "broken!"
        from (values (true)) as always (yes)
        left join touched n on yes
        left join hold h on h.hold_id = n.hold_id
        left join hold_end e on e.hold_id = n.hold_id
        left join transfer t on t.transfer_id = e.transfer_id
        cross join lateral (values
            ('each hold''s status is how it ended', h.status is distinct from coalesce(e.status, 'placed')),
            ('each hold is on an account of its owner', not exists (
                select from account a where a.account_id = h.account_id and a.owner = h.owner
            )),
            ('each captured hold covers its transfer', e.status = 'captured' and (
                (t.kind, t.owner, t.debit_account_id, t.beneficiary_id, t.chain_id, t.seq) is distinct from
                    ('spei'::text, h.owner, h.account_id, h.beneficiary_id, e.chain_id, e.seq)
                or t.amount > h.amount
            )),
            ('each hold was captured before it expired, or expired when it was due',
                case e.status when 'captured' then e.created_at >= h.expires_at
                    when 'expired' then e.created_at < h.expires_at end),
            ('no hold ended twice', (select count(*) from hold_end o where o.hold_id = n.hold_id) > 1)
        ) as r (rule, is_broken)
        group by r.rule
        union all
        select 'each transfer captures one hold', count(*) - count(distinct transfer_id)
        from hold_end where transfer_id is not null and chain_id = $1 and seq > $2 and seq <= $3
        order by 1
        "#
    )
}

/// What a batch leaves in an account covers the holds that were open, as they and their ends say. The holds of an account
/// are read once, not for each of its entries.
pub(super) async fn held(db: &mut PgConnection, slice: &Slice) -> Result<Vec<Finding>, sqlx::Error> {
    find!(
        db,
        slice,
        r#"
        with debited as materialized (
            select account_id, min(version) as first, max(version) as last, min(created_at) as since, max(created_at) as until
            from entry where chain_id = $1 and seq > $2 and seq <= $3 and stripe = 0
            group by account_id having bool_or(delta < 0)
        )
        select 'no money left an account that its holds set aside' as "rule!", count(*) as "broken!" from (
            select from debited d
            join account a on a.account_id = d.account_id
            join hold h on h.owner = a.owner and h.account_id = d.account_id
                and h.created_at <= d.until + make_interval(secs => $4)
            left join hold_end u on u.hold_id = h.hold_id
            join entry e on e.account_id = d.account_id and e.stripe = 0 and e.version between d.first and d.last
                and e.chain_id = $1
            where coalesce(u.created_at > d.since - make_interval(secs => $4), true)
                and case h.chain_id when e.chain_id then h.seq <= e.seq
                    else h.created_at < e.created_at - make_interval(secs => $4) end
                and case u.chain_id when e.chain_id then u.seq > e.seq
                    else coalesce(u.created_at > e.created_at + make_interval(secs => $4), true) end
                -- Within a batch, what is held may end after the money left.
                and not exists (
                    select from entry x where x.account_id = e.account_id and x.stripe = 0 and x.version = e.version + 1
                        and x.chain_id = $1 and x.seq = e.seq
                )
            group by e.account_id, e.version, e.balance_after having e.balance_after < sum(h.amount)
        ) as uncovered
        "#,
        COMMIT_SECONDS + SKEW_SECONDS
    )
}
