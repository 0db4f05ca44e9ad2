//! Adoption: the first host with the key writes down what it finds. That happens once.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;

use super::adoption::{self, Adoption};
use super::origins::{self, Origin};
use super::proof::unhashed;
use crate::db::records::{self, Subject};
use crate::db::session;
use crate::sealing::ChainKey;

/// Adopts the ledger unless that was done before.
pub(super) async fn adopt(db: &mut PgConnection, key: &ChainKey, now: OffsetDateTime) -> Result<(), sqlx::Error> {
    if records::last(db).await?.seq >= 0 {
        return Ok(());
    }
    let mut transaction = db.begin().await?;
    // Whatever there is was made by hosts that keep no records, and is read whole.
    session::read_whole_tables(&mut transaction).await?;
    let last = records::lock(&mut transaction).await?;
    if last.seq >= 0 {
        return transaction.commit().await;
    }
    let found = unhashed(&mut transaction).await?;
    let mut changes = Vec::new();
    let (mut chains, mut batches) = (0, 0);
    for (chain_id, stripe, first_seq) in origins::before_adoption(&mut transaction).await? {
        let adopted = found.chain(chain_id);
        let origin = Origin { chain_id, stripe, first_seq, adopted: Some(adopted), created_at: now };
        origins::insert(&mut transaction, &origin).await?;
        changes.push(origin.change(key));
        chains += 1;
        batches += adopted.0;
    }
    let rows = records::proof::unrecorded(&mut transaction, key).await?;
    let count = |subject| i64::try_from(rows.iter().filter(|it| it.subject == subject).count()).unwrap_or(i64::MAX);
    let (accounts, accounts_digest) = found.accounts;
    let adoption = Adoption {
        at: now,
        chains,
        batches,
        accounts,
        accounts_digest,
        beneficiaries: count(Subject::Beneficiary),
        limits: count(Subject::Limits),
        components: count(Subject::Component),
        deployments: count(Subject::Deployment),
    };
    adoption::insert(&mut transaction, &adoption).await?;
    changes.insert(0, adoption.change(key));
    changes.extend(rows);
    records::append_after(&mut transaction, key, last, &changes, now).await?;
    transaction.commit().await?;
    if !adoption.is_empty() {
        tracing::warn!(?adoption, "adopted a ledger that has no audit records: what it held is trusted without proof");
    }
    Ok(())
}
