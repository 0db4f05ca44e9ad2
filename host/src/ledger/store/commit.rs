//! Commits a batch with one statement, which the CHECK constraints of `ledger_batch` prove.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::columns::{
    AccountEvents, Balances, Entries, HoldEnds, Holds, Keys, Moves, Payments, Statuses, Transfers, Users,
};
use super::lock;
use crate::domain::account_number::normalise;
use crate::domain::bank_account::CUSTOMER_STRIPE;
use crate::domain::clabe::Clabe;
use crate::ledger::batch::{Batch, Context};
use crate::ledger::chain::{Header, Seal};
use crate::ledger::command::OpenAccount;

/// Writes the whole batch, or nothing. It loses the race after `commit_by` on the server's clock.
pub(super) async fn write(
    db: &mut PgConnection,
    batch: &Batch,
    seal: &Seal,
    context: &Context,
    commit_by: Option<OffsetDateTime>,
) -> Result<(), sqlx::Error> {
    if batch.accounts.is_empty() {
        return write_money(db, batch, seal, context, commit_by).await;
    }
    // New balance rows must exist before the statement that moves money into them. Inserting them may wait for another
    // batch that opens the same, so the other rows are locked first, as always.
    let mut transaction = db.begin().await?;
    lock::rows(&mut transaction, batch.rows()).await?;
    open_accounts(&mut transaction, &batch.accounts, &seal.header).await?;
    write_money(&mut transaction, batch, seal, context, commit_by).await?;
    transaction.commit().await
}

async fn open_accounts(db: &mut PgConnection, accounts: &[OpenAccount], header: &Header) -> Result<(), sqlx::Error> {
    let column = |field: fn(&OpenAccount) -> &String| accounts.iter().map(|open| field(open).clone()).collect();
    let ids: Vec<_> = accounts.iter().map(|open| open.account_id).collect();
    let owners: Vec<String> = column(|open| &open.owner);
    let numbers: Vec<String> = column(|open| &open.account_number);
    let keys: Vec<String> = numbers.iter().map(|number| normalise(number)).collect();
    let types: Vec<String> = column(|open| &open.account_type);
    let issued: Vec<Option<i64>> = accounts.iter().map(|open| open.issued.map(Clabe::body)).collect();
    sqlx::query!(
        r#"
        with users as (
            insert into app_user (owner, created_at)
            select distinct owner, $5::timestamptz from unnest($2::text[]) as n (owner) order by owner
            on conflict do nothing
        ), accounts as (
            insert into account (
                account_id, kind, owner, account_number, account_type, number_key, issued, currency, created_at,
                chain_id, seq
            )
            select account_id, 'customer', owner, account_number, account_type, number_key, issued, 'MXN', $5, $8, $9
            from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $7::text[], $10::bigint[])
                as n (account_id, owner, account_number, account_type, number_key, issued)
            order by owner, number_key
        )
        insert into account_balance (account_id, stripe, posted, floor, version)
        select account_id, $6, 0, 0, 0 from unnest($1::uuid[]) as n (account_id)
        "#,
        &ids,
        &owners,
        &numbers,
        &types,
        header.created_at,
        CUSTOMER_STRIPE,
        &keys,
        header.chain_id,
        header.seq,
        &issued as &[Option<i64>],
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Locks the balances in order, updates those whose version is unchanged since it was read, inserts the other rows,
/// and records in `ledger_batch` both the intended and the actual changes, which its constraints compare.
///
/// Postgres runs a part of the statement when another one reads it. Users read the changed balances, and totals read the
/// counted users, so that these rows are locked in the same order by every plan.
async fn write_money(
    db: &mut PgConnection,
    batch: &Batch,
    seal: &Seal,
    context: &Context,
    commit_by: Option<OffsetDateTime>,
) -> Result<(), sqlx::Error> {
    let users = Users::of(batch);
    let balances = Balances::of(batch);
    let transfers = Transfers::of(&batch.transfers);
    let statuses = Statuses::of(batch);
    let moves = Moves::of(batch);
    let payments = Payments::of(batch);
    let entries = Entries::of(batch);
    let keys = Keys::of(batch);
    let holds = Holds::of(batch);
    let ends = HoldEnds::of(batch);
    let events = AccountEvents::of(batch);
    let Header { chain_id, seq, batch_id, digests, prev_hash, transfer_ids, .. } = &seal.header;
    sqlx::query!(
        r#"
        with locked as (
            select b.account_id, b.stripe, b.posted, b.held, b.frozen
            from account_balance b
            join unnest($4::uuid[], $5::smallint[]) as k (account_id, stripe) using (account_id, stripe)
            -- Implied by the join, and stated so that every plan uses the primary key; likewise below. A decision that
            -- is too old loses the race.
            where b.account_id = any($4) and clock_timestamp() < coalesce($86::timestamptz, 'infinity')
            order by b.account_id, b.stripe
            for no key update of b
        ), changed as (
            update account_balance b set posted = n.posted, version = n.version, changed_at = n.changed_at,
                sent_day = n.sent_day, sent = n.sent, held = n.held, frozen = n.frozen
            from unnest(
                $4::uuid[], $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::timestamptz[], $10::date[],
                $11::bigint[], $58::bigint[], $59::boolean[], $60::bigint[], $61::boolean[]
            ) as n (
                account_id, stripe, expected, version, posted, changed_at, sent_day, sent, expected_held,
                expected_frozen, held, frozen
            )
            join locked was using (account_id, stripe)
            where b.account_id = any($4) and b.account_id = n.account_id and b.stripe = n.stripe
                and (b.version, b.held, b.frozen) = (n.expected, n.expected_held, n.expected_frozen)
            returning b.account_id, b.stripe, b.posted - was.posted as moved, b.held - was.held as held,
                b.frozen <> was.frozen as turned
        ), made as (
            insert into transfer (
                transfer_id, kind, owner, debit_account_id, credit_account_id, amount, status, beneficiary_id,
                beneficiary_name, beneficiary_bank, beneficiary_account_number, payee_key, spei_reference, rail, returns,
                concept, numeric_reference, chain_id, seq, created_at
            )
            select n.*, $1, $2, $3
            from unnest(
                $12::uuid[], $13::text[], $14::text[], $15::uuid[], $16::uuid[], $17::bigint[], $18::text[],
                $19::uuid[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::uuid[],
                $82::text[], $83::int[]
            ) as n
            returning transfer_id, debit_account_id, amount, kind, owner, payee_key, status
        ), moved as (
            update transfer t set status = n.status
            from unnest($27::uuid[], $28::text[]) as n (transfer_id, status)
            where t.transfer_id = any($27) and t.transfer_id = n.transfer_id and t.status = 'pending'
            returning t.owner, t.payee_key, t.amount, t.status
        ), events as (
            insert into transfer_event (transfer_id, ordinal, status, reason, actor, note, chain_id, seq, created_at)
            select n.*, $1, $2, $3
            from unnest($29::uuid[], $30::smallint[], $31::text[], $32::text[], $80::text[], $81::text[]) as n
            returning 1
        ), queued as (
            insert into rail_payment (transfer_id, rail, owner, turn, due_at)
            select n.*, $3 from unnest($33::uuid[], $34::text[], $84::text[], $85::int[]) as n
        ), dequeued as (
            delete from rail_payment where transfer_id = any($27)
        ), entered as (
            insert into entry (
                account_id, stripe, version, transfer_id, delta, balance_after, created_at, chain_id, seq
            )
            select n.*, $1, $2
            from unnest(
                $35::uuid[], $36::smallint[], $37::bigint[], $38::uuid[], $39::bigint[], $40::bigint[],
                $41::timestamptz[]
            ) as n
            returning account_id, stripe, transfer_id, delta
        ), answers as (
            insert into idempotency (owner, key, fingerprint, transfer_id, rejection, hold_id, chain_id, seq, created_at)
            select n.*, $1, $2, $3
            from unnest($42::text[], $43::text[], $44::bytea[], $45::uuid[], $46::jsonb[], $62::uuid[]) as n
            returning 1
        ), users as (
            select owner from app_user
            where owner = any($47::text[]) and (select count(*) from changed) = cardinality($4::uuid[])
            order by owner
            for no key update
        ), counted as (
            update app_user u set version = u.version + 1
            from unnest($47::text[], $48::bigint[]) as n (owner, expected) join users using (owner)
            where u.owner = any($47) and u.owner = n.owner and u.version = n.expected
            returning 1
        ), totalled as (
            insert into payee_total (owner, payee_key, transfers, amount, largest)
            select owner, payee_key, count(*), sum(amount), max(amount)
            from (
                select owner, payee_key, amount, status from made where kind = 'spei'
                union all select * from moved
            ) as paid
            where status = 'completed' and (select count(*) from counted) = cardinality($47::text[])
            group by owner, payee_key order by owner, payee_key
            on conflict (owner, payee_key) do update set transfers = payee_total.transfers + excluded.transfers,
                amount = payee_total.amount + excluded.amount,
                largest = greatest(payee_total.largest, excluded.largest)
        ), placed as (
            insert into hold (
                hold_id, owner, account_id, beneficiary_id, beneficiary_name, amount, status, expires_at, chain_id, seq,
                created_at
            )
            select n.*, $1, $2, $3
            from unnest(
                $63::uuid[], $64::text[], $65::uuid[], $66::uuid[], $67::text[], $68::bigint[], $69::text[],
                $70::timestamptz[]
            ) as n
            returning account_id, amount as held
        ), released as (
            update hold h set status = n.status
            from unnest($71::uuid[], $72::text[]) as n (hold_id, status)
            where h.hold_id = any($71) and h.hold_id = n.hold_id and h.status = 'placed'
            returning h.account_id, -h.amount as held
        ), ended as (
            insert into hold_end (hold_id, status, transfer_id, chain_id, seq, created_at)
            select n.*, $1, $2, $3 from unnest($71::uuid[], $72::text[], $73::uuid[]) as n
            returning 1
        ), turned as (
            insert into account_event (account_id, ordinal, event, actor, reason, chain_id, seq, created_at)
            select n.*, $1, $2, $3 from unnest($74::uuid[], $75::smallint[], $76::text[], $77::text[], $78::text[]) as n
            returning account_id
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
        ), debited as (
            select 1 from made m
            join entered e on e.transfer_id = m.transfer_id and e.account_id = m.debit_account_id and e.delta = -m.amount
        )
        insert into ledger_batch (
            chain_id, seq, batch_id, created_at, users_meant, users_written, balances_meant, balances_written,
            balances_explained, transfers_meant, transfers_written, transfers_debited, moves_meant, moves_written,
            statuses_meant, statuses_written, entries_meant, entries_written, keys_meant, keys_written, debits, credits,
            transfer_ids, accounts_digest, transfers_digest, entries_digest, statuses_digest, keys_digest, prev_hash, hash,
            operations_meant, operations_written, operations_digest
        )
        select $1, $2, $49, $3,
            cardinality($47::text[]), (select count(*) from counted),
            cardinality($4::uuid[]), (select count(*) from changed), (select count(*) from explained),
            cardinality($12::uuid[]), (select count(*) from made), (select count(*) from debited),
            cardinality($27::uuid[]), (select count(*) from moved),
            cardinality($29::uuid[]), (select count(*) from events),
            cardinality($35::uuid[]), (select count(*) from entered),
            cardinality($42::text[]), (select count(*) from answers),
            coalesce((select -sum(delta) from entered where delta < 0), 0),
            coalesce((select sum(delta) from entered where delta > 0), 0),
            $50, $51, $52, $53, $54, $55, $56, $57,
            cardinality($63::uuid[]) + cardinality($71::uuid[]) + cardinality($74::uuid[]),
            (select count(*) from placed) + (select least(count(*), (select count(*) from ended)) from released)
                + (select count(*) from turned),
            $79::bytea
        "#,
        chain_id,
        seq,
        context.now,
        &balances.accounts,
        &balances.stripes,
        &balances.expected,
        &balances.versions,
        &balances.posted,
        &balances.changed_at,
        &balances.sent_days,
        &balances.sent,
        &transfers.ids,
        &transfers.kinds,
        &transfers.owners,
        &transfers.debits,
        &transfers.credits,
        &transfers.amounts,
        &transfers.statuses,
        &transfers.payees as &[Option<Uuid>],
        &transfers.names as &[Option<String>],
        &transfers.banks as &[Option<String>],
        &transfers.numbers as &[Option<String>],
        &transfers.payee_keys as &[Option<String>],
        &transfers.references as &[Option<String>],
        &transfers.rails as &[Option<String>],
        &transfers.returns as &[Option<Uuid>],
        &moves.transfers,
        &moves.statuses,
        &statuses.transfers,
        &statuses.ordinals,
        &statuses.statuses,
        &statuses.reasons as &[Option<String>],
        &payments.transfers,
        &payments.rails,
        &entries.accounts,
        &entries.stripes,
        &entries.versions,
        &entries.transfers,
        &entries.deltas,
        &entries.balances,
        &entries.created_at,
        &keys.owners,
        &keys.keys,
        &keys.fingerprints,
        &keys.transfers as &[Option<Uuid>],
        &keys.rejections as &[Option<serde_json::Value>],
        &users.owners,
        &users.expected,
        batch_id,
        transfer_ids,
        &digests.accounts[..],
        &digests.transfers[..],
        &digests.entries[..],
        &digests.statuses[..],
        &digests.keys[..],
        &prev_hash[..],
        &seal.hash[..],
        &balances.expected_held,
        &balances.expected_frozen,
        &balances.held,
        &balances.frozen,
        &keys.holds as &[Option<Uuid>],
        &holds.ids,
        &holds.owners,
        &holds.accounts,
        &holds.beneficiaries,
        &holds.names,
        &holds.amounts,
        &holds.statuses,
        &holds.expires_at,
        &ends.ids,
        &ends.statuses,
        &ends.transfers as &[Option<Uuid>],
        &events.accounts,
        &events.ordinals,
        &events.events,
        &events.actors,
        &events.reasons,
        digests.operations.as_ref().map(|digest| &digest[..]),
        &statuses.actors as &[Option<String>],
        &statuses.notes as &[Option<String>],
        &transfers.concepts as &[Option<String>],
        &transfers.numeric_references as &[Option<i32>],
        &payments.owners,
        &payments.turns,
        commit_by,
    )
    .execute(db)
    .await?;
    Ok(())
}
