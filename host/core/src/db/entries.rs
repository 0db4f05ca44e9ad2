//! An account's statement and its balance at a point in time, read-only: the ledger writes the entries.
//!
//! An account's entries are numbered without gaps, in chronological order. A point in time is found by binary
//! search and a page by its number, so one index serves both, however long the history.

use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::transfers::{read_payer, read_remittance};
use crate::domain::bank_account::CUSTOMER_STRIPE;
use crate::domain::incoming::Payer;
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Position in the account's history, from 1.
    pub number: i64,
    pub created_at: OffsetDateTime,
    /// Negative for a debit.
    pub delta: Money,
    pub balance_after: Money,
    /// Kind of the transfer; `None` for one that another customer of this bank sent.
    pub kind: Option<String>,
    /// The user's transfer; for a return, the transfer that was returned. `None` for any other credit.
    pub transfer_id: Option<Uuid>,
    /// Name at the time of the user's transfer.
    pub beneficiary_name: Option<String>,
    /// Number and bank of the same payee, as the user typed them.
    pub beneficiary_number: Option<String>,
    pub beneficiary_bank: Option<String>,
    /// What came of the user's transfer, on its debit: its present status, or `returned`.
    pub outcome: Option<String>,
    /// Of an order of another bank, or of a transfer by a customer of this one.
    pub payer: Option<Payer>,
    /// Clave de rastreo.
    pub spei_reference: Option<String>,
    /// What the sender told the payee, whichever of them the user is.
    pub remittance: Remittance,
}

/// A range of entry numbers.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// Exclusive.
    pub after: i64,
    /// Inclusive.
    pub up_to: i64,
}

impl Span {
    pub const ALL: Self = Self { after: 0, up_to: i64::MAX };
}

/// How many entries an account had before `at`, which is also the number of the last one.
pub async fn count_before(db: &mut PgConnection, account_id: Uuid, at: OffsetDateTime) -> Result<i64, sqlx::Error> {
    let count = sqlx::query_scalar!(
        r#"
        with recursive half (low, high) as (
            select 0::bigint, version from account_balance where account_id = $1 and stripe = $2
            union all
            select case when e.created_at < $3 then h.middle else h.low end,
                case when e.created_at < $3 then h.high else h.middle - 1 end
            from (select low, high, (low + high + 1) / 2 as middle from half where low < high) as h
            join entry e on e.account_id = $1 and e.stripe = $2 and e.version = h.middle
        )
        select low as "low!" from half where low = high
        "#,
        account_id,
        CUSTOMER_STRIPE,
        at,
    );
    Ok(count.fetch_optional(db).await?.unwrap_or(0))
}

/// An account's balance at `at`, including entries made at exactly that time.
pub async fn balance_at(db: &mut PgConnection, account_id: Uuid, at: OffsetDateTime) -> Result<Money, sqlx::Error> {
    let number = count_before(db, account_id, at + Duration::MICROSECOND).await?;
    balance_after(db, account_id, number).await
}

/// An account's balance after an entry, or before the first one if `number` is 0.
pub async fn balance_after(db: &mut PgConnection, account_id: Uuid, number: i64) -> Result<Money, sqlx::Error> {
    let balance = sqlx::query_scalar!(
        "select balance_after from entry where account_id = $1 and stripe = $2 and version = $3",
        account_id,
        CUSTOMER_STRIPE,
        number,
    );
    Ok(balance.fetch_optional(db).await?.map_or(Money::ZERO, Money::from_minor))
}

/// The balance, and when it last changed.
pub async fn current_balance(db: &mut PgConnection, account_id: Uuid) -> Result<(Money, OffsetDateTime), sqlx::Error> {
    let balance = sqlx::query!(
        "select posted, changed_at from account_balance where account_id = $1 and stripe = $2",
        account_id,
        CUSTOMER_STRIPE,
    );
    balance.fetch_one(db).await.map(|row| (Money::from_minor(row.posted), row.changed_at))
}

/// Newest first. Of a transfer by another customer only the amount, the clave de rastreo, what the sender told the payee,
/// and the sender's verified name and issued number are shown; of its return, neither of the last two.
pub async fn list_entries(
    db: &mut PgConnection,
    account_id: Uuid,
    span: Span,
    limit: i64,
) -> Result<Vec<Entry>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select e.version, e.created_at, e.delta, e.balance_after,
            case when not received.from_customer then t.kind end as kind,
            case when received.from_customer then null when t.kind = 'spei' then t.transfer_id else t.returns end
                as transfer_id,
            payee.beneficiary_name, payee.beneficiary_account_number as beneficiary_number, payee.beneficiary_bank,
            coalesce(t.payer_name, payer.holder_name) as payer_name,
            coalesce(t.payer_account_number, payer.number_key) as payer_account_number, t.payer_institution,
            case when not received.from_customer and t.kind = 'spei' and e.delta < 0 then
                case when exists (select from transfer r where r.returns = t.transfer_id) then 'returned' else t.status end
            end as outcome,
            coalesce(t.spei_reference, sent.spei_reference) as spei_reference,
            coalesce(t.concept, sent.concept) as concept,
            coalesce(t.numeric_reference, sent.numeric_reference) as numeric_reference
        from entry e
        join transfer t using (transfer_id)
        cross join lateral (select t.kind = 'spei' and t.credit_account_id = e.account_id
            or t.kind = 'return' and t.debit_account_id = e.account_id as from_customer) as received
        left join transfer sent on sent.transfer_id = t.returns
        -- The user's.
        left join transfer payee on payee.transfer_id = coalesce(t.returns, t.transfer_id)
            and payee.kind = 'spei' and not received.from_customer
        left join lateral (
            select u.holder_name, case when a.issued is not null then a.number_key end as number_key
            from account a left join app_user u using (owner)
            where a.account_id = t.debit_account_id and t.kind = 'spei' and received.from_customer
        ) as payer on true
        where e.account_id = $1 and e.stripe = $2 and e.version > $3 and e.version <= $4
        order by e.version desc
        limit $5
        "#,
        account_id,
        CUSTOMER_STRIPE,
        span.after,
        span.up_to,
        limit,
    );
    let entry = rows.fetch_all(db).await?.into_iter().map(|row| Entry {
        number: row.version,
        created_at: row.created_at,
        delta: Money::from_minor(row.delta),
        balance_after: Money::from_minor(row.balance_after),
        kind: row.kind,
        transfer_id: row.transfer_id,
        beneficiary_name: row.beneficiary_name,
        beneficiary_number: row.beneficiary_number,
        beneficiary_bank: row.beneficiary_bank,
        outcome: row.outcome,
        payer: read_payer(row.payer_name, row.payer_account_number, row.payer_institution),
        spei_reference: row.spei_reference,
        remittance: read_remittance(row.concept, row.numeric_reference),
    });
    Ok(entry.collect())
}
