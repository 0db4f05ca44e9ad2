//! Faults that a check collects before it refuses a component.

/// Faults that a refusal quotes.
const QUOTED_MAX: usize = 3;

/// Counts faults and keeps the first few.
#[derive(Default)]
pub(super) struct Faults {
    count: usize,
    quoted: Vec<String>,
}

impl Faults {
    pub(super) fn add(&mut self, fault: String) {
        self.count += 1;
        if self.quoted.len() < QUOTED_MAX {
            self.quoted.push(fault);
        }
    }

    /// Keeps the fault only if it is the first.
    pub(super) fn add_brief(&mut self, fault: impl FnOnce() -> String) {
        self.count += 1;
        if self.quoted.is_empty() {
            self.quoted.push(fault());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// "2 of 115: ..."
    pub(super) fn summary(&self, of: usize) -> String {
        format!("{} of {of}: {}", self.count, self.quoted.join("; "))
    }
}

/// An error and its causes, on one line.
pub(super) fn error_chain(error: impl Into<anyhow::Error>) -> String {
    format!("{:#}", error.into()).replace('\n', " ")
}
