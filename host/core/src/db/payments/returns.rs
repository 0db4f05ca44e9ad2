//! Incoming orders that are to be sent back.

use std::time::Duration;

use sqlx::PgConnection;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::{ATTEMPTS_MAX, seals};
use crate::db::transfers::read_remittance;
use crate::domain::incoming::IncomingOrder;
use crate::domain::money::Money;
use crate::domain::transfer::RailName;
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// An order that its rail is to be asked about, and then asked to send back.
#[derive(Debug, Clone)]
pub(crate) struct DueReturn {
    pub(crate) transfer_id: Uuid,
    /// `None` if it is not as it was entered: nothing is sent back.
    pub(crate) order: Option<IncomingOrder>,
    /// A code of SPEI's list.
    pub(crate) reason: String,
    /// Number of earlier attempts.
    pub(crate) attempts: i32,
}

/// Claims due orders for a while, as [`claim`](super::claim) does payments.
pub(crate) async fn claim(
    db: &mut PgConnection,
    (rail, key): (RailName, &ChainKey),
    (fixed_at, length): (Option<OffsetDateTime>, Duration),
    limit: i64,
) -> Result<Vec<DueReturn>, sqlx::Error> {
    let claimed = sqlx::query_scalar!(
        r#"
        with clock as materialized (
            select coalesce($2, clock_timestamp()) as now
        ), due as (
            select transfer_id from rail_payment
            where rail = $1 and owner = '' and due_at <= (select now from clock) and parked_at is null
            order by due_at limit $4 for update skip locked
        )
        update rail_payment p set due_at = now + make_interval(secs => $3), attempts = least(attempts, $5) + 1
        from due, clock where p.transfer_id = due.transfer_id
        returning p.transfer_id
        "#,
        rail.as_str(),
        fixed_at,
        length.as_secs_f64(),
        limit,
        ATTEMPTS_MAX,
    );
    let claimed = claimed.fetch_all(&mut *db).await?;
    if claimed.is_empty() {
        return Ok(Vec::new());
    }
    let due = rows(db, Some(&claimed)).await?.into_iter().map(|row| DueReturn {
        transfer_id: row.transfer_id,
        order: Some(row.order()).filter(|_| row.has_seal(key)),
        attempts: row.attempts.saturating_sub(1),
        reason: row.reason.unwrap_or_default(),
    });
    Ok(due.collect())
}

/// With the seal of its return.
pub(super) struct Row {
    attempts: i32,
    seal: Vec<u8>,
    pub(super) transfer_id: Uuid,
    rail: String,
    amount: i64,
    tracking_key: String,
    operating_date: Date,
    institution: i32,
    payer_name: Option<String>,
    payer_number: Option<String>,
    payee_name: Option<String>,
    payee_number: String,
    concept: Option<String>,
    numeric_reference: Option<i32>,
    reason: Option<String>,
}

impl Row {
    fn order(&self) -> IncomingOrder {
        IncomingOrder {
            tracking_key: self.tracking_key.clone(),
            operating_date: self.operating_date,
            institution: self.institution.try_into().unwrap_or_default(),
            amount: Money::from_minor(self.amount),
            payer_name: self.payer_name.clone(),
            payer_number: self.payer_number.clone(),
            payee_name: self.payee_name.clone(),
            payee_number: self.payee_number.clone(),
            remittance: read_remittance(self.concept.clone(), self.numeric_reference),
        }
    }

    pub(super) fn has_seal(&self, key: &ChainKey) -> bool {
        self.order().transfer_id() == self.transfer_id && self.seal[..] == self.made(key)[..]
    }

    /// The seal of what is there now.
    pub(super) fn made(&self, key: &ChainKey) -> Hash {
        seals::of_return(key, &self.rail, &self.order(), self.reason.as_deref().unwrap_or_default())
    }
}

/// These, or all that are pending: few, since each is sent back within seconds.
pub(super) async fn rows(db: &mut PgConnection, ids: Option<&[Uuid]>) -> Result<Vec<Row>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select p.attempts, p.seal, t.transfer_id, t.rail as "rail!", t.amount, t.spei_reference as "tracking_key!",
            t.operating_date as "operating_date!", t.payer_institution as "institution!", t.payer_name,
            t.payer_account_number as payer_number, t.beneficiary_name as payee_name,
            t.beneficiary_account_number as "payee_number!", t.concept, t.numeric_reference, v.reason
        from rail_payment p join transfer t using (transfer_id)
        left join transfer_event v on v.transfer_id = p.transfer_id and v.ordinal = 0
        where p.owner = '' and ($1::uuid[] is null or p.transfer_id = any($1))
        "#,
        ids as Option<&[Uuid]>,
    );
    rows.fetch_all(db).await
}
