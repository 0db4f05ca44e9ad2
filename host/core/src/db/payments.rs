//! Payments at a rail: those to settle, which the ledger inserts and deletes in the commit that moves the money, and
//! what has to be remembered about each that was handed over.

pub(crate) mod inquiries;
pub mod notices;
pub(crate) mod returns;
pub(crate) mod sealed;
pub(crate) mod seals;

use std::time::Duration;

use sqlx::PgConnection;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::holders;
use super::transfers::read_remittance;
use crate::clock::{CLOCK_SKEW_MAX, timestamp};
use crate::domain::money::Money;
use crate::domain::transfer::{Payment, RailName};
use crate::sealing::ChainKey;

/// How much later than the database's a host's clock may have dated a payment.
const SKEW_SECONDS: f64 = 2.0 * CLOCK_SKEW_MAX.as_seconds_f64();

/// Attempts counted. They are only compared with others of the same payment.
const ATTEMPTS_MAX: i32 = 1_000_000;

/// A payment that its rail is to be asked about.
#[derive(Debug, Clone)]
pub(crate) struct DuePayment {
    /// With the operating date for which it was sent, or would be sent now.
    pub(crate) payment: Payment,
    /// Number of earlier attempts.
    pub(crate) attempts: i32,
    /// Whether it was handed over.
    pub(crate) was_sent: bool,
    /// Whether it was entered before the database's server was started or promoted. If that followed a loss, of a backup's
    /// age for example, it may have been sent without a trace here.
    is_restored: bool,
    /// Whether it has settled.
    pub(crate) is_settled: bool,
    /// Until when it is claimed.
    until: OffsetDateTime,
    pub(crate) from_account_id: Uuid,
    /// Whether it is as it was entered, under the name that the bank verified. Otherwise nothing is sent.
    pub(crate) is_sealed: bool,
}

impl DuePayment {
    /// Whether the rail may have it. Having waited long for its turn is not a reason.
    pub(crate) fn may_be_known(&self) -> bool {
        self.was_sent || self.is_restored
    }
}

/// Claims due payments for a while by the database's clock, so that a host whose clock is wrong takes nothing from
/// others, and counts an attempt for each. Owners take turns.
pub(crate) async fn claim(
    db: &mut PgConnection,
    (rail, key): (RailName, &ChainKey),
    (fixed_at, length): (Option<OffsetDateTime>, Duration),
    today: Date,
    limit: i64,
) -> Result<Vec<DuePayment>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        with clock as materialized (
            select coalesce($2, clock_timestamp()) as now
        ), due as (
            select transfer_id from rail_payment
            where rail = $1 and owner <> '' and due_at <= (select now from clock) and parked_at is null
            order by turn, due_at limit $4 for update skip locked
        ), claimed as (
            update rail_payment p set due_at = now + make_interval(secs => $3), attempts = least(attempts, $6) + 1
            from due, clock where p.transfer_id = due.transfer_id
            returning p.transfer_id, p.attempts, p.due_at, p.seal
        )
        select c.attempts, c.due_at as until, c.seal, t.transfer_id, t.owner, t.rail as "rail!",
            t.debit_account_id, t.amount, t.created_at,
            t.spei_reference as "tracking_key!", t.beneficiary_name as "payee_name!", t.beneficiary_bank as "payee_bank!",
            t.beneficiary_account_number as "payee_number!", case when a.issued is not null then a.number_key end as sender_number,
            u.holder_name as "sender_name?", case when u.holder_name is not null then
                jsonb_build_object('owner', u.owner, 'holder_name', u.holder_name)::text
            end as name_content, (
                select state from audit_record where subject = 'holder' and subject_key = t.owner order by seq desc limit 1
            ) as name_recorded, t.concept, t.numeric_reference,
            coalesce(o.operating_date, $5) as "operating_date!", o.transfer_id is not null as "was_sent!",
            -- A test's clock that stands still is not the server's.
            $2::timestamptz is null and t.created_at < make_interval(secs => $7)
                + greatest(pg_postmaster_start_time(), pg_last_xact_replay_timestamp()) as "is_restored!",
            t.status = 'completed' as "is_settled!"
        from claimed c join transfer t using (transfer_id) join account a on a.account_id = t.debit_account_id
        left join app_user u on u.owner = t.owner left join rail_order o using (transfer_id)
        "#,
        rail.as_str(),
        fixed_at,
        length.as_secs_f64(),
        limit,
        today,
        ATTEMPTS_MAX,
        SKEW_SECONDS,
    )
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|row| row.read(key)).collect())
}

/// Notes, right before it, that a claimed payment is sent, for its first operating date or otherwise for `date`. Returns
/// the date; `None` if the claim ends before `left`, has ended, or the payment was parked.
pub(crate) async fn hand_over(
    db: &mut PgConnection,
    DuePayment { payment, attempts, .. }: &DuePayment,
    (rail, date, inquire_at): (RailName, Date, Option<OffsetDateTime>),
    (fixed_at, left): (Option<OffsetDateTime>, Duration),
) -> Result<Option<Date>, sqlx::Error> {
    let date = sqlx::query_scalar!(
        r#"
        insert into rail_order (transfer_id, rail, operating_date, sent_at, inquire_at, seal)
        select transfer_id, $2, $3, coalesce($4, clock_timestamp()), $5, seal from rail_payment
        where transfer_id = $1 and attempts = $6 + 1 and parked_at is null
            and due_at >= coalesce($4, clock_timestamp()) + make_interval(secs => $7)
        on conflict (transfer_id) do update set sent_at = excluded.sent_at
        returning operating_date
        "#,
        payment.transfer_id,
        rail.as_str(),
        date,
        fixed_at,
        inquire_at,
        attempts,
        left.as_secs_f64(),
    );
    date.fetch_optional(db).await
}

/// Makes an attempt due after a pause, after one that failed with `error`, if it did.
pub(crate) async fn postpone(
    db: &mut PgConnection,
    (transfer_id, attempts): (Uuid, i32),
    (fixed_at, pause): (Option<OffsetDateTime>, Duration),
    error: Option<&str>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        update rail_payment set due_at = coalesce($2, clock_timestamp()) + make_interval(secs => $3), last_error = $4
        where transfer_id = $1 and attempts = $5 + 1
        "#,
        transfer_id,
        fixed_at,
        pause.as_secs_f64(),
        error,
        attempts,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Ends the attempts, because a person has to decide.
pub(crate) async fn park(
    db: &mut PgConnection,
    transfer_id: Uuid,
    fixed_at: Option<OffsetDateTime>,
    error: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        update rail_payment set parked_at = coalesce($2, clock_timestamp()), last_error = $3
        where transfer_id = $1 and parked_at is null
        "#,
        transfer_id,
        fixed_at,
        error,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Forgets that a claimed payment was sent: the rail did not receive it.
pub(crate) async fn forget_order(
    db: &mut PgConnection,
    DuePayment { payment, attempts, .. }: &DuePayment,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from rail_order o using rail_payment p where (o.transfer_id, p.transfer_id, p.attempts) = ($1, $1, $2 + 1)",
        payment.transfer_id,
        attempts,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Payments that have been pending since before `since`.
#[derive(Debug)]
pub(crate) struct Overdue {
    pub(crate) count: i64,
    /// How many of them a person has to decide on.
    pub(crate) parked: i64,
    pub(crate) oldest: Option<OffsetDateTime>,
}

pub(crate) async fn overdue(db: &mut PgConnection, since: OffsetDateTime) -> Result<Overdue, sqlx::Error> {
    let overdue = sqlx::query_as!(
        Overdue,
        r#"
        select count(*) as "count!", count(parked_at) as "parked!", min(created_at) as oldest
        from rail_payment join transfer using (transfer_id) where created_at < $1
        "#,
        since,
    );
    overdue.fetch_one(db).await
}

/// A payment that its rail has not decided, or an incoming order that is to be sent back.
#[derive(Debug)]
pub struct PendingPayment {
    pub transfer_id: Uuid,
    pub is_incoming: bool,
    pub tracking_key: String,
    pub amount: i64,
    pub rail: String,
    pub created_at: OffsetDateTime,
    /// `None` if it was never handed over. Of an incoming order, its own.
    pub operating_date: Option<Date>,
    pub attempts: i32,
    pub due_at: OffsetDateTime,
    pub parked_at: Option<OffsetDateTime>,
    pub last_error: Option<String>,
}

/// Those to decide on first, then the oldest.
pub async fn list(db: &mut PgConnection, limit: i64) -> Result<Vec<PendingPayment>, sqlx::Error> {
    let rows = sqlx::query_as!(
        PendingPayment,
        r#"
        select transfer_id, t.spei_reference as "tracking_key!", t.amount, p.rail, t.created_at,
            t.kind = 'received' as "is_incoming!", coalesce(o.operating_date, t.operating_date) as "operating_date?", p.attempts, p.due_at, p.parked_at, p.last_error
        from rail_payment p join transfer t using (transfer_id) left join rail_order o using (transfer_id)
        order by p.parked_at is null, t.created_at, transfer_id
        limit $1
        "#,
        limit,
    );
    rows.fetch_all(db).await
}

/// A user's transfer as operators who decide on it see it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeenPayment {
    /// The user who sent it; left out of an order of another bank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) payer: Option<String>,
    /// Left out if the ledger lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<String>,
    /// In pesos.
    pub(crate) amount: String,
    pub(crate) payee: String,
    pub(crate) payee_number: String,
    pub(crate) tracking_key: String,
    pub status: String,
    /// Whether another bank sent it to this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_incoming: bool,
    /// What the rail said last, if that decided nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_answer: Option<String>,
}

pub async fn see(db: &mut PgConnection, transfer_id: Uuid) -> Result<Option<SeenPayment>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select t.owner, t.created_at, amount, coalesce(beneficiary_name, '') as "payee!", beneficiary_account_number as "number!",
            spei_reference as "tracking_key!", status, kind = 'received' as "is_incoming!", p.last_error as "last_error?"
        from transfer t left join rail_payment p using (transfer_id)
        where transfer_id = $1 and kind in ('spei', 'received')
        "#,
        transfer_id,
    );
    Ok(row.fetch_optional(db).await?.map(|row| SeenPayment {
        payer: Some(row.owner).filter(|_| !row.is_incoming),
        created_at: Some(timestamp(row.created_at)),
        amount: Money::from_minor(row.amount).to_string(),
        payee: row.payee,
        payee_number: row.number,
        tracking_key: row.tracking_key,
        status: row.status,
        is_incoming: row.is_incoming,
        last_answer: row.last_error,
    }))
}

/// The debited account of a transfer that a rail carries, or carried: none that is under review.
pub(crate) async fn account_of(db: &mut PgConnection, transfer_id: Uuid) -> Result<Option<Uuid>, sqlx::Error> {
    let account = sqlx::query_scalar!(
        "select debit_account_id from transfer where transfer_id = $1 and rail in ('simulated', 'stp')
            and transfer_id not in (select transfer_id from review where transfer_id = $1)",
        transfer_id,
    );
    account.fetch_optional(db).await
}

/// Ends the attempts on an operator's word, if they have not ended. Until when a host may be at one, and whether that is
/// ahead; `None` if the payment is not pending.
pub(crate) async fn stop(
    db: &mut PgConnection,
    transfer_id: Uuid,
    fixed_at: Option<OffsetDateTime>,
    claim: Duration,
) -> Result<Option<(OffsetDateTime, bool)>, sqlx::Error> {
    let stopped = sqlx::query!(
        r#"
        update rail_payment set parked_at = coalesce(parked_at, $2, clock_timestamp()) where transfer_id = $1
        returning parked_at + make_interval(secs => $3) as "until!",
            parked_at + make_interval(secs => $3) > coalesce($2, clock_timestamp()) as "is_ahead!"
        "#,
        transfer_id,
        fixed_at,
        claim.as_secs_f64(),
    );
    Ok(stopped.fetch_optional(db).await?.map(|row| (row.until, row.is_ahead)))
}

struct Row {
    attempts: i32,
    seal: Option<Vec<u8>>,
    transfer_id: Uuid,
    owner: String,
    rail: String,
    debit_account_id: Uuid,
    amount: i64,
    created_at: OffsetDateTime,
    tracking_key: String,
    payee_name: String,
    payee_bank: String,
    payee_number: String,
    sender_number: Option<String>,
    sender_name: Option<String>,
    name_content: Option<String>,
    name_recorded: Option<Vec<u8>>,
    concept: Option<String>,
    numeric_reference: Option<i32>,
    operating_date: Date,
    was_sent: bool,
    is_restored: bool,
    is_settled: bool,
    until: OffsetDateTime,
}

impl Row {
    fn read(self, key: &ChainKey) -> DuePayment {
        let payment = Payment {
            transfer_id: self.transfer_id,
            tracking_key: self.tracking_key,
            amount: Money::from_minor(self.amount),
            created_at: self.created_at,
            operating_date: self.operating_date,
            sender_number: self.sender_number,
            sender_name: self.sender_name,
            payee_name: self.payee_name,
            payee_number: self.payee_number,
            payee_bank: self.payee_bank,
            remittance: read_remittance(self.concept, self.numeric_reference),
        };
        let seal = seals::of(key, &self.rail, (&self.owner, self.debit_account_id), &payment, false);
        let (name, recorded) = (self.name_content.as_deref(), self.name_recorded.as_deref());
        let is_named = holders::is_recorded(key, &self.owner, name, recorded);
        DuePayment {
            attempts: self.attempts.saturating_sub(1),
            was_sent: self.was_sent,
            is_restored: self.is_restored,
            is_settled: self.is_settled,
            until: self.until,
            from_account_id: self.debit_account_id,
            is_sealed: is_named && self.seal.as_deref() == Some(&seal[..]),
            payment,
        }
    }
}
