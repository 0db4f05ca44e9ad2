//! The kinds of scorers, one file each: what a request says, what an answer looks like.

pub(crate) mod accessibility;
pub(crate) mod kind;
pub(crate) mod nudge;
pub(crate) mod risk;

pub use kind::Scored;
