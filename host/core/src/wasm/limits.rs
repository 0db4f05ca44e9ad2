//! What a component may use, by class. `tests/wasm` has a hostile component for each limit.

use std::time::Duration;

use crate::domain::model::PolicyClass;

/// Largest pure component. Ours are a tenth of that; a larger one contains a language runtime and is
/// slow to instantiate even if it imports nothing.
pub const PURE_BYTES_MAX: usize = 1 << 20;

/// Units of work for lifting one answer, roughly the bytes that it takes here: a scorer's answer takes about a
/// thousand, a batch of a thousand less than this.
pub(super) const ANSWER_FUEL: usize = 2 << 20;

#[derive(Debug)]
pub(super) struct Limits {
    /// Bytes of machine code and of initial memory images.
    pub(super) code_bytes: usize,
    /// Bytes of linear memory of one instance.
    pub(super) memory_bytes: usize,
    /// Bytes of address space for one memory. If that is all that a 32-bit address can reach, machine code needs no checks
    /// of its own: what lies beyond the memory faults.
    pub(super) memory_bytes_reserved: u64,
    /// Bytes of a memory that stay resident between decisions.
    pub(super) memory_bytes_kept: usize,
    /// Elements of one table.
    pub(super) table_elements: usize,
    /// Core instances of one component.
    pub(super) instances: usize,
    pub(super) memories: usize,
    /// Tables of one component. The pool allows at most one for each core module.
    pub(super) tables: usize,
    /// Bytes of wasm stack.
    pub(super) stack_bytes: usize,
    /// Concurrent decisions.
    pub(super) slots: u32,
    /// Processor time of one decision, instantiation included.
    pub(super) decision: Duration,
    /// Processor time of the trial while a component loads; no request waits for it.
    pub(super) trial: Duration,
    /// Processor time of one batch of a backtest: no request waits for it, but an endless loop must end.
    pub(super) batch: Duration,
}

/// Components that import nothing and run inline on worker threads.
pub(super) const PURE: Limits = Limits {
    // A scorer compiles to about 100 kB.
    code_bytes: 4 << 20,
    // A scorer uses one page of 64 KiB; a batch of thousands fits in this.
    memory_bytes: 16 << 20,
    // Half a terabyte for all slots, of the 128 terabytes that a process can address.
    memory_bytes_reserved: 4 << 30,
    // What a batch of a thousand takes. Clearing that is faster than getting fresh pages from the kernel; a decision
    // clears only the page that it has.
    memory_bytes_kept: 2 << 20,
    // A scorer has a few dozen function pointers.
    table_elements: 10_000,
    // The module and its adapters.
    instances: 8,
    memories: 1,
    // Function pointers, and the table of an adapter.
    tables: 2,
    // Deep enough for any scorer, small beside a thread's 2 MiB.
    stack_bytes: 256 << 10,
    // Far more than there are worker threads.
    slots: 128,
    // Two thousand times what a scorer needs, and still too short for a person to notice.
    decision: Duration::from_millis(10),
    trial: Duration::from_millis(250),
    batch: Duration::from_secs(1),
};

/// Components that contain a language runtime, on dedicated threads.
pub(super) const DENY_ALL: Limits = Limits {
    // A JavaScript engine compiles to about 50 MB.
    code_bytes: 128 << 20,
    // A JavaScript engine starts with 9 MiB, and a batch of ten thousand takes 34 MiB.
    memory_bytes: 128 << 20,
    memory_bytes_reserved: 128 << 20,
    // About what such an engine writes during a decision; the kernel clears the rest.
    memory_bytes_kept: 1 << 20,
    // A JavaScript engine has 7,688 function pointers.
    table_elements: 20_000,
    // The engine, its adapters, and one for each interface that it imports: 27 in ours.
    instances: 64,
    memories: 2,
    tables: 4,
    // An interpreter recurses where a scorer does not.
    stack_bytes: 1 << 20,
    // A call takes milliseconds of processor time: more at once would only wait for each other.
    slots: 8,
    decision: Duration::from_millis(250),
    trial: Duration::from_secs(2),
    batch: Duration::from_secs(10),
};

pub(super) fn limits(class: PolicyClass) -> &'static Limits {
    match class {
        PolicyClass::Pure => &PURE,
        PolicyClass::DenyAll => &DENY_ALL,
    }
}
