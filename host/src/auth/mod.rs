//! Who is asking.

pub mod token;
