//! Commits a batch with one statement, which the CHECK constraints of `ledger_batch` prove.

use std::collections::BTreeSet;

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::lock;
use crate::db::limits::Limits;
use crate::domain::bank_account::CUSTOMER_STRIPE;
use crate::domain::transfer::Status;
use crate::ledger::batch::{Batch, Context};
use crate::ledger::chain::{ChainKey, Header, Seal};
use crate::ledger::rows::{
    AccountEventRow, AccountRow, BalanceRow, EntryRow, HoldEndRow, HoldRow, KeyRow, PaymentRow, StatusRow, TransferRow,
};

/// Writes the whole batch, or nothing. It loses the race after `commit_by` on the server's clock.
pub(super) async fn write(
    db: &mut PgConnection,
    key: &ChainKey,
    (batch, seal): (&Batch, &Seal),
    context: &Context,
    commit_by: Option<OffsetDateTime>,
) -> Result<(), sqlx::Error> {
    if batch.accounts.is_empty() {
        return write_money(db, key, (batch, seal), context, commit_by).await;
    }
    // New balance rows must exist before the statement that moves money into them. Inserting them may wait for another
    // batch that opens the same, so the other rows are locked first, as always.
    let mut transaction = db.begin().await?;
    lock::rows(&mut transaction, batch.rows()).await?;
    open_accounts(&mut transaction, key, &seal.rows.accounts).await?;
    write_money(&mut transaction, key, (batch, seal), context, commit_by).await?;
    transaction.commit().await
}

async fn open_accounts(db: &mut PgConnection, key: &ChainKey, accounts: &[AccountRow]) -> Result<(), sqlx::Error> {
    let owners: BTreeSet<&str> = accounts.iter().filter_map(|it| it.owner.as_deref()).collect();
    let seals: Vec<Vec<u8>> = owners.iter().map(|owner| Limits::default().seal(key, owner).to_vec()).collect();
    sqlx::query!(
        r#"
        with users as (
            insert into app_user (owner, limits_seal, created_at)
            select owner, seal, min(created_at)
            from unnest($1::account_row[]) join unnest($3::text[], $4::bytea[]) as s (owner, seal) using (owner)
            group by owner, seal order by owner
            on conflict do nothing
        ), accounts as (
            insert into account select * from unnest($1::account_row[]) order by owner, number_key
        )
        insert into account_balance (account_id, stripe, posted, floor, version)
        select account_id, $2, 0, 0, 0 from unnest($1::account_row[])
        "#,
        accounts as &[AccountRow],
        CUSTOMER_STRIPE,
        &owners.into_iter().collect::<Vec<_>>() as &[&str],
        &seals,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Locks in order the balances that no batch changed since they were read, updates them, inserts the other rows,
/// and records in `ledger_batch` both the intended and the actual changes, which its constraints compare.
///
/// Postgres runs a part of the statement when another one reads it. Users read the changed balances, and totals read the
/// counted users, so that these rows are locked in the same order by every plan.
async fn write_money(
    db: &mut PgConnection,
    key: &ChainKey,
    (batch, seal): (&Batch, &Seal),
    context: &Context,
    commit_by: Option<OffsetDateTime>,
) -> Result<(), sqlx::Error> {
    let Header {
        chain_id, seq, batch_id, moment, commands, rules, decisions, digests, prev_hash, transfer_ids, ..
    } = &seal.header;
    let rows = &seal.rows;
    let accounts: Vec<Uuid> = batch.balances.keys().map(|(account_id, _)| *account_id).collect();
    let before: Vec<_> = batch.balances.iter().map(|(key, change)| BalanceRow::of(*key, &change.before)).collect();
    let after: Vec<_> = batch.balances.iter().map(|(key, change)| BalanceRow::of(*key, &change.after)).collect();
    let moves: Vec<Uuid> = batch.moves.keys().copied().collect();
    let pending = batch.transfers.iter().filter(|new| new.transfer.status == Status::Pending);
    let payments: Vec<_> = pending.filter_map(|new| PaymentRow::of(key, new, context.now)).collect();
    let (users, versions): (Vec<String>, Vec<i64>) = batch.users.iter().map(|(it, seen)| (it.clone(), *seen)).unzip();
    sqlx::query!(
        r#"
        with locked as (
            select b.account_id, b.stripe, b.posted, b.held, b.frozen
            from account_balance b join unnest($5::account_balance_row[]) as seen using (account_id, stripe)
            -- Implied by the join, and stated so that every plan uses the primary key; likewise below. A decision that
            -- is too old loses the race.
            where b.account_id = any($4::uuid[]) and b.moment = seen.moment
                and clock_timestamp() < coalesce($23::timestamptz, 'infinity')
            order by b.account_id, b.stripe
            for no key update of b
        ), changed as (
            update account_balance b set posted = n.posted, version = n.version, changed_at = n.changed_at,
                sent_day = n.sent_day, sent = n.sent, sent_transfers = n.sent_transfers,
                sent_total = n.sent_total, held = n.held, frozen = n.frozen, moment = n.moment
            from unnest($6::account_balance_row[]) as n join locked was using (account_id, stripe)
            where b.account_id = any($4) and b.account_id = n.account_id and b.stripe = n.stripe
            returning b.account_id, b.stripe, b.posted - was.posted as moved, b.held - was.held as held,
                b.frozen <> was.frozen as turned
        ), made as (
            insert into transfer select * from unnest($7::transfer_row[])
            returning transfer_id, debit_account_id, amount, kind, owner, payee_key, status, reviewed
        ), asked as (
            insert into review (transfer_id) select transfer_id from made where reviewed
        ), moved as (
            update transfer t set status = n.status
            from unnest($9::transfer_event_row[]) as n
            where t.transfer_id = any($8::uuid[]) and t.transfer_id = n.transfer_id and t.status = 'pending'
            returning t.owner, t.payee_key, t.amount, t.status
        ), events as (
            insert into transfer_event select * from unnest($9::transfer_event_row[]) returning 1
        ), queued as (
            insert into rail_payment select * from unnest($10::rail_payment_row[])
        ), dequeued as (
            delete from rail_payment p using unnest($9::transfer_event_row[]) as n
            where p.transfer_id = any($8) and p.transfer_id = n.transfer_id and n.status <> 'pending'
        ), entered as (
            insert into entry select * from unnest($11::entry_row[]) returning account_id, stripe, transfer_id, delta
        ), answers as (
            insert into idempotency select * from unnest($12::idempotency_row[]) returning 1
        ), users as (
            select owner from app_user
            where owner = any($13::text[]) and (select count(*) from changed) = cardinality($4)
            order by owner
            for no key update
        ), counted as (
            update app_user u set version = u.version + 1
            from unnest($13::text[], $14::bigint[]) as n (owner, expected) join users using (owner)
            where u.owner = any($13) and u.owner = n.owner and u.version = n.expected
            returning 1
        ), totalled as (
            insert into payee_total (owner, payee_key, transfers, amount, largest)
            select owner, payee_key, count(*), sum(amount), max(amount)
            from (
                select owner, payee_key, amount, status from made where kind = 'spei'
                union all select * from moved
            ) as paid
            where status = 'completed' and (select count(*) from counted) = cardinality($13)
            group by owner, payee_key order by owner, payee_key
            on conflict (owner, payee_key) do update set transfers = payee_total.transfers + excluded.transfers,
                amount = payee_total.amount + excluded.amount,
                largest = greatest(payee_total.largest, excluded.largest)
        ), placed as (
            insert into hold select * from unnest($15::hold_row[]) returning account_id, amount as held
        ), released as (
            update hold h set status = n.status
            from unnest($16::hold_end_row[]) as n
            where h.hold_id = any(array(select hold_id from unnest($16::hold_end_row[])))
                and h.hold_id = n.hold_id and h.status = 'placed'
            returning h.account_id, -h.amount as held
        ), ended as (
            insert into hold_end select * from unnest($16::hold_end_row[]) returning 1
        ), turned as (
            insert into account_event select * from unnest($17::account_event_row[]) returning account_id
        ), explained as (
            select 1 from changed c
            left join (
                select account_id, stripe, sum(delta)::bigint as moved from entered group by account_id, stripe
            ) as e using (account_id, stripe)
            left join (
                select account_id, sum(held)::bigint as held
                from (select * from placed union all select * from released) as holds group by account_id
            ) as h using (account_id)
            left join (
                select account_id, count(*) % 2 = 1 as turned from turned group by account_id
            ) as t using (account_id)
            where (c.moved, c.held, c.turned)
                = (coalesce(e.moved, 0), coalesce(h.held, 0), coalesce(t.turned, false))
        ), kept as (
            insert into decision (chain_id, seq, created_at, decisions) select $1, $2, $3, $29::bytea where $29 <> ''
        ), debited as (
            select 1 from made m
            join entered e on e.transfer_id = m.transfer_id and e.account_id = m.debit_account_id and e.delta = -m.amount
        )
        insert into ledger_batch (
            chain_id, seq, batch_id, created_at, users_meant, users_written, balances_meant, balances_written,
            balances_explained, transfers_meant, transfers_written, transfers_debited, moves_meant, moves_written,
            statuses_meant, statuses_written, entries_meant, entries_written, keys_meant, keys_written, debits, credits,
            operations_meant, operations_written, moment, commands, rules, rules_epoch, decisions, transfer_ids, digests, prev_hash,
            hash
        )
        select $1, $2, $18, $3,
            cardinality($13), (select count(*) from counted),
            cardinality($4), (select count(*) from changed), (select count(*) from explained),
            cardinality($7), (select count(*) from made), (select count(*) from debited),
            cardinality($8), (select count(*) from moved),
            cardinality($9), (select count(*) from events),
            cardinality($11), (select count(*) from entered),
            cardinality($12), (select count(*) from answers),
            coalesce((select -sum(delta) from entered where delta < 0), 0),
            coalesce((select sum(delta) from entered where delta > 0), 0),
            cardinality($15) + cardinality($16) + cardinality($17),
            (select count(*) from placed) + (select least(count(*), (select count(*) from ended)) from released)
                + (select count(*) from turned),
            $24, $25, $26, $27, $28, $19, $20, $21, $22
        "#,
        chain_id,
        seq,
        context.now,
        &accounts,
        &before as &[BalanceRow],
        &after as &[BalanceRow],
        &rows.transfers as &[TransferRow],
        &moves,
        &rows.statuses as &[StatusRow],
        &payments as &[PaymentRow],
        &rows.entries as &[EntryRow],
        &rows.keys as &[KeyRow],
        &users,
        &versions,
        &rows.holds as &[HoldRow],
        &rows.hold_ends as &[HoldEndRow],
        &rows.account_events as &[AccountEventRow],
        batch_id,
        transfer_ids,
        digests.as_flattened(),
        &prev_hash[..],
        &seal.hash[..],
        commit_by,
        moment,
        commands,
        rules.digest,
        rules.epoch,
        &decisions[..],
        &seal.kept,
    )
    .execute(db)
    .await?;
    Ok(())
}
