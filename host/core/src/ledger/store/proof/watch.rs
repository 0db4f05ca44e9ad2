//! Reports the progress of a verification.

use std::fmt;
use std::sync::Arc;

/// Receives the table, and how many of its rows were read since the last call.
type Listener = dyn Fn(&'static str, u64) + Send + Sync;

/// Rows between two calls: at a million rows a second, a thousand calls.
const EVERY: u64 = 1_000;

/// Counts rows for a listener, if there is one.
#[derive(Clone, Default)]
pub struct Watch {
    listener: Option<Arc<Listener>>,
    table: &'static str,
    unreported: u64,
}

impl Watch {
    pub fn new(listener: impl Fn(&'static str, u64) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..Self::default() }
    }

    /// Counts a row.
    pub(super) fn row(&mut self, table: &'static str) {
        if self.table != table || self.unreported == EVERY {
            self.report();
            self.table = table;
        }
        self.unreported += 1;
    }

    fn report(&mut self) {
        let rows = std::mem::take(&mut self.unreported);
        if let Some(listener) = &self.listener {
            listener(self.table, rows);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}
