//! Administration of models, accounts, users, payments and sinks by operators, the feed of events, and outcomes.

pub(crate) mod accounts;
pub(crate) mod action;
pub(crate) mod approvals;
pub(crate) mod cards;
pub(crate) mod confirmation;
pub(crate) mod customers;
pub(crate) mod deployment;
pub(crate) mod feed;
mod if_match;
mod names;
pub(crate) mod outcomes;
pub(crate) mod payments;
pub(crate) mod pushes;
pub(crate) mod rails;
pub(crate) mod reconciliations;
pub(crate) mod replay;
pub(crate) mod reversals;
pub(crate) mod reviews;
pub(crate) mod rollback;
pub(crate) mod rollout;
pub(crate) mod signatures;
pub(crate) mod sinks;
pub(crate) mod start;
pub(crate) mod traffic;
pub(crate) mod users;
pub(crate) mod versions;
