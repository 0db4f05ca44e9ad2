//! Writes a batch with one statement whose CHECKs prove it.

use sqlx::{Connection as _, PgConnection};

use super::super::batch::{Answer, Batch, Context, NewTransfer};
use super::super::writer::Writer;
use super::super::{CUSTOMER_STRIPE, OpenAccount};
use super::CommitError;
use crate::domain::account_number::normalise;
use crate::domain::rules::Violation;

/// Writes the batch: all of it, or nothing.
pub(super) async fn write(
    db: &mut PgConnection,
    batch: &Batch,
    writer: &Writer,
    context: &Context,
) -> Result<(), sqlx::Error> {
    if batch.accounts.is_empty() {
        return write_money(db, batch, writer, context).await;
    }
    // New balance rows have to be there before the statement that moves money into them.
    let mut transaction = db.begin().await?;
    open_accounts(&mut transaction, &batch.accounts, context).await?;
    write_money(&mut transaction, batch, writer, context).await?;
    transaction.commit().await
}

async fn open_accounts(db: &mut PgConnection, accounts: &[OpenAccount], context: &Context) -> Result<(), sqlx::Error> {
    let column = |field: fn(&OpenAccount) -> &String| accounts.iter().map(|open| field(open).clone()).collect();
    let ids: Vec<_> = accounts.iter().map(|open| open.account_id).collect();
    let owners: Vec<String> = column(|open| &open.owner);
    let numbers: Vec<String> = column(|open| &open.account_number);
    let types: Vec<String> = column(|open| &open.account_type);
    sqlx::query!(
        r#"
        with users as (
            insert into app_user (owner, created_at)
            select distinct owner, $5::timestamptz from unnest($2::text[]) as n (owner)
            on conflict do nothing
        ), accounts as (
            insert into account (account_id, kind, owner, account_number, account_type, currency, created_at)
            select account_id, 'customer', owner, account_number, account_type, 'MXN', $5
            from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
                as n (account_id, owner, account_number, account_type)
        )
        insert into account_balance (account_id, stripe, posted, floor, version)
        select account_id, $6, 0, 0, 0 from unnest($1::uuid[]) as n (account_id)
        "#,
        &ids,
        &owners,
        &numbers,
        &types,
        context.now,
        CUSTOMER_STRIPE,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Locks the balances in order, changes them if their versions are still the ones that were loaded,
/// adds the rest, and lets `ledger_batch` compare what was meant with what was done.
async fn write_money(
    db: &mut PgConnection,
    batch: &Batch,
    writer: &Writer,
    context: &Context,
) -> Result<(), sqlx::Error> {
    let balances = Balances::of(batch);
    let transfers = Transfers::of(&batch.transfers);
    let entries = Entries::of(batch);
    let keys = Keys::of(batch);
    sqlx::query!(
        r#"
        with locked as (
            select b.account_id, b.stripe
            from account_balance b
            join unnest($4::uuid[], $5::smallint[]) as k (account_id, stripe) using (account_id, stripe)
            order by b.account_id, b.stripe
            for no key update of b
        ), changed as (
            update account_balance b set posted = n.posted, version = n.version
            from unnest($4::uuid[], $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[])
                as n (account_id, stripe, expected, version, posted)
            join locked using (account_id, stripe)
            where b.account_id = n.account_id and b.stripe = n.stripe and b.version = n.expected
            returning 1
        ), made as (
            insert into transfer (
                transfer_id, kind, owner, debit_account_id, credit_account_id, amount, status, beneficiary_id,
                beneficiary_name, beneficiary_bank, beneficiary_account_number, payee_key, spei_reference,
                chain_id, seq, created_at
            )
            select n.*, $1, $2, $3
            from unnest(
                $9::uuid[], $10::text[], $11::text[], $12::uuid[], $13::uuid[], $14::bigint[], $15::text[],
                $16::uuid[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[]
            ) as n
            returning 1
        ), told as (
            insert into transfer_event (transfer_id, ordinal, status, created_at)
            select transfer_id, 0, status, $3 from unnest($9::uuid[], $15::text[]) as n (transfer_id, status)
        ), entered as (
            insert into entry (account_id, stripe, version, transfer_id, delta, balance_after, created_at)
            select n.*, $3
            from unnest($22::uuid[], $23::smallint[], $24::bigint[], $25::uuid[], $26::bigint[], $27::bigint[]) as n
            returning delta
        ), kept as (
            insert into idempotency (owner, key, fingerprint, transfer_id, rejection, created_at)
            select n.*, $3 from unnest($28::text[], $29::text[], $30::bytea[], $31::uuid[], $32::jsonb[]) as n
            returning 1
        )
        insert into ledger_batch (
            chain_id, seq, created_at, balances_meant, balances_written, transfers_meant, transfers_written,
            entries_meant, entries_written, keys_meant, keys_written, debits, credits
        )
        select $1, $2, $3,
            cardinality($4::uuid[]), (select count(*) from changed),
            cardinality($9::uuid[]), (select count(*) from made),
            cardinality($22::uuid[]), (select count(*) from entered),
            cardinality($28::text[]), (select count(*) from kept),
            coalesce((select -sum(delta) from entered where delta < 0), 0),
            coalesce((select sum(delta) from entered where delta > 0), 0)
        "#,
        writer.chain_id,
        writer.next_seq,
        context.now,
        &balances.accounts,
        &balances.stripes,
        &balances.expected,
        &balances.versions,
        &balances.posted,
        &transfers.ids,
        &transfers.kinds,
        &transfers.owners,
        &transfers.debits,
        &transfers.credits,
        &transfers.amounts,
        &transfers.statuses,
        &transfers.payees as &[Option<uuid::Uuid>],
        &transfers.names as &[Option<String>],
        &transfers.banks as &[Option<String>],
        &transfers.numbers as &[Option<String>],
        &transfers.payee_keys as &[Option<String>],
        &transfers.references as &[Option<String>],
        &entries.accounts,
        &entries.stripes,
        &entries.versions,
        &entries.transfers,
        &entries.deltas,
        &entries.balances,
        &keys.owners,
        &keys.keys,
        &keys.fingerprints,
        &keys.transfers as &[Option<uuid::Uuid>],
        &keys.rejections as &[Option<serde_json::Value>],
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Says what a failed write means for the batch.
pub(super) fn classify(error: sqlx::Error) -> CommitError {
    let Some(database) = error.as_database_error() else {
        return match error {
            // The reply never came: the commit may have happened.
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => CommitError::Unknown(error),
            _ => CommitError::Refused(error),
        };
    };
    match (database.code().as_deref(), database.constraint()) {
        (_, Some("ledger_batch_pkey")) => CommitError::LostChain,
        // Somebody was first with a version, a key, an account number or an entry.
        (_, Some("batch_race" | "idempotency_pkey" | "account_owner_number" | "entry_pkey")) => CommitError::LostRace,
        // Serialization failure, deadlock.
        (Some("40001" | "40P01"), _) => CommitError::LostRace,
        // The server is going down and ended the session, before or after the commit.
        (Some("57P01" | "57P02" | "57P03" | "08006" | "08003"), _) => CommitError::Unknown(error),
        _ => CommitError::Refused(error),
    }
}

macro_rules! columns {
    ($name:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        /// The columns of the rows to write.
        #[derive(Default)]
        struct $name { $($field: Vec<$type>),+ }
    };
}

columns!(Balances { accounts: uuid::Uuid, stripes: i16, expected: i64, versions: i64, posted: i64 });

impl Balances {
    fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for (&(account, stripe), change) in &batch.balances {
            rows.accounts.push(account);
            rows.stripes.push(stripe);
            rows.expected.push(change.expected);
            rows.versions.push(change.version);
            rows.posted.push(change.posted.minor());
        }
        rows
    }
}

columns!(Transfers {
    ids: uuid::Uuid,
    kinds: String,
    owners: String,
    debits: uuid::Uuid,
    credits: uuid::Uuid,
    amounts: i64,
    statuses: String,
    payees: Option<uuid::Uuid>,
    names: Option<String>,
    banks: Option<String>,
    numbers: Option<String>,
    payee_keys: Option<String>,
    references: Option<String>,
});

impl Transfers {
    fn of(transfers: &[NewTransfer]) -> Self {
        let mut rows = Self::default();
        for new in transfers {
            let transfer = &new.transfer;
            let (number, bank) = new.payee.clone().unzip();
            rows.ids.push(transfer.transfer_id);
            rows.kinds.push(new.kind.as_str().to_owned());
            rows.owners.push(new.owner.clone());
            rows.debits.push(transfer.from_account_id);
            rows.credits.push(new.credit_account_id);
            rows.amounts.push(transfer.amount.minor());
            rows.statuses.push(transfer.status.as_str().to_owned());
            rows.payees.push(transfer.to_beneficiary_id);
            rows.names.push(transfer.beneficiary_name.clone());
            rows.payee_keys.push(number.as_deref().map(normalise));
            rows.banks.push(bank);
            rows.numbers.push(number);
            rows.references.push(transfer.spei_reference.clone());
        }
        rows
    }
}

columns!(Entries {
    accounts: uuid::Uuid,
    stripes: i16,
    versions: i64,
    transfers: uuid::Uuid,
    deltas: i64,
    balances: i64
});

impl Entries {
    fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for entry in &batch.entries {
            rows.accounts.push(entry.balance.0);
            rows.stripes.push(entry.balance.1);
            rows.versions.push(entry.version);
            rows.transfers.push(entry.transfer_id);
            rows.deltas.push(entry.delta.minor());
            rows.balances.push(entry.balance_after.minor());
        }
        rows
    }
}

columns!(Keys {
    owners: String,
    keys: String,
    fingerprints: Vec<u8>,
    transfers: Option<uuid::Uuid>,
    rejections: Option<serde_json::Value>,
});

impl Keys {
    fn of(batch: &Batch) -> Self {
        let mut rows = Self::default();
        for ((owner, key), Answer { fingerprint, outcome }) in &batch.answers {
            rows.owners.push(owner.clone());
            rows.keys.push(key.clone());
            rows.fingerprints.push(fingerprint.to_vec());
            rows.transfers.push(outcome.as_ref().ok().map(|transfer| transfer.transfer_id));
            rows.rejections.push(outcome.as_ref().err().map(|violations| rejection_json(violations)));
        }
        rows
    }
}

fn rejection_json(violations: &[Violation]) -> serde_json::Value {
    let violation = |violation: &Violation| serde_json::json!({"code": violation.code, "detail": violation.detail});
    violations.iter().map(violation).collect()
}
