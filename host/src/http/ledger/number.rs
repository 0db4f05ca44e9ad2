//! Money in JSON: a number with two decimals, never converted to a float.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::domain::money::Money;

/// Serializes as `8499.50`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MoneyNumber(pub(super) Money);

impl Serialize for MoneyNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.0.to_string()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}
