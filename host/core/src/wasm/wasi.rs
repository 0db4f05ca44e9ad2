//! An empty WASI, for components whose language runtime cannot be built without importing it: no files,
//! network, environment or arguments; output is discarded; clocks stand still and randomness is
//! constant, so that an answer depends on its request alone. Waiting traps: the guest executes nothing
//! meanwhile, so no deadline would interrupt it.

use std::time::Duration;

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, Resource, ResourceTable, ResourceType};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, IoError, add_to_linker_sync};
use wasmtime_wasi::{Deterministic, HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxView, WasiView};

/// Start of the names of WASI imports.
pub(super) const IMPORTS: &str = "wasi:";

/// Packages that wasmtime implements.
const OFFERED: [&str; 6] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

const POLL: &str = "wasi:io/poll@0.2.12";

/// Random bytes of one call; the default is 64 MiB.
const RANDOM_BYTES_MAX: u64 = 64 << 10;

/// Resources of one instance: a language runtime opens three streams.
const RESOURCES_MAX: usize = 1000;

pub(super) struct EmptyWasi {
    ctx: WasiCtx,
    table: ResourceTable,
}

impl EmptyWasi {
    pub(super) fn new() -> Self {
        let random = || Deterministic::new((0..=u8::MAX).collect());
        let ctx = WasiCtx::builder()
            .wall_clock(StoppedClock)
            .monotonic_clock(StoppedClock)
            .secure_random(random())
            .insecure_random(random())
            .insecure_random_seed(0)
            .max_random_size(RANDOM_BYTES_MAX)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES_MAX);
        Self { ctx, table }
    }

    pub(super) fn view(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.ctx, table: &mut self.table }
    }
}

/// A clock that always shows the same time.
struct StoppedClock;

impl HostWallClock for StoppedClock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for StoppedClock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        0
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a scorer may not wait")]
struct WaitForbidden;

#[derive(Debug, thiserror::Error)]
#[error("a scorer may not use this part of WASI")]
struct Absent;

/// The type of a resource by its name: interfaces outside [`OFFERED`] use some of its types.
fn resource(name: &str) -> ResourceType {
    match name {
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        "pollable" => ResourceType::host::<DynPollable>(),
        "error" | "io-error" => ResourceType::host::<IoError>(),
        _ => ResourceType::host::<Absent>(),
    }
}

/// Links the empty WASI. Functions outside [`OFFERED`], such as outgoing HTTP, trap when called.
pub(super) fn link<T: WasiView + 'static>(linker: &mut Linker<T>, component: &Component) -> wasmtime::Result<()> {
    add_to_linker_sync(linker)?;
    linker.allow_shadowing(true);
    let mut poll = linker.instance(POLL)?;
    poll.func_wrap("poll", |_, (_,): (Vec<Resource<DynPollable>>,)| -> wasmtime::Result<(Vec<u32>,)> {
        Err(WaitForbidden.into())
    })?;
    poll.func_wrap("[method]pollable.block", |_, (_,): (Resource<DynPollable>,)| -> wasmtime::Result<()> {
        Err(WaitForbidden.into())
    })?;
    linker.allow_shadowing(false);
    let engine = component.engine();
    for (name, import) in component.component_type().imports(engine) {
        if OFFERED.iter().any(|package| name.starts_with(package)) {
            continue;
        }
        let ComponentItem::ComponentInstance(interface) = import.ty else { continue };
        let mut absent = linker.instance(name)?;
        for (name, item) in interface.exports(engine) {
            match item.ty {
                ComponentItem::ComponentFunc(_) => absent.func_new(name, |_, _, _, _| Err(Absent.into()))?,
                ComponentItem::Resource(_) => {
                    absent.resource(name, resource(name), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::domain::model::PolicyClass;
    use crate::wasm::call::call;
    use crate::wasm::{Runtime, ScoreError};

    /// Sets a timer of one hour and waits for it.
    const SLEEPER: &str = r#"(component
        (import "wasi:io/poll@0.2.0" (instance $poll
            (export "pollable" (type $pollable (sub resource)))
            (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
        (alias export $poll "pollable" (type $pollable))
        (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
            (alias outer 1 $pollable (type $outer))
            (export "pollable" (type $alarm (eq $outer)))
            (export "subscribe-duration" (func (param "when" u64) (result (own $alarm))))))
        (core func $subscribe (canon lower (func $clock "subscribe-duration")))
        (core func $block (canon lower (func $poll "[method]pollable.block")))
        (core module $module
            (import "" "subscribe" (func $subscribe (param i64) (result i32)))
            (import "" "block" (func $block (param i32)))
            (func (export "run") (call $block (call $subscribe (i64.const 3600000000000)))))
        (core instance $instance (instantiate $module (with "" (instance
            (export "subscribe" (func $subscribe)) (export "block" (func $block))))))
        (func (export "run") (canon lift (core func $instance "run"))))"#;

    #[test]
    fn waiting_traps_at_once() {
        let runtime = Runtime::new().unwrap();
        let engine = runtime.engine(PolicyClass::DenyAll);
        let component = Component::new(engine, wat::parse_str(SLEEPER).unwrap()).unwrap();
        let mut linker = Linker::new(engine);
        link(&mut linker, &component).unwrap();
        let ready = linker.instantiate_pre(&component).unwrap();
        let start = Instant::now();
        let answer = call(engine, PolicyClass::DenyAll, Duration::from_secs(1), |store| {
            let instance = ready.instantiate(&mut *store)?;
            instance.get_typed_func::<(), ()>(&mut *store, "run")?.call(store, ())
        });
        let Err(ScoreError::Trapped(error)) = answer else { panic!("{answer:?}") };
        assert!(format!("{error:?}").contains("a scorer may not wait"), "{error:?}");
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}
