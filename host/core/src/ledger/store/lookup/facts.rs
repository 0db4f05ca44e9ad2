//! Loads, in one statement, balances and the facts on which orders that debit them rely: the payee, the
//! user's limits and day's total, and the recorded answer of the idempotency key.

use std::collections::BTreeSet;

use sqlx::PgConnection;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::clock::mexico_city_date;
use crate::db::beneficiaries::{Beneficiary, Sealed};
use crate::db::holds::parse_status as parse_hold_status;
use crate::db::limits::Limits;
use crate::db::transfers::{parse_status, read_remittance};
use crate::domain::bank_account::{CUSTOMER_STRIPE, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::domain::hold::Hold;
use crate::domain::money::Money;
use crate::domain::transfer::{PayeeAccount, Transfer};
use crate::ledger::batch::{AccountFacts, Answer, Context, Made, Payee, Rejection, State, UserFacts};
use crate::ledger::command::{Command, PlaceHold};
use crate::ledger::rows::{BalanceRow, HoldRow, KeyRow, TransferRow, rejection_from_json};
use crate::ledger::tracking::recovered_key_of;
use crate::ledger::writer::Writer;
use crate::sealing::ChainKey;

/// A balance to load, and the order that debits it, if any.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Lookup<'a> {
    account_id: Uuid,
    stripe: i16,
    owner: Option<&'a str>,
    beneficiary_id: Option<Uuid>,
    key: Option<&'a str>,
    /// The key under which a recovered payment waits for its retry.
    recovered: Option<String>,
}

impl<'a> Lookup<'a> {
    fn balance(account_id: Uuid, stripe: i16) -> Self {
        Self { account_id, stripe, owner: None, beneficiary_id: None, key: None, recovered: None }
    }

    /// `None` for a new account, which has nothing to load, and for one that a number leads to.
    fn of(command: &'a Command) -> Option<Self> {
        let balance = Self::balance(command.account_id()?, CUSTOMER_STRIPE);
        match command {
            Command::Open(_) | Command::Receive(_) => None,
            Command::Transfer(order) | Command::Hold(PlaceHold { order, .. }) => Some(Self {
                owner: Some(&order.owner),
                beneficiary_id: Some(order.to_beneficiary_id),
                key: order.key.as_deref(),
                recovered: if let Command::Transfer(_) = command { recovered_key_of(order) } else { None },
                ..balance
            }),
            Command::Fund(_) | Command::Report(_) | Command::Release(_) | Command::Freeze(_) | Command::Recover(_) => {
                Some(balance)
            }
        }
    }
}

/// Loads the facts for the commands, and the writer's stripe of the bank's own accounts. Returns the server's time.
pub(super) async fn load(
    db: &mut PgConnection,
    key: &ChainKey,
    commands: &[Command],
    (writer, context): (&Writer, &Context),
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
    let recovered: Vec<Option<&str>> = lookups.iter().map(|it| it.recovered.as_deref()).collect();
    let users: Vec<&str> = users.into_iter().collect();
    let today: Date = mexico_city_date(context.now);
    // `limit 1` makes every join an index lookup of one row. Otherwise a plan made while a table was nearly
    // empty could scan the whole table.
    let rows = sqlx::query_as!(
        Row,
        r#"
        with users as materialized (
            select n.owner, u.per_transfer_limit, u.per_day_limit, u.limits_seal, coalesce(u.version, 0) as version,
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
            k.beneficiary_id as "beneficiary_id?",
            a.owner as "account_owner?", a.account_number as "account_number?", a.issued is not null as "is_issued!", b.it as "balance?: BalanceRow",
            p.owner as "payee_owner?", p.name as "payee_name?", p.alias as payee_alias, p.bank_name as "payee_bank?",
            p.account_number as "payee_number?", p.is_favorite as "payee_is_favorite?",
            p.created_at as "payee_created_at?", p.seal as payee_seal,
            u.per_transfer_limit as "per_transfer_limit?", u.per_day_limit as "per_day_limit?",
            u.limits_seal, u.version as "user_version?", u.day_total as "day_total?", u.pending as "pending?",
            i.it as "answer?: KeyRow", t.it as "transfer?: TransferRow", h.it as "hold?: HoldRow"
        from unnest($1::uuid[], $2::smallint[], $3::text[], $4::uuid[], $5::text[], $10::text[])
            as k (account_id, stripe, owner, beneficiary_id, key, recovered)
        left join lateral (
            select b as it from account_balance b where b.account_id = k.account_id and b.stripe = k.stripe limit 1
        ) as b on true
        left join lateral (select * from account a where a.account_id = k.account_id limit 1) as a on true
        left join lateral (
            select * from beneficiary p where p.beneficiary_id = k.beneficiary_id limit 1
        ) as p on true
        left join users u on u.owner = k.owner
        left join lateral (
            select i as it, i.transfer_id, i.hold_id from idempotency i
            where i.owner = k.owner and i.key in (k.key, k.recovered) order by i.key <> k.key limit 1
        ) as i on true
        left join lateral (select t as it from transfer t where t.transfer_id = i.transfer_id limit 1) as t on true
        left join lateral (select h as it from hold h where h.hold_id = i.hold_id limit 1) as h on true
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
        &recovered as &[Option<&str>],
    )
    .fetch_all(db)
    .await?;
    // The writer's own stripes are always among the rows.
    let at = rows.first().map(|row| row.read_at).ok_or(sqlx::Error::RowNotFound)?;
    rows.into_iter().try_for_each(|row| row.add_to(key, state))?;
    Ok(at)
}

/// A [`Lookup`] and its result.
struct Row {
    read_at: OffsetDateTime,
    account_id: Uuid,
    stripe: i16,
    user: Option<String>,
    beneficiary_id: Option<Uuid>,
    account_owner: Option<String>,
    account_number: Option<String>,
    is_issued: bool,
    balance: Option<BalanceRow>,
    payee_owner: Option<String>,
    payee_name: Option<String>,
    payee_alias: Option<String>,
    payee_bank: Option<String>,
    payee_number: Option<String>,
    payee_is_favorite: Option<bool>,
    payee_created_at: Option<OffsetDateTime>,
    payee_seal: Option<Vec<u8>>,
    per_transfer_limit: Option<i64>,
    per_day_limit: Option<i64>,
    limits_seal: Option<Vec<u8>>,
    user_version: Option<i64>,
    day_total: Option<i64>,
    pending: Option<i32>,
    answer: Option<KeyRow>,
    transfer: Option<TransferRow>,
    hold: Option<HoldRow>,
}

impl Row {
    fn add_to(mut self, key: &ChainKey, state: &mut State) -> Result<(), sqlx::Error> {
        let answer = self.answer()?;
        if let (Some(user), Some((name, answer))) = (self.user.clone(), answer) {
            state.answers.insert((user, name), answer);
        }
        if let (Some(beneficiary_id), Some(payee)) = (self.beneficiary_id, self.payee(key)) {
            state.payees.insert(beneficiary_id, payee);
        }
        if let (Some(user), Some(day_total), Some(version)) = (self.user.take(), self.day_total, self.user_version) {
            let limits = Limits::new(self.per_transfer_limit, self.per_day_limit);
            let was_altered = state.users.get(&user).is_some_and(|it| it.is_altered);
            // Who has an account has a seal.
            let is_sealed = self.account_owner.as_ref() != Some(&user)
                || limits.are_sealed(key, &user, self.limits_seal.as_deref());
            let facts = UserFacts {
                day_total: Money::from_minor(day_total),
                per_transfer_limit: limits.per_transfer,
                per_day_limit: limits.per_day,
                is_altered: was_altered || !is_sealed,
                version,
                pending: self.pending.unwrap_or_default(),
            };
            state.users.insert(user, facts);
        }
        if let (Some(balance), Some(number)) = (self.balance, self.account_number) {
            state.balances.insert((self.account_id, self.stripe), balance.into());
            state
                .accounts
                .insert(self.account_id, AccountFacts { owner: self.account_owner, number, is_issued: self.is_issued });
        }
        Ok(())
    }

    /// `None` for one that somebody altered, as if it were not there.
    fn payee(&mut self, key: &ChainKey) -> Option<Payee> {
        let owner = self.payee_owner.take()?;
        let beneficiary = Beneficiary {
            beneficiary_id: self.beneficiary_id?,
            name: self.payee_name.take()?,
            alias: self.payee_alias.take(),
            account_number: self.payee_number.take()?,
            bank_name: self.payee_bank.take()?,
            is_favorite: self.payee_is_favorite?,
            created_at: self.payee_created_at?,
        };
        let sealed = Sealed { owner: owner.clone(), beneficiary, seal: self.payee_seal.take() };
        let Beneficiary { name, bank_name: bank, account_number: number, created_at, .. } = sealed.open(key)?;
        Some(Payee { owner, name, bank, number, created_at })
    }

    /// With its key.
    fn answer(&mut self) -> Result<Option<(String, Answer)>, sqlx::Error> {
        let Some(KeyRow { key, fingerprint, rejection, refused_id, .. }) = self.answer.take() else { return Ok(None) };
        let fingerprint = fingerprint
            .try_into()
            .map_err(|_| sqlx::Error::Decode("a stored fingerprint has the wrong length".into()))?;
        let rejection = rejection.zip(refused_id);
        let outcome = match (self.transfer.take(), self.hold.take(), rejection) {
            (Some(row), ..) => Ok(Made::Transfer(transfer(row)?)),
            (_, Some(row), _) => Ok(Made::Hold(hold(row)?)),
            (.., Some((rejection, order_id))) => {
                Err(Rejection { order_id, violations: rejection_from_json(&rejection)? })
            }
            (None, None, None) => return Err(sqlx::Error::Decode("an idempotency key has no outcome".into())),
        };
        Ok(Some((key, Answer { fingerprint, outcome })))
    }
}

/// The transfer of a recorded answer, with its current status.
fn transfer(row: TransferRow) -> Result<Transfer, sqlx::Error> {
    Ok(Transfer {
        transfer_id: row.transfer_id,
        from_account_id: row.debit_account_id,
        to_beneficiary_id: row.beneficiary_id,
        beneficiary_name: row.beneficiary_name,
        payee: PayeeAccount::read(row.beneficiary_account_number, row.beneficiary_bank),
        amount: Money::from_minor(row.amount),
        status: parse_status(&row.status.0)?,
        spei_reference: row.spei_reference,
        remittance: read_remittance(row.concept, row.numeric_reference),
        created_at: row.created_at,
    })
}

/// The hold of a recorded answer, with its current status.
fn hold(row: HoldRow) -> Result<Hold, sqlx::Error> {
    Ok(Hold {
        hold_id: row.hold_id,
        account_id: row.account_id,
        beneficiary_id: row.beneficiary_id,
        beneficiary_name: row.beneficiary_name,
        amount: Money::from_minor(row.amount),
        status: parse_hold_status(&row.status.0)?,
        expires_at: row.expires_at,
        created_at: row.created_at,
    })
}
