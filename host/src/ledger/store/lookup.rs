//! Loads what a batch of commands starts from: one query per kind of fact, none per command.

use std::collections::BTreeSet;

use sqlx::PgConnection;
use uuid::Uuid;

use super::super::batch::{AccountFacts, Answer, Balance, Context, Payee, Sent, State, UserFacts};
use super::super::writer::Writer;
use super::super::{CUSTOMER_STRIPE, Command, FUNDING_ACCOUNT, IN_TRANSIT_ACCOUNT, SPEI_ACCOUNT};
use crate::clock::mexico_city_date;
use crate::db::transfers::{Transfer, parse_status};
use crate::domain::account_number::normalise;
use crate::domain::money::Money;
use crate::domain::rules::Violation;

/// What the commands name, without repetition.
#[derive(Default)]
struct Names {
    accounts: BTreeSet<Uuid>,
    payees: BTreeSet<Uuid>,
    users: BTreeSet<String>,
    keys: BTreeSet<(String, String)>,
    numbers: BTreeSet<(String, String)>,
    transfers: BTreeSet<Uuid>,
}

impl Names {
    fn of(commands: &[Command]) -> Self {
        let mut names = Self::default();
        for command in commands {
            match command {
                Command::Open(open) => {
                    names.numbers.insert((open.owner.clone(), normalise(&open.account_number)));
                }
                Command::Fund(fund) => {
                    names.accounts.insert(fund.account_id);
                }
                Command::Transfer(order) => {
                    names.accounts.insert(order.from_account_id);
                    names.payees.insert(order.to_beneficiary_id);
                    names.users.insert(order.owner.clone());
                    names.keys.extend(order.key.clone().map(|key| (order.owner.clone(), key)));
                }
                Command::Report(report) => {
                    names.accounts.insert(report.account_id);
                    names.transfers.insert(report.transfer_id);
                }
            }
        }
        names
    }
}

pub(super) async fn load(
    db: &mut PgConnection,
    commands: &[Command],
    writer: &Writer,
    context: &Context,
) -> Result<State, sqlx::Error> {
    let names = Names::of(commands);
    let mut state = State::default();
    // Each query sees a later moment. Balances come before users, so that whoever moves money between
    // the two loses the race by the balance's version. Answers come last: whatever was missed above
    // because a twin of the command was quicker, its answer is seen.
    load_numbers(db, &names, &mut state).await?;
    load_balances(db, &names, writer.stripe, &mut state).await?;
    load_payees(db, &names, &mut state).await?;
    load_users(db, &names, context, &mut state).await?;
    load_transfers(db, &names, &mut state).await?;
    load_answers(db, &names, &mut state).await?;
    Ok(state)
}

async fn load_answers(db: &mut PgConnection, names: &Names, state: &mut State) -> Result<(), sqlx::Error> {
    if names.keys.is_empty() {
        return Ok(());
    }
    let (owners, keys): (Vec<_>, Vec<_>) = names.keys.iter().cloned().unzip();
    let rows = sqlx::query!(
        r#"
        select i.owner, i.key, i.fingerprint, i.rejection, t.transfer_id as "transfer_id?",
            t.debit_account_id as "debit_account_id?", t.beneficiary_id, t.beneficiary_name, t.amount as "amount?",
            t.status as "status?", t.spei_reference, t.created_at as "created_at?"
        from unnest($1::text[], $2::text[]) as k (owner, key)
        join idempotency i using (owner, key)
        left join transfer t on t.transfer_id = i.transfer_id
        "#,
        &owners,
        &keys,
    )
    .fetch_all(db)
    .await?;
    for row in rows {
        let transfer = match (row.transfer_id, row.debit_account_id, row.amount, row.status, row.created_at) {
            (Some(transfer_id), Some(from_account_id), Some(amount), Some(status), Some(created_at)) => {
                Some(Transfer {
                    transfer_id,
                    from_account_id,
                    to_beneficiary_id: row.beneficiary_id,
                    beneficiary_name: row.beneficiary_name,
                    amount: Money::from_minor(amount),
                    status: parse_status(&status)?,
                    spei_reference: row.spei_reference,
                    created_at,
                })
            }
            _ => None,
        };
        let outcome = match (transfer, row.rejection) {
            (Some(transfer), _) => Ok(transfer),
            (None, Some(rejection)) => Err(parse_rejection(&rejection)?),
            (None, None) => return Err(sqlx::Error::Decode("a key without an outcome".into())),
        };
        let fingerprint =
            row.fingerprint.try_into().map_err(|_| sqlx::Error::Decode("a fingerprint's length".into()))?;
        state.answers.insert((row.owner, row.key), Answer { fingerprint, outcome });
    }
    Ok(())
}

pub(super) fn parse_rejection(rejection: &serde_json::Value) -> Result<Vec<Violation>, sqlx::Error> {
    let text = |violation: &serde_json::Value, field: &str| Some(violation.get(field)?.as_str()?.to_owned());
    let violation = |violation| Some(Violation { code: text(violation, "code")?, detail: text(violation, "detail")? });
    let violations: Option<Vec<_>> = rejection.as_array().and_then(|list| list.iter().map(violation).collect());
    violations.filter(|list| !list.is_empty()).ok_or_else(|| sqlx::Error::Decode("a frozen rejection".into()))
}

async fn load_numbers(db: &mut PgConnection, names: &Names, state: &mut State) -> Result<(), sqlx::Error> {
    if names.numbers.is_empty() {
        return Ok(());
    }
    let (owners, numbers): (Vec<_>, Vec<_>) = names.numbers.iter().cloned().unzip();
    let rows = sqlx::query!(
        r#"
        select a.owner as "owner!", a.number_key
        from unnest($1::text[], $2::text[]) as n (owner, number_key)
        join account a using (owner, number_key)
        "#,
        &owners,
        &numbers,
    )
    .fetch_all(db)
    .await?;
    state.numbers.extend(rows.into_iter().map(|row| (row.owner, row.number_key)));
    Ok(())
}

/// Customers' accounts with their balance, and the writer's stripe of the bank's own.
async fn load_balances(
    db: &mut PgConnection,
    names: &Names,
    stripe: i16,
    state: &mut State,
) -> Result<(), sqlx::Error> {
    let own = [FUNDING_ACCOUNT, SPEI_ACCOUNT, IN_TRANSIT_ACCOUNT].map(|id| (id, stripe));
    let customers = names.accounts.iter().map(|id| (*id, CUSTOMER_STRIPE));
    let (ids, stripes): (Vec<_>, Vec<_>) = customers.chain(own).unzip();
    let rows = sqlx::query!(
        r#"
        select a.account_id, a.owner, a.account_number, b.stripe, b.posted, b.floor, b.version, b.changed_at, b.sent_day,
            b.sent
        from unnest($1::uuid[], $2::smallint[]) as k (account_id, stripe)
        join account_balance b using (account_id, stripe)
        join account a using (account_id)
        "#,
        &ids,
        &stripes,
    )
    .fetch_all(db)
    .await?;
    for row in rows {
        let balance = Balance {
            posted: Money::from_minor(row.posted),
            floor: Money::from_minor(row.floor),
            version: row.version,
            changed_at: row.changed_at,
            sent_day: row.sent_day,
            sent: Money::from_minor(row.sent),
        };
        state.balances.insert((row.account_id, row.stripe), balance);
        state.accounts.insert(row.account_id, AccountFacts { owner: row.owner, number: row.account_number });
    }
    Ok(())
}

async fn load_payees(db: &mut PgConnection, names: &Names, state: &mut State) -> Result<(), sqlx::Error> {
    if names.payees.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = names.payees.iter().copied().collect();
    let rows = sqlx::query!(
        r#"
        select beneficiary_id, owner, name, bank_name, account_number, created_at
        from beneficiary where beneficiary_id = any($1)
        "#,
        &ids,
    )
    .fetch_all(db)
    .await?;
    state.payees.extend(rows.into_iter().map(|row| {
        let (bank, number) = (row.bank_name, row.account_number);
        (row.beneficiary_id, Payee { owner: row.owner, name: row.name, bank, number, created_at: row.created_at })
    }));
    Ok(())
}

async fn load_users(
    db: &mut PgConnection,
    names: &Names,
    context: &Context,
    state: &mut State,
) -> Result<(), sqlx::Error> {
    if names.users.is_empty() {
        return Ok(());
    }
    let owners: Vec<String> = names.users.iter().cloned().collect();
    let rows = sqlx::query!(
        r#"
        select n.owner as "owner!", u.per_transfer_limit as "per_transfer_limit?", u.per_day_limit as "per_day_limit?",
            coalesce(u.version, 0) as "version!",
            (
                select least(coalesce(sum(b.sent), 0), 9223372036854775807)::bigint
                from account a join account_balance b using (account_id)
                where a.owner = n.owner and b.sent_day >= $2
            ) as "day_total!"
        from unnest($1::text[]) as n (owner) left join app_user u using (owner)
        "#,
        &owners,
        mexico_city_date(context.now),
    )
    .fetch_all(db)
    .await?;
    state.users.extend(rows.into_iter().map(|row| {
        let facts = UserFacts {
            day_total: Money::from_minor(row.day_total),
            per_transfer_limit: row.per_transfer_limit.map(Money::from_minor),
            per_day_limit: row.per_day_limit.map(Money::from_minor),
            version: row.version,
        };
        (row.owner, facts)
    }));
    Ok(())
}

async fn load_transfers(db: &mut PgConnection, names: &Names, state: &mut State) -> Result<(), sqlx::Error> {
    if names.transfers.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = names.transfers.iter().copied().collect();
    let rows = sqlx::query!(
        r#"
        select t.transfer_id, t.owner, t.debit_account_id, t.amount, t.status, t.created_at,
            (select count(*) from transfer_event v where v.transfer_id = t.transfer_id)::smallint as "statuses!",
            exists (select from transfer r where r.returns = t.transfer_id) as "returned!"
        from transfer t where t.transfer_id = any($1) and t.kind = 'spei'
        "#,
        &ids,
    )
    .fetch_all(db)
    .await?;
    for row in rows {
        let sent = Sent {
            owner: row.owner,
            account_id: row.debit_account_id,
            amount: Money::from_minor(row.amount),
            status: parse_status(&row.status)?,
            statuses: row.statuses,
            returned: row.returned,
            created_at: row.created_at,
        };
        state.transfers.insert(row.transfer_id, sent);
    }
    Ok(())
}
