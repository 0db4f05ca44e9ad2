//! Loads what only some batches need: issued numbers, the accounts that they name, holds, and how often accounts were
//! frozen.

use std::collections::BTreeSet;

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::db::holds;
use crate::domain::bank_account::CUSTOMER_STRIPE;
use crate::domain::clabe::Clabe;
use crate::ledger::batch::{AccountFacts, Context, Payee, State};
use crate::ledger::command::Command;
use crate::ledger::rows::BalanceRow;

/// After everything else: it depends on the payees.
pub(super) async fn load(
    db: &mut PgConnection,
    commands: &[Command],
    context: &Context,
    state: &mut State,
) -> Result<(), sqlx::Error> {
    if context.terms.on_us.is_some() {
        load_own_accounts(db, commands, state).await?;
    }
    load_issued(db, commands, context, state).await?;
    let ended: Vec<Uuid> = commands.iter().filter_map(Command::hold_id).collect();
    if !ended.is_empty() {
        state.holds = holds::find_all(db, &ended).await?;
    }
    load_freezes(db, commands, state).await
}

/// What money is moved to between a customer's own accounts: those of their ids.
async fn load_own_accounts(db: &mut PgConnection, commands: &[Command], state: &mut State) -> Result<(), sqlx::Error> {
    let orders = commands.iter().filter_map(Command::order);
    let missing = orders.filter(|order| !state.payees.contains_key(&order.to_beneficiary_id));
    let (ids, owners): (Vec<Uuid>, Vec<String>) =
        missing.map(|order| (order.to_beneficiary_id, order.owner.clone())).unzip();
    if ids.is_empty() {
        return Ok(());
    }
    let rows = sqlx::query!(
        r#"
        select distinct account_id as "account_id!", owner as "owner!", account_number as "number!"
        from unnest($1::uuid[], $2::text[]) as n (account_id, owner) join account a using (account_id, owner)
        where a.issued is not null
        "#,
        &ids,
        &owners,
    );
    let payees = rows.fetch_all(db).await?.into_iter().map(|row| {
        let payee = Payee {
            owner: row.owner,
            name: row.number.clone(),
            bank: String::new(),
            number: row.number,
            // No waiting period applies.
            created_at: OffsetDateTime::UNIX_EPOCH,
        };
        (row.account_id, payee)
    });
    state.payees.extend(payees);
    Ok(())
}

/// Accounts with the numbers that would be issued, and those that payees and incoming orders name.
async fn load_issued(
    db: &mut PgConnection,
    commands: &[Command],
    context: &Context,
    state: &mut State,
) -> Result<(), sqlx::Error> {
    let new = commands.iter().filter_map(|command| match command {
        Command::Open(open) => open.issued,
        Command::Receive(receive) => Clabe::read(&receive.order.payee_number),
        _ => None,
    });
    let of_payee = |number: &str| {
        let range = context.terms.on_us?;
        Clabe::read(number).filter(|clabe| range.is_same_bank(*clabe))
    };
    let payees = state.payees.values().filter_map(|payee| of_payee(&payee.number));
    let wanted: BTreeSet<i64> = new.chain(payees).map(Clabe::body).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let wanted: Vec<i64> = wanted.into_iter().collect();
    let rows = sqlx::query!(
        r#"
        select a.issued as "issued!", a.account_id, a.owner, a.account_number, b as "balance!: BalanceRow"
        from account a join account_balance b on b.account_id = a.account_id and b.stripe = $2
        where a.issued = any($1)
        "#,
        &wanted,
        CUSTOMER_STRIPE,
    )
    .fetch_all(db)
    .await?;
    for row in rows {
        state.issued.extend(Clabe::from_body(row.issued).map(|clabe| (clabe, row.account_id)));
        // One that another command debits was read earlier. Both are fine: a batch with an outdated balance loses the
        // race.
        state.balances.entry((row.account_id, CUSTOMER_STRIPE)).or_insert(row.balance.into());
        let facts = AccountFacts { owner: row.owner, number: row.account_number, is_issued: true };
        state.accounts.entry(row.account_id).or_insert(facts);
    }
    Ok(())
}

async fn load_freezes(db: &mut PgConnection, commands: &[Command], state: &mut State) -> Result<(), sqlx::Error> {
    let wanted: Vec<Uuid> = commands
        .iter()
        .filter_map(|command| match command {
            Command::Freeze(freeze) => Some(freeze.account_id),
            _ => None,
        })
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let rows = sqlx::query!(
        r#"select account_id, count(*)::smallint as "count!" from account_event where account_id = any($1) group by 1"#,
        &wanted,
    );
    state.freezes.extend(rows.fetch_all(db).await?.into_iter().map(|row| (row.account_id, row.count)));
    Ok(())
}
