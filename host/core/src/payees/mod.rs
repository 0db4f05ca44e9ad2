//! Confirmation of payee: whether a number belongs to the person that a user names.
//!
//! SPEI compares no names. This bank knows the holders of its own accounts; for those of others there is a
//! [`PayeeCheck`], which today only the sandbox has.

pub mod likeness;
mod own;
mod payee_check;
pub mod sandbox;

pub use payee_check::{Check, Finding, PayeeCheck, Unconnected};

use crate::db::connections::{AcquireError, Connections};
use crate::domain::clabe::{Clabe, ClabeRange};
use crate::sealing::ChainKey;

/// Checks a name against a number. Only CLABEs can be checked.
///
/// # Errors
/// If the database fails.
pub async fn check(
    (db, key): (&Connections, &ChainKey),
    issued: Option<ClabeRange>,
    others: &dyn PayeeCheck,
    name: &str,
    number: &str,
) -> Result<Finding, AcquireError> {
    let Some(clabe) = Clabe::read(number) else { return Ok(Finding::Unavailable) };
    if issued.is_some_and(|range| range.is_same_bank(clabe)) {
        return own::check(db, key, name, clabe).await;
    }
    Ok(others.check(name, clabe).await)
}
