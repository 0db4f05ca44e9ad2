//! Accounts of this bank, whose holders it has verified.

use super::likeness::compare;
use super::payee_check::Finding;
use crate::db::connections::{AcquireError, Connections};
use crate::db::holders;
use crate::domain::clabe::Clabe;
use crate::sealing::ChainKey;

/// A number that was not issued is a [`Finding::NoMatch`], like a wrong name, so guessing does not tell which numbers
/// have verified holders. An account without one is [`Finding::Unavailable`]: calling its number wrong would mislead
/// people who pay it.
pub(super) async fn check(db: &Connections, key: &ChainKey, name: &str, clabe: Clabe) -> Result<Finding, AcquireError> {
    let mut db = db.acquire().await?;
    Ok(match holders::find_issued(&mut db, key, clabe).await? {
        None => Finding::NoMatch,
        Some(None) => Finding::Unavailable,
        Some(Some(holder)) => compare(name, &holder),
    })
}
