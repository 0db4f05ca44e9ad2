//! What the risk of a transfer does to it.

pub mod acknowledgment;
