//! Machine code is cached, and only authenticated files are loaded.

use std::fs;
use std::path::{Path, PathBuf};

use caudal::models::Registry;
use caudal::wasm::{Cache, Runtime};

const SECRET: &[u8] = b"the secret of a host";

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cache-{name}"));
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Starts as a host does, with all four components: how many were compiled, and how many came from the cache.
fn start(folder: &Path, secret: &[u8]) -> (u64, u64) {
    let runtime = Runtime::new().unwrap().with_cache(Cache::open(folder, secret).unwrap());
    Registry::embedded(&runtime).unwrap();
    runtime.counts()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_warm_start_compiles_nothing() {
    let folder = folder("warm");
    assert_eq!(start(&folder, SECRET), (4, 0));
    assert_eq!(files(&folder).len(), 4);
    assert_eq!(start(&folder, SECRET), (0, 4));
}

#[test]
fn a_changed_file_is_compiled_again_and_replaced() {
    let folder = folder("changed");
    start(&folder, SECRET);
    for (at, path) in files(&folder).iter().enumerate() {
        let mut bytes = fs::read(path).unwrap();
        // In the authentication code, then at the start, middle and end of the machine code.
        let place = [3, 40, bytes.len() / 2, bytes.len() - 1][at];
        bytes[place] ^= 1;
        fs::write(path, bytes).unwrap();
    }
    assert_eq!(start(&folder, SECRET), (4, 0));
    assert_eq!(start(&folder, SECRET), (0, 4), "it was replaced");
}

#[test]
fn machine_code_of_another_engine_component_or_host_is_not_loaded() {
    let folder = folder("foreign");
    start(&folder, SECRET);
    // Another version or other settings of the engine have another name; a file under ours was renamed.
    for path in files(&folder) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let (version, rest) = name.split_once('-').unwrap();
        assert_eq!(version.len(), 16);
        fs::rename(&path, folder.join(format!("0123456789abcdef-{rest}"))).unwrap();
    }
    assert_eq!(start(&folder, SECRET), (4, 0), "of another engine");
    let own: Vec<_> =
        files(&folder).into_iter().filter(|it| !it.to_str().unwrap().contains("0123456789abcdef")).collect();
    assert_eq!(own.len(), 4);
    // One component's code under another's name.
    fs::copy(&own[0], &own[1]).unwrap();
    assert_eq!(start(&folder, SECRET), (1, 3));
    assert_eq!(start(&folder, b"the secret of another host"), (4, 0));
}
