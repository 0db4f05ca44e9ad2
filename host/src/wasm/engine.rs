//! The two engines and their limits.
//!
//! Each limit stands in [`PURE`] or [`DENY_ALL`] with its reason; `tests/wasm` has a hostile component
//! for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::domain::model::PolicyClass;
use crate::wasm::cache::Cache;
use crate::wasm::{LoadError, deadline};

/// What components of a class get.
#[derive(Debug)]
pub(super) struct Limits {
    /// Bytes of machine code and of the first images of memories.
    pub(super) code_bytes: usize,
    /// Bytes of linear memory of one instance.
    pub(super) memory_bytes: usize,
    /// Bytes of a memory that stay resident between decisions.
    pub(super) memory_bytes_kept: usize,
    /// Elements of one table.
    pub(super) table_elements: usize,
    /// Core instances in one component.
    pub(super) instances: usize,
    /// Memories of one component.
    pub(super) memories: usize,
    /// Tables of one component. (The pool gives each of its modules one at most.)
    pub(super) tables: usize,
    /// Bytes of wasm stack.
    pub(super) stack_bytes: usize,
    /// Decisions at the same moment.
    pub(super) slots: u32,
    /// Processor time of one decision, instantiation included.
    pub(super) decision: Duration,
    /// Processor time of a trial while a component is loaded; nobody waits for it.
    pub(super) trial: Duration,
    /// Processor time of one batch of a backtest: no request waits for it, but a model that loops has
    /// to end.
    pub(super) batch: Duration,
}

/// Components that import nothing and are called inline on worker threads.
pub(super) const PURE: Limits = Limits {
    // A scorer has about a tenth of a megabyte.
    code_bytes: 4 << 20,
    // The scorers live in one page of 64 KiB; a batch of thousands fits in this.
    memory_bytes: 16 << 20,
    // The one page of a scorer.
    memory_bytes_kept: 64 << 10,
    // Function pointers of a scorer are a few dozen.
    table_elements: 10_000,
    // The module and what its adapters need.
    instances: 8,
    memories: 1,
    // Function pointers, and one that an adapter may bring.
    tables: 2,
    // Deep enough for any scorer, small beside a thread's 2 MiB.
    stack_bytes: 256 << 10,
    // Worker threads are far fewer.
    slots: 128,
    // Two thousand times what a scorer needs and still too short for a person to notice.
    decision: Duration::from_millis(10),
    trial: Duration::from_millis(250),
    batch: Duration::from_secs(1),
};

/// Components that bring a language's runtime, on threads of their own.
pub(super) const DENY_ALL: Limits = Limits {
    // A JavaScript engine has about 50 MB.
    code_bytes: 128 << 20,
    // A JavaScript engine starts with 9 MiB, and a batch of ten thousand takes 34.
    memory_bytes: 128 << 20,
    // What such an engine writes while it decides; more would be cleared by the system instead.
    memory_bytes_kept: 1 << 20,
    // A JavaScript engine has 7,688 functions behind pointers.
    table_elements: 20_000,
    // The engine, its adapters, and one for each interface that it imports: 27 in the one we build.
    instances: 64,
    memories: 2,
    tables: 4,
    // An interpreter recurses where a scorer does not.
    stack_bytes: 1 << 20,
    // Calls take milliseconds of a processor: more at once would only wait for each other.
    slots: 8,
    decision: Duration::from_millis(250),
    trial: Duration::from_secs(2),
    batch: Duration::from_secs(10),
};

/// Units of work for lifting one answer, roughly its bytes: an answer of a scorer has a few
/// hundred, a batch of a thousand less than this.
pub(super) const ANSWER_FUEL: usize = 1 << 20;

/// The limits of a class.
pub(super) fn limits(class: PolicyClass) -> &'static Limits {
    match class {
        PolicyClass::Pure => &PURE,
        PolicyClass::DenyAll => &DENY_ALL,
    }
}

/// Compiles components and runs them; cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    pure: Engine,
    deny_all: Engine,
    cache: Option<Arc<Cache>>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    compiled: AtomicU64,
    cached: AtomicU64,
}

impl Runtime {
    /// Configures the engines and starts their clocks.
    ///
    /// # Errors
    /// When this machine cannot run them, for example for lack of address space.
    pub fn new() -> Result<Self, LoadError> {
        let engine = |limits| Engine::new(&config(limits)).map_err(LoadError::Engine);
        let (pure, deny_all) = (engine(&PURE)?, engine(&DENY_ALL)?);
        deadline::start_clock(&pure)?;
        deadline::start_clock(&deny_all)?;
        Ok(Self { pure, deny_all, cache: None, counts: Arc::default() })
    }

    /// The same, keeping what is compiled.
    #[must_use]
    pub fn with_cache(self, cache: Cache) -> Self {
        Self { cache: Some(Arc::new(cache)), ..self }
    }

    /// How many components were compiled, and how many were taken from the cache instead.
    pub fn counts(&self) -> (u64, u64) {
        (self.counts.compiled.load(Relaxed), self.counts.cached.load(Relaxed))
    }

    pub(super) fn engine(&self, class: PolicyClass) -> &Engine {
        match class {
            PolicyClass::Pure => &self.pure,
            PolicyClass::DenyAll => &self.deny_all,
        }
    }

    pub(super) fn cache(&self) -> Option<&Cache> {
        self.cache.as_deref()
    }

    pub(super) fn count_compiled(&self) {
        self.counts.compiled.fetch_add(1, Relaxed);
    }

    pub(super) fn count_cached(&self) {
        self.counts.cached.fetch_add(1, Relaxed);
    }
}

fn config(limits: &Limits) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    let of_all = |each: usize| limits.slots * u32::try_from(each).unwrap_or(u32::MAX);
    pool.total_component_instances(limits.slots)
        .total_core_instances(of_all(limits.instances))
        .total_memories(of_all(limits.memories))
        .total_tables(of_all(limits.tables))
        // Calls are synchronous and use the thread's own stack.
        .total_stacks(1)
        .max_memory_size(limits.memory_bytes)
        .linear_memory_keep_resident(limits.memory_bytes_kept)
        .table_elements(limits.table_elements)
        .pagemap_scan(Enabled::No);
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // Calls without support for concurrent tasks cost half; no scorer has any.
        .concurrency_support(false)
        // The same bits in every runtime: V8 canonicalises too.
        .cranelift_nan_canonicalization(true)
        // Proposals that no scorer needs and that have had advisories. Threads are not compiled in.
        .wasm_gc(false)
        .gc_support(false)
        .wasm_exceptions(false)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .epoch_interruption(true)
        .max_wasm_stack(limits.stack_bytes)
        .memory_reservation(limits.memory_bytes as u64)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}
