//! Comparisons of operating days with a rail, and the cases that they open.

pub mod cases;
pub mod difference;

use std::time::Duration;

use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use self::difference::{Counts, Difference, Direction};
use super::records::{self, Change, Subject};
use super::session::read_whole_tables;
use super::transfers::parse_status;
use crate::domain::money::Money;
use crate::domain::transfer::{RailName, Status};
use crate::sealing::ChainKey;

/// Who closes a case whose difference is gone.
const RECONCILIATION: &str = "reconciliation";

/// An order as the ledger has it.
#[derive(Debug, Clone)]
pub(crate) struct LedgerLine {
    pub(crate) direction: Direction,
    pub(crate) transfer_id: Uuid,
    pub(crate) tracking_key: String,
    pub(crate) institution: Option<u32>,
    pub(crate) amount: Money,
    pub(crate) payee_number: String,
    pub(crate) status: Status,
    /// Whether its money came back after it had settled.
    pub(crate) was_returned: bool,
}

struct Row {
    is_sent: bool,
    transfer_id: Uuid,
    tracking_key: String,
    institution: Option<i32>,
    amount: i64,
    payee_number: String,
    status: String,
    was_returned: bool,
}

impl Row {
    fn read(self) -> Result<LedgerLine, sqlx::Error> {
        Ok(LedgerLine {
            direction: if self.is_sent { Direction::Sent } else { Direction::Received },
            transfer_id: self.transfer_id,
            tracking_key: self.tracking_key,
            institution: self.institution.and_then(|institution| u32::try_from(institution).ok()),
            amount: Money::from_minor(self.amount),
            payee_number: self.payee_number,
            status: parse_status(&self.status)?,
            was_returned: self.was_returned,
        })
    }
}

/// Visits the orders of an operating day that were handed to a rail, and those that came from it.
pub(crate) async fn each_order(
    db: &mut PgConnection,
    rail: RailName,
    date: Date,
    mut visit: impl FnMut(LedgerLine),
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    read_whole_tables(&mut transaction).await?;
    let rows = sqlx::query_as!(
        Row,
        r#"
        select true as "is_sent!", t.transfer_id as "transfer_id!", t.spei_reference as "tracking_key!",
            null::int as institution, t.amount as "amount!", t.beneficiary_account_number as "payee_number!",
            t.status as "status!", r.transfer_id is not null as "was_returned!"
        from rail_order o join transfer t using (transfer_id) left join transfer r on r.returns = t.transfer_id
        where o.rail = $1 and o.operating_date = $2 and t.kind = 'spei'
        union all
        select false, transfer_id, spei_reference, payer_institution, amount, beneficiary_account_number, status, false
        from transfer where kind = 'received' and rail = $1 and operating_date = $2
        "#,
        rail.as_str(),
        date,
    );
    let mut rows = rows.fetch(&mut *transaction);
    while let Some(row) = rows.try_next().await? {
        visit(row.read()?);
    }
    drop(rows);
    transaction.rollback().await
}

/// Payments with these tracking keys, and transfers with these ids.
pub(crate) async fn find_orders(
    db: &mut PgConnection,
    rail: RailName,
    tracking_keys: &[String],
    ids: &[Uuid],
) -> Result<Vec<LedgerLine>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select t.kind = 'spei' as "is_sent!", t.transfer_id as "transfer_id!", t.spei_reference as "tracking_key!",
            t.payer_institution as institution, t.amount as "amount!", t.beneficiary_account_number as "payee_number!",
            t.status as "status!", exists (select from transfer r where r.returns = t.transfer_id) as "was_returned!"
        from (
            select transfer_id from transfer where spei_reference = any($2) and kind = 'spei' and rail = $1
            union select unnest($3::uuid[])
        ) as wanted join transfer t using (transfer_id)
        "#,
        rail.as_str(),
        tracking_keys,
        ids,
    );
    rows.fetch_all(db).await?.into_iter().map(Row::read).collect()
}

/// When the ledger began.
pub(crate) async fn ledger_since(db: &mut PgConnection) -> Result<Option<OffsetDateTime>, sqlx::Error> {
    sqlx::query_scalar!("select min(created_at) from chain_origin").fetch_one(db).await
}

/// Asks for a comparison, which the next free host makes. Nothing happens if there is one with this id.
pub async fn request(
    db: &mut PgConnection,
    reconciliation_id: Uuid,
    (rail, date): (RailName, Date),
    by: Option<&str>,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let insert = sqlx::query!(
        r#"
        insert into reconciliation (reconciliation_id, rail, operating_date, requested_by, requested_at, attempt_at)
        values ($1, $2, $3, $4, $5, $5) on conflict do nothing
        "#,
        reconciliation_id,
        rail.as_str(),
        date,
        by,
        now,
    );
    insert.execute(db).await.map(drop)
}

/// A comparison that this host makes.
#[derive(Debug)]
pub(crate) struct Due {
    reconciliation_id: Uuid,
    pub(crate) operating_date: Date,
    /// Until when it is claimed.
    until: OffsetDateTime,
}

/// Claims a comparison for a while, by the database's clock.
pub(crate) async fn claim(
    db: &mut PgConnection,
    rail: RailName,
    (fixed_at, length): (Option<OffsetDateTime>, Duration),
) -> Result<Option<Due>, sqlx::Error> {
    let due = sqlx::query_as!(
        Due,
        r#"
        with clock as materialized (
            select coalesce($2, clock_timestamp()) as now
        ), due as (
            select reconciliation_id from reconciliation, clock where rail = $1 and attempt_at <= now
            order by attempt_at limit 1 for update of reconciliation skip locked
        )
        update reconciliation r set attempt_at = now + make_interval(secs => $3)
        from due, clock where r.reconciliation_id = due.reconciliation_id
        returning r.reconciliation_id, r.operating_date, r.attempt_at as "until!"
        "#,
        rail.as_str(),
        fixed_at,
        length.as_secs_f64(),
    );
    due.fetch_optional(db).await
}

/// Stores a report, opens a case for each of these differences, and closes the day's cases whose differences are gone.
/// False if the claim is over.
pub(crate) async fn finish(
    db: &mut PgConnection,
    key: &ChainKey,
    (rail, due): (RailName, &Due),
    (counts, differences, cases): (&Counts, &[Difference], &[(Uuid, &Difference)]),
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let json = |it| serde_json::to_value(it).map_err(|error| sqlx::Error::Encode(error.into()));
    let mut transaction = db.begin().await?;
    let made = sqlx::query!(
        r#"
        update reconciliation set attempt_at = null, made_at = $3, matched = $4, missing_here = $5, missing_there = $6,
            different = $7, duplicated = $8, differences = $9
        where reconciliation_id = $1 and attempt_at = $2
        "#,
        due.reconciliation_id,
        due.until,
        now,
        counts.matched,
        counts.missing_here,
        counts.missing_there,
        counts.different,
        counts.duplicated,
        serde_json::to_value(differences).map_err(|error| sqlx::Error::Encode(error.into()))?,
    );
    if made.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let Counts { missing_here, missing_there, different, duplicated, .. } = counts;
    // A report that leaves some out says of no case that its difference is gone.
    let is_whole = missing_here + missing_there + different + duplicated == differences.len() as i64;
    let ids: Vec<Uuid> = cases.iter().map(|(case_id, _)| *case_id).collect();
    let contents = cases.iter().map(|(_, difference)| json(*difference)).collect::<Result<Vec<_>, _>>()?;
    let opened = sqlx::query_scalar!(
        r#"
        insert into payment_case (case_id, rail, operating_date, difference, opened_at)
        select case_id, $1, $2, difference, $3 from unnest($4::uuid[], $5::jsonb[]) as n (case_id, difference)
        -- One that closed by itself is open again; what a person decided stands.
        on conflict (case_id) do update set closed_at = null, closed_by = null, note = null
        where payment_case.closed_by = $6 and payment_case.transfer_id is null
        returning case_id
        "#,
        rail.as_str(),
        due.operating_date,
        now,
        &ids,
        &contents,
        RECONCILIATION,
    );
    let opened = opened.fetch_all(&mut *transaction).await?;
    let closed = sqlx::query_scalar!(
        r#"
        update payment_case set closed_at = $3, closed_by = $5, note = 'the difference is gone'
        where rail = $1 and operating_date = $2 and closed_at is null and not case_id = any($4) and $6
        returning case_id
        "#,
        rail.as_str(),
        due.operating_date,
        now,
        &ids,
        RECONCILIATION,
        is_whole,
    );
    let closed = closed.fetch_all(&mut *transaction).await?;
    let change = |id: Uuid, action| Change::new(Subject::PaymentCase, id, action, RECONCILIATION);
    let mut changes = vec![Change::new(Subject::Reconciliation, due.reconciliation_id, "compare", RECONCILIATION)];
    changes.extend(opened.into_iter().map(|id| change(id, "open")));
    changes.extend(closed.into_iter().map(|id| change(id, "close")));
    records::append_all(&mut transaction, key, &changes, now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// A comparison that was made.
#[derive(Debug)]
pub struct Report {
    pub reconciliation_id: Uuid,
    pub made_at: OffsetDateTime,
    pub counts: Counts,
    /// A list.
    pub differences: serde_json::Value,
}

/// The last report on a day, and whether another one is due.
pub async fn last(db: &mut PgConnection, rail: RailName, date: Date) -> Result<(Option<Report>, bool), sqlx::Error> {
    // Read first: a comparison that ends meanwhile is due or reported.
    let is_due = sqlx::query_scalar!(
        r#"
        select exists (
            select from reconciliation where rail = $1 and operating_date = $2 and made_at is null
        ) as "is_due!"
        "#,
        rail.as_str(),
        date,
    );
    let is_due = is_due.fetch_one(&mut *db).await?;
    let row = sqlx::query!(
        r#"
        select reconciliation_id, made_at as "made_at!", matched, missing_here, missing_there, different, duplicated,
            differences
        from reconciliation where rail = $1 and operating_date = $2 and made_at is not null
        order by made_at desc limit 1
        "#,
        rail.as_str(),
        date,
    );
    let report = row.fetch_optional(db).await?.map(|row| Report {
        reconciliation_id: row.reconciliation_id,
        made_at: row.made_at,
        counts: Counts {
            matched: row.matched,
            missing_here: row.missing_here,
            missing_there: row.missing_there,
            different: row.different,
            duplicated: row.duplicated,
        },
        differences: row.differences,
    });
    Ok((report, is_due))
}

/// What waits, of all hosts.
pub(crate) struct Waiting {
    /// Since when the oldest comparison has been due.
    pub(crate) due_since: Option<OffsetDateTime>,
    pub(crate) cases: i64,
}

pub(crate) async fn measure(db: &mut PgConnection, rail: RailName) -> Result<Waiting, sqlx::Error> {
    let waiting = sqlx::query_as!(
        Waiting,
        r#"
        select (select min(requested_at) from reconciliation where rail = $1 and attempt_at is not null) as due_since,
            (select count(*) from payment_case where closed_at is null) as "cases!"
        "#,
        rail.as_str(),
    );
    waiting.fetch_one(db).await
}
