//! Puts versions into service.

pub mod catalog;
pub mod swap;
