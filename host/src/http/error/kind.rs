//! What an error is, whatever its data.

use axum::http::{HeaderName, StatusCode};

use crate::domain::rules::CODES;

/// In place of the code of a refused transfer's first violation.
pub(super) const REJECTED: &str = "rejected";

/// A row of the table, without the error's data.
#[derive(Debug)]
pub struct Kind {
    pub status: StatusCode,
    /// Machine-readable.
    pub code: &'static str,
    pub title: &'static str,
    pub header: Option<(HeaderName, &'static str)>,
    /// The request's field at fault, if it is always the same one.
    pub field: Option<&'static str>,
    pub(crate) of: Of,
    /// Whether it says, of a failure of the host, that nothing was changed.
    pub unchanged: bool,
}

/// The operations that can fail with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Any,
    /// Those of the ledger listener.
    Public,
    /// Those of the assistance listener.
    Internal,
    Token,
    /// With a parameter in the path.
    Path,
    Body,
    Json,
    /// With a body or a query.
    Fields,
    Amount,
    Transfer,
    /// Only those that name the code.
    Named,
}

impl Kind {
    /// Its code, or those of the rules, one of which a refused transfer has instead.
    pub(crate) fn codes(&self) -> impl Iterator<Item = &'static str> + use<> {
        let is_rejected = self.code == REJECTED;
        (!is_rejected).then_some(self.code).into_iter().chain(CODES.into_iter().filter(move |_| is_rejected))
    }
}

/// What a failed request is counted as.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    pub(crate) kind: &'static Kind,
    /// Event and reason, if it was refused for security.
    pub(crate) refusal: Option<[&'static str; 2]>,
    /// What it would have waited for too long.
    pub(crate) shed: Option<&'static str>,
}
