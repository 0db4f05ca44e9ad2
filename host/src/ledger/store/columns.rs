//! A batch as columns: one array for each parameter of the writing statement.

use uuid::Uuid;

use super::super::batch::{Answer, Batch, NewTransfer};
use crate::domain::account_number::normalise;
use crate::domain::rules::Violation;

macro_rules! columns {
    ($name:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        /// The columns of the rows to write.
        #[derive(Default)]
        pub(super) struct $name { $(pub(super) $field: Vec<$type>),+ }
    };
}

columns!(Users { owners: String, expected: i64 });

impl Users {
    pub(super) fn of(batch: &Batch) -> Self {
        let (owners, expected) = batch.users.iter().map(|(owner, version)| (owner.clone(), *version)).unzip();
        Self { owners, expected }
    }
}

columns!(Balances { accounts: Uuid, stripes: i16, expected: i64, versions: i64, posted: i64 });

impl Balances {
    pub(super) fn of(batch: &Batch) -> Self {
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
    ids: Uuid,
    kinds: String,
    owners: String,
    debits: Uuid,
    credits: Uuid,
    amounts: i64,
    statuses: String,
    payees: Option<Uuid>,
    names: Option<String>,
    banks: Option<String>,
    numbers: Option<String>,
    payee_keys: Option<String>,
    references: Option<String>,
});

impl Transfers {
    pub(super) fn of(transfers: &[NewTransfer]) -> Self {
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

columns!(Entries { accounts: Uuid, stripes: i16, versions: i64, transfers: Uuid, deltas: i64, balances: i64 });

impl Entries {
    pub(super) fn of(batch: &Batch) -> Self {
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
    transfers: Option<Uuid>,
    rejections: Option<serde_json::Value>,
});

impl Keys {
    pub(super) fn of(batch: &Batch) -> Self {
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
