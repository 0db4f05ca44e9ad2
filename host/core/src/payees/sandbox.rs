//! The sandbox's other banks: a few accounts whose holders are documented. Everything else is unavailable.

use super::likeness::compare;
use super::payee_check::{Check, Finding, PayeeCheck};
use crate::domain::clabe::Clabe;

/// Numbers of other banks and their holders.
pub const HOLDERS: [(&str, &str); 2] =
    [("723010123456789019", "Rosa Martínez Luna"), ("738180793822290063", "Comercial del Norte, S.A. de C.V.")];

/// Answers from [`HOLDERS`].
pub struct Sandbox;

impl PayeeCheck for Sandbox {
    fn check<'a>(&'a self, name: &'a str, number: Clabe) -> Check<'a> {
        let number = number.to_string();
        let holder = HOLDERS.iter().find(|(clabe, _)| *clabe == number);
        Box::pin(std::future::ready(holder.map_or(Finding::Unavailable, |(_, holder)| compare(name, holder))))
    }
}
