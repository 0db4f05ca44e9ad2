//! What an examination may use.

use std::time::Duration;

use nix::sys::resource::{Resource, setrlimit};
use rustix::process::nice;

use crate::wasm::PURE_BYTES_MAX;

/// Largest component. One that contains an interpreter is about 12 MB.
pub const COMPONENT_BYTES_MAX: usize = 16 << 20;

/// Wall time of one examination. A scorer takes half a second, and a component of 12 MB about half a
/// minute on an idle machine.
pub(super) const WALL_TIME_MAX: Duration = Duration::from_secs(180);

/// Seconds of processor time for a component that is small enough to be pure: ours take half a second.
const CPU_SECONDS_MAX: u64 = 20;

/// Seconds of processor time for a larger one. For 12 MB, compilation takes about twenty and the cases
/// about ten.
const CPU_SECONDS_MAX_LARGE: u64 = 100;

/// Bytes of writable memory. Compiling a scorer takes tens of megabytes, one of 12 MB hundreds.
const DATA_BYTES_MAX: u64 = 2 << 30;

/// Bytes of one file: wasmtime keeps initial memory images in anonymous files.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Open files: one for each initial memory image.
const FILES_MAX: u64 = 64;

/// Beside requests that keep every processor busy, this work gets a tenth of one: at the lowest priority it would get a
/// seventieth, and a deployment would not come.
const NICENESS: i32 = 10;

/// How readily the kernel ends this process when memory runs out: before any other.
const OOM_SCORE: &str = "1000";

/// Lowers the priority of this process, best effort, so that requests go first, also for memory.
pub(super) fn lower_priority() {
    let _ = nice(NICENESS);
    let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
}

/// Limits this process for the examination of a component with this many bytes. It never dumps core.
pub(super) fn apply(bytes: usize) -> nix::Result<()> {
    let seconds = if bytes <= PURE_BYTES_MAX { CPU_SECONDS_MAX } else { CPU_SECONDS_MAX_LARGE };
    for (resource, limit) in [
        (Resource::RLIMIT_CPU, seconds),
        (Resource::RLIMIT_DATA, DATA_BYTES_MAX),
        (Resource::RLIMIT_FSIZE, FILE_BYTES_MAX),
        (Resource::RLIMIT_NOFILE, FILES_MAX),
        (Resource::RLIMIT_CORE, 0),
    ] {
        setrlimit(resource, limit, limit)?;
    }
    Ok(())
}
