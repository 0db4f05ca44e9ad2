//! The two engines, one for each class, and their configuration.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::domain::model::PolicyClass;
use crate::wasm::cache::Cache;
use crate::wasm::deadline;
use crate::wasm::error::LoadError;
use crate::wasm::limits::{DENY_ALL, Limits, PURE};

/// Compiles and runs components; cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    pure: Engine,
    deny_all: Engine,
    cache: Option<Arc<Cache>>,
    counts: Arc<Counts>,
    pub(super) counts_fuel: bool,
}

#[derive(Default)]
struct Counts {
    compiled: AtomicU64,
    cached: AtomicU64,
}

impl Runtime {
    /// # Errors
    /// When this machine cannot run the engines, for example for lack of address space.
    pub fn new() -> Result<Self, LoadError> {
        Self::with(true, false)
    }

    /// Leaves NaNs as the processor computes them, as browsers do.
    ///
    /// # Errors
    /// As with [`Self::new`].
    pub(crate) fn with_raw_nans() -> Result<Self, LoadError> {
        Self::with(false, false)
    }

    /// Counts what calls cost, which slows them down.
    ///
    /// # Errors
    /// As with [`Self::new`].
    pub(crate) fn with_fuel() -> Result<Self, LoadError> {
        Self::with(true, true)
    }

    fn with(nans_are_canonical: bool, counts_fuel: bool) -> Result<Self, LoadError> {
        let engine = |limits| Engine::new(config(limits, nans_are_canonical).consume_fuel(counts_fuel));
        let engine = |limits| engine(limits).map_err(LoadError::Engine);
        let (pure, deny_all) = (engine(&PURE)?, engine(&DENY_ALL)?);
        deadline::start_clock(&[&pure, &deny_all])?;
        Ok(Self { pure, deny_all, cache: None, counts: Arc::default(), counts_fuel })
    }

    /// Bytes of the components' memories that may stay resident between decisions.
    pub fn memory_bytes_kept() -> u64 {
        let kept = |limits: &Limits| u64::from(limits.slots) * (limits.memories * limits.memory_bytes_kept) as u64;
        kept(&PURE) + kept(&DENY_ALL)
    }

    /// Caches machine code in files.
    #[must_use]
    pub fn with_cache(self, cache: Cache) -> Self {
        Self { cache: Some(Arc::new(cache)), ..self }
    }

    /// How many components were compiled, and how many came from the cache.
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

fn config(limits: &Limits, nans_are_canonical: bool) -> Config {
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
        // Cleared without asking the kernel, which would interrupt the other processors.
        .table_keep_resident(limits.table_elements * size_of::<usize>())
        .table_elements(limits.table_elements)
        .pagemap_scan(Enabled::No);
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // Halves the cost of a call; no scorer has concurrent tasks.
        .concurrency_support(false)
        // The same bits on every processor. V8 does not canonicalise: see gate/nans.rs.
        .cranelift_nan_canonicalization(nans_are_canonical)
        // Proposals that no scorer needs and that have had advisories. Threads are not compiled in.
        .wasm_gc(false)
        .gc_support(false)
        .wasm_exceptions(false)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .epoch_interruption(true)
        .max_wasm_stack(limits.stack_bytes)
        .memory_reservation(limits.memory_bytes_reserved)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}
