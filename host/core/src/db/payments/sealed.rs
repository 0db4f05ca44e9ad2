//! All payments that have seals, when these are compared or replaced.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{returns, seals};
use crate::db::transfers::read_remittance;
use crate::domain::money::Money;
use crate::domain::transfer::Payment;
use crate::sealing::ChainKey;
use crate::sealing::digest::Hash;

/// Lets a payment that was under review be sent, unless it is not as it was entered: then the courier finds its old seal.
/// One that no rail carries is gone.
pub(crate) async fn release(
    db: &mut PgConnection,
    key: &ChainKey,
    transfer_id: Uuid,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let before = Uuid::from_u128(transfer_id.as_u128().wrapping_sub(1));
    let row = rows_after(db, before, 1).await?.pop().filter(|row| row.transfer_id == transfer_id);
    let Some(row) = row else { return Ok(()) };
    let old = row.seal(key);
    let new = Row { is_under_review: false, ..row }.seal(key);
    sqlx::query!(
        r#"
        update rail_payment set parked_at = null, last_error = null, due_at = $4,
            seal = case when seal = $2 then $3 else seal end
        where transfer_id = $1
        "#,
        transfer_id,
        &old[..],
        &new[..],
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Payments in a statement.
const CHUNK: i64 = 1_000;

/// Those whose seals are not of what is there now.
pub(crate) async fn broken(db: &mut PgConnection, key: &ChainKey) -> Result<Vec<Uuid>, sqlx::Error> {
    let returns = returns::rows(db, None).await?;
    let mut broken: Vec<Uuid> = returns.iter().filter(|row| !row.has_seal(key)).map(|row| row.transfer_id).collect();
    let mut after = Uuid::nil();
    loop {
        let rows = rows_after(db, after, CHUNK).await?;
        let Some(last) = rows.last() else { return Ok(broken) };
        after = last.transfer_id;
        broken.extend(rows.iter().filter(|row| !row.has_seal(key)).map(|row| row.transfer_id));
    }
}

/// Seals them all with a new key.
pub(crate) async fn renew(db: &mut PgConnection, key: &ChainKey) -> Result<(), sqlx::Error> {
    let returns = returns::rows(db, None).await?;
    replace(db, returns.iter().map(|row| (row.transfer_id, row.made(key)))).await?;
    let mut after = Uuid::nil();
    loop {
        let rows = rows_after(db, after, CHUNK).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.transfer_id;
        replace(db, rows.iter().map(|row| (row.transfer_id, row.seal(key)))).await?;
    }
}

async fn replace(db: &mut PgConnection, new: impl Iterator<Item = (Uuid, Hash)>) -> Result<(), sqlx::Error> {
    let (ids, seals): (Vec<Uuid>, Vec<Vec<u8>>) = new.map(|(id, seal)| (id, seal.to_vec())).unzip();
    sqlx::query!(
        r#"
        with n as (
            select * from unnest($1::uuid[], $2::bytea[]) as n (transfer_id, seal)
        ), pending as (
            update rail_payment p set seal = n.seal from n where p.transfer_id = n.transfer_id
        )
        update rail_order o set seal = n.seal from n where o.transfer_id = n.transfer_id and o.seal is not null
        "#,
        &ids,
        &seals,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// A payment that has a seal, with both if it is pending and was handed over.
struct Row {
    seals: Vec<Vec<u8>>,
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
    concept: Option<String>,
    numeric_reference: Option<i32>,
    is_under_review: bool,
}

impl Row {
    fn has_seal(&self, key: &ChainKey) -> bool {
        let expected = self.seal(key);
        self.seals.iter().all(|seal| seal[..] == expected[..])
    }

    fn seal(&self, key: &ChainKey) -> Hash {
        let payment = Payment {
            transfer_id: self.transfer_id,
            tracking_key: self.tracking_key.clone(),
            amount: Money::from_minor(self.amount),
            created_at: self.created_at,
            operating_date: self.created_at.date(),
            sender_number: self.sender_number.clone(),
            sender_name: None,
            payee_name: self.payee_name.clone(),
            payee_number: self.payee_number.clone(),
            payee_bank: self.payee_bank.clone(),
            remittance: read_remittance(self.concept.clone(), self.numeric_reference),
        };
        seals::of(key, &self.rail, (&self.owner, self.debit_account_id), &payment, self.is_under_review)
    }
}

async fn rows_after(db: &mut PgConnection, after: Uuid, limit: i64) -> Result<Vec<Row>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select s.seals as "seals!", t.transfer_id, t.owner, t.rail as "rail!", t.debit_account_id, t.amount, t.created_at,
            t.spei_reference as "tracking_key!", t.beneficiary_name as "payee_name!", t.beneficiary_bank as "payee_bank!",
            t.beneficiary_account_number as "payee_number!", case when a.issued is not null then a.number_key end as sender_number,
            t.concept, t.numeric_reference,
            exists (select from review r where r.transfer_id = t.transfer_id) as "is_under_review!"
        from (
            select transfer_id, array_agg(seal) as seals
            from (
                (select transfer_id, seal from rail_payment where transfer_id > $1 order by transfer_id limit $2)
                union all
                (
                    select transfer_id, seal from rail_order where transfer_id > $1 and seal is not null
                    order by transfer_id limit $2
                )
            ) as each
            group by transfer_id order by transfer_id limit $2
        ) as s
        join transfer t using (transfer_id) join account a on a.account_id = t.debit_account_id
        where t.kind = 'spei'
        order by transfer_id
        "#,
        after,
        limit,
    );
    rows.fetch_all(db).await
}
