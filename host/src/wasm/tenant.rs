//! What one instance lives in: a store of its own, with its limits and, where it asks for it, an empty
//! world of WASI.

use std::time::Duration;

use wasmtime::{StoreLimits, StoreLimitsBuilder};

use crate::domain::model::PolicyClass;
use crate::wasm::deadline;
use crate::wasm::engine::{ANSWER_FUEL, limits};
use crate::wasm::wasi::Nothing;

/// A store for one decision; everything in it is gone afterwards.
pub(super) type Store = wasmtime::Store<Tenant>;

/// What a store holds besides the instance.
pub(super) struct Tenant {
    limits: StoreLimits,
    /// Made when it is first asked for; pure components cannot ask.
    pub(super) wasi: Option<Nothing>,
}

/// A store of a class with so much processor time.
pub(super) fn store(engine: &wasmtime::Engine, class: PolicyClass, time: Duration) -> Store {
    let of_class = limits(class);
    let limits = StoreLimitsBuilder::new()
        .memory_size(of_class.memory_bytes)
        .table_elements(of_class.table_elements)
        .instances(of_class.instances)
        .memories(of_class.memories)
        .tables(of_class.tables)
        .trap_on_grow_failure(true)
        .build();
    let mut store = wasmtime::Store::new(engine, Tenant { limits, wasi: None });
    store.limiter(|tenant| &mut tenant.limits);
    store.set_hostcall_fuel(ANSWER_FUEL);
    deadline::set(&mut store, time);
    store
}
