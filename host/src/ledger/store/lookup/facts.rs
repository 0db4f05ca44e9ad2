//! Loads, in one statement, balances and the facts on which orders that debit them rely: the payee, the
//! user's limits and day's total, and the recorded answer of the idempotency key.

use std::collections::BTreeSet;

use sqlx::PgConnection;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::clock::mexico_city_date;
use crate::db::holds::parse_status as parse_hold_status;
use crate::db::transfers::{parse_status, read_remittance};
use crate::domain::bank_account::{CUSTOMER_STRIPE, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::domain::hold::Hold;
use crate::domain::money::Money;
use crate::domain::transfer::Transfer;
use crate::ledger::batch::{AccountFacts, Answer, Balance, Context, Made, Payee, State, UserFacts};
use crate::ledger::command::{Command, PlaceHold};
use crate::ledger::store::codec::rejection_from_json;
use crate::ledger::writer::Writer;

/// A balance to load, and the order that debits it, if any.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Lookup<'a> {
    account_id: Uuid,
    stripe: i16,
    owner: Option<&'a str>,
    beneficiary_id: Option<Uuid>,
    key: Option<&'a str>,
}

impl<'a> Lookup<'a> {
    fn balance(account_id: Uuid, stripe: i16) -> Self {
        Self { account_id, stripe, owner: None, beneficiary_id: None, key: None }
    }

    /// `None` for a new account, which has nothing to load.
    fn of(command: &'a Command) -> Option<Self> {
        let balance = Self::balance(command.account_id(), CUSTOMER_STRIPE);
        match command {
            Command::Open(_) => None,
            Command::Transfer(order) | Command::Hold(PlaceHold { order, .. }) => Some(Self {
                owner: Some(&order.owner),
                beneficiary_id: Some(order.to_beneficiary_id),
                key: order.key.as_deref(),
                ..balance
            }),
            Command::Fund(_) | Command::Report(_) | Command::Release(_) | Command::Freeze(_) => Some(balance),
        }
    }
}

/// Loads the facts for the commands, and the writer's stripe of the bank's own accounts. Returns the server's time.
pub(super) async fn load(
    db: &mut PgConnection,
    commands: &[Command],
    writer: &Writer,
    context: &Context,
    state: &mut State,
) -> Result<OffsetDateTime, sqlx::Error> {
    let own = [FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT].map(|id| Lookup::balance(id, writer.stripe));
    let payees = commands.iter().filter_map(Command::payee_account_id).map(|id| Lookup::balance(id, CUSTOMER_STRIPE));
    let lookups: BTreeSet<Lookup<'_>> = commands.iter().filter_map(Lookup::of).chain(payees).chain(own).collect();
    let users: BTreeSet<&str> = lookups.iter().filter_map(|it| it.owner).collect();
    let accounts: Vec<Uuid> = lookups.iter().map(|it| it.account_id).collect();
    let stripes: Vec<i16> = lookups.iter().map(|it| it.stripe).collect();
    let owners: Vec<Option<&str>> = lookups.iter().map(|it| it.owner).collect();
    let payees: Vec<Option<Uuid>> = lookups.iter().map(|it| it.beneficiary_id).collect();
    let keys: Vec<Option<&str>> = lookups.iter().map(|it| it.key).collect();
    let users: Vec<&str> = users.into_iter().collect();
    let today: Date = mexico_city_date(context.now);
    // `limit 1` makes every join an index lookup of one row. Otherwise a plan made while a table was nearly
    // empty could scan the whole table.
    let rows = sqlx::query_as!(
        Row,
        r#"
        with users as materialized (
            select n.owner, u.per_transfer_limit, u.per_day_limit, coalesce(u.version, 0) as version,
                (
                    select least(coalesce(sum(b.sent), 0), 9223372036854775807)::bigint
                    from account a join account_balance b using (account_id)
                    where a.owner = n.owner and b.stripe = $8 and b.sent_day >= $7
                ) as day_total,
                (select count(*) from (select from rail_payment where owner = n.owner limit $9) as first)::int as pending
            from unnest($6::text[]) as n (owner)
            left join lateral (select * from app_user where owner = n.owner limit 1) as u on true
        )
        select statement_timestamp() as "read_at!", k.account_id as "account_id!", k.stripe as "stripe!", k.owner as "user?",
            k.beneficiary_id as "beneficiary_id?", k.key as "key?",
            a.owner as "account_owner?", a.account_number as "account_number?",
            b.posted as "posted?", b.held as "held?", b.frozen as "frozen?", b.floor as "floor?", b.version as "version?", b.changed_at as "changed_at?",
            b.sent_day as "sent_day?", b.sent as "sent?",
            p.owner as "payee_owner?", p.name as "payee_name?", p.bank_name as "payee_bank?",
            p.account_number as "payee_number?", p.created_at as "payee_created_at?",
            u.per_transfer_limit as "per_transfer_limit?", u.per_day_limit as "per_day_limit?",
            u.version as "user_version?", u.day_total as "day_total?", u.pending as "pending?",
            i.fingerprint as "fingerprint?", i.rejection as "rejection?",
            t.transfer_id as "transfer_id?", t.debit_account_id as "sent_from?", t.beneficiary_id as "sent_to?",
            t.beneficiary_name as "sent_to_name?", t.amount as "amount?", t.status as "status?",
            t.spei_reference as "spei_reference?", t.concept as "concept?", t.numeric_reference as "numeric_reference?",
            t.created_at as "made_at?",
            h.hold_id as "hold_id?", h.account_id as "held_from?", h.beneficiary_id as "held_for?",
            h.beneficiary_name as "held_for_name?", h.amount as "held_amount?", h.status as "hold_status?",
            h.expires_at as "expires_at?", h.created_at as "held_at?"
        from unnest($1::uuid[], $2::smallint[], $3::text[], $4::uuid[], $5::text[])
            as k (account_id, stripe, owner, beneficiary_id, key)
        left join lateral (
            select * from account_balance b where b.account_id = k.account_id and b.stripe = k.stripe limit 1
        ) as b on true
        left join lateral (select * from account a where a.account_id = k.account_id limit 1) as a on true
        left join lateral (select * from beneficiary p where p.beneficiary_id = k.beneficiary_id limit 1) as p on true
        left join users u on u.owner = k.owner
        left join lateral (select * from idempotency i where i.owner = k.owner and i.key = k.key limit 1) as i on true
        left join lateral (select * from transfer t where t.transfer_id = i.transfer_id limit 1) as t on true
        left join lateral (select * from hold h where h.hold_id = i.hold_id limit 1) as h on true
        "#,
        &accounts,
        &stripes,
        &owners as &[Option<&str>],
        &payees as &[Option<Uuid>],
        &keys as &[Option<&str>],
        &users as &[&str],
        today,
        CUSTOMER_STRIPE,
        if context.terms.rail.is_instant() { 0 } else { i64::from(context.terms.pending_max) },
    )
    .fetch_all(db)
    .await?;
    // The writer's own stripes are always among the rows.
    let at = rows.first().map(|row| row.read_at).ok_or(sqlx::Error::RowNotFound)?;
    rows.into_iter().try_for_each(|row| row.add_to(state))?;
    Ok(at)
}

/// A [`Lookup`] and its result.
struct Row {
    read_at: OffsetDateTime,
    account_id: Uuid,
    stripe: i16,
    user: Option<String>,
    beneficiary_id: Option<Uuid>,
    key: Option<String>,
    account_owner: Option<String>,
    account_number: Option<String>,
    posted: Option<i64>,
    held: Option<i64>,
    frozen: Option<bool>,
    floor: Option<i64>,
    version: Option<i64>,
    changed_at: Option<OffsetDateTime>,
    sent_day: Option<Date>,
    sent: Option<i64>,
    payee_owner: Option<String>,
    payee_name: Option<String>,
    payee_bank: Option<String>,
    payee_number: Option<String>,
    payee_created_at: Option<OffsetDateTime>,
    per_transfer_limit: Option<i64>,
    per_day_limit: Option<i64>,
    user_version: Option<i64>,
    day_total: Option<i64>,
    pending: Option<i32>,
    fingerprint: Option<Vec<u8>>,
    rejection: Option<serde_json::Value>,
    transfer_id: Option<Uuid>,
    sent_from: Option<Uuid>,
    sent_to: Option<Uuid>,
    sent_to_name: Option<String>,
    amount: Option<i64>,
    status: Option<String>,
    spei_reference: Option<String>,
    concept: Option<String>,
    numeric_reference: Option<i32>,
    made_at: Option<OffsetDateTime>,
    hold_id: Option<Uuid>,
    held_from: Option<Uuid>,
    held_for: Option<Uuid>,
    held_for_name: Option<String>,
    held_amount: Option<i64>,
    hold_status: Option<String>,
    expires_at: Option<OffsetDateTime>,
    held_at: Option<OffsetDateTime>,
}

impl Row {
    fn add_to(mut self, state: &mut State) -> Result<(), sqlx::Error> {
        let answer = self.answer()?;
        if let (Some(user), Some(key), Some(answer)) = (self.user.clone(), self.key.take(), answer) {
            state.answers.insert((user, key), answer);
        }
        if let (Some(beneficiary_id), Some(payee)) = (self.beneficiary_id, self.payee()) {
            state.payees.insert(beneficiary_id, payee);
        }
        if let (Some(user), Some(day_total), Some(version)) = (self.user.take(), self.day_total, self.user_version) {
            let facts = UserFacts {
                day_total: Money::from_minor(day_total),
                per_transfer_limit: self.per_transfer_limit.map(Money::from_minor),
                per_day_limit: self.per_day_limit.map(Money::from_minor),
                version,
                pending: self.pending.unwrap_or_default(),
            };
            state.users.insert(user, facts);
        }
        if let (Some(balance), Some(number)) = (self.balance(), self.account_number) {
            state.balances.insert((self.account_id, self.stripe), balance);
            state.accounts.insert(self.account_id, AccountFacts { owner: self.account_owner, number });
        }
        Ok(())
    }

    fn balance(&self) -> Option<Balance> {
        Some(Balance {
            posted: Money::from_minor(self.posted?),
            held: Money::from_minor(self.held?),
            frozen: self.frozen?,
            floor: Money::from_minor(self.floor?),
            version: self.version?,
            changed_at: self.changed_at?,
            sent_day: self.sent_day?,
            sent: Money::from_minor(self.sent?),
        })
    }

    fn payee(&mut self) -> Option<Payee> {
        Some(Payee {
            owner: self.payee_owner.take()?,
            name: self.payee_name.take()?,
            bank: self.payee_bank.take()?,
            number: self.payee_number.take()?,
            created_at: self.payee_created_at?,
        })
    }

    fn answer(&mut self) -> Result<Option<Answer>, sqlx::Error> {
        let Some(fingerprint) = self.fingerprint.take() else { return Ok(None) };
        let fingerprint = fingerprint
            .try_into()
            .map_err(|_| sqlx::Error::Decode("a stored fingerprint has the wrong length".into()))?;
        let outcome = match (self.transfer()?, self.hold()?, self.rejection.take()) {
            (Some(transfer), ..) => Ok(Made::Transfer(transfer)),
            (_, Some(hold), _) => Ok(Made::Hold(hold)),
            (.., Some(rejection)) => Err(rejection_from_json(&rejection)?),
            (None, None, None) => return Err(sqlx::Error::Decode("an idempotency key has no outcome".into())),
        };
        Ok(Some(Answer { fingerprint, outcome }))
    }

    /// The transfer of a recorded answer, with its current status.
    fn transfer(&mut self) -> Result<Option<Transfer>, sqlx::Error> {
        let found = (self.transfer_id, self.sent_from, self.amount, self.status.take(), self.made_at);
        let (Some(transfer_id), Some(from_account_id), Some(amount), Some(status), Some(created_at)) = found else {
            return Ok(None);
        };
        Ok(Some(Transfer {
            transfer_id,
            from_account_id,
            to_beneficiary_id: self.sent_to,
            beneficiary_name: self.sent_to_name.take(),
            amount: Money::from_minor(amount),
            status: parse_status(&status)?,
            spei_reference: self.spei_reference.take(),
            remittance: read_remittance(self.concept.take(), self.numeric_reference),
            created_at,
        }))
    }

    /// The hold of a recorded answer, with its current status.
    fn hold(&mut self) -> Result<Option<Hold>, sqlx::Error> {
        let found = (self.hold_id, self.held_from, self.held_for, self.held_for_name.take(), self.held_amount);
        let (Some(hold_id), Some(account_id), Some(beneficiary_id), Some(beneficiary_name), Some(amount)) = found
        else {
            return Ok(None);
        };
        let (Some(status), Some(expires_at), Some(created_at)) =
            (self.hold_status.take(), self.expires_at, self.held_at)
        else {
            return Ok(None);
        };
        let (amount, status) = (Money::from_minor(amount), parse_hold_status(&status)?);
        Ok(Some(Hold { hold_id, account_id, beneficiary_id, beneficiary_name, amount, status, expires_at, created_at }))
    }
}
