//! A user's transfers, and their history as the risk scorer sees it.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Position, unknown_text};
use crate::domain::incoming::Payer;
use crate::domain::money::Money;
use crate::domain::remittance::Remittance;
use crate::domain::transfer::{PayeeAccount, Status, Transfer};

/// A user's transfers, newest first, after a position.
pub async fn list_transfers(
    db: &mut PgConnection,
    owner: &str,
    after: Option<Position>,
    limit: i64,
) -> Result<Vec<Transfer>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select transfer_id, debit_account_id, beneficiary_id, beneficiary_name, beneficiary_bank,
            beneficiary_account_number, amount, status, spei_reference, concept, numeric_reference, created_at
        from transfer
        where owner = $1 and kind = 'spei'
            and (created_at, transfer_id) < (
                coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
            )
        order by created_at desc, transfer_id desc
        limit $4
        "#,
        owner,
        after.map(|position| position.created_at),
        after.map(|position| position.id),
        limit,
    );
    rows.fetch_all(db).await?.into_iter().map(Row::read).collect()
}

/// What reversing a completed transfer depends on.
pub struct Completed {
    /// The debited account.
    pub account_id: Uuid,
    /// The credited account, if it is a customer's.
    pub payee_account_id: Option<Uuid>,
    /// The credit that gave its money back, if one did.
    pub returned_by: Option<Uuid>,
}

/// A transfer of any user, with its status.
pub async fn find_to_reverse(
    db: &mut PgConnection,
    transfer_id: Uuid,
) -> Result<Option<(Status, Completed)>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select status, debit_account_id, case when rail = 'on-us' then credit_account_id end as payee_account_id,
            (select r.transfer_id from transfer r where r.returns = t.transfer_id) as returned_by
        from transfer t where transfer_id = $1 and kind = 'spei'
        "#,
        transfer_id,
    );
    let Some(row) = row.fetch_optional(db).await? else { return Ok(None) };
    let (payee_account_id, returned_by) = (row.payee_account_id, row.returned_by);
    Ok(Some((
        parse_status(&row.status)?,
        Completed { account_id: row.debit_account_id, payee_account_id, returned_by },
    )))
}

/// `None` if the transfer does not exist or is another user's.
pub async fn find_transfer(
    db: &mut PgConnection,
    owner: &str,
    transfer_id: Uuid,
) -> Result<Option<Transfer>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select transfer_id, debit_account_id, beneficiary_id, beneficiary_name, beneficiary_bank,
            beneficiary_account_number, amount, status, spei_reference, concept, numeric_reference, created_at
        from transfer
        where owner = $1 and kind = 'spei' and transfer_id = $2
        "#,
        owner,
        transfer_id,
    );
    row.fetch_optional(db).await?.map(Row::read).transpose()
}

/// What the decisions about a user's transfer are about, each with their batch: it, and before it the hold that it captured.
pub async fn decided_in(
    db: &mut PgConnection,
    owner: &str,
    transfer_id: Uuid,
) -> Result<Vec<(Uuid, (Uuid, i64))>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with t as (
            select transfer_id, chain_id, seq from transfer where owner = $1 and kind = 'spei' and transfer_id = $2
        )
        select transfer_id as "id!", chain_id as "chain_id!", seq as "seq!", true as "is_its_own!" from t
        union all
        select h.hold_id, h.chain_id, h.seq, false
        from t join hold_end e using (chain_id, seq, transfer_id) join hold h using (hold_id)
        order by 4 desc
        "#,
        owner,
        transfer_id,
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.id, (row.chain_id, row.seq))).collect())
}

struct Row {
    transfer_id: Uuid,
    debit_account_id: Uuid,
    beneficiary_id: Option<Uuid>,
    beneficiary_name: Option<String>,
    beneficiary_bank: Option<String>,
    beneficiary_account_number: Option<String>,
    amount: i64,
    status: String,
    spei_reference: Option<String>,
    concept: Option<String>,
    numeric_reference: Option<i32>,
    created_at: OffsetDateTime,
}

impl Row {
    fn read(self) -> Result<Transfer, sqlx::Error> {
        Ok(Transfer {
            transfer_id: self.transfer_id,
            from_account_id: self.debit_account_id,
            to_beneficiary_id: self.beneficiary_id,
            beneficiary_name: self.beneficiary_name,
            payee: PayeeAccount::read(self.beneficiary_account_number, self.beneficiary_bank),
            amount: Money::from_minor(self.amount),
            status: parse_status(&self.status)?,
            spei_reference: self.spei_reference,
            remittance: read_remittance(self.concept, self.numeric_reference),
            created_at: self.created_at,
        })
    }
}

/// The transfer that an idempotency key of a user made, or the code with which it was rejected. `None` if the ledger has
/// no answer for the key.
pub(crate) async fn find_answer(
    db: &mut PgConnection,
    owner: &str,
    key: &str,
) -> Result<Option<Result<Uuid, String>>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select transfer_id as "transfer_id?", coalesce(rejection->0->>'code', 'rejected') as "code!"
        from idempotency where owner = $1 and key = $2
        "#,
        owner,
        key,
    );
    Ok(row.fetch_optional(db).await?.map(|row| row.transfer_id.ok_or(row.code)))
}

/// `None` of nobody who is known.
pub(crate) fn read_payer(name: Option<String>, number: Option<String>, institution: Option<i32>) -> Option<Payer> {
    let payer = Payer { name, number, institution: institution.and_then(|code| code.try_into().ok()) };
    Some(payer).filter(|it| it.name.is_some() || it.number.is_some() || it.institution.is_some())
}

pub(crate) fn read_remittance(concept: Option<String>, numeric_reference: Option<i32>) -> Remittance {
    Remittance { concept, reference: numeric_reference.and_then(|reference| u32::try_from(reference).ok()) }
}

pub(crate) fn parse_status(text: &str) -> Result<Status, sqlx::Error> {
    Status::parse(text).ok_or_else(|| unknown_text("transfer.status", text))
}

/// A summary of a user's completed transfers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct History {
    pub(crate) count: u32,
    /// In MXN; 0 without transfers.
    pub(crate) average: f64,
    /// In MXN; 0 without transfers.
    pub(crate) maximum: f64,
    pub(crate) count_to_payee: u32,
}

/// `payee_key` is the payee's normalised account number, so that deleting and re-saving a beneficiary makes
/// no difference.
pub(crate) async fn find_history(db: &mut PgConnection, owner: &str, payee_key: &str) -> Result<History, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select coalesce(sum(transfers), 0)::bigint as "count!", coalesce(sum(amount), 0)::float8 as "sum!",
            coalesce(max(largest), 0) as "max!",
            coalesce(sum(transfers) filter (where payee_key = $2), 0)::bigint as "count_to_payee!"
        from payee_total
        -- What somebody moves between their own accounts says nothing of how they pay others.
        where owner = $1 and not exists (
            select from account own
            where own.owner = payee_total.owner and own.number_key = payee_total.payee_key and own.issued is not null
        )
        "#,
        owner,
        payee_key,
    )
    .fetch_one(db)
    .await?;
    let count = u32::try_from(row.count).unwrap_or(u32::MAX);
    Ok(History {
        count,
        average: if count == 0 { 0.0 } else { row.sum / f64::from(count) / 100.0 },
        maximum: Money::from_minor(row.max).to_f64(),
        count_to_payee: u32::try_from(row.count_to_payee).unwrap_or(u32::MAX),
    })
}
