//! The engine, its limits and its clock.
//!
//! Each limit is a constant with its reason; `tests/wasm` has a hostile component for each.

use std::thread;
use std::time::Duration;

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, StoreLimits, StoreLimitsBuilder,
};

use super::LoadError;

/// How often the deadline clock ticks.
const TICK: Duration = Duration::from_millis(1);

/// Ticks that one decision may take, instantiation included: 10 ms, two thousand times what a
/// scorer needs and still too short for a person to notice.
pub(super) const DEADLINE_TICKS: u64 = 10;

/// Ticks that the trial of a component may take while it is loaded: 250 ms. Nobody waits for it, and
/// a machine that is busy for a moment should not refuse a good component.
pub(super) const TRIAL_TICKS: u64 = 250;

/// Ticks that one batch of a backtest may take: a second, a thousand times what its rows need. No
/// request waits for it, but a model that loops has to end.
pub(super) const BATCH_TICKS: u64 = 1000;

/// Bytes of linear memory of one instance. The scorers live in one page of 64 KiB; a batch of
/// thousands fits in this.
const MEMORY_BYTES_MAX: usize = 16 << 20;

/// Bytes of a memory that stay resident between decisions: the one page of a scorer.
const MEMORY_BYTES_KEPT: usize = 64 << 10;

/// Elements of one table: function pointers of a scorer are a few dozen.
const TABLE_ELEMENTS_MAX: usize = 10_000;

/// Core instances in one component: the module and what its adapters need.
const INSTANCES_MAX: usize = 8;

/// Memories of one component: scorers have one.
const MEMORIES_MAX: usize = 1;

/// Tables of one component: its module's function pointers, and one that an adapter may bring. (The
/// pool gives each module one at most.)
const TABLES_MAX: usize = 2;

/// Bytes of wasm stack: deep enough for any scorer, small beside a thread's 2 MiB.
const STACK_BYTES_MAX: usize = 256 << 10;

/// Decisions at the same moment. Calls are made inline on worker threads, of which there are far
/// fewer.
const SLOTS: u32 = 128;

/// Units of work for lifting one answer, roughly its bytes: an answer of a scorer has a few
/// hundred, a batch of a thousand less than this.
const ANSWER_FUEL: usize = 1 << 20;

/// Compiles components and hands out limited stores.
#[derive(Clone)]
pub struct Runtime {
    engine: Engine,
}

impl Runtime {
    /// Configures the engine and starts its clock.
    ///
    /// # Errors
    /// When this machine cannot run the engine, for example for lack of address space.
    pub fn new() -> Result<Self, LoadError> {
        let engine = Engine::new(&config()).map_err(LoadError::Engine)?;
        start_clock(&engine)?;
        Ok(Self { engine })
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }
}

fn config() -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(SLOTS)
        .total_core_instances(SLOTS * 2)
        .total_memories(SLOTS)
        .total_tables(SLOTS * 2)
        .max_memory_size(MEMORY_BYTES_MAX)
        .linear_memory_keep_resident(MEMORY_BYTES_KEPT)
        .table_elements(TABLE_ELEMENTS_MAX)
        .pagemap_scan(Enabled::No);
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // Calls without support for concurrent tasks cost half; no scorer has any.
        .concurrency_support(false)
        // The same bits in every runtime: V8 canonicalises too.
        .cranelift_nan_canonicalization(true)
        // Off: what no scorer needs and where advisories have been.
        .wasm_gc(false)
        .wasm_exceptions(false)
        .wasm_threads(false)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES_MAX)
        .memory_reservation(MEMORY_BYTES_MAX as u64)
        // A model that is compiled while requests run should not take every core.
        .parallel_compilation(false)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// An OS thread, so that a stalled async runtime cannot stop the deadline. It holds the engine
/// weakly and ends with it.
fn start_clock(engine: &Engine) -> Result<(), LoadError> {
    let engine = engine.weak();
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("deadline-clock".to_owned()).spawn(tick).map_err(LoadError::Thread)?;
    Ok(())
}

/// A store for one decision of at most so many ticks; everything in it is gone afterwards.
pub(super) fn limited_store(engine: &Engine, ticks: u64) -> wasmtime::Store<StoreLimits> {
    let limits = StoreLimitsBuilder::new()
        .memory_size(MEMORY_BYTES_MAX)
        .table_elements(TABLE_ELEMENTS_MAX)
        .instances(INSTANCES_MAX)
        .memories(MEMORIES_MAX)
        .tables(TABLES_MAX)
        .trap_on_grow_failure(true)
        .build();
    let mut store = wasmtime::Store::new(engine, limits);
    store.limiter(|limits| limits);
    store.set_epoch_deadline(ticks);
    store.set_hostcall_fuel(ANSWER_FUEL);
    store
}
