//! How long a call may take, in processor time of its own thread: a busy machine that puts the thread
//! aside does not turn a sane call into a failed one.

use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use wasmtime::{Engine, UpdateDeadline};

use crate::wasm::LoadError;
use crate::wasm::tenant::Store;

/// How often the clock ticks.
const TICK: Duration = Duration::from_millis(1);

/// The first look at the processor time, in ticks. It costs a system call, which no sane call pays:
/// all of them end before.
const FIRST_LOOK_TICKS: u64 = 2;

/// An OS thread, so that a stalled async runtime cannot stop the deadline. It holds the engine weakly
/// and ends with it.
pub(super) fn start_clock(engine: &Engine) -> Result<(), LoadError> {
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

/// Lets what runs in this store have so much processor time from now on, and one tick or two before the
/// first look.
pub(super) fn set(store: &mut Store, time: Duration) {
    store.set_epoch_deadline(FIRST_LOOK_TICKS);
    let mut end = None;
    store.epoch_deadline_callback(move |_| {
        let now = processor_time();
        let left = end.get_or_insert(now + time).saturating_sub(now);
        // The clock of the wall is never slower, so nothing is missed by looking again only then.
        let ticks = left.as_nanos().div_ceil(TICK.as_nanos());
        Ok(if left.is_zero() {
            UpdateDeadline::Interrupt
        } else {
            UpdateDeadline::Continue(u64::try_from(ticks).unwrap_or(u64::MAX))
        })
    });
}

/// What the calling thread used so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
