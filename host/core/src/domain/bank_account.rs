//! The bank's own accounts. Migrations create them.
//!
//! Their balances are striped, with one row per writer, so that hosts do not contend for one settlement row.

use uuid::Uuid;

/// Pays opening and funding credits.
pub const FUNDING_ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001);

/// Receives settled transfers.
pub const SPEI_ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0002);

/// Holds the money of transfers that a rail has not settled yet.
pub const IN_TRANSIT_ACCOUNT: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0003);

/// The only stripe of a customer's account.
pub const CUSTOMER_STRIPE: i16 = 0;

/// The kind of a customer's account.
pub(crate) const CUSTOMER: &str = "customer";

/// The currency of every account.
pub const CURRENCY: &str = "MXN";
