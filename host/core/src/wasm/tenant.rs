//! The store of one instance: its limits and, if it uses any, its empty WASI.

use std::time::Duration;

use wasmtime::{StoreLimits, StoreLimitsBuilder};
use wasmtime_wasi::{WasiCtxView, WasiView};

use crate::domain::model::PolicyClass;
use crate::wasm::deadline;
use crate::wasm::limits::{ANSWER_FUEL, limits};
use crate::wasm::wasi::EmptyWasi;

pub(super) type Store = wasmtime::Store<Tenant>;

/// What a store holds besides the instance.
pub struct Tenant {
    limits: StoreLimits,
    /// Created on first use; pure components cannot use it.
    wasi: Option<EmptyWasi>,
}

impl WasiView for Tenant {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.wasi.get_or_insert_with(EmptyWasi::new).view()
    }
}

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
