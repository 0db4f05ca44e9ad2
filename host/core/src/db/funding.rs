//! Who credited an account from the bank's own funds.

use sqlx::{Connection as _, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::records::{self, Change, Subject};
use crate::domain::money::Money;
use crate::sealing::ChainKey;

/// The credited account and the amount of any transfer with this id.
pub async fn find(db: &mut PgConnection, transfer_id: Uuid) -> Result<Option<(Uuid, Money)>, sqlx::Error> {
    let row = sqlx::query!("select credit_account_id, amount from transfer where transfer_id = $1", transfer_id);
    let row = row.fetch_optional(db).await?;
    Ok(row.map(|row| (row.credit_account_id, Money::from_minor(row.amount))))
}

/// Records that an operator is about to credit an account. A record without its transfer is a credit that was refused.
///
/// # Errors
/// When the database fails.
pub async fn record(
    db: &mut PgConnection,
    key: &ChainKey,
    (transfer_id, account_id, amount): (Uuid, Uuid, Money),
    by: &str,
    now: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    let credit = format!("{transfer_id}/{account_id}/{}", amount.minor());
    let change = Change::new(Subject::Funding, credit, "fund", by);
    let mut transaction = db.begin().await?;
    records::append(&mut transaction, key, change, now).await?;
    transaction.commit().await
}
