//! Transfers that a person decides on before they go on. The decision is a status of the transfer, in the ledger.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::outcomes::{self, Recording};
use super::payments::sealed;
use super::transfers::parse_status;
use crate::domain::outcome::{OPERATOR, Statement};
use crate::domain::review::{CLAIM, ReviewDecision};
use crate::domain::transfer::Payment;
use crate::sealing::ChainKey;

pub struct Review {
    pub transfer_id: Uuid,
    pub owner: String,
    pub account_id: Uuid,
    /// Of a transfer on us.
    pub payee_account_id: Option<Uuid>,
    pub amount: i64,
    pub payee_name: String,
    pub payee_bank: String,
    pub payee_number: String,
    pub created_at: OffsetDateTime,
    pub claimed_by: Option<String>,
    pub claimed_at: Option<OffsetDateTime>,
    second_status: Option<String>,
    batch_chain_id: Option<Uuid>,
    batch_seq: Option<i64>,
}

impl Review {
    /// What was decided; its outcome is not recorded yet.
    ///
    /// # Errors
    /// When the database has another status than the program knows.
    pub fn decision(&self) -> Result<Option<ReviewDecision>, sqlx::Error> {
        let second = self.second_status.as_deref().map(parse_status).transpose()?;
        Ok(second.map(ReviewDecision::of))
    }

    /// The batch that is said to have entered the decision.
    pub fn batch(&self) -> Option<(Uuid, i64)> {
        self.batch_chain_id.zip(self.batch_seq)
    }
}

/// All that wait, or one of them, the oldest first.
///
/// # Errors
/// When the database fails.
pub async fn list(db: &mut PgConnection, transfer_id: Option<Uuid>, limit: i64) -> Result<Vec<Review>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Review,
        r#"
        select t.transfer_id, t.owner, t.debit_account_id as account_id,
            case when t.rail = 'on-us' then t.credit_account_id end as payee_account_id, t.amount,
            t.beneficiary_name as "payee_name!", t.beneficiary_bank as "payee_bank!",
            t.beneficiary_account_number as "payee_number!", t.created_at, r.claimed_by, r.claimed_at,
            v.status as "second_status?", v.chain_id as "batch_chain_id?", v.seq as "batch_seq?"
        from review r join transfer t using (transfer_id)
        left join transfer_event v on v.transfer_id = t.transfer_id and v.ordinal = 1
        where $1::uuid is null or r.transfer_id = $1
        order by t.created_at, t.transfer_id
        limit $2
        "#,
        transfer_id,
        limit,
    );
    rows.fetch_all(db).await
}

/// The payment under review as its rail would have it; `None` if no rail has it.
///
/// # Errors
/// When the database fails.
pub async fn payment(db: &mut PgConnection, transfer_id: Uuid) -> Result<Option<Payment>, sqlx::Error> {
    sealed::payment(db, transfer_id).await
}

/// Whether rules ever required a review of it.
///
/// # Errors
/// When the database fails.
pub async fn was_required(db: &mut PgConnection, transfer_id: Uuid) -> Result<bool, sqlx::Error> {
    let found = sqlx::query_scalar!("select reviewed from transfer where transfer_id = $1", transfer_id);
    Ok(found.fetch_optional(db).await?.unwrap_or_default())
}

/// Whether the review is `by`'s now: it was nobody's, theirs, or somebody's for too long.
///
/// # Errors
/// When the database fails.
pub async fn claim(
    db: &mut PgConnection,
    transfer_id: Uuid,
    by: &str,
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let claim = sqlx::query!(
        r#"
        update review set claimed_by = $2, claimed_at = $3
        where transfer_id = $1 and (claimed_by is null or claimed_by = $2 or claimed_at < $4)
        "#,
        transfer_id,
        by,
        now,
        now - CLAIM,
    );
    Ok(claim.execute(db).await?.rows_affected() > 0)
}

/// Carries out what the ledger entered: records its outcome, and lets the courier have what was released. False if that was
/// done before.
///
/// # Errors
/// When the database fails.
pub async fn end(
    db: &mut PgConnection,
    key: &ChainKey,
    transfer_id: Uuid,
    (decision, is_scam): (ReviewDecision, bool),
    recording: Recording<'_>,
) -> Result<bool, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let lock = sqlx::query!("select from review where transfer_id = $1 for update", transfer_id);
    if lock.fetch_optional(&mut *transaction).await?.is_none() {
        return Ok(false);
    }
    if decision == ReviewDecision::Release {
        sealed::release(&mut transaction, key, transfer_id, recording.now).await?;
    }
    sqlx::query!("delete from review where transfer_id = $1", transfer_id).execute(&mut *transaction).await?;
    let (kind, source, known_at) = (decision.outcome(is_scam), OPERATOR.to_owned(), recording.now);
    let statement = Statement { subject_id: transfer_id, kind, source, known_at };
    outcomes::record(&mut transaction, key, &[statement], recording).await?;
    transaction.commit().await?;
    Ok(true)
}
