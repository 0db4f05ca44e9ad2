//! What is checked of the machine.

use std::fs;
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

use super::finding::Finding;
use crate::cli::database::absolute;
use crate::config::Common;
use crate::http::server::{FILES_WANTED, connections_within};
use crate::wasm::Runtime;

/// Machine code of a component with a language runtime takes up to 128 MiB, and several versions of each kind are kept.
const DISK_BYTES_MIN: u64 = 1 << 30;

pub(super) fn check(common: &Common) -> Vec<Finding> {
    vec![files(), components(), memory(), data_folder(common)]
}

/// A host raises its own limit as far as it may.
fn files() -> Finding {
    let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return Finding::skip("open files", "the limit cannot be read");
    };
    let connections = connections_within(most);
    let seen = format!("at most {most}, which suffices for {connections} connections to each listener");
    if most >= FILES_WANTED {
        return Finding::ok("open files", seen);
    }
    let fix =
        format!("set LimitNOFILE={FILES_WANTED} in the unit of the service, or run `ulimit -Hn {FILES_WANTED}` first");
    Finding::warn("open files", seen, fix)
}

/// The engine reserves address space for every memory that a component may have.
fn components() -> Finding {
    match Runtime::new() {
        Ok(_) => Finding::ok("components", "there is address space for their memories"),
        Err(error) => {
            let seen = format!("{:#}", anyhow::Error::from(error));
            Finding::fail(
                "components",
                seen,
                "set LimitAS=infinity in the unit of the service, or run `ulimit -v unlimited`",
            )
        }
    }
}

fn memory() -> Finding {
    let Some(free) = free_memory() else { return Finding::skip("memory", "/proc/meminfo cannot be read") };
    let wanted = Runtime::memory_bytes_kept();
    let seen = format!("{} MiB are available; components may keep {} MiB", free >> 20, wanted >> 20);
    if free >= wanted {
        return Finding::ok("memory", seen);
    }
    Finding::warn(
        "memory",
        seen,
        "give the machine or the container (memory.max) more memory, or stop what else runs here",
    )
}

/// What the machine has left, or the container may have.
fn free_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB"))?;
    let free = kibibytes.parse::<u64>().ok()? << 10;
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    Some(limit.map_or(free, |limit| free.min(limit)))
}

fn data_folder(common: &Common) -> Finding {
    let path = absolute(common);
    let Some(place) = existing(&path) else { return Finding::skip("data folder", "there is no file system") };
    let shown = path.display();
    if let Err(error) = access(place, AccessFlags::W_OK) {
        let seen = format!("{} cannot be written: {error}", place.display());
        return Finding::fail(
            "data folder",
            seen,
            "make it the service's own with `chown`, or set --data-dir to another",
        );
    }
    match statvfs(place) {
        Err(error) => Finding::fail("data folder", format!("{shown}: {error}"), "set --data-dir to a folder on a disk"),
        Ok(disk) => {
            let free = disk.blocks_available() * disk.fragment_size();
            let seen = format!("{shown} has {} MiB free", free >> 20);
            if free >= DISK_BYTES_MIN {
                return Finding::ok("data folder", seen);
            }
            let fix = format!("free {} MiB, or set --data-dir to a larger disk", DISK_BYTES_MIN >> 20);
            Finding::warn("data folder", seen, fix)
        }
    }
}

/// The path, or the nearest folder above it that is there.
pub(super) fn existing(path: &Path) -> Option<&Path> {
    path.ancestors().find(|it| it.exists())
}
