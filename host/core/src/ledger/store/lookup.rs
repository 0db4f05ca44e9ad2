//! Loads what a batch reads, with a fixed number of queries regardless of its length.

mod facts;
mod operations;

use std::collections::{BTreeMap, BTreeSet};

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::db::payments::sealed;
use crate::db::transfers::{parse_status, read_remittance};
use crate::domain::account_number::normalise;
use crate::domain::incoming::IncomingOrder;
use crate::domain::money::Money;
use crate::domain::transfer::{Kind, RailName};
use crate::ledger::batch::{Context, ReportedTransfer, State};
use crate::ledger::command::Command;
use crate::ledger::writer::Writer;
use crate::sealing::ChainKey;

/// The state, and when it was read, by the server's clock.
pub(super) async fn load(
    db: &mut PgConnection,
    key: &ChainKey,
    commands: &[Command],
    writer: &Writer,
    context: &Context,
) -> Result<(State, OffsetDateTime), sqlx::Error> {
    let mut state = State::default();
    // Each query sees a later snapshot than the previous one. Balances are read before transfers: if money
    // moves in between, the balance's version no longer matches and this batch loses the race.
    load_numbers(db, commands, &mut state).await?;
    let at = facts::load(db, key, commands, (writer, context), &mut state).await?;
    load_transfers(db, key, commands, &mut state).await?;
    load_used(db, commands, &mut state).await?;
    operations::load(db, commands, context, &mut state).await?;
    Ok((state, at))
}

async fn load_numbers(db: &mut PgConnection, commands: &[Command], state: &mut State) -> Result<(), sqlx::Error> {
    let wanted: BTreeSet<(String, String)> = commands
        .iter()
        .filter_map(|command| match command {
            Command::Open(open) => Some((open.owner.clone(), normalise(&open.account_number))),
            _ => None,
        })
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let (owners, numbers): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
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

async fn load_used(db: &mut PgConnection, commands: &[Command], state: &mut State) -> Result<(), sqlx::Error> {
    let ids: Vec<Uuid> = commands.iter().filter_map(Command::chosen_id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let used = sqlx::query_scalar!(
        r#"
        select transfer_id as "id!" from transfer where transfer_id = any($1)
        union all select hold_id from hold where hold_id = any($1)
        "#,
        &ids,
    );
    state.used.extend(used.fetch_all(&mut *db).await?);
    let recovered = commands.iter().filter_map(|command| match command {
        Command::Recover(recover) => Some(recover.tracking_key.clone()),
        _ => None,
    });
    let recovered: Vec<String> = recovered.collect();
    if !recovered.is_empty() {
        let tracked = sqlx::query_scalar!(
            r#"select spei_reference as "key!" from transfer where spei_reference = any($1) and kind = 'spei'"#,
            &recovered,
        );
        state.tracked.extend(tracked.fetch_all(&mut *db).await?);
    }
    let incoming = commands.iter().filter_map(Command::incoming).map(IncomingOrder::transfer_id);
    let known: Vec<Uuid> = incoming.filter(|id| state.used.contains(id)).collect();
    if known.is_empty() {
        return Ok(());
    }
    let rows = sqlx::query!(
        r#"
        select transfer_id, spei_reference as "tracking_key!", operating_date as "operating_date!",
            payer_institution as "institution!", amount, payer_name, payer_account_number, beneficiary_name,
            beneficiary_account_number as "payee_number!", concept, numeric_reference
        from transfer where transfer_id = any($1) and kind = 'received'
        "#,
        &known,
    );
    let orders = rows.fetch_all(db).await?.into_iter().map(|row| {
        let order = IncomingOrder {
            tracking_key: row.tracking_key,
            operating_date: row.operating_date,
            institution: row.institution.unsigned_abs(),
            amount: Money::from_minor(row.amount),
            payer_name: row.payer_name,
            payer_number: row.payer_account_number,
            payee_name: row.beneficiary_name,
            payee_number: row.payee_number,
            remittance: read_remittance(row.concept, row.numeric_reference),
        };
        (row.transfer_id, order)
    });
    state.received.extend(orders);
    Ok(())
}

/// Of transfers under review only those that are as they were entered.
async fn load_transfers(
    db: &mut PgConnection,
    key: &ChainKey,
    commands: &[Command],
    state: &mut State,
) -> Result<(), sqlx::Error> {
    let wanted: BTreeSet<Uuid> = commands
        .iter()
        .filter_map(|command| match command {
            Command::Report(report) => Some(report.transfer_id),
            _ => None,
        })
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = wanted.into_iter().collect();
    let rows = sqlx::query!(
        r#"
        select t.transfer_id, t.kind, t.owner, t.debit_account_id, t.amount, t.status, t.created_at,
            case when t.rail = 'on-us' then t.credit_account_id end as payee_account_id,
            case when t.reviewed and t.status = 'pending' and v.statuses = 1 then t.rail end as under_review,
            v.statuses as "statuses!", v.moment as "moment!",
            exists (select from transfer r where r.returns = t.transfer_id) as "returned!"
        from transfer t
        cross join lateral (
            select count(*)::smallint as statuses, max(b.moment) as moment
            from transfer_event v cross join lateral (
                select moment from ledger_batch b where b.chain_id = v.chain_id and b.seq = v.seq limit 1
            ) as b
            where v.transfer_id = t.transfer_id
        ) as v
        where t.transfer_id = any($1) and t.kind in ('spei', 'received')
        "#,
        &ids,
    )
    .fetch_all(&mut *db)
    .await?;
    let reviewed: Vec<Uuid> = rows.iter().filter(|row| row.under_review.is_some()).map(|row| row.transfer_id).collect();
    let entered = if reviewed.is_empty() { BTreeMap::new() } else { sealed::under_review(db, key, &reviewed).await? };
    for row in rows {
        let moves = (row.debit_account_id, row.payee_account_id, Money::from_minor(row.amount));
        if row.under_review.is_some() && entered.get(&row.transfer_id) != Some(&moves) {
            continue;
        }
        let transfer = ReportedTransfer {
            kind: Kind::parse(&row.kind).ok_or_else(|| crate::db::unknown_text("transfer.kind", &row.kind))?,
            owner: row.owner,
            account_id: row.debit_account_id,
            payee_account_id: row.payee_account_id,
            amount: Money::from_minor(row.amount),
            status: parse_status(&row.status)?,
            statuses: row.statuses,
            under_review: row.under_review.as_deref().and_then(RailName::parse),
            returned: row.returned,
            created_at: row.created_at,
            moment: row.moment,
        };
        state.transfers.insert(row.transfer_id, transfer);
    }
    Ok(())
}
