//! Deadlines of calls, in processor time of the calling thread: on a busy machine a preempted call
//! does not fail.

use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::wasm::error::LoadError;

const TICK: Duration = Duration::from_millis(1);

/// Ticks before processor time is read for the first time. That costs a system call, and nearly every
/// call ends before it.
const FIRST_CHECK_TICKS: u64 = 2;

/// Starts an OS thread, so that a stalled async runtime cannot delay a deadline. It ends when the engines are dropped.
pub(super) fn start_clock(engines: &[&Engine]) -> Result<(), LoadError> {
    let engines: Vec<_> = engines.iter().map(|engine| engine.weak()).collect();
    let tick = move || {
        loop {
            let ticked = engines.iter().filter_map(|engine| engine.upgrade()).map(|engine| engine.increment_epoch());
            if ticked.count() == 0 {
                return;
            }
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("deadline-clock".to_owned()).spawn(tick).map_err(LoadError::Clock)?;
    Ok(())
}

/// Limits the processor time of the code in this store, measured from the first check, one or two ticks
/// from now.
pub(super) fn set<T>(store: &mut Store<T>, time: Duration) {
    store.set_epoch_deadline(FIRST_CHECK_TICKS);
    let mut end = None;
    store.epoch_deadline_callback(move |_| {
        let now = processor_time();
        let left = end.get_or_insert(now + time).saturating_sub(now);
        // Processor time never runs faster than wall time, so the next check can wait that long.
        let ticks = left.as_nanos().div_ceil(TICK.as_nanos());
        Ok(if left.is_zero() {
            UpdateDeadline::Interrupt
        } else {
            UpdateDeadline::Continue(u64::try_from(ticks).unwrap_or(u64::MAX))
        })
    });
}

/// Of the calling thread.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
