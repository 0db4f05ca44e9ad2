//! Confirmation of payee: whether a number belongs to the person that a user names.
//!
//! SPEI compares no names. This bank knows the holders of its own accounts; for those of others there is a [`PayeeCheck`],
//! which today only the sandbox has.

pub mod likeness;
mod own;
pub mod sandbox;

use std::future::Future;
use std::pin::Pin;

use crate::db::connections::{AcquireError, Connections};
use crate::domain::clabe::{Clabe, ClabeRange};
use likeness::compare;

/// What a check finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    Match,
    /// The holder's initials, if enough of the name was known.
    CloseMatch(Option<String>),
    /// Tells nothing of the holder: whoever guesses names must not learn one.
    NoMatch,
    /// Nobody who knows could be asked.
    Unavailable,
}

pub type Check<'a> = Pin<Box<dyn Future<Output = Finding> + Send + 'a>>;

/// Asks another bank, or a directory of banks.
pub trait PayeeCheck: Send + Sync + 'static {
    /// A failure is [`Finding::Unavailable`]: a check never stands in the way of a payment.
    fn check<'a>(&'a self, name: &'a str, number: Clabe) -> Check<'a>;
}

/// Outside the sandbox: no service that answers for other banks is connected.
pub struct Unconnected;

impl PayeeCheck for Unconnected {
    fn check<'a>(&'a self, _: &'a str, _: Clabe) -> Check<'a> {
        Box::pin(std::future::ready(Finding::Unavailable))
    }
}

/// Checks a name against a number. Only CLABEs can be checked.
///
/// # Errors
/// If the database fails.
pub async fn check(
    db: &Connections,
    issued: Option<ClabeRange>,
    others: &dyn PayeeCheck,
    name: &str,
    number: &str,
) -> Result<Finding, AcquireError> {
    let Some(clabe) = Clabe::read(number) else { return Ok(Finding::Unavailable) };
    if issued.is_some_and(|range| range.is_same_bank(clabe)) {
        return own::check(db, name, clabe).await;
    }
    Ok(others.check(name, clabe).await)
}
