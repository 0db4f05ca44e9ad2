//! A check of a slice, and its result.

use uuid::Uuid;

use crate::clock::CLOCK_SKEW_MAX;

/// How far the clocks of two hosts may be apart.
pub(super) const SKEW_SECONDS: f64 = 2.0 * CLOCK_SKEW_MAX.as_seconds_f64();

/// How long after its decision a batch may be committed, on any host's clock: by then another host may have frozen the
/// account. Batches of one chain are in order.
pub(super) const COMMIT_SECONDS: f64 = 30.0;

/// The batches of a chain after a number, up to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice {
    pub(crate) chain_id: Uuid,
    /// -1 at the beginning.
    pub(crate) after: i64,
    pub(crate) last: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: String,
    /// How many rows violate the rule.
    pub broken: i64,
}

impl Finding {
    /// Adds findings of another part of the ledger.
    pub(crate) fn merge(all: &mut Vec<Self>, more: Vec<Self>) {
        for finding in more {
            match all.iter_mut().find(|it| it.rule == finding.rule) {
                Some(same) => same.broken += finding.broken,
                None => all.push(finding),
            }
        }
    }
}

/// Runs a query on a slice: `$1` is its chain, `$2` the number before its first batch and `$3` that of its last one.
macro_rules! find {
    ($db:expr, $slice:expr, $sql:tt $(, $more:expr)*) => {
        sqlx::query_as!(Finding, $sql, $slice.chain_id, $slice.after, $slice.last $(, $more)*).fetch_all($db).await
    };
}
pub(super) use find;
