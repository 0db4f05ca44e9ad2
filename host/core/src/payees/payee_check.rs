//! The interface to services that know who holds an account at another bank.

use std::future::Future;
use std::pin::Pin;

use crate::domain::clabe::Clabe;

/// What a check finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    Match,
    /// The holder's initials, if enough of the name was known.
    CloseMatch(Option<String>),
    /// Reveals nothing about the holder, so that guessing names teaches nobody one.
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
