//! One call in a store of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::{Engine, PoolConcurrencyLimitError, Trap};

use crate::domain::model::PolicyClass;
use crate::wasm::error::ScoreError;
use crate::wasm::limits;
use crate::wasm::tenant::{self, Store};

/// Stack of a thread for a deny-all call: the limit for wasm, and room for the host.
const THREAD_STACK_BYTES: usize = 4 << 20;

/// Deny-all calls in progress. At most as many as there are slots for instances; the others wait.
static DENY_ALL_CALLS: (Mutex<u32>, Condvar) = (Mutex::new(0), Condvar::new());

/// A slot for a deny-all call, released on drop.
struct Turn;

impl Turn {
    fn wait() -> Self {
        let (running, changed) = &DENY_ALL_CALLS;
        let running = running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = changed.wait_while(running, |running| *running >= limits::DENY_ALL.slots);
        *running.unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (running, changed) = &DENY_ALL_CALLS;
        *running.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        changed.notify_one();
    }
}

/// Runs `body` with a new store, which is always dropped.
pub(super) fn call<T: Send>(
    engine: &Engine,
    class: PolicyClass,
    time: Duration,
    body: impl FnOnce(&mut Store) -> wasmtime::Result<T> + Send,
) -> Result<T, ScoreError> {
    // The store never leaves this closure, so its state after a panic cannot be observed.
    let run = move || {
        let called = catch_unwind(AssertUnwindSafe(|| {
            let mut store = tenant::store(engine, class, time);
            body(&mut store)
        }));
        match called {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) if error.downcast_ref::<Trap>() == Some(&Trap::Interrupt) => Err(ScoreError::TimedOut),
            Ok(Err(error)) if error.is::<PoolConcurrencyLimitError>() => Err(ScoreError::Busy),
            Ok(Err(error)) => Err(ScoreError::Trapped(error)),
            Err(_) => Err(ScoreError::Panicked),
        }
    };
    match class {
        PolicyClass::Pure => run(),
        // The WASI implementation blocks on an async runtime of its own, which panics on a worker thread.
        PolicyClass::DenyAll => thread::scope(|scope| {
            let _turn = Turn::wait();
            let builder = thread::Builder::new().name("deny-all".to_owned()).stack_size(THREAD_STACK_BYTES);
            let Ok(thread) = builder.spawn_scoped(scope, run) else { return Err(ScoreError::Busy) };
            thread.join().unwrap_or(Err(ScoreError::Panicked))
        }),
    }
}
