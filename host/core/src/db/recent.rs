//! What a user did lately, and what came of it at their payee, as facts of a risk model.
//!
//! Each entry repeats how much its account had ever sent, so what left an account since any moment is the difference of two
//! entries, and the one at that moment is found by halving. The money's own statement writes them, and verification counts
//! them again. The rest is counted where it is.

use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};

use crate::clock::{mexico_city_at, mexico_city_date};
use crate::domain::bank_account::CUSTOMER_STRIPE;
use crate::domain::clabe::Clabe;
use crate::domain::money::Money;
use crate::domain::risk::Request;

/// Of the windows that facts are counted over, so that they begin in the order of time.
const WINDOWS: [Duration; 4] = [Duration::days(30), Duration::days(7), Duration::days(1), Duration::hours(1)];

/// Transfers to one payee, or entries of one payee's account, that are looked at: a business has more, and reading them all
/// would take longer than scoring. Facts saturate there.
const ROWS_MAX: i64 = 2_000;

/// Of whom the facts are.
pub(crate) struct Parties<'a> {
    pub(crate) owner: &'a str,
    /// The payee's number as the user saved it, and normalised.
    pub(crate) payee_number: &'a str,
    pub(crate) payee_key: &'a str,
    /// Thumbprint of the key that the user's token is bound to.
    pub(crate) device: Option<&'a str>,
}

/// Adds the facts to a request.
pub(crate) async fn add(
    db: &mut PgConnection,
    parties: &Parties<'_>,
    request: Request,
    now: OffsetDateTime,
) -> Result<Request, sqlx::Error> {
    let since = WINDOWS.map(|window| now - window);
    let row = sqlx::query!(
        r#"
        with recursive own as materialized (
            select b.account_id, b.version, b.sent_transfers, b.sent_total
            from account a join account_balance b on b.account_id = a.account_id and b.stripe = $2
            where a.owner = $1
        ), half (account_id, since, low, high) as (
            select account_id, since, 0::bigint, version from own cross join unnest($3::timestamptz[]) as w (since)
            union all
            select h.account_id, h.since, case when e.created_at < h.since then h.middle else h.low end,
                case when e.created_at < h.since then h.high else h.middle - 1 end
            from (select *, (low + high + 1) / 2 as middle from half where low < high) as h
            join entry e on e.account_id = h.account_id and e.stripe = $2 and e.version = h.middle
        ), sent as (
            select h.since, sum(o.sent_transfers - coalesce(e.sent_transfers, 0)) as transfers,
                sum(o.sent_total - coalesce(e.sent_total, 0)) as total
            from half h join own o using (account_id)
            left join entry e on e.account_id = h.account_id and e.stripe = $2 and e.version = h.low
            where h.low = h.high group by h.since
        ), to_payee as (
            -- By the shortest window that has them.
            select width_bucket(created_at, $3) as nth, count(*) as transfers, sum(amount) as total
            from (
                select created_at, amount from transfer
                where owner = $1 and kind = 'spei' and payee_key = $4 and created_at >= ($3::timestamptz[])[1]
                order by created_at desc limit $5
            ) as latest
            group by nth
        ), windows as materialized (
            select w.since, coalesce(s.transfers, 0) as transfers, coalesce(s.total, 0) as total,
                coalesce(sum(p.transfers), 0)::bigint as payee_transfers, coalesce(sum(p.total), 0) as payee_total
            from unnest($3::timestamptz[]) with ordinality as w (since, nth) left join sent s using (since)
            left join to_payee p on p.nth >= w.nth
            group by w.since, s.transfers, s.total
        ), payee as materialized (
            select b.account_id, b.version
            from account a join account_balance b on b.account_id = a.account_id and b.stripe = $2
            where a.issued = $6
        ), came as materialized (
            select e.version, e.created_at, e.delta, t.kind, concat_ws(' ', t.payer_institution, t.payer_account_number, d.owner) as sender
            from payee p cross join lateral (
                select * from entry e
                where e.account_id = p.account_id and e.stripe = $2 and e.version > p.version - $5
                order by e.version desc limit $5
            ) as e
            join transfer t using (transfer_id) left join account d on d.account_id = t.debit_account_id
            where e.created_at >= ($3::timestamptz[])[3] and t.kind in ('spei', 'received')
        )
        select
            (select array_agg(least(transfers, 4294967295)::bigint order by since desc) from windows) as "transfers!",
            (select array_agg(least(total, 9223372036854775807)::bigint order by since desc) from windows) as "totals!",
            (select array_agg(payee_transfers order by since desc) from windows) as "payee_transfers!",
            (select array_agg(least(payee_total, 9223372036854775807)::bigint order by since desc) from windows) as "payee_totals!",
            (select count(*) from beneficiary where owner = $1 and created_at >= $7) as "payees_added!",
            (
                select count(*) from idempotency
                where owner = $1 and created_at >= ($3::timestamptz[])[4] and rejection is not null
            ) as "refusals!",
            (
                select recorded_at from audit_record
                where subject = 'limits' and subject_key = $1 and action <> 'reseal' order by seq desc limit 1
            ) as limits_changed_at,
            exists (select from payee) as "is_payee_here!",
            (select count(distinct sender) from came where delta > 0) as "senders!",
            (select least(coalesce(sum(delta), 0), 9223372036854775807)::bigint from came where delta > 0) as "received!",
            (
                select extract(epoch from o.created_at - max(c.created_at))::bigint
                from (select * from came where delta < 0 order by version desc limit 1) as o
                join came c on c.delta > 0 and c.version < o.version group by o.created_at
            ) as seconds_to_sending,
            exists (select from transfer where owner = $1 and device = $8) as "is_device_known!"
        "#,
        parties.owner,
        CUSTOMER_STRIPE,
        &since,
        parties.payee_key,
        ROWS_MAX,
        Clabe::read(parties.payee_number).map(Clabe::body),
        mexico_city_at(mexico_city_date(now), 0),
        parties.device,
    )
    .fetch_one(db)
    .await?;
    let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    let pesos = |minor: i64| Money::from_minor(minor).to_f64();
    let [c1, c24, c7, c30] = four(row.transfers)?.map(|it| Some(count(it)));
    let [a1, a24, a7, a30] = four(row.totals)?.map(|it| Some(pesos(it)));
    let [pc1, pc24, pc7, pc30] = four(row.payee_transfers)?.map(|it| Some(count(it)));
    let [pa1, pa24, pa7, pa30] = four(row.payee_totals)?.map(|it| Some(pesos(it)));
    let minutes = |at: OffsetDateTime| count((now - at).whole_minutes().max(0));
    Ok(Request {
        is_new_device: if parties.device.is_some() { !row.is_device_known } else { request.is_new_device },
        sent_count_1h: c1,
        sent_amount_1h: a1,
        sent_count_24h: c24,
        sent_amount_24h: a24,
        sent_count_7d: c7,
        sent_amount_7d: a7,
        sent_count_30d: c30,
        sent_amount_30d: a30,
        to_payee_count_1h: pc1,
        to_payee_amount_1h: pa1,
        to_payee_count_24h: pc24,
        to_payee_amount_24h: pa24,
        to_payee_count_7d: pc7,
        to_payee_amount_7d: pa7,
        to_payee_count_30d: pc30,
        to_payee_amount_30d: pa30,
        payees_added_today: Some(count(row.payees_added)),
        refusals_1h: Some(count(row.refusals)),
        minutes_since_limits_change: row.limits_changed_at.map(minutes),
        payee_senders_24h: row.is_payee_here.then(|| count(row.senders)),
        payee_received_24h: row.is_payee_here.then(|| pesos(row.received)),
        payee_minutes_to_sending: row.seconds_to_sending.map(|it| count(it.max(0) / 60)),
        ..request
    })
}

fn four(values: Vec<i64>) -> Result<[i64; 4], sqlx::Error> {
    values.try_into().map_err(|_| sqlx::Error::RowNotFound)
}
