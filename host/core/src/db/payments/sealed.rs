//! All payments that have seals, when these are compared or replaced.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{returns, seals};
use crate::db::transfers::read_remittance;
use crate::domain::account_number::normalise;
use crate::domain::money::Money;
use crate::domain::transfer::{Payment, RailName};
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
    let Some(row) = rows(db, Some(&[transfer_id]), Uuid::nil(), 1).await?.pop() else { return Ok(()) };
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

/// What a transfer under review moves, and between which accounts: the payee's is named if it is at this bank.
pub(crate) type Moves = (Uuid, Option<Uuid>, Money);

/// What those under review move, without those that are not as they were entered.
pub(crate) async fn under_review(
    db: &mut PgConnection,
    key: &ChainKey,
    ids: &[Uuid],
) -> Result<BTreeMap<Uuid, Moves>, sqlx::Error> {
    let rows = rows(db, Some(ids), Uuid::nil(), i64::MAX).await?;
    Ok(rows.into_iter().filter_map(|row| Some((row.transfer_id, row.moves(key)?))).collect())
}

/// A payment under review as a rail would have it.
pub(crate) async fn payment(db: &mut PgConnection, transfer_id: Uuid) -> Result<Option<Payment>, sqlx::Error> {
    Ok(rows(db, Some(&[transfer_id]), Uuid::nil(), 1).await?.pop().map(|row| row.payment()))
}

/// Payments in a statement.
const CHUNK: i64 = 1_000;

/// Those whose seals are not of what is there now.
pub(crate) async fn broken(db: &mut PgConnection, key: &ChainKey) -> Result<Vec<Uuid>, sqlx::Error> {
    let returns = returns::rows(db, None).await?;
    let mut broken: Vec<Uuid> = returns.iter().filter(|row| !row.has_seal(key)).map(|row| row.transfer_id).collect();
    let mut after = Uuid::nil();
    loop {
        let rows = rows(db, None, after, CHUNK).await?;
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
        let rows = rows(db, None, after, CHUNK).await?;
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
    credit_account_id: Uuid,
    /// If it is at this bank.
    credited_number: Option<String>,
}

impl Row {
    fn has_seal(&self, key: &ChainKey) -> bool {
        let expected = self.seal(key);
        self.seals.iter().all(|seal| seal[..] == expected[..])
    }

    fn seal(&self, key: &ChainKey) -> Hash {
        let from = (&*self.owner, self.debit_account_id);
        seals::of(key, &self.rail, from, &self.payment(), self.is_under_review)
    }

    fn moves(&self, key: &ChainKey) -> Option<Moves> {
        let is_on_us = self.rail == RailName::OnUs.as_str();
        let is_meant = !is_on_us || self.credited_number.as_ref() == Some(&normalise(&self.payee_number));
        let payee = is_on_us.then_some(self.credit_account_id);
        let moves = (self.debit_account_id, payee, Money::from_minor(self.amount));
        (is_meant && self.is_under_review && self.has_seal(key)).then_some(moves)
    }

    fn payment(&self) -> Payment {
        Payment {
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
        }
    }
}

/// Those that follow one, or only some.
async fn rows(db: &mut PgConnection, only: Option<&[Uuid]>, after: Uuid, limit: i64) -> Result<Vec<Row>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select s.seals as "seals!", t.transfer_id, t.owner, t.rail as "rail!", t.debit_account_id, t.amount, t.created_at,
            t.spei_reference as "tracking_key!", t.beneficiary_name as "payee_name!", t.beneficiary_bank as "payee_bank!",
            t.beneficiary_account_number as "payee_number!", case when a.issued is not null then a.number_key end as sender_number,
            t.concept, t.numeric_reference,
            exists (select from review r where r.transfer_id = t.transfer_id) as "is_under_review!", t.credit_account_id,
            case when c.issued is not null then c.number_key end as credited_number
        from (
            select transfer_id, array_agg(seal) as seals
            from (
                (
                    select transfer_id, seal from rail_payment
                    where transfer_id > $1 and ($3::uuid[] is null or transfer_id = any($3))
                    order by transfer_id limit $2
                )
                union all
                (
                    select transfer_id, seal from rail_order
                    where transfer_id > $1 and ($3::uuid[] is null or transfer_id = any($3)) and seal is not null
                    order by transfer_id limit $2
                )
            ) as each
            group by transfer_id order by transfer_id limit $2
        ) as s
        join transfer t using (transfer_id) join account a on a.account_id = t.debit_account_id
        left join account c on c.account_id = t.credit_account_id
        where t.kind = 'spei'
        order by transfer_id
        "#,
        after,
        limit,
        only,
    );
    rows.fetch_all(db).await
}
